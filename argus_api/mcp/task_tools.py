"""tasks, task_runs, run_task, health: the person's scheduled work, and whether Argus itself is well."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.types import CallToolResult
from pydantic import Field

from argus_api.hub import Hub, utc_now
from argus_api.mcp.answers import fit, give, read_cursor, read_moment_of, write_cursor
from argus_api.mcp.caller import agent_of
from argus_api.mcp.verbs import READ, RUNS, Cursor, verb
from argus_memory.db import queries
from argus_memory.errors import NotFound
from argus_memory.rules.recall_text import clip, one_line
from argus_memory.rules.storable import storable
from argus_memory.tasks.overview import TaskRow, find_overview
from argus_memory.watch.dagster_launch import run_url
from argus_memory.watch.health import check_health
from argus_memory.watch.health_judge import overall
from argus_memory.watch.start_task import find_task, load_tasks, start_task

REASON: Final = 200
TAIL: Final = 2_500  # characters of a run's output
Name = Annotated[str, Field(description="The task's name, as `tasks` shows it", max_length=64)]
State = Literal["scheduled", "observed", "paused", "by hand", "disabled", "broken"]


def add_task_tools(server: MCPServer[Any], hub: Hub) -> None:
    """Register the four verbs."""

    @verb(server, "tasks", "Scheduled tasks", READ)
    def tasks(
        state: Annotated[State | None, Field(description="Only tasks in this state")] = None,
        cursor: Cursor = None,
    ) -> CallToolResult:
        """The person's tasks: schedule, next time, how each last went, what is broken or paused."""
        after = read_cursor(cursor, after=str).get("after", "")
        rows = find_overview(hub.db, load_tasks(hub.settings), now=utc_now())
        wanted = [row for row in rows if row.name > after and state in (None, row.state)]
        kept = fit([_task(row) for row in wanted])
        return give(
            {
                "tasks": kept,
                "next": write_cursor(after=kept[-1]["name"]) if len(kept) < len(wanted) else None,
                "found": None if kept else "there is no such task",
            }
        )

    @verb(server, "task_runs", "How a task's runs went", READ)
    def task_runs(
        name: Name,
        run: Annotated[
            str | None, Field(description="One run's id, for the end of its output", max_length=64)
        ] = None,
        limit: Annotated[int, Field(ge=1, le=50, description="Runs in one answer")] = 10,
        cursor: Cursor = None,
    ) -> CallToolResult:
        """The latest runs of a task with outcome, duration and cost; with `run`, one of them with the end of what it
        wrote."""
        q, name = queries("serving"), storable(name)
        if run:
            row = hub.db.fetch_one(q.task_run, {"name": name, "rid": storable(run), "chars": TAIL})
            if row is None:
                raise NotFound(f"task {name} has no run {run}")
            return give(_run(row) | {key: row[key] for key in ("stdout_tail", "stderr_tail", "output", "metrics")})
        place = read_cursor(cursor, before=str, id=int)
        before = read_moment_of(place, "before") if place else None
        params = {"name": name, "before": before, "before_id": place.get("id"), "limit": limit + 1}
        rows = hub.db.fetch_all(q.task_runs, params)
        if not rows and not place and hub.db.fetch_one(queries("tasks").find_task, {"name": name}) is None:
            raise NotFound(f"there is no task {name}, and no run of one; `tasks` lists them")
        kept = fit([_run(row) for row in rows[:limit]])
        last = rows[len(kept) - 1] if kept else None
        more = last is not None and len(kept) < len(rows)
        return give(
            {
                "task": name,
                "runs": kept,
                "next": write_cursor(before=last["started_at"].isoformat(), id=last["id"]) if more and last else None,
                "found": None if kept else "it has never run" if not place else "there are no earlier runs",
            }
        )

    @verb(server, "run_task", "Run a task now", RUNS)
    def run_task(ctx: Context[Any, Any], name: Name) -> CallToolResult:
        """Start a task once, now, as its schedule would. Returns at once; ask `task_runs` how it went. Only when the
        person wants it run."""
        task = find_task(hub.settings, storable(name))
        run_id = start_task(hub.settings, task, why=f"agent {agent_of(ctx)}")
        return give(
            {
                "task": task.name,
                "started": True,
                "dagster_run": run_id,
                "page": run_url(hub.settings, run_id),
                "then": f"task_runs with name {task.name} shows the run once it has begun",
            }
        )

    @verb(server, "health", "Is Argus well", READ)
    def health() -> CallToolResult:
        """Whether Argus itself works: captures, stages, tasks, watchdogs; what is wrong and since when."""
        checks = check_health(hub.db, hub.settings, now=utc_now())
        return give(
            {
                "status": overall(checks),
                "look_at": {
                    name: {"status": check.status, "detail": check.detail, "since": check.since}
                    for name, check in checks.items()
                    if not check.is_well
                },
                "well": [name for name, check in checks.items() if check.is_well],
            }
        )


def _task(row: TaskRow) -> dict[str, Any]:
    last = row.last
    return {
        "name": row.name,
        "state": row.state,
        "kind": row.handler,
        "schedule": row.schedule,
        "timezone": row.timezone if row.schedule else None,
        "next": row.next_due,
        "last": None
        if last is None
        else {
            "run": last.rid,
            "outcome": last.outcome or "running",
            "at": last.finished_at or last.started_at,
            "reason": clip(one_line(last.reason), REASON) if last.reason else None,
        },
        "paused_until": (row.pause.until_at or "resumed by a person") if row.pause else None,
        "problem": clip(row.problem, 2 * REASON) if row.problem else None,
        "note": None if row.loaded else "the hub has not read this stanza yet",
    }


def _run(row: Mapping[str, Any]) -> dict[str, Any]:
    ended = row["finished_at"]
    return {
        "run": row["rid"],
        "outcome": row["outcome"] or "running",
        "started_at": row["started_at"],
        "seconds": round((ended - row["started_at"]).total_seconds(), 1) if ended else None,
        "started_by": row["started_by"],
        "due_at": row["due_at"],
        "attempt": row["attempt"] + 1 if row["attempt"] else None,
        "exit_code": row["exit_code"],
        "signal": row["signal"],
        "reason": clip(one_line(row["reason"]), REASON) if row["reason"] else None,
        "cost_usd": row["cost_usd"],
        "engine": row["engine"],
    }
