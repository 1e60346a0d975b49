"""kill -9 of a real `argus regenerate` in each of its steps: the old notes stand, and the next one does it all."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from argus_memory.db import Database
from argus_memory.settings import Settings
from argus_memory.stages.distill import distill_pending
from tests.distill_rows import add_episode
from tests.helpers import wait_until
from tests.memory_rows import at
from tests.stubs.llm_server import ChatRequest, LlmServer, default_rule

DAY = at(0).date().isoformat()
SAID = [("user", "I prefer tabs in Python files."), ("user", "We decided to use Postgres for the sensors.")]
# Step → what stops it there: a statement whose lock the process must wait for; None: the model does not answer.
STEPS = {
    "begin": "lock table regenerations in exclusive mode",
    "replay": "lock table turns in access exclusive mode",
    "snapshot": "lock table distilled_notes in access exclusive mode",
    "candidates": None,
    "diff": "lock table regeneration_notes in exclusive mode",
    "switch begins": "select from distill_state for update",
    "switch has rewritten notes": "lock table embed_queue in exclusive mode",
}


def reworded(request: ChatRequest) -> dict[str, object]:
    """What the stub always made, in other words."""
    made: dict[str, list[dict[str, str]]] = default_rule(request)
    for note in made["notes"]:
        note["content"] = note["content"].replace("User: I prefer", "The user prefers").replace("User: We", "We")
    return dict(made)


@pytest.fixture
def model() -> Iterator[LlmServer]:
    with LlmServer() as server:
        yield server


def start(settings: Settings, dsn: str, model: LlmServer, folder: Path) -> subprocess.Popen[str]:
    environment = {
        "PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
        "ARGUS_HOME": str(settings.home), "ARGUS_DATABASE_URL": dsn, "ARGUS_DISTILL_MODEL": "openai/small",
        "ARGUS_LLM_BASE_URL": model.base_url, "ARGUS_LLM_API_KEY": "none", "USER": "kim", "LOGNAME": "kim", "PGAPPNAME": "argus-regenerate",
    }  # fmt: skip
    command = [sys.executable, "-m", "argus_cli.main", "regenerate", "--from", DAY]
    return subprocess.Popen(
        command, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        cwd=Path(__file__).resolve().parents[3],
    )  # fmt: skip


@pytest.fixture
def distilled(db: Database, settings: Settings, model: LlmServer) -> list[dict[str, object]]:
    """One day's unit with two notes; returns all that a switch may change. Its model now says it otherwise."""
    add_episode(db, SAID)
    with_model = replace(settings, distill_model=("openai/small",), llm_base_url=model.base_url, llm_api_key="none")
    assert distill_pending(db, with_model, now=at(60)).notes_created == 2
    with db.transaction() as conn:
        conn.execute(
            """insert into embedding_spaces (model, dim, checksum, status, thresholds, calibration)
               values ('test', 2, 'c', 'active', '{}', '{}')"""
        )
    model.rule = reworded
    return look(db)


def look(db: Database) -> list[dict[str, object]]:
    return [
        *db.fetch_all("select * from distilled_notes order by id"),
        *db.fetch_all("select * from distill_state order by unit_id"),
        *db.fetch_all("select id, replaced_at from episodes order by id"),
        *db.fetch_all("select target_id from embed_queue order by 1"),
        *db.fetch_all("select id from note_events order by id"),
    ]


@pytest.mark.parametrize("step", STEPS)
def test_killed_in_a_step(
    db: Database, dsn: str, settings: Settings, model: LlmServer, distilled: list[dict[str, object]], step: str,
    tmp_path: Path,
) -> None:  # fmt: skip
    """Killed there nothing has changed; the next run calls it abandoned and makes the switch whole."""
    lock = STEPS[step]
    calls = len(model.calls)
    if lock is None:
        model.behave("hang")
    with psycopg.connect(dsn) as holder:
        if lock is not None:
            holder.execute(lock)
        process = start(settings, dsn, model, tmp_path)
        try:
            wait_until(lambda: is_there(db, model, calls, lock), seconds=60, what=f"the process waits in {step}")
        finally:
            process.send_signal(signal.SIGKILL)
            process.communicate(timeout=30)
        holder.rollback()
    assert process.returncode == -signal.SIGKILL
    wait_until(lambda: not others(db), seconds=30, what="the dead process's connections are closed")
    assert look(db) == distilled
    model.behave("ok")
    again = start(settings, dsn, model, tmp_path)
    told, _ = again.communicate(timeout=90)
    assert again.returncode == 0, told
    statuses = [row["status"] for row in db.fetch_all("select status from regenerations order by id")]
    assert statuses == (["switched"] if step == "begin" else ["abandoned", "switched"]), told
    contents = db.fetch_all("select content from distilled_notes where deleted_at is null order by id")
    assert [row["content"] for row in contents] == [
        "The user prefers tabs in Python files.",
        "We decided to use Postgres for the sensors.",
    ]


def is_there(db: Database, model: LlmServer, calls: int, lock: str | None) -> bool:
    if lock is None:
        return len(model.calls) > calls
    return any(row["waits"] for row in others(db))


def others(db: Database) -> list[dict[str, object]]:
    """The killed process's connections to this database, and whether they wait for a lock."""
    asked = """select pid, wait_event_type = 'Lock' as waits from pg_stat_activity
               where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'
                 and application_name = 'argus-regenerate'"""
    return list(db.fetch_all(asked))
