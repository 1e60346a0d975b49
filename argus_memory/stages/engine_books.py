"""The books of the engines: every attempt a row of `engine_attempts`, until when each is capped in `engine_states`.

Each row is committed on its own, as for `llm_calls`: what was tried stays on record when the work around it fails.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from argus_memory.db import Database, queries
from argus_memory.models.engines.api import Api
from argus_memory.models.engines.claude import Claude
from argus_memory.models.engines.codex import Codex
from argus_memory.models.engines.process import local_zone
from argus_memory.models.engines.records import Attempt, Engine, EngineState
from argus_memory.models.llm import LlmDoor
from argus_memory.settings import Settings

q = queries("engines")


@dataclass(frozen=True, slots=True)
class Books:
    """The states and attempts in one database; whose attempts: a run of a task (`rid`, `task`) or a `stage`."""

    db: Database
    rid: str | None = None
    task: str | None = None
    stage: str | None = None
    turn: int = 0

    def find(self, engine: str) -> EngineState:
        row = self.db.fetch_one(q.find_state, {"engine": engine})
        return EngineState(row["capped_until"], row["reason"]) if row else EngineState()

    def cap(self, engine: str, until: datetime, reason: str, *, now: datetime) -> None:
        with self.db.transaction() as conn:
            conn.execute(q.cap_engine, {"engine": engine, "until": until, "reason": reason, "now": now})

    def clear(self, engine: str, *, now: datetime) -> None:
        with self.db.transaction() as conn:
            conn.execute(q.clear_engine, {"engine": engine, "now": now})

    def record(self, attempt: Attempt) -> None:
        verdict = attempt.verdict
        errors = [asdict(error) for error in verdict.mcp_errors]
        with self.db.transaction() as conn:
            conn.execute(
                q.insert_attempt,
                {
                    "rid": UUID(self.rid) if self.rid else None,
                    "task": self.task,
                    "stage": self.stage,
                    "turn": self.turn,
                    "place": attempt.place,
                    "engine": attempt.engine,
                    "model": verdict.model,
                    "started_at": attempt.started_at,
                    "finished_at": attempt.finished_at,
                    "outcome": verdict.outcome,
                    "reason": verdict.reason,
                    "reset_at": verdict.reset_at,
                    "exit_code": verdict.exit_code,
                    "cost_usd": verdict.cost_usd,
                    "prompt_tokens": verdict.prompt_tokens,
                    "completion_tokens": verdict.completion_tokens,
                    "session": verdict.session,
                    "mcp_errors": Jsonb(errors) if errors else None,
                    "next_engine": attempt.next_engine,
                },
            )


def open_engines(settings: Settings, door: LlmDoor, names: tuple[str, ...] = ()) -> list[Engine]:
    """The engines of ARGUS_ENGINES, or of `names`, in that order; an unknown name raises KeyError."""
    zone = local_zone()
    known: dict[str, Engine] = {
        "claude": Claude(settings.claude, zone),
        "codex": Codex(settings.codex, zone),
        "api": Api(door),
    }
    return [known[name] for name in names or settings.engines]


def runtime_calls(db: Database) -> int:
    """Engine calls that stages of memory made in the last hour of the database's clock."""
    row = db.fetch_one(q.spent_runtime_calls)
    return int(row["calls"]) if row else 0


def find_attempts(db: Database, rid: str) -> list[dict[str, Any]]:
    """The attempts of one run in the order made, left-alone ones too."""
    return list(db.fetch_all(q.list_attempts, {"rid": UUID(rid)}))


def find_states(db: Database) -> list[dict[str, Any]]:
    """What is known of each engine: capped_until is null where it may be asked."""
    return list(db.fetch_all(q.list_states))
