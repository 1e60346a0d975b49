"""`argus process` and `argus review`, as a person calls them."""

from __future__ import annotations

import json

import pytest

from argus_cli.main import main
from argus_memory.db import Database
from argus_memory.settings import Settings
from argus_memory.stages.dedup import dedup_pending
from argus_memory.stages.passes import record_pass
from tests.integration.dedup.test_dedup import NOW, near_notes, saying
from tests.memory_rows import add_turn, at
from tests.stubs.dagster_server import DagsterServer


@pytest.fixture(autouse=True)
def home(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """The commands read the environment: this test's database, a home without a hub, a port without Dagster."""
    monkeypatch.setenv("ARGUS_HOME", str(settings.home))
    monkeypatch.setenv("ARGUS_DATABASE_URL", str(settings.database_url))
    monkeypatch.setenv("ARGUS_DAGSTER_PORT", "1")


def test_process_works_here_without_a_hub(db: Database, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a running hub the stages run in the command, which says so and prints the report."""
    add_turn(db, "We decided to water the beds at 6:30 every morning.", at(0))
    assert main(["process", "--until-idle", "--json"]) == 0
    shown = capsys.readouterr()
    assert json.loads(shown.out)["episodes_closed"] == 1
    assert "no running hub, working here" in shown.err
    assert main(["process"]) == 0
    assert "episodes closed             0" in capsys.readouterr().out


def test_process_by_dagster_reads_the_runs_passes(
    db: Database, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a webserver the job is launched until a run changed nothing, and the report is the runs' own."""
    with DagsterServer() as server:
        monkeypatch.setenv("ARGUS_DAGSTER_PORT", str(server.port))

        def work(run: str) -> None:
            closed = 2 if run == "run-1" else 0
            with db.transaction() as conn:
                record_pass(conn, "segment", at(0), at(1), "ok", {"episodes_closed": closed}, None, run)

        server.on_launch = work
        assert main(["process", "--until-idle", "--json"]) == 0
        assert len(server.launched) == 2
    shown = capsys.readouterr()
    assert json.loads(shown.out)["episodes_closed"] == 2
    assert "/runs/run-1" in shown.err


def test_process_waits_for_the_sensors_run(
    db: Database, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A run that found nothing because another one holds the work is not the end."""
    with DagsterServer(states=("SUCCESS",)) as server:
        monkeypatch.setenv("ARGUS_DAGSTER_PORT", str(server.port))
        monkeypatch.setattr("argus_cli.process_command.SETTLE_SECONDS", 0.0)
        server.at_work = ["of the sensor"]
        assert main(["process", "--until-idle"]) == 0
        assert len(server.launched) == 2
    assert "episodes closed" in capsys.readouterr().out


def test_a_failed_run_says_why(
    db: Database, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What a stage said is shown, with exit 1; a run that failed before any stage names its page, with exit 3."""
    with DagsterServer(states=("FAILURE",)) as server:
        monkeypatch.setenv("ARGUS_DAGSTER_PORT", str(server.port))
        server.on_launch = lambda run: _fail(db, run)
        assert main(["process"]) == 1
        assert "argus: embed: the embedder is away" in capsys.readouterr().err
        server.on_launch = None
        assert main(["process"]) == 3
        assert "run run-2 ended as failure: http://127.0.0.1:" in capsys.readouterr().err


def _fail(db: Database, run: str) -> None:
    with db.transaction() as conn:
        record_pass(conn, "embed", at(0), at(1), "failed", {}, "the embedder is away", run)


def test_review_from_the_command_line(db: Database, settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    """List, approve, undo and a refused reject, each with --json or in words, with the exit codes of the contract."""
    older, _ = near_notes(db, "The tank holds 200 l.", "The tank holds 300 l.", confidence=0.8)
    assert main(["review", "list"]) == 0
    assert "pending=0" in capsys.readouterr().out
    dedup_pending(db, settings, now=NOW, judge=saying("supersede"))
    assert main(["review", "list", "--json"]) == 0
    (held,) = json.loads(capsys.readouterr().out)["held"]
    assert held["other"] == "The tank holds 200 l."
    assert main(["review", "approve", str(held["id"]), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["tombstoned"] == [older]
    assert main(["review", "reject", str(held["id"])]) == 2
    assert "cannot reject merge" in capsys.readouterr().err
    assert main(["review", "--json", "undo", str(held["id"])]) == 0
    assert json.loads(capsys.readouterr().out)["restored"] == [older]
