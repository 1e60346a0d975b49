"""A plausible working day, played through with a clock of its own: how many runs it costs, and what never waits."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import dagster as dg
import pytest

from argus_assets.defs.memory.sensors import INTERVAL_SECONDS, tick
from argus_assets.resources import MemoryResource
from argus_memory.db import Database
from argus_memory.stages import passes
from argus_memory.stages.segment import find_due
from argus_memory.upkeep.process import STAGES, work_stage
from tests.memory_rows import add_turn

MORNING = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
TURNS = 500
MOST_RUNS = 60
SENTENCES = (
    "Let us use Postgres for the sensors, not SQLite.",
    "What does the log of the pump say?",
    "I prefer short functions in this project.",
    "The tests of the valve fail again, look at the timeout.",
    "Done: the valve closes after thirty seconds, all tests pass.",
    "We decided to keep the old door for a month.",
)


@dataclass
class Clock:
    now: datetime = MORNING

    def __call__(self) -> datetime:
        return self.now


@dataclass
class Day:
    """What happened: run requests by time, and how long anything due had to wait."""

    runs: list[datetime] = field(default_factory=list)
    late: list[str] = field(default_factory=list)


def working_day(rng: random.Random, hours: float) -> list[dict[str, Any]]:
    """500 turns in that many hours, in conversations of three projects, some side by side, with pauses between."""
    turns: list[dict[str, Any]] = []
    moment, session = 0.0, 0
    while len(turns) < TURNS:
        session += 1
        for _ in range(min(rng.randint(8, 70), TURNS - len(turns))):
            side = rng.random() < 0.15
            turns.append(
                {
                    "minute": moment,
                    "session": f"s{session}{'b' if side else ''}",
                    "project": f"project {session % 3}",
                    "role": "user" if rng.random() < 0.4 else "assistant",
                    "text": f"{rng.choice(SENTENCES)} {rng.randint(1, 999)}",
                }
            )
            moment += rng.expovariate(1.0)
        moment += rng.choice([5, 10, 20, 45])
    stretch = hours * 60 / turns[-1]["minute"]
    for turn in turns:
        turn["minute"] *= stretch
    return turns


def play(
    db: Database, memory: MemoryResource, instance: dg.DagsterInstance, clock: Clock, turns: list[dict[str, Any]]
) -> Day:
    """Every half minute: what was said arrives, the sensor is asked, and a run it asks for works at once."""
    day, cursor, waiting = Day(), None, list(reversed(turns))
    end = MORNING + timedelta(minutes=turns[-1]["minute"] + 60)
    while clock.now < end:
        clock.now += timedelta(seconds=INTERVAL_SECONDS)
        while waiting and MORNING + timedelta(minutes=waiting[-1]["minute"]) <= clock.now:
            turn = waiting.pop()
            said_at = MORNING + timedelta(minutes=turn.pop("minute"))
            add_turn(db, turn.pop("text"), said_at, **turn)
            with db.transaction() as conn:  # the database's own clock is not the test's
                conn.execute("update embed_queue set queued_at = %s where queued_at > now() - interval '1 min'",
                             (said_at,))  # fmt: skip
        answer = tick(instance, memory, cursor, clock.now)
        cursor = answer.cursor
        if answer.run_requests:
            day.runs.append(clock.now)
            for stage in STAGES:
                work_stage(db, memory.settings, stage, clock=clock)
            # What a skipped tick leaves is not urgent; so what is due after a run would be late.
            day.late += [f"{due.session} {due.reason}" for due in find_due(db, memory.settings, clock.now)]
    return day


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()

    class Watch(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> datetime:  # type: ignore[override]
            return made.now

    monkeypatch.setattr(passes, "datetime", Watch)
    return made


@pytest.mark.slow
@pytest.mark.parametrize("hours", [12])  # 11 and 14 hours gave 44 to 54 runs when tried
def test_a_working_day_costs_few_runs(
    db: Database, memory: MemoryResource, instance: dg.DagsterInstance, clock: Clock, hours: float
) -> None:
    """A day of 500 turns makes at most 60 runs, and whatever was due is closed and distilled by the next tick."""
    day = play(db, memory, instance, clock, working_day(random.Random(hours), hours))
    assert 10 < len(day.runs) <= MOST_RUNS
    assert day.late == []
    left = db.fetch_one("select count(*) as n from turns where episode_id is null")
    assert left == {"n": 0}
    states = db.fetch_all("select status, count(*) as n from distill_state group by 1")
    assert {row["status"] for row in states} <= {"done", "skipped"}  # skipped: replaced by a later episode
