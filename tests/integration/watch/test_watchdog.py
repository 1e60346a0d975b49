"""A pass of the watchdog on a real database: what it tells, once, and what it survives."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from argus_api.watchdog import LOOK_SECONDS, Watchdog
from argus_memory.db import Database
from argus_memory.records import TaskSpec
from argus_memory.settings import Settings
from argus_memory.tasks.runs import begin_run
from argus_memory.watch import watchdog
from argus_memory.watch.beats import DAGSTER, SILENCE, WATCHDOG, beat, find_beats
from argus_memory.watch.health import check_health
from argus_memory.watch.health_alerts import SAMPLE_PACE, watch_health
from argus_memory.watch.health_judge import DAEMONS, Check
from argus_memory.watch.hooks_silent import watch_hooks
from argus_memory.watch.watchdog import Step, WatchState, watch_dagster, watch_once
from tests.helpers import wait_until
from tests.memory_rows import add_turn
from tests.stubs.dagster_server import DagsterServer

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
SECOND, MINUTE, HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)


@pytest.fixture
def settings(settings: Settings) -> Iterator[Settings]:
    """With a webserver that has the code."""
    with DagsterServer() as server:
        yield replace(settings, dagster_url=f"http://127.0.0.1:{server.port}")


def rows(db: Database, query: Any) -> list[Any]:
    return [tuple(row.values()) for row in db.fetch_all(query)]


def told(db: Database) -> list[Any]:
    return rows(db, "select d.kind, a.subject from deliveries d join alerts a on a.id = d.alert_id order by d.id")


def beat_daemons(db: Database, at: datetime) -> None:
    """Dagster's own table, with beats of that moment."""
    with db.transaction() as conn:
        conn.execute("create schema if not exists dagster")
        conn.execute(
            "create table if not exists dagster.daemon_heartbeats"
            " (daemon_type varchar(255) unique not null, daemon_id varchar(255), timestamp timestamp, body text)"
        )
        for name in DAEMONS:
            conn.execute(
                "insert into dagster.daemon_heartbeats values (%s, 'd', %s, null)"
                " on conflict (daemon_type) do update set timestamp = excluded.timestamp",
                (name, at.replace(tzinfo=None)),
            )


def test_dagsters_silence_is_told_once_and_so_is_its_return(db: Database, settings: Settings) -> None:
    """Daemons and sensor silent for more than two minutes: one alert however many passes, one recovery."""
    beat(db, WATCHDOG, now=NOW)
    beat(db, DAGSTER, now=NOW)
    beat_daemons(db, NOW)
    for seconds in range(15, 300, 15):
        now = NOW + seconds * SECOND
        beat(db, WATCHDOG, now=now)
        assert bool(watch_dagster(db, settings, now)) == (seconds > 120)
    assert told(db) == [("alert", "watcher:dagster")]
    beat(db, DAGSTER, now=now)
    beat_daemons(db, now)
    watch_dagster(db, settings, now + SECOND)
    watch_dagster(db, settings, now + 2 * SECOND)
    assert told(db) == [("alert", "watcher:dagster"), ("recovery", "watcher:dagster")]


def test_a_clean_restart_is_no_alarm(db: Database, settings: Settings) -> None:
    """The hub was off for an hour: until the watchdog itself is there for SILENCE, the other side may be starting."""
    beat(db, WATCHDOG, now=NOW - HOUR)
    beat(db, DAGSTER, now=NOW - HOUR)
    beat_daemons(db, NOW - HOUR)
    for seconds in range(0, 121, 15):
        beat(db, WATCHDOG, now=NOW + seconds * SECOND)
        if seconds < 120:
            assert watch_dagster(db, settings, NOW + seconds * SECOND)
    assert told(db) == []
    watch_dagster(db, settings, NOW + SILENCE)
    assert told(db) == [("alert", "watcher:dagster")]


