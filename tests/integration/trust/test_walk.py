"""Thousands of random steps over a memory, each followed by what must be true.

`ARGUS_TRUST_STEPS` and `ARGUS_TRUST_SEED` make the walk longer or another one; a failure tells the seed and the last
steps.
"""

from __future__ import annotations

import os
import random

import pytest

from argus_memory.db import Database
from argus_memory.settings import Settings
from argus_memory.upkeep.regenerate_read import Days
from argus_memory.upkeep.regeneration import regenerate
from tests.integration.trust.steps import STEPS
from tests.integration.trust.truths import check
from tests.integration.trust.world import DAYS, MINUTES, DyingDatabase, Stub, World
from tests.memory_rows import at

WALKS, LENGTH = 4, int(os.environ.get("ARGUS_TRUST_STEPS", "1600")) // 4
SEED = int(os.environ.get("ARGUS_TRUST_SEED", "20261201"))


@pytest.mark.parametrize("number", range(WALKS))
def test_whatever_happens_what_was_decided_holds(db: Database, settings: Settings, number: int) -> None:
    """After every random step (captures, distilling, regenerating, dedup, decisions, reviews, writes, redactions,
    crashes and restarts, a clock that goes back) no decision is lost, nothing removed is back, no raw row is changed
    but by redaction, notes are grounded, history is complete; learning it all a second time adds nothing."""
    chance = random.Random(SEED + number)
    dying = DyingDatabase(db.dsn)
    dying.open()
    world = World(dying, settings, chance, Stub(chance))
    try:
        steps, weights = [step for step, _ in STEPS], [weight for _, weight in STEPS]
        for count in range(LENGTH):
            step = chance.choices(steps, weights)[0]
            world.attempt(step.__name__, lambda step=step: step(world))  # type: ignore[misc]
            if world.log[-1] != "capture":
                check(world, whole=count % 100 == 99)
        check(world, whole=True)
        _learn_twice(world)
        check(world)
    except BaseException as error:
        error.add_note(f"seed {SEED + number}, step {len(world.log)}, last steps: {world.log[-12:]}; {world.done}")
        raise
    finally:
        dying.close()
    crashed = sum(count for name, count in world.done.items() if name.endswith("(crashed)"))
    assert crashed > 0
    assert len(world.log) == LENGTH


def _learn_twice(world: World) -> None:
    """All days anew by a model that says what was said; and once more: the second time nothing is added."""
    world.stub.mood = "plain"
    days = Days(at(0).date(), at(MINUTES * DAYS).date())

    def learn() -> list[str]:
        regenerate(
            world.db, world.settings, days, actor="walk", mode="switch", clock=lambda: world.now, maker=world.stub
        )
        return sorted(note["content"] for note in world.live())

    held = [row["id"] for row in world.db.fetch_all("select id from regenerations where status = 'held'")]
    assert all(isinstance(each, int) for each in held)
    first = learn()
    assert learn() == first
