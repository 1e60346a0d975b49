"""What a config.ini becomes in Dagster: a snapshot of assets, jobs, schedules, sensors and checks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
import yaml

from argus_assets.definitions import defs
from argus_assets.defs.tasks import loading
from argus_assets.defs.tasks.stanza import TaskParts, build_task
from argus_assets.defs.tasks.tags import task_tags
from argus_memory.records import TaskList, TaskSpec
from argus_memory.tasks.config import read_task_list
from argus_memory.tasks.names import TASKS_JOB, asset_key
from tests.task_stanzas import definitions, stanza, task_list

REPOSITORY = Path(__file__).parents[3]
WATCHERS = {"watch_tasks", "failed_runs"}


@pytest.fixture
def many(tmp_path: Path) -> TaskList:
    """One of each kind."""
    return task_list(
        tmp_path,
        stanza("backup", schedule="15 3 * * *", timezone="Europe/Berlin", retries="2", max_runtime="10m"),
        stanza("hourly", schedule="@hourly"),
        stanza("sweep", schedule="@every 90m"),
        stanza("digest", handler="llm", prompt="Sum up the day.", schedule="0 7 * * 1-5"),
        stanza("research", handler="agent", prompt="Look around.", schedule="0 0 22 * * *"),
        stanza("elsewhere", schedule="0 4 * * *", mode="observe"),
        stanza("off", schedule="0 5 * * *", enabled="false"),
        stanza("by-hand"),
        stanza("broken", schedule="61 * * * *"),
    )


def metadata_of(found: dg.AssetSpec) -> dict[str, Any]:
    return {key: value for key, value in found.metadata.items() if not key.startswith("dagster")}


def specs_of(found: dg.Definitions) -> dict[str, dg.AssetSpec]:
    return {spec.key.path[-1]: spec for spec in found.resolve_all_asset_specs()}


def test_each_stanza_is_an_asset_of_the_one_job(many: TaskList) -> None:
    """Usable stanzas stand in the group `tasks`, and one job runs each of them; a broken one stands apart, without."""
    found = definitions(many)
    groups = {name: spec.group_name for name, spec in specs_of(found).items()}
    usable = {"backup", "hourly", "sweep", "digest", "research", "elsewhere", "off", "by-hand"}
    assert groups == {**dict.fromkeys(usable, "tasks"), "broken": "tasks_broken"}
    jobs = {name for name in found.get_repository_def().job_names if not name.startswith("__")}
    assert jobs == {TASKS_JOB}
    run = found.resolve_job_def(TASKS_JOB).asset_layer.asset_graph
    assert {key.path[-1] for key in run.executable_asset_keys} == usable
    assert not run.asset_check_keys
    assert {spec.kinds.copy().pop() for name, spec in specs_of(found).items() if name in {"digest", "research"}} == {
        "llm",
        "agent",
    }


def test_what_argus_starts_has_a_schedule_in_its_zone(many: TaskList) -> None:
    """Cron of tasks that Argus starts, in five fields and their zones, running at once; the others have none."""
    found = definitions(many).get_repository_def().schedule_defs
    assert {(s.name, s.job_name, s.cron_schedule, s.execution_timezone) for s in found} == {
        ("task__backup_schedule", TASKS_JOB, "15 3 * * *", "Europe/Berlin"),
        ("task__hourly_schedule", TASKS_JOB, "0 * * * *", "UTC"),
        ("task__digest_schedule", TASKS_JOB, "0 7 * * 1-5", "UTC"),
        ("task__research_schedule", TASKS_JOB, "0 22 * * *", "UTC"),
    }
    assert {s.default_status for s in found} == {dg.DefaultScheduleStatus.RUNNING}


def test_one_sensor_starts_what_runs_every_so_often(many: TaskList, tmp_path: Path) -> None:
    """`@every` has one sensor, which is not there when nothing needs it; the two that watch always are."""
    sensors = {s.name: s for s in definitions(many).get_repository_def().sensor_defs}
    assert set(sensors) == {*WATCHERS, "task_intervals"}
    assert [job.name for job in sensors["task_intervals"].jobs] == [TASKS_JOB]
    assert {s.default_status for s in sensors.values()} == {dg.DefaultSensorStatus.RUNNING}
    without = task_list(tmp_path / "other", stanza("hourly", schedule="@hourly"))
    assert {s.name for s in definitions(without).get_repository_def().sensor_defs} == WATCHERS


def test_every_run_has_the_tags_the_queue_goes_by(many: TaskList) -> None:
    """Kind, task, handler, a limit that leaves room for each attempt, and no more stand-in runs than retries."""
    tags = {spec.name: task_tags(spec) for spec in many.tasks}
    assert tags["backup"] == {
        "argus/kind": "task",
        "argus/task": "backup",
        "argus/handler": "code",
        "dagster/max_runtime": str(3 * 600 + 2 * 10 + 180),
        "dagster/max_retries": "2",
    }
    assert tags["research"]["argus/handler"] == "agent"
    assert tags["hourly"]["dagster/max_retries"] == "0"
    assert definitions(many).resolve_job_def(TASKS_JOB).tags == {"argus/kind": "task"}


def test_the_limits_leave_a_slot_for_memory(many: TaskList) -> None:
    """dagster.yaml limits what every task's run is tagged with: fewer tasks than slots, one agent at a time."""
    config = yaml.safe_load((REPOSITORY / "dagster.yaml").read_text())["run_coordinator"]["config"]
    limits = {(limit["key"], limit["value"]): limit["limit"] for limit in config["tag_concurrency_limits"]}
    tags = {spec.name: task_tags(spec) for spec in many.tasks}["research"]
    assert limits[("argus/kind", tags["argus/kind"])] == config["max_concurrent_runs"] - 1
    assert limits[("argus/handler", tags["argus/handler"])] == 1
    assert not {key for key, _ in limits} & set(defs.resolve_job_def("process_memory").tags)


