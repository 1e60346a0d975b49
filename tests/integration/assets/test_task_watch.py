"""Dagster's half of the watch: the sensor's tick, the net under runs, and what a schedule asks for."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from argus_assets.defs.tasks.checks import ToldChecks
from argus_assets.defs.tasks.schedules import request_due
from argus_assets.defs.tasks.sensors import failed_run, has_succeeded, tick_watch
from argus_assets.defs.tasks.tags import due_tags, request_tags, task_tags
from argus_assets.resources import MemoryResource
from argus_memory.db import Database
from argus_memory.records import TaskList
from argus_memory.settings import Settings
from argus_memory.tasks.names import TASKS_JOB, asset_key
from argus_memory.tasks.register_again import TaskRegister
from argus_memory.tasks.registry import pause_task, register_tasks
from argus_memory.tasks.runner import run_task
from argus_memory.watch.beats import DAGSTER, SENDER, WATCHDOG, beat
from argus_memory.watch.dagster_side import tell_tools, watch_side
from argus_memory.watch.failed_runs import FailedRun, clear_recovered, note_failure
from argus_memory.watch.task_checks import CheckState
from tests.task_stanzas import definitions, stanza, task_list

START = datetime(2026, 3, 2, 12, 0, 30, tzinfo=UTC)


@pytest.fixture
def tasks(tmp_path: Path) -> TaskList:
    return task_list(
        tmp_path / "tasks",
        stanza("greet", schedule="*/10 * * * *", start_grace="1m"),
        stanza("odd", schedule="nonsense"),
    )


def alerts(db: Database) -> list[tuple[str, str, bool]]:
    rows = db.fetch_all("select kind, subject, closed_at is null as open from alerts order by id")
    return [(row["kind"], row["subject"], row["open"]) for row in rows]


def last_checks(instance: dg.DagsterInstance, tasks: TaskList) -> dict[str, bool]:
    graph = definitions(tasks).resolve_asset_graph()
    records = instance.event_log_storage.get_latest_asset_check_execution_by_key(list(graph.asset_check_keys))
    return {
        f"{key.asset_key.path[-1]}/{key.name}": record.status.value == "SUCCEEDED" for key, record in records.items()
    }


def count_evaluations(instance: dg.DagsterInstance) -> int:
    return len(
        instance.event_log_storage.get_logs_for_all_runs_by_log_id(
            dagster_event_type=dg.DagsterEventType.ASSET_CHECK_EVALUATION
        )
    )


class Ticks:
    """Ticks of one code location, at the times a test names."""

    def __init__(self, instance: dg.DagsterInstance, memory: MemoryResource, tasks: TaskList) -> None:
        self.instance, self.memory = instance, memory
        self.register, self.told = TaskRegister(tasks), ToldChecks()

    def at(self, seconds: float) -> str:
        now = START + timedelta(seconds=seconds)
        return tick_watch(self.instance, self.memory, self.register, self.told, now)

    def every(self, seconds: float, until: float) -> None:
        now = 0.0
        while now <= until:
            self.at(now)
            now += seconds


@pytest.fixture
def ticks(instance: dg.DagsterInstance, memory: MemoryResource, tasks: TaskList) -> Ticks:
    return Ticks(instance, memory, tasks)


def test_the_first_tick_tells_what_is_broken(
    db: Database, instance: dg.DagsterInstance, ticks: Ticks, tasks: TaskList
) -> None:
    """The stanzas are registered, the broken one has its alert and its failing check, the other's passes."""
    assert "2 checks told" in ticks.at(0)
    assert last_checks(instance, tasks) == {"greet/config_valid": True, "odd/config_valid": False}
    assert alerts(db) == [("task-broken", "task:odd", True)]
    assert db.fetch_all("select name, problem is null as usable from tasks order by name") == [
        {"name": "greet", "usable": True},
        {"name": "odd", "usable": False},
    ]


def test_a_no_show_is_told_once(db: Database, instance: dg.DagsterInstance, ticks: Ticks, tasks: TaskList) -> None:
    """Within a minute after its grace a missed run has its alert and fails `on_time`; later ticks add nothing."""
    ticks.every(30, until=570)
    assert ("no-show", "task:greet", True) not in alerts(db)
    ticks.at(600)
    ticks.at(630)
    ticks.at(660)
    assert ("no-show", "task:greet", True) in alerts(db)
    assert last_checks(instance, tasks)["greet/on_time"] is False
    before = count_evaluations(instance), len(alerts(db))
    ticks.at(690)
    ticks.at(720)
    assert (count_evaluations(instance), len(alerts(db))) == before


