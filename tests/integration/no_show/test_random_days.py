"""Random days of several tasks on a real database, watched by two watchdogs in turn, against a plain record of them."""

from __future__ import annotations

import uuid
from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from random import Random

import pytest

from argus_memory.db import Database
from argus_memory.records import Outcome, TaskSpec
from argus_memory.settings import Settings
from argus_memory.tasks.runs_write import RunEnd, begin_run, finish_run
from argus_memory.watch.ledger import watch_tasks
from tests.integration.no_show.ledger_rows import START, add_pause, add_task

TASKS = 6
HOURS = 9
PASS_EVERY = timedelta(seconds=150)
GRACE = timedelta(minutes=5)
FATES = ("on time", "on time", "on time", "late", "never", "fails")


@dataclass(frozen=True)
class Story:
    """What is made to happen to one occurrence; None: nothing."""

    task: str
    due_at: datetime
    starts: datetime | None
    ends: datetime | None
    outcome: Outcome
    paused: bool


def invent(random: Random) -> list[Story]:
    """Hourly tasks, each with its minute; one of them paused for some hours."""
    stories = []
    for number in range(TASKS):
        for hour in range(0 if number else 1, HOURS):  # 0:00 is within the span of the registration
            due = START + timedelta(hours=hour, minutes=number * 7)
            paused = number == 0 and 4 <= hour < 8
            fate = "never" if paused else random.choice(FATES)
            wait = {"late": GRACE + timedelta(minutes=random.randint(1, 9))}.get(fate, GRACE * random.random() * 0.9)
            starts = None if fate == "never" else due + wait
            ends = starts + timedelta(minutes=random.randint(1, 8)) if starts else None
            stories.append(Story(f"task-{number}", due, starts, ends, "failed" if fate == "fails" else "ok", paused))
    return stories


@pytest.mark.parametrize("seed", [1, 2])
def test_a_random_day_is_told_as_it_was(db: Database, settings: Settings, seed: int) -> None:
    """Each occurrence ends as it was made to; a no-show is told within its grace and a minute past a pass; nothing is
    told of runs that came in time; each alert has one recovery, when the task ran again."""
    random = Random(seed)
    stories = invent(random)
    for number in range(TASKS):
        add_task(db, f"task-{number}", schedule=f"{number * 7} * * * *", grace=GRACE)
    add_pause(db, START + timedelta(hours=3, minutes=30), START + timedelta(hours=7, minutes=30), "task-0")
    live = play(db, settings, random, stories)
    seen = {
        (r["task"], r["due_at"]): r["status"] for r in db.fetch_all("select task, due_at, status from expected_runs")
    }
    for story in stories:
        wanted = "paused" if story.paused else story.outcome if story.starts else "missed"
        assert seen.pop((story.task, story.due_at)) == wanted, story
    assert set(seen.values()) <= {"expected"}  # the last passes reach into the hour after the story
    check_alerts(db, stories, live)


def play(
    db: Database, settings: Settings, random: Random, stories: list[Story]
) -> dict[tuple[str, datetime], datetime]:
    """Let it all happen, a pass after each step, by one watchdog or the other; when each miss was first called so."""
    begins, finishes = defaultdict(list), defaultdict(list)
    for story in stories:
        if story.starts is not None and story.ends is not None:
            begins[story.starts].append(story)
            finishes[story.ends].append(story)
    steps = {START + PASS_EVERY * n for n in range(int(timedelta(hours=HOURS) / PASS_EVERY))} | {*begins, *finishes}
    running: dict[tuple[str, datetime], str] = {}
    called: dict[tuple[str, datetime], datetime] = {}
    for now in sorted(steps):
        for story in begins[now]:
            rid = running[(story.task, story.due_at)] = str(uuid.uuid4())
            begin_run(db, settings, spec_of(story.task), rid=rid, started_by="schedule", now=now, due_at=story.due_at)
        for story in finishes[now]:
            finish_run(db, settings, running[(story.task, story.due_at)], RunEnd(story.outcome, now), now=now)
        watched = watch_tasks(db, settings, now=now, by=random.choice(("watchdog", "dagster")))
        for change in watched.changes:
            if change.to_status == "missed":
                called.setdefault((change.task, change.due_at), now)
    return called


def spec_of(task: str) -> TaskSpec:
    here = Path()
    return TaskSpec(
        task, "code", here, here, 1, command="true", schedule="0 * * * *", start_grace=GRACE, no_overlap=False
    )


def check_alerts(db: Database, stories: list[Story], called: dict[tuple[str, datetime], datetime]) -> None:
    """Alerts as a person would expect them from the stories."""
    absent = {
        (story.task, story.due_at)
        for story in stories
        if not story.paused and (story.starts is None or story.starts > story.due_at + GRACE + PASS_EVERY)
    }
    for task, due in absent:
        assert called[(task, due)] <= due + GRACE + PASS_EVERY
    punctual = {(s.task, s.due_at) for s in stories if s.starts is not None and s.starts <= s.due_at + GRACE}
    assert not punctual & set(called)
    assert not {(s.task, s.due_at) for s in stories if s.paused} & set(called)
    alerts = db.fetch_all(
        "select subject, opened_at, closed_at from alerts where kind = 'no-show' order by opened_at"
    )
    told = db.fetch_all(
        "select d.kind, count(*)::int as n from deliveries d join alerts a on a.id = d.alert_id"
        " where a.kind = 'no-show' group by d.kind"
    )
    counts = {row["kind"]: row["n"] for row in told}
    for alert in alerts:
        assert alert["opened_at"] in {at for (task, _), at in called.items() if f"task:{task}" == alert["subject"]}
    assert counts.get("alert", 0) == len(alerts) > 0
    assert counts.get("recovery", 0) == sum(row["closed_at"] is not None for row in alerts)
    missing_now = {row["subject"] for row in alerts if row["closed_at"] is None}
    last = {story.task: story for story in stories}
    assert missing_now == {f"task:{task}" for task, story in last.items() if story.starts is None}