def test_the_catalogue_says_where_a_task_stands(many: TaskList) -> None:
    """File, line, command, schedule and zone; and in words when nothing of Argus's starts it."""
    specs = specs_of(definitions(many))
    backup = metadata_of(specs["backup"])
    assert (
        backup.items()
        >= {"line": 1, "command": "echo backup", "schedule": "15 3 * * *", "zone": "Europe/Berlin"}.items()
    )
    assert backup["file"].endswith("config.ini")
    assert "Started elsewhere" in (specs["elsewhere"].description or "")
    assert "Switched off" in (specs["off"].description or "")
    assert "by a person only" in (specs["by-hand"].description or "")
    assert "prompt" in metadata_of(specs["digest"])


def test_secrets_in_a_command_are_not_shown(tmp_path: Path) -> None:
    """The catalogue has no password of its own, so a command's secrets are masked there."""
    secret = "sk-ant-api03-" + "Ab3dE6gH" * 6
    found = definitions(task_list(tmp_path, stanza("ask", command=f"run --key {secret}")))
    assert secret not in str(specs_of(found)["ask"].metadata)


def test_a_broken_stanza_says_what_to_do(many: TaskList) -> None:
    """Its place shows file, line, problem and cure, and nothing can start it."""
    found = definitions(many)
    spec = specs_of(found)["broken"]
    (broken,) = many.broken
    assert broken.sentence in (spec.description or "")
    assert f"config.ini:{broken.line}" in broken.sentence
    assert not found.resolve_asset_graph().get(dg.AssetKey(asset_key("broken"))).is_materializable


def test_each_task_has_its_checks(many: TaskList) -> None:
    """Two of its runs, one of its stanza, and for agents one of their tools; a broken task has its stanza's alone."""
    graph = definitions(many).resolve_asset_graph()
    found: dict[str, set[str]] = {}
    for key in graph.asset_check_keys:
        found.setdefault(key.asset_key.path[-1], set()).add(key.name)
    common = {"on_time", "succeeding", "config_valid"}
    assert found["backup"] == common
    assert found["research"] == {*common, "tools_loaded"}
    assert found["broken"] == {"config_valid"}
    assert all(graph.get_check_spec(key).description for key in graph.asset_check_keys)


def test_audits_do_not_ask_the_checks_of_tasks() -> None:
    """audit_memory asks the memory's checks alone: those of tasks are told when they change."""
    asked = defs.resolve_job_def("audit_memory").asset_layer.asset_graph.asset_check_keys
    assert asked
    assert not [key for key in asked if key.asset_key.path[0] == "task"]


def test_a_stanza_that_dagster_refuses_leaves_its_neighbours_alone(tmp_path: Path) -> None:
    """What Argus can read and Dagster cannot becomes a broken task with Dagster's reason; the rest loads."""
    tasks = task_list(tmp_path, stanza("good", schedule="@daily"), stanza("bad", schedule="@daily"))

    def build(spec: TaskSpec) -> TaskParts:
        if spec.name == "bad":
            raise dg.DagsterInvalidDefinitionError("no such cron")
        return build_task(spec)

    specs = specs_of(definitions(tasks, build))
    assert (specs["good"].group_name, specs["bad"].group_name) == ("tasks", "tasks_broken")
    assert "no such cron" in (specs["bad"].description or "")


@pytest.mark.parametrize("text", ["[a\nhandler = code\n", "\x00\xff", "key without a stanza = 1\n", "[a]\n" * 3])
def test_a_file_that_cannot_be_read_is_shown_as_broken(tmp_path: Path, text: str) -> None:
    """Whatever config.ini holds, the definitions load, and something broken says so."""
    (tmp_path / "config.ini").write_bytes(text.encode("latin-1"))
    found = definitions(read_task_list(tmp_path, default_zone="UTC"))
    found.get_repository_def().load_all_definitions()
    assert {spec.group_name for spec in specs_of(found).values()} == {"tasks_broken"}


def test_a_bad_setting_does_not_take_memory_down(monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings that cannot be read become a broken task that names the setting."""
    monkeypatch.setenv("ARGUS_API_PORT", "no port")
    tasks = loading.load_task_list()
    (broken,) = tasks.broken
    assert "ARGUS_API_PORT" in broken.sentence
    assert set(specs_of(definitions(tasks))) == {"config.ini"}


def test_half_a_character_does_not_take_the_location_down(tmp_path: Path) -> None:
    """Text goes to the browser as UTF-8: half a surrogate pair in a description would stop every definition."""
    (spec,) = task_list(tmp_path, stanza("odd")).tasks
    part = build_task(replace(spec, description="half \ud800 and \x00 nothing"))
    (found,) = part.asset.specs
    assert found.description
    assert found.description.encode("utf-8")
    assert "\x00" not in found.description