def test_a_code_location_that_starts_anew_tells_nothing_twice(
    instance: dg.DagsterInstance, memory: MemoryResource, ticks: Ticks, tasks: TaskList
) -> None:
    """What Dagster was told is asked of Dagster, so that a reload adds no evaluation."""
    ticks.at(0)
    before = count_evaluations(instance)
    Ticks(instance, memory, tasks).at(30)
    assert count_evaluations(instance) == before


def test_the_watchdog_is_missed_and_greeted(db: Database, ticks: Ticks) -> None:
    """Its silence is no alert in the first two minutes, is told once then, and its return closes it."""
    watcher = ("watcher", "watcher:watchdog")
    ticks.every(30, until=90)
    assert not [alert for alert in alerts(db) if alert[:2] == watcher]
    ticks.at(120)
    assert "the watchdog in the API is silent" in ticks.at(150)
    assert [alert for alert in alerts(db) if alert[:2] == watcher] == [(*watcher, True)]
    beat(db, WATCHDOG, now=START + timedelta(seconds=170))
    ticks.at(180)
    assert [alert for alert in alerts(db) if alert[:2] == watcher] == [(*watcher, False)]


def test_a_watchdog_that_beats_is_left_alone(db: Database, ticks: Ticks) -> None:
    """While the watchdog lives there is nothing to tell of it."""
    for seconds in range(0, 301, 30):
        beat(db, WATCHDOG, now=START + timedelta(seconds=seconds))
        beat(db, SENDER, now=START + timedelta(seconds=seconds))
        ticks.at(seconds)
    assert alerts(db) == [("task-broken", "task:odd", True)]


def test_a_step_that_fails_leaves_the_others(db: Database, ticks: Ticks, monkeypatch: pytest.MonkeyPatch) -> None:
    """One step's error fails the tick with its words, after the ledger was judged and the sign of life given."""

    def broken(*_args: Any, **_values: Any) -> None:
        raise ValueError("no such table")

    monkeypatch.setattr("argus_memory.watch.dagster_side.close_orphans", broken)
    with pytest.raises(dg.DagsterError, match="orphans: no such table"):
        ticks.at(0)
    (row,) = db.fetch_all("select watcher, detail from watcher_beats")
    assert row == {"watcher": DAGSTER, "detail": {"errors": ["orphans: no such table"]}}
    assert alerts(db) == [("task-broken", "task:odd", True)]


def test_the_checks_can_be_asked_by_a_person(
    db: Database, settings: Settings, instance: dg.DagsterInstance, tasks: TaskList, run_environment: None
) -> None:
    """Executed in the UI, the checks answer from the tables; what nothing is known of passes, and says so."""
    run_task(db, settings, tasks.tasks[0], started_by="person")
    found = definitions(tasks)
    job = found.resolve_implicit_global_asset_job_def()
    keys = set(found.resolve_asset_graph().asset_check_keys)
    result = job.get_subset(asset_selection=set(), asset_check_selection=keys).execute_in_process(instance=instance)
    answers = {
        f"{e.asset_key.path[-1]}/{e.check_name}": (e.passed, e.description or "")
        for e in result.get_asset_check_evaluations()
    }
    assert answers["greet/on_time"] == (True, "unknown: nothing to judge by yet")
    assert answers["greet/succeeding"][0]
    assert not answers["odd/config_valid"][0]


# --- schedules -----------------------------------------------------------------------------------------------
def test_a_schedule_asks_once_and_not_in_a_pause(db: Database, settings: Settings, tasks: TaskList) -> None:
    """The run's key is its due time; in a pause the tick says until when and by whom."""
    register_tasks(db, settings, tasks, now=START, by="test")
    (spec,) = tasks.tasks
    due = START.replace(second=0)
    request = request_due(db, spec, due, START)
    assert isinstance(request, dg.RunRequest)
    assert (request.run_key, request.tags) == ("2026-03-02T12:00:00+00:00", request_tags(spec, due, START))
    assert request.asset_selection == [dg.AssetKey(asset_key("greet"))]
    pause_task(db, "greet", until=START + timedelta(hours=1), actor="ann", reason=None, now=START)
    skip = request_due(db, spec, due, START)
    assert isinstance(skip, dg.SkipReason)
    assert skip.skip_message == "paused by ann until 2026-03-02 13:00 UTC"
    assert isinstance(request_due(db, spec, due, START + timedelta(hours=1)), dg.RunRequest)