def test_a_check_that_stays_bad_is_told_and_kept(db: Database, settings: Settings) -> None:
    """A sample at each change and one an hour; an alert after a minute, none for a moment, a recovery after another."""

    def look(seconds: int, status: Any) -> None:
        checks = {"segment": Check(status, f"it is {status}")}
        watch_health(db, settings, checks, now=NOW + seconds * SECOND, since=NOW, by="test")

    look(0, "ok")
    look(15, "failed")
    look(30, "ok")
    look(45, "failed")
    look(60, "failed")
    assert told(db) == []
    look(105, "failed")
    look(120, "failed")
    assert told(db) == [("alert", "health:segment")]
    look(135, "ok")
    assert len(told(db)) == 1
    look(195, "ok")
    assert told(db)[1:] == [("recovery", "health:segment")]
    assert rows(db, "select status from health_samples order by id") == [
        ("ok",), ("failed",), ("ok",), ("failed",), ("ok",)
    ]  # fmt: skip
    look(135 + int(SAMPLE_PACE.total_seconds()), "ok")
    assert rows(db, "select count(*) from health_samples") == [(6,)]


def test_what_was_bad_before_the_hub_went_off_starts_anew(db: Database, settings: Settings) -> None:
    """Failed yesterday and failed at the first look: it has its minute."""
    checks = {"embed": Check("failed", "x")}
    watch_health(db, settings, checks, now=NOW - 12 * HOUR, since=NOW - 12 * HOUR, by="test")
    watch_health(db, settings, checks, now=NOW, since=NOW, by="test")
    assert told(db) == []
    watch_health(db, settings, checks, now=NOW + MINUTE, since=NOW, by="test")
    assert told(db) == [("alert", "health:embed")]


def add_hook(db: Database, event: str, at: datetime, *, host: str = "laptop", session: str = "s1") -> None:
    with db.transaction() as conn:
        conn.execute(
            "insert into hook_heartbeats (host, target, version, event, session, at)"
            " values (%s, 'claude-code', '1', %s, %s, %s)"
            " on conflict (host, target) do update set event = excluded.event, at = excluded.at",
            (host, event, session, at),
        )


def add_prompt(db: Database, session: str, at: datetime, project: str = "garden") -> None:
    with db.transaction() as conn:
        conn.execute(
            "insert into injections (at, session, query, project, prompt_mode) values (%s, %s, 'q', %s, true)",
            (at, session, project),
        )


def arrive(db: Database, at: datetime, *, host: str = "laptop", project: str = "garden", session: str = "s1") -> None:
    raw = add_turn(db, f"said at {at}", at, session=session, project=project)
    with db.transaction() as conn:
        conn.execute("alter table raw_items disable trigger raw_items_immutable")
        conn.execute(
            "update raw_items set metadata = metadata || %s::jsonb where id = %s", (f'{{"host":"{host}"}}', raw)
        )
        conn.execute("alter table raw_items enable trigger raw_items_immutable")


def test_an_answer_without_its_turn_is_a_silent_hook(db: Database, settings: Settings) -> None:
    """The laptop reports answers while its last turn is hours old; the desk, quiet as well, reports nothing."""
    arrive(db, NOW - 5 * HOUR)
    arrive(db, NOW - 5 * HOUR, host="desk")
    add_hook(db, "Stop", NOW - 10 * MINUTE)
    add_hook(db, "Stop", NOW - 5 * HOUR, host="desk")
    for minutes in (0, 5):
        assert watch_hooks(db, settings, now=NOW + minutes * MINUTE, by="test") == ("hooks:laptop/claude-code",)
    assert told(db) == [("alert", "hooks:laptop/claude-code")]
    assert check_health(db, settings, now=NOW)["hooks"].status == "failed"
    arrive(db, NOW + 6 * MINUTE)
    assert watch_hooks(db, settings, now=NOW + 10 * MINUTE, by="test") == ()
    assert told(db)[1:] == [("recovery", "hooks:laptop/claude-code")]


def test_prompts_of_a_session_of_which_nothing_arrives(db: Database, settings: Settings) -> None:
    """Recall is asked three times in a new session and no turn comes; a canary's turns are no sign of life."""
    arrive(db, NOW - 5 * HOUR)
    add_hook(db, "SessionEnd", NOW - 4 * HOUR)
    for minutes in (40, 30, 20):
        add_prompt(db, "s2", NOW - minutes * MINUTE)
        add_prompt(db, "argus", NOW - minutes * MINUTE, project="argus-canary")
    arrive(db, NOW - 10 * MINUTE, project="argus-canary", session="argus-canary-x")
    assert watch_hooks(db, settings, now=NOW, by="test") == ("hooks:laptop/claude-code",)
    assert rows(db, "select evidence -> 'sessions' from alerts") == [(["s2"],)]
    arrive(db, NOW + MINUTE, session="s2")
    assert watch_hooks(db, settings, now=NOW + 2 * MINUTE, by="test") == ()


