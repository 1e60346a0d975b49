"""What the watchdog makes of Dagster's side and of hooks, and when it writes the digest."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from pathlib import Path

import pytest

from argus_memory.settings import load_settings
from argus_memory.watch.beats import DAGSTER, SILENCE, Beat
from argus_memory.watch.health_judge import Check
from argus_memory.watch.hooks_silent import BEHIND, LAG, HookActivity, judge_silence
from argus_memory.watch.watchdog import find_dagster_faults, is_digest_due

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)
WELL = Check("ok", "all beat")


def heard(age: timedelta) -> Beat:
    return Beat(DAGSTER, NOW - age, NOW - timedelta(days=1), "host", 1, None, {})


@pytest.mark.parametrize(
    ("beat", "daemons", "code", "faults"),
    [
        (heard(SILENCE), WELL, WELL, 0),
        (heard(SILENCE + SECOND), WELL, WELL, 1),
        (None, WELL, WELL, 1),
        (heard(SECOND), Check("failed", "SENSOR last beat 3 min ago"), WELL, 1),
        (heard(SECOND), Check("unknown", "no Dagster"), WELL, 1),
        (heard(SECOND), WELL, Check("failed", "does not load"), 1),
        (heard(SECOND), WELL, Check("warn", "still loading"), 0),
        (heard(SECOND), WELL, Check("unknown", "the webserver does not answer"), 0),
        (None, Check("failed", "x"), Check("failed", "y"), 3),
    ],
)
def test_each_fault_of_dagsters_side_is_a_line(beat: Beat | None, daemons: Check, code: Check, faults: int) -> None:
    """A silent sensor, daemons that stopped, code that does not load; a webserver that is away stops no run."""
    assert len(find_dagster_faults(beat, daemons, code, NOW)) == faults


SEEN = HookActivity("laptop", "claude-code", "Stop", NOW - timedelta(hours=1), NOW - timedelta(hours=1))


@pytest.mark.parametrize(
    ("seen", "silent"),
    [
        (SEEN, False),
        (replace(SEEN, arrived_at=SEEN.heard_at - BEHIND), False),
        (replace(SEEN, arrived_at=SEEN.heard_at - BEHIND - SECOND), True),
        (replace(SEEN, arrived_at=None), True),
        (replace(SEEN, arrived_at=None, heard_at=NOW - LAG), False),
        (replace(SEEN, arrived_at=None, event="SessionStart"), False),
        (replace(SEEN, arrived_at=None, event="SessionEnd"), False),
        (replace(SEEN, prompts=3, first_prompt_at=NOW - 11 * MINUTE), True),
        (replace(SEEN, prompts=2, first_prompt_at=NOW - 11 * MINUTE), False),
        (replace(SEEN, prompts=3, first_prompt_at=NOW - 9 * MINUTE), False),
        # Days without a word from the machine: nobody works there.
        (replace(SEEN, heard_at=NOW - timedelta(days=5), arrived_at=NOW - timedelta(days=5)), False),
    ],
)
def test_hooks_are_silent_only_while_somebody_works(seen: HookActivity, silent: bool) -> None:
    """An answer or prompts without turns are; starting, ending and mere quiet are not."""
    assert (judge_silence(seen, NOW) is not None) == silent


@pytest.mark.parametrize(
    ("hour", "minute", "due"), [(6, 39, False), (6, 40, True), (18, 30, True), (18, 31, False), (23, 0, False)]
)
def test_the_digest_is_due_in_the_operators_zone(tmp_path: Path, hour: int, minute: int, due: bool) -> None:
    """07:30 in Vienna is 06:30 UTC in winter; ten minutes are the task's own, and an evening start tells tomorrow."""
    settings = load_settings({"ARGUS_HOME": str(tmp_path), "ARGUS_TIMEZONE": "Europe/Vienna"})
    assert settings.digest_at == time(7, 30)
    assert is_digest_due(settings, datetime(2026, 1, 10, hour, minute, tzinfo=UTC)) == due
