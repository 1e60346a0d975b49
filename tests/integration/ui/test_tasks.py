"""Pages of tasks: the list, one with its ledger and runs, a run's output, and to-dos."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime, timedelta
from uuid import uuid4
from zoneinfo import ZoneInfo

from fastapi import FastAPI

from argus_api.ui.tasks import run_events
from argus_memory.db import Database
from argus_memory.records import TaskList
from argus_memory.upkeep.pages.tasks import find_tasks
from tests.filled_store import Filled
from tests.ui_client import Browser, count_queries, words_of

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)


def test_the_list_tells_what_ran_and_what_is_next(reader: Browser) -> None:
    """Every stanza with its last run, its state, and what was due as a strip told in words."""
    page = reader.page("/ui/tasks")
    words = words_of(page)
    assert "5 tasks" in words
    assert "the forecast service answered 502" in words
    assert "weather-note, what was due: 1 failed" in page
    assert "scheduled" in words


def test_a_day_is_as_bad_as_its_worst(db: Database) -> None:
    """Of a day with one good and one missed run the strip shows the miss; a day in another zone is another day."""
    with db.transaction() as conn:
        for due, status in ((NOON, "ok"), (NOON - timedelta(hours=1), "missed"), (NOON - timedelta(hours=13), "ok")):
            conn.execute(
                """insert into expected_runs (task, due_at, start_by, max_runtime, schedule, timezone, mode, status, status_at, decided_by)
                   values ('sweep', %(due)s, %(due)s, '1 hour', '@hourly', 'UTC', 'run', %(status)s, %(due)s, 'test')""",
                {"due": due, "status": status},
            )
    from argus_memory.upkeep.pages import tasks

    with db.transaction() as conn:
        utc = tasks._strips(conn, None, 3, ZoneInfo("UTC"), NOON)["sweep"]
        vienna = tasks._strips(conn, None, 3, ZoneInfo("Europe/Vienna"), NOON)["sweep"]
    assert [day.tone for day in utc] == ["none", "ok", "failed"]
    assert utc[2].words == "2026-05-04: 1 missed, 1 ok"
    assert [day.tone for day in vienna] == ["none", "none", "failed"]
    assert find_tasks(db, TaskList((), ()), ZoneInfo("UTC"), now=NOON).rows == []


def test_one_task_with_its_runs(reader: Browser) -> None:
    """Its stanza, the next times, plots told in words, runs that can be narrowed, and its alert."""
    page = reader.page("/ui/tasks/weather-note")
    words = words_of(page)
    assert "15 7 * * *" in words
    assert "14 runs" in words
    assert "weather-note failed" in words
    assert "How long the last runs took" in page
    assert "1 run" in words_of(reader.page("/ui/tasks/weather-note?outcome=failed"))
    assert reader.get("/ui/tasks/weather-note?outcome=odd").status_code == 422
    assert reader.get("/ui/tasks/nothing-of-this-name").status_code == 404


def test_a_runs_output_is_text(browser: Browser, filled: Filled, db: Database) -> None:
    """Markup, terminal codes and a long output: escaped, made visible, clipped, and whole when asked for."""
    with db.transaction() as conn:
        row = conn.execute(
            """insert into task_runs (rid, task, handler, started_by, started_at, beat_at, finished_at, outcome, exit_code,
                                      stdout_tail, stdout_bytes, output)
               values (%s, 'watering', 'code', 'person', now(), now(), now(), 'ok', 0, %s, 20000, '{"litres": 4}') returning id""",
            (uuid4(), "<script>alert(1)</script>\x1b[31mred\x1b[0m " + "x" * 15_000),
        ).fetchone()
    assert row
    page = browser.page(f"/ui/tasks/watering/runs/{row['id']}")
    assert "<script>alert" not in page
    assert "\x1b" not in page
    assert "more characters" in page
    assert '&#34;litres&#34;: 4' in page or '"litres": 4' in words_of(page)
    assert "more characters" not in browser.page(f"/ui/tasks/watering/runs/{row['id']}?whole=1")
    assert browser.get(f"/ui/tasks/read-feeds/runs/{row['id']}").status_code == 404


def test_pausing_and_resuming(browser: Browser, filled: Filled, db: Database) -> None:
    """Until a span, a local time or open-ended; what is no time is refused in a sentence."""
    assert "Paused until" in words_of(browser.follow("/ui/tasks/watering/pause", until="2h", reason="rain"))
    row = db.fetch_one("select actor, reason from task_pauses where task = 'watering' and ended_at is null")
    assert row == {"actor": "ui", "reason": "rain"}
    assert "paused" in words_of(browser.page("/ui/tasks"))
    assert "Resumed" in words_of(browser.follow("/ui/tasks/watering/resume"))
    assert "Nothing was changed." in words_of(browser.follow("/ui/tasks/watering/resume"))
    assert "is no span" in words_of(browser.follow("/ui/tasks/watering/pause", until="soon"))
    assert "Paused until you resume it." in words_of(browser.follow("/ui/tasks/watering/pause"))


def test_running_without_a_hub_says_so(browser: Browser, filled: Filled) -> None:
    """No Dagster answers: one sentence, on the page."""
    assert "No hub to run watering in" in words_of(browser.follow("/ui/tasks/watering/run"))


def test_a_run_is_followed_to_its_end(db: Database, filled: Filled, app: FastAPI) -> None:
    """The stream tells the newest run at once, again while it goes on, and its end; it stops when the viewer is gone."""
    hub = app.state.hub
    with db.transaction() as conn:
        conn.execute(
            """insert into task_runs (rid, task, handler, started_by, started_at, beat_at)
               values (%s, 'watering', 'code', 'person', now(), now())""",
            (uuid4(),),
        )
    told: list[str] = []

    async def follow() -> None:
        async def gone() -> bool:
            if len(told) == 1:
                with db.transaction() as conn:
                    conn.execute(
                        "update task_runs set outcome = 'ok', finished_at = now() where task = 'watering' and outcome is null"
                    )
            return len(told) >= 2

        async for event in run_events(hub, "watering", gone):
            told.append(event)

    asyncio.run(asyncio.wait_for(follow(), 20))
    states = [json.loads(event.partition("data: ")[2]) for event in told]
    assert states[0]["outcome"] is None
    assert states[-1]["outcome"] == "ok"


def test_todos_are_shown_with_their_evidence_and_decided(browser: Browser, filled: Filled, db: Database) -> None:
    """Open ones first, each with the words that name it and what moved it; done is done by a person, and open again."""
    page = browser.page("/ui/tasks/todos")
    words = words_of(page)
    assert "2 to-dos" in words
    assert "the first one was taken out" in words
    row = db.fetch_one("select id from task_items where uid = 'todo-1'")
    assert row
    assert "Done: to-do" in words_of(browser.follow(f"/ui/todos/{row['id']}/done"))
    assert "1 to-do" in words_of(browser.page("/ui/tasks/todos?status=verified"))
    assert "Nothing was changed." in words_of(browser.follow(f"/ui/todos/{row['id']}/done"))
    assert "Open again" in words_of(browser.follow(f"/ui/todos/{row['id']}/reopen"))
    assert browser.send("/ui/todos/999/done").status_code == 404
    assert browser.send(f"/ui/todos/{row['id']}/wish").status_code == 404


def test_empty_pages_say_what_would_fill_them(bare: Browser) -> None:
    """No task, no to-do."""
    assert "There is no task yet." in words_of(bare.page("/ui/tasks"))
    assert "No to-do waits." in words_of(bare.page("/ui/tasks/todos"))


def test_the_queries_do_not_grow_with_the_rows(bare: Browser, reader: Browser) -> None:
    """Of the list, of to-dos, and of a task with two hundred more runs or none."""
    for path in ("/ui/tasks", "/ui/tasks/todos"):
        with count_queries() as few:
            bare.page(path)
        with count_queries() as many:
            reader.page(path)
        assert len(few) == len(many)