def test_a_machine_that_falls_silent_is_no_alarm(db: Database, settings: Settings) -> None:
    """Nobody works there any more: days later nothing is told."""
    arrive(db, NOW - 3 * HOUR)
    add_hook(db, "Stop", NOW - 3 * HOUR)
    for days in (0, 1, 3, 10):
        assert watch_hooks(db, settings, now=NOW + timedelta(days=days), by="test") == ()
    assert told(db) == []


def test_a_pass_does_its_steps_at_their_pace(db: Database, settings: Settings) -> None:
    """Every step at the first pass; 15 s later those of each pass, a minute later those of the minute too."""
    state = WatchState()
    first = watch_once(db, settings, now=NOW, state=state)
    assert set(first.steps) == {step.name for step in watchdog.STEPS}, first.errors
    second = watch_once(db, settings, now=NOW + 15 * SECOND, state=state)
    assert second.steps == ("orphans", "tasks", "dagster")
    third = watch_once(db, settings, now=NOW + MINUTE, state=state)
    assert third.steps == ("orphans", "tasks", "dagster", "health", "remind")
    back = watch_once(db, settings, now=NOW - HOUR, state=state)  # a clock set back does not stop it
    assert "health" in back.steps
    assert find_beats(db)[WATCHDOG].pass_ms is not None


def test_a_step_that_fails_stops_no_other_and_shows(
    db: Database, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rest of the pass is done; the beat and the health check name the step."""

    def fail(*_: object) -> None:
        raise KeyError("nothing there")

    steps = (Step("orphans", timedelta(), fail), *watchdog.STEPS[1:3])
    monkeypatch.setattr(watchdog, "STEPS", steps)
    report = watch_once(db, settings, now=NOW)
    assert report.steps == ("tasks", "dagster")
    assert report.errors[0].startswith("orphans: ")
    beat(db, DAGSTER, now=NOW)
    check = check_health(db, settings, now=NOW)["watchdogs"]
    assert (check.status, "orphans" in check.detail) == ("warn", True)


def test_the_threads_survive_what_a_pass_raises_and_stop_promptly(
    db: Database, settings: Settings, dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pass that breaks is followed by the next; a stop does not wait for the pause."""
    calls: list[int] = []

    def work(*_: object, **__: object) -> None:
        calls.append(len(calls))
        raise RuntimeError("a pass broke")

    monkeypatch.setattr("argus_api.watchdog.watch_once", work)
    dog = Watchdog(settings, dsn, pass_seconds=0.01, first_pass_seconds=0.0, first_canary_seconds=60)
    dog.start()
    wait_until(lambda: len(calls) > 3, what="passes go on")
    began = datetime.now(UTC)
    dog.stop()
    assert datetime.now(UTC) - began < 2 * SECOND


def test_a_lost_run_is_closed_between_two_passes(db: Database, settings: Settings, dsn: str, tmp_path: Path) -> None:
    """A run whose worker is gone is closed and told at once; a pass that is far off is not waited for."""
    spec = TaskSpec("watering", "code", tmp_path, tmp_path / "config.ini", 1, command="true")
    dog = Watchdog(settings, dsn, pass_seconds=3600, first_pass_seconds=0, first_canary_seconds=3600)
    dog.start()
    try:
        wait_until(lambda: rows(db, "select 1 from watcher_beats where pass_ms is not null"), what="the first pass")
        begin_run(db, settings, spec, rid=str(uuid4()), started_by="schedule", now=datetime.now(UTC))
        with db.transaction() as conn:
            conn.execute("update task_runs set pid = null")
        wait_until(lambda: told(db) == [("alert", "task:watering")], seconds=2 * LOOK_SECONDS, what="it is told")
        assert rows(db, "select outcome from task_runs") == [("orphaned",)]
    finally:
        dog.stop()
