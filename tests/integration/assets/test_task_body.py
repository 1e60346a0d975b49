"""One run of a task in Dagster: real processes, a real database, an instance in memory."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from argus_assets.defs.tasks.tags import DUE_AT, due_tags, task_tags
from argus_memory.db import Database
from argus_memory.records import TaskSpec
from argus_memory.tasks.names import TASKS_JOB, asset_key
from argus_memory.upkeep.process import utc_now
from tests.task_stanzas import definitions, stanza, task_list


def run(
    folder: Path, text: str, instance: dg.DagsterInstance, tags: dict[str, str] | None = None
) -> tuple[TaskSpec, dg.ExecuteInProcessResult]:
    tasks = task_list(folder, text)
    (spec,) = tasks.tasks
    job = definitions(tasks).resolve_job_def(TASKS_JOB)
    own = [dg.AssetKey(asset_key(spec.name))]
    return spec, job.execute_in_process(instance=instance, tags=tags, asset_selection=own, raise_on_error=False)


def reports(db: Database) -> list[dict[str, Any]]:
    return list(db.fetch_all("select * from task_runs order by id"))


def metadata_of(instance: dg.DagsterInstance, name: str) -> dict[str, Any]:
    event = instance.get_latest_materialization_event(dg.AssetKey(asset_key(name)))
    assert event is not None
    assert event.asset_materialization is not None
    return {key: value.value for key, value in event.asset_materialization.metadata.items()}


def evaluations(result: dg.ExecuteInProcessResult) -> dict[str, bool]:
    return {e.check_name: e.passed for e in result.get_asset_check_evaluations()}


@pytest.mark.usefixtures("run_environment")
def test_a_run_that_is_well_materializes_the_asset(
    db: Database, instance: dg.DagsterInstance, tmp_path: Path
) -> None:
    """The report of the run is on the materialization, an unknown cost is absent, and the run names its report."""
    spec, result = run(tmp_path / "tasks", stanza("greet", command="echo hello; echo `id -u` >&2"), instance)
    assert result.success
    (report,) = reports(db)
    found = metadata_of(instance, "greet")
    assert (found["outcome"], found["exit code"], found["rid"]) == ("ok", 0, str(report["rid"]))
    assert "hello" in found["stdout"]
    assert "cost (USD)" not in found
    assert (report["started_by"], report["dagster_run_id"]) == ("person", result.run_id)
    tags = instance.get_run_by_id(result.run_id).tags  # type: ignore[union-attr]
    assert tags.items() >= {**task_tags(spec), "argus/rid": str(report["rid"]), "argus/outcome": "ok"}.items()
    assert evaluations(result) == {"succeeding": True, "config_valid": True}


@pytest.mark.usefixtures("run_environment")
def test_a_run_that_fails_is_red_and_says_why(db: Database, instance: dg.DagsterInstance, tmp_path: Path) -> None:
    """A failed task fails the run with its reason; nothing is materialized, and the check says so."""
    _, result = run(tmp_path / "tasks", stanza("greet", command="echo no bread >&2; exit 3"), instance)
    assert not result.success
    (failure,) = [e for e in result.all_events if e.event_type_value == "STEP_FAILURE"]
    assert "greet failed" in str(failure.step_failure_data.user_failure_data)
    assert instance.get_latest_materialization_event(dg.AssetKey(asset_key("greet"))) is None
    assert evaluations(result) == {"succeeding": False, "config_valid": True}
    assert [(row["outcome"], row["exit_code"]) for row in reports(db)] == [("failed", 3)]


@pytest.mark.usefixtures("run_environment")
def test_a_skipped_run_makes_nothing_and_says_why(db: Database, instance: dg.DagsterInstance, tmp_path: Path) -> None:
    """A task that had nothing to do leaves an observation with its reason: no materialization, no red run."""
    skip = """echo '{"type": "skip", "reason": "no new mail"}' >> "$ARGUS_TASK_MESSAGES\""""
    _, result = run(tmp_path / "tasks", stanza("mail", command=skip), instance)
    assert result.success
    assert instance.get_latest_materialization_event(dg.AssetKey(asset_key("mail"))) is None
    (seen,) = [e for e in result.all_events if e.event_type_value == "ASSET_OBSERVATION"]
    assert seen.asset_observation_data.asset_observation.description == "no new mail"
    assert evaluations(result) == {"config_valid": True}


