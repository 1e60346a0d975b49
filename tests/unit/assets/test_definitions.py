"""What Dagster shows: a snapshot, so that nothing vanishes unnoticed, and what loading it costs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import dagster as dg

from argus_assets.definitions import defs
from argus_assets.defs.memory.jobs import STEPS, process_memory
from argus_assets.defs.tasks.loading import load_task_list
from argus_memory.tasks.names import TASKS_JOB
from argus_memory.upkeep.process import STAGES
from argus_memory.watch.audits import AUDITS

REPOSITORY = Path(__file__).parents[3]
DAILY = {"raw_items", "turn_embeddings", "episodes", "distilled_notes", "note_embeddings"}
LINEAGE = {
    "raw_items": set(),
    "turn_embeddings": {"raw_items"},
    "episodes": {"raw_items", "turn_embeddings"},
    "distilled_notes": {"raw_items", "episodes"},
    "note_embeddings": {"distilled_notes"},
    "dedup_log": {"distilled_notes", "note_embeddings"},
    "projects": {"raw_items", "episodes"},
    "injections": {"distilled_notes", "note_embeddings", "turn_embeddings"},
    "task_items": {"raw_items", "distilled_notes"},
    "injection_uses": {"raw_items", "injections"},
    "note_files": {"distilled_notes"},
    "memory_health": {"distilled_notes", "dedup_log", "injection_uses"},
}
# Tables that checks stand at and that no step of Dagster's writes.
LEDGERS = {"audit_results", "deliveries", "task_runs"}
CHECKS = {
    "raw_items": {"captures_arriving", "triggers_present"},
    "turn_embeddings": {"queue_complete", "turns_embedded"},
    "episodes": {"tails_closed", "distill_state_complete"},
    "distilled_notes": {
        "units_distilled",
        "none_parked",
        "notes_grounded",
        "stages_running",
        "stages_succeeding",
    },
    "note_embeddings": {"notes_embedded"},
}
LOAD_SECONDS = 4.0  # of processor time; measured 1.9, of which Dagster itself takes 0.9
HEAVY = ("litellm", "great_expectations", "pandas", "onnxruntime", "fastapi", "telegram")
LOAD = f"""
import json, sys, time
from dagster._core.workspace.autodiscovery import loadable_targets_from_python_module
start = time.process_time()
from argus_assets.definitions import defs
defs.get_repository_def().load_all_definitions()
seconds = time.process_time() - start
targets = [target.attribute for target in loadable_targets_from_python_module("argus_assets.definitions", None)]
heavy = [name for name in {HEAVY!r} if name in sys.modules]
print(json.dumps({{"seconds": seconds, "targets": targets, "heavy": heavy}}))
"""


def test_assets_with_their_lineage_and_days() -> None:
    """Each asset of the contract is there, with what it is made of, and in days where it has them."""
    graph = defs.resolve_asset_graph()
    nodes = [graph.get(key) for key in graph.get_all_asset_keys() if key.path[0] != "task"]
    found = {node.key.to_user_string(): node for node in nodes}
    lineage = {key: {parent.to_user_string() for parent in node.parent_keys} for key, node in found.items()}
    assert {key: parents for key, parents in lineage.items() if key not in LEDGERS} == LINEAGE
    assert {key for key, node in found.items() if node.is_partitioned} == DAILY
    outside = {key for key, node in found.items() if not node.is_materializable}
    assert outside - LEDGERS == {"raw_items", "injections"}


def test_a_backfill_of_days_is_one_run() -> None:
    """Every asset in days that can be materialized takes all days of a backfill in a single run."""
    graph = defs.resolve_asset_graph()
    policies = {graph.get(dg.AssetKey(key)).backfill_policy for key in DAILY - {"raw_items"}}
    assert policies == {dg.BackfillPolicy.single_run()}


def test_today_is_a_day() -> None:
    """The partition of the running UTC day exists, since what was said today belongs to it."""
    days = defs.resolve_asset_graph().get(dg.AssetKey("distilled_notes")).partitions_def
    assert isinstance(days, dg.DailyPartitionsDefinition)
    assert (days.end_offset, days.timezone) == (1, "UTC")


def test_jobs_schedules_and_sensors() -> None:
    """The jobs, and one schedule or sensor that starts each of them by itself, all of them running at first start."""
    repository = defs.get_repository_def()
    jobs = {name for name in repository.job_names if not name.startswith("__")}
    tasks = load_task_list()
    assert not tasks.broken
    assert jobs == {"process_memory", "audit_memory", "housekeeping", "reconcile_memory", TASKS_JOB}
    schedules = [s for s in repository.schedule_defs if s.job_name != TASKS_JOB]
    assert {(s.name, s.job_name, s.cron_schedule, s.execution_timezone) for s in schedules} == {
        ("audit_memory_hourly", "audit_memory", "7 * * * *", "UTC"),
        ("housekeeping_daily", "housekeeping", "40 3 * * *", "UTC"),
        ("reconcile_nightly", "reconcile_memory", "20 4 * * *", "UTC"),
    }
    assert all(s.default_status == dg.DefaultScheduleStatus.RUNNING for s in repository.schedule_defs)
    sensors = {s.name: s for s in repository.sensor_defs}
    assert set(sensors) - {"task_intervals"} == {"pending_memory", "watch_tasks", "failed_runs"}
    assert sensors["pending_memory"].job_name == "process_memory"
    assert {(s.minimum_interval_seconds, s.default_status) for s in sensors.values()} == {
        (30, dg.DefaultSensorStatus.RUNNING)
    }


def test_checks() -> None:
    """Every audit is a check at its asset, with its question, and all of them are asked by audit_memory."""
    graph = defs.resolve_asset_graph()
    found: dict[str, set[str]] = {}
    memory = {key for key in graph.asset_check_keys if key.asset_key.path[0] != "task"}
    for key in memory:
        found.setdefault(key.asset_key.to_user_string(), set()).add(key.name)
        description = graph.get_check_spec(key).description
        assert description
        assert description.endswith("?")
    assert {asset: names & found.get(asset, set()) for asset, names in CHECKS.items()} == CHECKS
    assert {(asset, name) for asset, names in found.items() for name in names} == {(a.asset, a.name) for a in AUDITS}
    audit = defs.resolve_job_def("audit_memory")
    assert audit.asset_layer.asset_graph.asset_check_keys == memory
    assert audit.partitions_def is None


def test_process_memory_calls_every_stage_once_in_order() -> None:
    """The steps of process_memory are the stages, by falling priority, in one process."""
    assert [asset for asset, _ in STEPS.values()] == list(STAGES)
    priorities = [int(process_memory.graph.node_named(step).tags["dagster/priority"]) for step in STEPS]
    assert priorities == sorted(priorities, reverse=True)
    assert {asset for asset, by_day in STEPS.values() if by_day} == DAILY - {"raw_items"}
    assert process_memory.executor_def is dg.in_process_executor


def test_loading_is_light() -> None:
    """Loading the definitions in a process of its own is quick, imports no heavy library, and finds one object."""
    done = subprocess.run(
        [sys.executable, "-c", LOAD], cwd=REPOSITORY, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["heavy"] == []
    assert found["targets"] == ["defs"]
    assert found["seconds"] < LOAD_SECONDS
    assert "BetaWarning" not in done.stderr
