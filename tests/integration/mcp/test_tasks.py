"""tasks, task_runs, run_task, health."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import uuid4

from tests.api_process import ApiProcess
from tests.integration.mcp.conftest import call, refusal

NOW = datetime(2026, 6, 1, tzinfo=UTC)


def add_run(api: ApiProcess, task: str, number: int, outcome: str = "ok") -> str:
    rid = str(uuid4())
    api.db.fetch_all(
        "insert into task_runs (rid, task, started_by, started_at, beat_at, finished_at, outcome, exit_code, stdout_tail)"
        " values (%(rid)s, %(task)s, 'schedule', %(at)s, %(at)s, %(end)s, %(outcome)s, 0, %(out)s) returning id",
        {"rid": rid, "task": task, "at": NOW + timedelta(hours=number), "end": NOW + timedelta(hours=number, seconds=90),
         "outcome": outcome, "out": "copied 12 files\n"},
    )  # fmt: skip
    return rid


def test_tasks_tell_state_and_schedule(api: ApiProcess) -> None:
    """Every stanza of config.ini with its state; one state alone where it is asked for."""
    rows = {row["name"]: row for row in call(api, "tasks")["tasks"]}
    assert rows["backup"]["state"] == "scheduled"
    assert rows["watched"]["state"] == "observed"
    assert rows["backup"]["schedule"] == "@daily"
    assert rows["backup"]["next"]
    assert [row["name"] for row in call(api, "tasks", state="observed")["tasks"]] == ["watched"]


def test_runs_are_paged_and_one_is_told_whole(api: ApiProcess) -> None:
    """Runs come newest first over pages; a run's id brings the end of its output."""
    rids = [add_run(api, "backup", number) for number in range(5)]
    seen: list[str] = []
    cursor = None
    for _ in range(6):
        page = call(api, "task_runs", name="backup", limit=2, cursor=cursor)
        seen += [run["run"] for run in page["runs"]]
        cursor = page.get("next")
        if cursor is None:
            break
    assert seen == rids[::-1]
    one = call(api, "task_runs", name="backup", run=rids[0])
    assert one["stdout_tail"] == "copied 12 files\n"
    assert one["seconds"] == 90.0


def test_a_run_that_cannot_start_says_why(api: ApiProcess) -> None:
    """No such task, one that another scheduler starts, and no Dagster to run it in."""
    assert "there is no task" in refusal(api, "run_task", name="nothing")
    assert "another scheduler" in refusal(api, "run_task", name="watched")
    assert "start it with `argus up`" in refusal(api, "run_task", name="backup")
    assert "there is no task nothing" in refusal(api, "task_runs", name="nothing")


def test_health_says_what_to_look_at(api: ApiProcess) -> None:
    """The answer is that of /healthz, with what is well by name only."""
    told = call(api, "health")
    with api.client(None) as client:
        plain = client.get("/healthz").json()
    assert told["status"] == plain["status"]
    assert told["look_at"].keys() | set(told["well"]) == plain["checks"].keys()