@pytest.mark.usefixtures("run_environment")
def test_retries_are_attempts_of_one_run(
    db: Database, instance: dg.DagsterInstance, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A failed attempt is tried again within its run, and each attempt has its report with the retries left."""
    monkeypatch.setattr("argus_assets.defs.tasks.stanza.RETRY_DELAY", timedelta(0))
    command = "test -e seen || { touch seen; exit 1; }"
    _, result = run(tmp_path / "tasks", stanza("twice", command=command, retries="1"), instance)
    assert result.success
    assert [(row["attempt"], row["retries_left"], row["outcome"]) for row in reports(db)] == [
        (0, 1, "failed"),
        (1, 0, "ok"),
    ]
    assert evaluations(result) == {"succeeding": True, "config_valid": True}


@pytest.mark.usefixtures("run_environment")
def test_a_due_run_is_noted_in_the_ledger(db: Database, instance: dg.DagsterInstance, tmp_path: Path) -> None:
    """A scheduled run decides the occurrence its tag names."""
    now = utc_now().replace(microsecond=0)
    (spec,) = task_list(tmp_path / "tasks", stanza("greet", schedule="* * * * *")).tasks
    _, result = run(tmp_path / "tasks", stanza("greet", schedule="* * * * *"), instance, due_tags(spec, now, now))
    # Told with the run: Dagster counts an answer older than the newest materialization as none.
    assert evaluations(result) == {"on_time": True, "succeeding": True, "config_valid": True}
    assert db.fetch_all("select task, due_at, status from expected_runs") == [
        {"task": "greet", "due_at": now, "status": "ok"}
    ]
    assert [row["started_by"] for row in reports(db)] == ["schedule"]


PIPES = """
import sys
from dagster_pipes import open_dagster_pipes
with open_dagster_pipes() as pipes:
    pipes.report_asset_materialization(metadata={"rows": 41, "task": pipes.asset_key})
"""


@pytest.mark.usefixtures("run_environment")
def test_code_that_speaks_pipes_adds_its_own_figures(
    db: Database, instance: dg.DagsterInstance, tmp_path: Path
) -> None:
    """What the task's code reports over Dagster Pipes stands on the same materialization as its report."""
    (tmp_path / "tasks" / "count").mkdir(parents=True)
    (tmp_path / "tasks" / "count" / "main.py").write_text(PIPES)
    _, result = run(tmp_path / "tasks", stanza("count", command="python main.py"), instance)
    assert result.success
    found = metadata_of(instance, "count")
    assert (found["rows"], found["task"], found["outcome"]) == (41, "task/count", "ok")


@pytest.mark.usefixtures("run_environment")
def test_started_from_the_assets_page_a_run_gets_its_tags(
    db: Database, instance: dg.DagsterInstance, tmp_path: Path
) -> None:
    """Dagster's own job has no tags of ours: the run takes them when it begins, and reports as any other."""
    tasks = task_list(tmp_path / "tasks", stanza("greet"))
    job = definitions(tasks).resolve_implicit_global_asset_job_def()
    result = job.execute_in_process(instance=instance, asset_selection=[dg.AssetKey(asset_key("greet"))])
    tags = instance.get_run_by_id(result.run_id).tags  # type: ignore[union-attr]
    assert tags.items() >= task_tags(tasks.tasks[0]).items()
    assert DUE_AT not in tags
    assert [row["started_by"] for row in reports(db)] == ["person"]