def test_a_schedule_as_dagster_calls_it(
    db: Database, settings: Settings, instance: dg.DagsterInstance, tasks: TaskList, run_environment: None
) -> None:
    """Evaluated in a schedule's context it opens its own database and asks for the run of that time."""
    register_tasks(db, settings, tasks, now=START, by="test")
    repository = definitions(tasks).get_repository_def()
    schedule = repository.get_schedule_def("task__greet_schedule")
    due = datetime(2026, 3, 2, 12, 10, tzinfo=UTC)
    with dg.build_schedule_context(
        instance=instance, scheduled_execution_time=due, resources={"memory": MemoryResource()}
    ) as context:
        (request,) = schedule.evaluate_tick(context).run_requests or []
    assert request.tags["argus/due_at"] == "2026-03-02T12:10:00+00:00"
    assert request.tags["argus/started_by"] == "catch-up"
    assert request.tags.items() >= task_tags(tasks.tasks[0]).items()
    assert request.asset_selection == [dg.AssetKey(asset_key("greet"))]


# --- the net -------------------------------------------------------------------------------------------------
def failed(**values: Any) -> FailedRun:
    known: dict[str, Any] = {"run_id": "r1", "job": "process_memory", "error": "disk\nfull", "failed_at": START}
    return FailedRun(**{**known, **values})


def runs_of(db: Database) -> Sequence[tuple[str, str | None]]:
    return [(row["task"], row["outcome"]) for row in db.fetch_all("select task, outcome from task_runs order by id")]


def test_a_failed_job_is_an_alert_until_it_runs_again(db: Database, settings: Settings, tasks: TaskList) -> None:
    """One alert however often it fails; a run that succeeds later closes it, one before does not."""
    for number in range(3):
        assert note_failure(db, settings, tasks, failed(run_id=f"r{number}"), now=START) == "alerted"
    alert = ("dagster-run", "job:process_memory")
    assert alerts(db) == [(*alert, True)]
    asked: list[tuple[str, datetime]] = []

    def never(job: str, since: datetime) -> bool:
        asked.append((job, since))
        return False

    assert clear_recovered(db, settings, never, now=START) == []
    assert asked == [("process_memory", START)]
    assert clear_recovered(db, settings, lambda _job, _since: True, now=START) == ["process_memory"]
    assert alerts(db) == [(*alert, False)]


def test_a_task_whose_worker_died_gets_its_report(db: Database, settings: Settings, tasks: TaskList) -> None:
    """Without a report of its own the run is orphaned, its occurrence failed, and the alert is the task's."""
    register_tasks(db, settings, tasks, now=START, by="test")
    run = failed(job=TASKS_JOB, task="greet", due_at=START.replace(second=0), started_by="schedule")
    assert note_failure(db, settings, tasks, run, now=START) == "reported"
    assert note_failure(db, settings, tasks, run, now=START) == "known"
    assert runs_of(db) == [("greet", "orphaned")]
    (row,) = db.fetch_all("select status, reason from expected_runs")
    assert row["status"] == "failed"
    assert "disk full" in row["reason"]
    assert [alert for alert in alerts(db) if alert[0] != "task-broken"] == [("task-failed", "task:greet", True)]


def test_a_run_that_never_began_is_failed(db: Database, settings: Settings, tasks: TaskList) -> None:
    """A job that could not be loaded is no orphan: nothing ever ran."""
    register_tasks(db, settings, tasks, now=START, by="test")
    assert note_failure(db, settings, tasks, failed(task="greet", began=False), now=START) == "reported"
    assert runs_of(db) == [("greet", "failed")]


def test_a_run_that_reported_is_left_to_its_report(db: Database, settings: Settings, tmp_path: Path) -> None:
    """A task that failed by itself has told of it: the net adds nothing."""
    tasks = task_list(tmp_path / "tasks", stanza("greet", command="exit 4"))
    register_tasks(db, settings, tasks, now=START, by="test")
    run_task(db, settings, tasks.tasks[0], started_by="person", dagster_run_id="r1")
    before = alerts(db)
    assert note_failure(db, settings, tasks, failed(task="greet"), now=START) == "known"
    assert (runs_of(db), alerts(db)) == ([("greet", "failed")], before)


