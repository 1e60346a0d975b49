"""POST /runs: what other schedulers report, matched to what was due."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from fastapi.testclient import TestClient

from argus_api.app import create_app
from argus_memory.db import Database
from argus_memory.errors import Conflict, NotFound, UsageError
from argus_memory.records import TaskList
from argus_memory.settings import Settings
from argus_memory.tasks.registry import register_tasks
from argus_memory.tasks.runs import accept_report
from tests.integration.runner.conftest import MakeSpec, Run

NOW = datetime(2027, 3, 1, 6, 0, 30, tzinfo=UTC)
DUE = datetime(2027, 3, 1, 6, 0, tzinfo=UTC)
RID = "0b9f5f0e-4c8b-4f7e-9a4c-2f3b8f6f1d11"


@pytest.fixture
def observed(db: Database, settings: Settings, make_spec: MakeSpec) -> None:
    """A task another scheduler starts at six every day, known for ten days."""
    spec = make_spec(mode="observe", schedule="0 6 * * *", channel="garden")
    register_tasks(db, settings, TaskList((spec,), ()), now=NOW - timedelta(days=10), by="test")


@pytest.fixture
def say(db: Database, settings: Settings, observed: None) -> Any:
    def report(now: datetime = NOW, **fields: Any) -> dict[str, Any]:
        return accept_report(db, settings, {"task": "watering", **fields}, now=now)

    return report


def ledger(db: Database) -> list[tuple[datetime, str, str]]:
    rows = db.fetch_all("select due_at, status, decided_by from expected_runs order by due_at")
    return [(row["due_at"], row["status"], row["decided_by"]) for row in rows]


def verdicts(db: Database) -> list[str]:
    return [row["verdict"] for row in db.fetch_all("select verdict from run_reports order by id")]


def test_start_and_end_make_one_run_of_the_due_occurrence(say: Any, db: Database) -> None:
    """A start is matched to what was due; its end closes the same run and delivers what it said."""
    receipt = say(event="start", rid="build-17")
    assert receipt["verdict"] == "started"
    assert ledger(db) == [(DUE, "started", "report")]
    later = NOW + timedelta(minutes=2)
    receipt = say(later, event="end", rid="build-17", exit_code=0, stdout="4 beds\n", metrics={"beds": 4}, cost_usd=0.5)
    assert receipt["verdict"] == "finished"
    (row,) = db.fetch_all("select * from task_runs")
    assert (row["outcome"], row["started_at"], row["finished_at"], row["started_by"]) == ("ok", NOW, later, "report")
    assert (row["stdout_tail"], row["metrics"], str(row["rid"])) == ("4 beds\n", {"beds": 4}, receipt["rid"])
    assert ledger(db) == [(DUE, "ok", "report")]
    assert db.fetch_all("select channel, body from deliveries") == [{"channel": "garden", "body": "4 beds"}]


def test_an_end_alone_is_a_whole_run(say: Any, db: Database) -> None:
    """Without a start the end makes the run; a failure raises its alert."""
    say(outcome="failed", exit_code=2, started_at=DUE.isoformat(), stderr="no water")
    assert ledger(db) == [(DUE, "failed", "report")]
    alert = db.fetch_one("select subject from alerts")
    assert alert == {"subject": "task:watering"}


def test_an_end_without_an_id_closes_the_open_run(say: Any, db: Database) -> None:
    """A script that keeps no id may report start and end one after the other."""
    first = say(event="start")
    assert say(event="end", exit_code=0)["rid"] == first["rid"]
    assert len(db.fetch_all("select 1 from task_runs")) == 1


def test_reports_made_twice_count_once(say: Any, db: Database) -> None:
    """A repeated start, a repeated end and a repeated report without an id are 'repeated'."""
    say(event="start", rid=RID)
    assert say(event="start", rid=RID)["verdict"] == "repeated"
    say(event="end", rid=RID, exit_code=0)
    assert say(event="end", rid=RID, exit_code=0)["verdict"] == "repeated"
    whole = {"outcome": "failed", "at": (NOW - timedelta(minutes=3)).isoformat()}
    assert say(**whole)["verdict"] == "finished"
    assert say(**whole)["verdict"] == "repeated"
    assert len(db.fetch_all("select 1 from task_runs")) == 2
    assert len(verdicts(db)) == 6


def test_what_contradicts_changes_nothing_and_is_kept(say: Any, db: Database) -> None:
    """The first end stands; the other is a row with its verdict."""
    say(event="end", rid=RID, exit_code=0)
    with pytest.raises(Conflict, match="the first stands"):
        say(event="end", rid=RID, exit_code=1)
    assert db.fetch_all("select outcome from task_runs") == [{"outcome": "ok"}]
    assert verdicts(db) == ["finished", "contradicts"]


def test_an_unknown_task_is_kept_as_a_report(say: Any, db: Database, settings: Settings) -> None:
    """Nothing is made of it, but it is on record."""
    with pytest.raises(NotFound, match=r"no-such"):
        accept_report(db, settings, {"task": "no-such", "outcome": "ok"}, now=NOW)
    assert db.fetch_all("select task, verdict from run_reports") == [{"task": "no-such", "verdict": "unknown-task"}]


def test_a_refused_report_is_kept_and_its_secrets_are_not(say: Any, db: Database, settings: Settings) -> None:
    """The row says which field; the body is masked and bounded."""
    with pytest.raises(UsageError, match=r"^outcome: "):
        say(outcome="splendid", stdout=f"token {settings.mcp_token} " + "x" * 200_000)
    (row,) = db.fetch_all("select verdict, reason, body from run_reports")
    assert row["verdict"] == "refused"
    assert str(settings.mcp_token) not in str(row)
    assert len(str(row["body"])) < 70_000


@pytest.mark.parametrize("off", [timedelta(days=1), -timedelta(days=1)])
def test_a_clock_a_day_off_still_meets_its_occurrence(say: Any, db: Database, off: timedelta) -> None:
    """Our time of receipt is used, the difference stands in receipt and row."""
    receipt = say(outcome="ok", at=(NOW + off).isoformat(), started_at=(NOW + off - timedelta(seconds=20)).isoformat())
    assert "1 day" in receipt["reason"]
    (row,) = db.fetch_all("select finished_at, reason from task_runs")
    assert row["finished_at"] == NOW
    assert "clock" in row["reason"]
    assert ledger(db) == [(DUE, "ok", "report")]


def test_a_late_run_is_of_the_occurrence_it_missed(say: Any, db: Database) -> None:
    """Hours after the grace it is still today's; a second run of the day is nobody's."""
    say(NOW + timedelta(hours=5), event="start", rid="a")
    assert ledger(db) == [(DUE, "late", "report")]
    say(NOW + timedelta(hours=6), outcome="ok", rid="b")
    assert len(ledger(db)) == 1
    assert [row["due_at"] for row in db.fetch_all("select due_at from task_runs order by id")] == [DUE, None]


def test_a_run_that_argus_started_is_ended_by_its_runner_alone(say: Any, run: Run, db: Database) -> None:
    """A report from within does not overrule what the runner saw."""
    rid = run("true").rid
    with pytest.raises(Conflict, match="taskkit"):
        say(event="end", rid=rid, exit_code=1)


@pytest.fixture
def client(db: Database, settings: Settings, observed: None) -> Iterator[TestClient]:
    headers = {"Authorization": f"Bearer {settings.mcp_token}"}
    with TestClient(create_app(settings), base_url="http://127.0.0.1:8484", headers=headers) as caller:
        yield caller


def test_statuses_over_http(client: TestClient, settings: Settings) -> None:
    """201 for news, 200 for what was said before, 404, 409 and 422 with a sentence, 403 for a lower token."""
    end = {"task": "watering", "event": "end", "rid": RID, "exit_code": 0}
    first = client.post("/runs", json=end)
    assert (first.status_code, first.json()["verdict"], first.json()["rid"]) == (201, "finished", RID)
    assert (client.post("/runs", json=end).status_code, client.post("/runs", json=end).json()["verdict"]) == (200, "repeated")
    assert client.post("/runs", json={**end, "exit_code": 9}).status_code == 409
    unknown = client.post("/runs", json={**end, "task": "nobody", "rid": None})
    assert (unknown.status_code, unknown.json()["error"]["code"]) == (404, "not_found")
    assert client.post("/runs", json={"task": "watering"}).status_code == 422
    assert client.post("/runs", json=[]).status_code == 422
    lower = {"Authorization": f"Bearer {settings.capture_token}"}
    assert client.post("/runs", json=end, headers=lower).status_code == 403


def test_text_that_no_table_takes_is_refused_in_a_sentence_or_kept_without_it(say: Any, db: Database) -> None:
    """A NUL or half an emoji in a name or an id ends in no error of the database: it is replaced."""
    for name in ("a\0b", "\ud83d"):
        with pytest.raises(NotFound):
            say(task=name, event="start")
        assert say(event="start", rid=name)["verdict"] == "started"
        assert say(event="end", rid=name, exit_code=1, reason=name)["verdict"] == "finished"


def test_a_foreign_start_without_an_end_keeps_no_task_from_running(
    run: Run, make_spec: MakeSpec, db: Database, settings: Settings
) -> None:
    """A start that somebody reported of a task Argus starts itself is no overlap: its own runs go on."""
    register_tasks(db, settings, TaskList((make_spec(schedule="0 6 * * *"),), ()), now=NOW - timedelta(days=1), by="test")
    accept_report(db, settings, {"task": "watering", "event": "start"}, now=datetime.now(UTC))
    assert run("true").outcome == "ok"
