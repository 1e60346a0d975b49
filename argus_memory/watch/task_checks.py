"""The four questions about a task: is it on time, does it succeed, can its stanza be used, were its tools there.

A check is answered from the tables alone, so that every place gives the same answer. One that nothing is known of has
no answer: a task that was never due is not on time, and not late either.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from psycopg.rows import DictRow

from argus_memory.db import Database, queries
from argus_memory.records import TaskList, TaskSpec

Check = Literal["on_time", "succeeding", "config_valid", "tools_loaded"]

QUESTIONS: Final[Mapping[Check, str]] = {
    "on_time": "Did it start within its grace when it was last due, and end within its time?",
    "succeeding": "Did its last run end well?",
    "config_valid": "Can its stanza in config.ini be used?",
    "tools_loaded": "Did every MCP server load in its last run?",
}
# Ledger statuses that say something of punctuality. `late` may still come right; the others are decided, or run well.
LATE: Final[Mapping[str, Literal["warn", "error"]]] = {"late": "warn", "missed": "error", "overrunning": "error"}


@dataclass(frozen=True, slots=True)
class CheckState:
    """One answer, with the reason for a person and what to look at."""

    task: str
    check: Check
    passed: bool
    reason: str
    severity: Literal["warn", "error"] = "error"
    evidence: Mapping[str, Any] = field(default_factory=dict)


def checks_of(task_list: TaskList) -> dict[str, tuple[Check, ...]]:
    """The checks each task has. A broken one has only that it is broken."""
    found: dict[str, tuple[Check, ...]] = {}
    for spec in task_list.tasks:
        tools: tuple[Check, ...] = ("tools_loaded",) if spec.handler == "agent" else ()
        found[spec.name] = ("on_time", "succeeding", "config_valid", *tools)
    return found | {broken.name: ("config_valid",) for broken in task_list.broken}


def judge_config(task_list: TaskList) -> list[CheckState]:
    """`config_valid` of every stanza of this load."""
    usable = [CheckState(spec.name, "config_valid", True, "its stanza can be used") for spec in task_list.tasks]
    return usable + [
        CheckState(
            broken.name,
            "config_valid",
            False,
            broken.sentence,
            evidence={"file": str(broken.file), "line": broken.line, "cure": broken.cure},
        )
        for broken in task_list.broken
    ]


def find_checks(db: Database, tasks: Sequence[TaskSpec]) -> list[CheckState]:
    """The answers that are there for these tasks, from the ledger and the reports."""
    rows = db.fetch_all(queries("task_checks").last_of_tasks, {"names": [spec.name for spec in tasks]})
    agents = {spec.name for spec in tasks if spec.handler == "agent"}
    return list(judge_rows(rows, agents))


def judge_rows(rows: Iterable[DictRow], agents: set[str]) -> Iterator[CheckState]:
    """Pure: the last decided occurrence and the last run of each task → answers."""
    for row in rows:
        name = str(row["name"])
        if row["status"] is not None:
            yield _on_time(name, row)
        if row["outcome"] is not None:
            yield _succeeding(name, row)
        if name in agents and row["tools_known"]:
            yield _tools_loaded(name, row)


def _on_time(name: str, row: DictRow) -> CheckState:
    status = str(row["status"])
    due = f"{row['due_at']:%Y-%m-%d %H:%M} UTC"
    reason = f"due {due}: {status}" + (f" ({row['due_reason']})" if row["due_reason"] else "")
    evidence = {"due": due, "status": status}
    return CheckState(name, "on_time", status not in LATE, reason, LATE.get(status, "error"), evidence)


def _succeeding(name: str, row: DictRow) -> CheckState:
    outcome = str(row["outcome"])
    ended = f"{row['finished_at']:%Y-%m-%d %H:%M} UTC"
    reason = f"{outcome} at {ended}" + (f": {row['run_reason']}" if row["run_reason"] else "")
    return CheckState(name, "succeeding", outcome == "ok", reason, evidence={"rid": str(row["rid"])})


def _tools_loaded(name: str, row: DictRow) -> CheckState:
    errors = list(row["tool_errors"] or [])
    if not errors:
        return CheckState(name, "tools_loaded", True, "every MCP server loaded", evidence={"rid": str(row["rid"])})
    told = "; ".join(dict.fromkeys(_tell_error(error) for error in errors))
    return CheckState(
        name, "tools_loaded", False, f"MCP servers that did not load: {told}", evidence={"rid": str(row["rid"])}
    )


def _tell_error(error: Any) -> str:
    """`metamcp (connection refused)`, from what an engine says of a server, in whichever form."""
    if not isinstance(error, Mapping):
        return str(error)
    name = error.get("name") or error.get("server") or error.get("server_name") or "a server"
    why = error.get("error") or error.get("message") or error.get("reason") or error.get("status")
    return f"{name} ({why})" if why else str(name)