def test_a_run_that_failed_after_its_task_was_well_is_told(db: Database, settings: Settings, tmp_path: Path) -> None:
    """The task did its work and the run is red all the same: that is Dagster's trouble, and told as such."""
    tasks = task_list(tmp_path / "tasks", stanza("greet"))
    register_tasks(db, settings, tasks, now=START, by="test")
    run_task(db, settings, tasks.tasks[0], started_by="person", dagster_run_id="r1")
    assert note_failure(db, settings, tasks, failed(task="greet", job=TASKS_JOB), now=START) == "alerted"
    assert alerts(db) == [("dagster-run", "job:task/greet", True)]


def test_the_net_reads_a_run_of_dagster(
    db: Database, instance: dg.DagsterInstance, tasks: TaskList, run_environment: None
) -> None:
    """A run that Dagster knows gives the net its task, due time and whether it began; success is asked by job or task."""
    (spec,) = tasks.tasks
    due = START.replace(second=0)
    job = definitions(tasks).resolve_job_def(TASKS_JOB)
    done = job.execute_in_process(
        instance=instance, tags=due_tags(spec, due, START), asset_selection=[dg.AssetKey(asset_key("greet"))]
    )
    run = instance.get_run_by_id(done.run_id)
    assert run
    found = failed_run(instance, run, "killed", START)
    assert (found.task, found.due_at, found.started_by, found.began) == ("greet", due, "schedule", True)
    assert run.tags.items() >= task_tags(spec).items()
    assert has_succeeded(instance, "task/greet", datetime(2020, 1, 1, tzinfo=UTC))
    assert has_succeeded(instance, TASKS_JOB, datetime(2020, 1, 1, tzinfo=UTC))
    assert not has_succeeded(instance, "task/greet", datetime.now(UTC) + timedelta(minutes=1))
    assert not has_succeeded(instance, "task/other", datetime(2020, 1, 1, tzinfo=UTC))
    assert not has_succeeded(instance, "process_memory", datetime(2020, 1, 1, tzinfo=UTC))


def test_a_run_whose_worker_died_at_once_is_known_by_its_asset(instance: dg.DagsterInstance) -> None:
    """Started in Dagster by a person, a run has no tag of ours until its worker begins: its one asset says whose it is."""

    def task(*keys: dg.AssetKey, **tags: str) -> str | None:
        run = dg.DagsterRun(job_name=TASKS_JOB, run_id="r", asset_selection=frozenset(keys) or None, tags=tags)
        return failed_run(instance, run, "killed", START).task

    greet, other = dg.AssetKey(["task", "greet"]), dg.AssetKey(["task", "other"])
    assert task(greet) == "greet"
    assert task(other, **{"argus/kind": "task", "argus/task": "greet"}) == "greet"
    assert task(greet, other) is None
    assert task(dg.AssetKey("distilled_notes")) is None
    assert task() is None


def test_missing_tools_are_an_alert_until_they_load(db: Database, settings: Settings) -> None:
    """An agent that ran without a server raises its alert once; the next run with all of them closes it."""
    missing = CheckState("research", "tools_loaded", False, "MCP servers that did not load: metamcp")
    tell_tools(db, settings, [missing], now=START)
    tell_tools(db, settings, [missing, CheckState("research", "succeeding", True, "ok")], now=START)
    assert alerts(db) == [("audit", "check:task/research/tools_loaded", True)]
    tell_tools(db, settings, [CheckState("research", "tools_loaded", True, "all")], now=START)
    assert alerts(db) == [("audit", "check:task/research/tools_loaded", False)]


def test_two_hundred_tasks_are_one_question_each(db: Database, settings: Settings, tmp_path: Path) -> None:
    """A pass over many tasks leaves no error and answers for each of them."""
    many = task_list(tmp_path / "tasks", *(stanza(f"t{n}", schedule="0 3 * * *") for n in range(200)))
    side = watch_side(db, settings, TaskRegister(many), now=START)
    assert side.errors == ()
    assert len(side.checks) == 200
