"""Which sentences tell of a way that led nowhere."""

from __future__ import annotations

import pytest

from argus_memory.rules.dead_ends import DEAD_END, is_dead_end, with_dead_end

DEAD = (
    "User: We tried WebSockets behind the old proxy, it failed because the proxy drops idle connections.",
    "Tried pinning numpy below 2, did not help: the wheel for the platform is missing.",
    "Assistant: I attempted an in-place upgrade of the cluster, but had to revert since replication broke.",
    "Using sqlite for the queue turned out too slow with two writers.",
    "User: Moving to ARM runners did not work, one dependency has no build for it.",
    "Caching the whole page was a dead end: half of it is personal.",
    "Don't try to mock the clock there, it breaks the retry loop.",
    "We switched to Bun for a week and rolled back because the profiler crashed.",
    "Experimented with fuzzy matching, no luck, too many wrong hits.",
    "The regex approach failed on nested brackets.",
    "No point in tuning the JVM flags, the heap is not the limit.",
    "I tried to flash the router over wifi and it timed out every time.",
)
ALIVE = (
    "The tests fail on Windows.",
    "User: We use Postgres for the queue.",
    "Tried the new driver and it worked.",
    "We switched to pnpm in March.",
    "The pump is too loud.",
    "The deploy failed last night because the disk was full.",
    "Ask Petra before you try the new oven.",
    "After moving to Fly the latency is half of what it was.",
    "User: Please try again with a longer timeout.",
    "Nora tested the alarm on Sunday.",
    "The backup is tested every month.",
    "I upgraded the library, and it works now.",
)


@pytest.mark.parametrize("text", DEAD)
def test_what_was_tried_and_failed(text: str) -> None:
    """An attempt with its failure is a dead end."""
    assert is_dead_end(text)


@pytest.mark.parametrize("text", ALIVE)
def test_what_is_none(text: str) -> None:
    """A failure without an attempt, an attempt that worked, and plain facts are none."""
    assert not is_dead_end(text)


def test_the_tag_follows_the_words() -> None:
    """A note bears the tag exactly when its words tell of a dead end, once."""
    assert with_dead_end(["ci", DEAD_END], DEAD[0]) == ["ci", DEAD_END]
    assert with_dead_end(["ci", DEAD_END], ALIVE[0]) == ["ci"]
