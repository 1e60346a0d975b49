"""Years of tasks: every due time against a count of minutes, every judgement against what was made to happen.

ARGUS_TEST_TASK_YEARS=10000 pytest tests/unit/no_show/test_task_years.py     the long mode, some minutes
"""

from __future__ import annotations

import os
from datetime import datetime, timedelta
from random import Random
from typing import Literal, get_args

from argus_memory.rules.cron import occurrences, parse_schedule
from argus_memory.rules.no_show import Expectation, Facts, PauseFact, QueueFact, RunFact, judge
from tests.unit.no_show.crons import PLAIN_ZONES, Cron, random_cron
from tests.unit.no_show.year_by_minute import due_by_minute

YEARS = int(os.environ.get("ARGUS_TEST_TASK_YEARS", "150"))
TASKS_A_YEAR = 50  # tasks that share a zone and a year
JUDGED_A_YEAR = 40  # occurrences whose life is played, of each task and year
ALARM_AFTER = timedelta(seconds=60)
INSTANT = timedelta(microseconds=1)

Fate = Literal["on time", "late from the queue", "never", "paused", "canceled in the queue", "fails", "retried"]


def test_task_years() -> None:
    """No due time is overlooked or invented, no absence is overlooked, no run that came is called missing."""
    random = Random(20270301)
    played = 0
    while played < YEARS:
        zone, year = random.choice(PLAIN_ZONES), random.randint(2020, 2060)
        for _ in range(min(TASKS_A_YEAR, YEARS - played)):
            cron = bounded_cron(random)
            due = due_by_minute(cron, zone, year)
            start, end = (
                datetime.fromisoformat(f"{year}-01-01T00:00Z"),
                datetime.fromisoformat(f"{year + 1}-01-01T00:00Z"),
            )
            found = list(occurrences(parse_schedule(cron.text), zone, start - INSTANT, end - INSTANT))
            assert found == due, (cron.text, zone, year)
            for at in random.sample(found, min(JUDGED_A_YEAR, len(found))):
                play(random, zone, at)
            played += 1


def bounded_cron(random: Random) -> Cron:
    """At most a few times an hour: a task of every minute tells nothing new and takes as long as a hundred others."""
    while True:
        cron = random_cron(random)
        if len(cron.minutes) <= 6:
            return cron


def play(random: Random, zone: str, due_at: datetime) -> None:
    """Give one occurrence a fate and look at it as a watchdog would, every some seconds until after its grace."""
    grace = timedelta(seconds=random.choice((60, 300, 1800)))
    expected = Expectation(due_at, due_at + grace, grace, timedelta(hours=2), zone, "run", "expected")
    fate: Fate = random.choice(get_args(Fate))
    happens = due_at + random.random() * (grace if fate != "late from the queue" else grace * 3)
    moments = sorted(random.random() * grace for _ in range(3))
    moments += [grace, grace + INSTANT, grace + ALARM_AFTER, grace * 4 + timedelta(minutes=20)]
    for after in moments:
        now = due_at + after
        status = judge(expected, facts_at(fate, due_at, happens, now), now).status
        assert status == wanted(fate, grace, happens, now, due_at), (fate, zone, due_at, after)


def facts_at(fate: Fate, due_at: datetime, happens: datetime, now: datetime) -> Facts:
    """What the tables hold at `now` of a thing that happens at `happens`."""
    there = now >= happens
    queued = QueueFact("0a1b2c3d", "QUEUED", due_at)
    if fate == "paused":
        return Facts(pause=PauseFact(due_at - timedelta(hours=1), None, "anna"))
    if fate == "never":
        return Facts()
    if fate == "canceled in the queue":
        return Facts(queue=QueueFact("0a1b2c3d", "CANCELED", due_at) if there else queued)
    if not there:
        return Facts(queue=queued if fate == "late from the queue" else None)
    ended = {"fails": "failed", "retried": "failed"}.get(fate, "ok")
    if now < happens + timedelta(minutes=1):
        return Facts(run=RunFact(1, happens))
    if fate == "retried" and now >= happens + timedelta(minutes=3):
        return Facts(run=RunFact(2, happens + timedelta(minutes=2), now, "ok", attempt=1))
    left = 1 if fate == "retried" else 0
    return Facts(run=RunFact(1, happens, happens + timedelta(minutes=1), ended, retries_left=left))


def wanted(fate: Fate, grace: timedelta, happens: datetime, now: datetime, due_at: datetime) -> str:
    """The same story told plainly."""
    over = now > due_at + grace
    if fate == "paused":
        return "paused"
    if fate == "never":
        return "missed" if over else "expected"
    if fate == "canceled in the queue":
        if now < happens:
            return "queued"
        return "missed" if over else "expected"
    if now < happens:
        if fate == "late from the queue":
            return "late" if over else "queued"
        return "expected"
    minutes = (now - happens) / timedelta(minutes=1)
    if minutes < 1:
        return "late" if happens > due_at + grace else "started"
    if fate == "fails":
        return "failed"
    if fate == "retried":
        return "ok" if minutes >= 3 else "started"
    return "ok"
