"""What a run does to its expectation, to the alerts and to the runs beside it."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from argus_memory.db import Database
from argus_memory.records import RunResult
from tests.helpers import wait_until
from tests.integration.runner.conftest import MakeSpec, Run

DUE = datetime(2027, 3, 1, 6, 0, tzinfo=UTC)
ON_TIME = DUE + timedelta(seconds=20)


def ledger(db: Database) -> dict[str, Any]:
    (row,) = db.fetch_all("select * from expected_runs")
    return row


def scheduled(**more: Any) -> dict[str, Any]:
    return {"started_by": "schedule", "due_at": DUE, "clock": lambda: ON_TIME, **more}


def events(db: Database) -> list[tuple[str | None, str]]:
    rows = db.fetch_all("select from_status, to_status from expected_run_events order by id")
    return [(row["from_status"], row["to_status"]) for row in rows]


def test_a_due_run_moves_its_expectation(run: Run, db: Database) -> None:
    """started, then ok, each noted with its run."""
    run("true", schedule="0 6 * * *", options=scheduled())
    row = ledger(db)
    assert (row["status"], row["decided_by"], row["start_by"]) == ("ok", "runner", DUE + timedelta(minutes=5))
    assert row["task_run_id"] is not None
    assert events(db) == [(None, "started"), ("started", "ok")]


def test_a_run_after_its_grace_is_late_and_may_still_be_well(run: Run, db: Database) -> None:
    """A start past the grace is late, also from missed, and its end counts."""
    with db.transaction() as conn:
        conn.execute(
            "insert into expected_runs (task, due_at, start_by, max_runtime, schedule, timezone, mode, status, status_at,"
            " decided_by) values ('watering', %(due)s, %(due)s, '1 h', '', 'UTC', 'run', 'missed', %(due)s, 'watchdog')",
            {"due": DUE},
        )
    run("true", options=scheduled(clock=lambda: DUE + timedelta(minutes=12)))
    assert events(db)[1:] == [("missed", "late"), ("late", "ok")]
    assert "12 min after" in db.fetch_all("select reason from expected_run_events order by id")[1]["reason"]


def test_a_failed_attempt_with_retries_left_tells_nobody_yet(run: Run, db: Database) -> None:
    """Until the last attempt the expectation stays open and there is no alert; the last one counts once."""
    run("exit 1", options=scheduled(attempt=0, retries_left=1))
    assert (ledger(db)["status"], db.fetch_all("select id from alerts")) == ("started", [])
    run("exit 1", options=scheduled(attempt=1, retries_left=0))
    assert ledger(db)["status"] == "failed"
    alert = db.fetch_one("select evidence from alerts")
    assert alert is not None
    assert alert["evidence"]["failures"] == 1


def test_the_alert_waits_for_the_named_failure_in_a_row(run: Run, db: Database) -> None:
    """failures_before_alert counts failures in a row; a skipped run is neither, a good one starts anew."""
    skip = 'echo \'{"type": "skip", "reason": "rain"}\' >> $ARGUS_TASK_MESSAGES'
    for command in ("exit 1", "true", "exit 1", skip):
        run(command, failures_before_alert=2)
        assert db.fetch_all("select id from alerts") == []
    run("exit 1", failures_before_alert=2)
    assert len(db.fetch_all("select id from alerts where closed_at is null")) == 1


def test_a_task_may_say_that_there_was_nothing_to_do(run: Run, db: Database) -> None:
    """A skip message makes the run skipped with its reason, and the expectation is met."""
    result = run('echo \'{"type": "skip", "reason": "rain"}\' >> $ARGUS_TASK_MESSAGES', options=scheduled())
    assert (result.outcome, result.reason) == ("skipped", "rain")
    assert (ledger(db)["status"], ledger(db)["reason"]) == ("ok", "skipped: rain")


@pytest.mark.parametrize("no_overlap", [True, False])
def test_two_runs_at_once(run: Run, db: Database, no_overlap: bool) -> None:
    """With no_overlap exactly one of two simultaneous starts runs; the other is skipped and so is its expectation."""
    results: list[RunResult] = []
    barrier = threading.Barrier(2)
    command = "echo x >> seen; sleep 0.5"

    def start(minutes: int) -> None:
        barrier.wait()
        due = DUE + timedelta(minutes=minutes)
        results.append(run(command, no_overlap=no_overlap, options=scheduled(due_at=due)))

    threads = [threading.Thread(target=start, args=(minutes,)) for minutes in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    statuses = sorted(row["status"] for row in db.fetch_all("select status from expected_runs"))
    if no_overlap:
        assert sorted(result.outcome for result in results) == ["ok", "skipped"]
        assert statuses == ["ok", "skipped-overlap"]
        assert db.fetch_all("select id from alerts") == []
    else:
        assert [result.outcome for result in results] == ["ok", "ok"]
        assert statuses == ["ok", "ok"]


def test_what_a_run_said_goes_to_its_channel(run: Run, db: Database) -> None:
    """With a channel the summary, else the end of stdout, is delivered when the run ended well and said something."""
    run("echo from stdout", channel="garden")
    run('echo \'{"type": "report", "summary": "4 beds watered"}\' >> $ARGUS_TASK_MESSAGES; echo noise', channel="garden")
    run("true", channel="garden")
    run("echo unheard; exit 1", channel="garden")
    told = db.fetch_all("select channel, body from deliveries where kind = 'deliver' order by id")
    assert [(row["channel"], row["body"]) for row in told] == [("garden", "from stdout"), ("garden", "4 beds watered")]


def test_messages_reach_the_row_and_the_outbox_while_the_task_runs(
    run: Run, db: Database, make_spec: MakeSpec
) -> None:
    """A deliver message is in the outbox before the task ends; metrics, cost and output stand on the row."""
    folder = make_spec().folder
    seen: list[dict[str, Any]] = []

    def watch() -> None:
        wait_until(lambda: db.fetch_all("select 1 from deliveries"), what="the message is in the outbox")
        seen.extend(db.fetch_all("select outcome, metrics from task_runs"))
        (folder / "told").touch()

    thread = threading.Thread(target=watch)
    thread.start()
    lines = [
        '{"type": "metric", "name": "beds", "value": 4}',
        '{"type": "cost", "usd": 0.25, "engine": "api"}',
        '{"type": "report", "output": {"beds": [1, 2]}, "summary": "done"}',
        '{"type": "deliver", "title": "Hello", "text": "there", "channel": "garden", "key": "once"}',
    ]
    writes = "; ".join(f"echo '{line}' >> $ARGUS_TASK_MESSAGES" for line in lines)
    result = run(f"{writes}; until [ -e told ]; do sleep 0.02; done", max_runtime=timedelta(seconds=30))
    thread.join()
    assert seen == [{"outcome": None, "metrics": {"beds": 4}}]
    assert (result.output, result.metrics, result.cost_usd, result.engine) == ({"beds": [1, 2]}, {"beds": 4}, 0.25, "api")
    assert db.fetch_all("select key, channel from deliveries") == [{"key": "task:watering:once", "channel": "garden"}]


def test_messages_that_cannot_be_used_are_told_and_harm_nothing(run: Run) -> None:
    """Broken, unknown and huge lines are named in the reason; the good ones beside them count."""
    command = (
        "f=$ARGUS_TASK_MESSAGES; echo '{broken' >> $f; echo '{\"type\": \"dance\"}' >> $f;"
        " head -c 2000000 /dev/zero >> $f; echo >> $f; printf '\\377\\n' >> $f;"
        " printf '{\"type\": \"metric\", \"name\": \"last\", \"value\": 1}' >> $f"
    )
    result = run(command)
    assert (result.outcome, result.metrics) == ("ok", {"last": 1})
    assert "message 1: is not JSON" in (result.reason or "")
    assert "message 3: is longer than 256 KiB" in (result.reason or "")


def test_a_failed_run_raises_its_alert_in_the_same_transaction(run: Run, db: Database) -> None:
    """The failure, its alert and the message in the outbox are there when run_task returns."""
    run("echo no bucket >&2; exit 3")
    alert = db.fetch_one("select kind, subject, title, evidence from alerts where closed_at is null")
    assert alert is not None
    assert (alert["kind"], alert["subject"], alert["evidence"]["exit_code"]) == ("task-failed", "task:watering", 3)
    message = db.fetch_one("select kind, body from deliveries")
    assert message is not None
    assert message["kind"] == "alert"
    assert "no bucket" in message["body"]


def test_a_good_run_clears_the_alert_once(run: Run, db: Database) -> None:
    """After a failure the next good run closes the alert with a recovery notice; another says nothing more."""
    run("false")
    run("false")
    run("true")
    run("true")
    assert [row["kind"] for row in db.fetch_all("select kind from deliveries order by id")] == ["alert", "recovery"]
