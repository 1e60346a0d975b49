"""POST /process and /segment: a Dagster run, or here where Dagster cannot be reached."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from argus_memory.db import Database
from argus_memory.errors import Unreachable
from argus_memory.records import ProcessReport
from argus_memory.stages.passes import record_pass
from tests.memory_rows import add_dialog, at

REPORT = {field.name for field in fields(ProcessReport)}


@pytest.fixture
def launched(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """A Dagster that takes every run and has it succeed; the launches are recorded."""
    calls: list[dict[str, Any]] = []

    def launch(settings: object, job: str, **more: Any) -> str:
        calls.append({"job": job, **more})
        return "run-1"

    monkeypatch.setattr("argus_api.process_routes.launch_job", launch)
    monkeypatch.setattr("argus_api.process_routes.wait_run", lambda *_, **__: "SUCCESS")
    return calls


@pytest.fixture
def without_dagster(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> str:
        raise Unreachable("Dagster cannot be reached")

    monkeypatch.setattr("argus_api.process_routes.launch_job", refuse)


@pytest.mark.parametrize("options", [{"json": {"wait": False}}, {"json": {}}, {}])
def test_without_waiting_the_run_is_named(
    client: TestClient, launched: list[dict[str, Any]], options: dict[str, Any]
) -> None:
    """The run's id and its page; one launch of the whole job."""
    answer = client.post("/process", **options)
    assert answer.status_code == 200
    assert answer.json() == {"run_id": "run-1", "url": "http://127.0.0.1:3000/runs/run-1"}
    assert [(call["job"], call["steps"]) for call in launched] == [("process_memory", ())]


def test_segment_is_that_step_alone(client: TestClient, launched: list[dict[str, Any]]) -> None:
    """The job's one step that closes tails."""
    assert client.post("/segment", json={"wait": False}).json()["run_id"] == "run-1"
    assert [(call["job"], call["steps"]) for call in launched] == [("process_memory", ("segment_turns",))]


def test_the_step_is_one_of_the_jobs() -> None:
    """The name that is sent stands in the job's own table, and the job can run it by itself."""
    from argus_api.process_routes import JOB, SEGMENT_STEPS
    from argus_assets.defs.memory.jobs import PROCESS_MEMORY, STEPS, process_memory

    assert JOB == PROCESS_MEMORY
    assert [STEPS[step][0] for step in SEGMENT_STEPS] == ["episodes"]
    subset = process_memory.get_subset(op_selection=list(SEGMENT_STEPS))
    assert [node.name for node in subset.nodes] == list(SEGMENT_STEPS)


def test_with_wait_the_run_s_report_comes_back(
    client: TestClient, db: Database, launched: list[dict[str, Any]]
) -> None:
    """The counts of the run's own passes."""
    with db.transaction() as conn:
        record_pass(conn, "segment", at(0), at(1), "ok", {"episodes_closed": 3}, run_id="run-1")
        record_pass(conn, "segment", at(0), at(1), "ok", {"episodes_closed": 5}, run_id="run-2")
    report = client.post("/process", json={"wait": True}).json()
    assert set(report) >= REPORT
    assert (report["run_id"], report["episodes_closed"], report["note"]) == ("run-1", 3, None)


def test_a_run_that_failed_without_a_word_is_an_error(
    client: TestClient, launched: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """503 with the run's page."""
    monkeypatch.setattr("argus_api.process_routes.wait_run", lambda *_, **__: "FAILURE")
    answer = client.post("/process", json={"wait": True})
    assert answer.status_code == 503
    assert "/runs/run-1" in answer.json()["error"]["message"]


@pytest.mark.parametrize("wait", [True, False])
def test_without_dagster_the_work_is_done_here(
    client: TestClient, db: Database, without_dagster: None, wait: bool
) -> None:
    """The tail is closed and distilled in this process, and the answer says so."""
    add_dialog(db, 2)
    answer = client.post("/process", json={"wait": wait})
    assert answer.status_code == 200
    report = answer.json()
    assert set(report) >= REPORT
    assert (report["run_id"], report["episodes_closed"], report["units_distilled"]) == (None, 1, 1)
    assert "in this process" in report["note"]


def test_without_dagster_segment_closes_and_no_more(client: TestClient, db: Database, without_dagster: None) -> None:
    """The episode is closed; nothing is distilled."""
    add_dialog(db, 2)
    report = client.post("/segment", json={"wait": True}).json()
    assert (report["episodes_closed"], report["units_distilled"]) == (1, 0)
    assert db.fetch_one("select status from distill_state") == {"status": "pending"}


def test_one_piece_of_work_at_a_time_is_done_here(client: TestClient, app: FastAPI, without_dagster: None) -> None:
    """A second call while the first is at work is 409, not twice the load."""
    with app.state.hub.processing:
        answer = client.post("/process")
    assert answer.status_code == 409
