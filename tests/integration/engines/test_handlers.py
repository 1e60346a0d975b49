"""Agent and llm tasks as the runner starts them: processes of their own, their messages, their exit codes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from argus_memory.db import Database
from argus_memory.records import TaskSpec
from argus_memory.settings import CODE_FOLDER, Settings
from argus_memory.tasks.runner import run_task
from tests.stubs.engines.recordings import GOOD
from tests.stubs.llm_server import LlmServer

Make = Callable[..., TaskSpec]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """`make(claude="ok", codex="ok", **fields)`: an agent's stanza whose engines replay these recordings."""

    def of(claude: str = "ok", codex: str = "ok", **fields: Any) -> TaskSpec:
        log, folder = tmp_path / "log", tmp_path / "garden"
        log.mkdir(exist_ok=True)
        folder.mkdir(exist_ok=True)
        env = {"STAND_IN_LOG": str(log), "STAND_IN_CLAUDE": claude, "STAND_IN_CODEX": codex, **fields.pop("env", {})}
        given: dict[str, Any] = {"prompt": "Look after the beds.", "handler": "agent", **fields}
        return TaskSpec("garden", folder=folder, file=folder / "config.ini", line=1, env=env, **given)

    return of


def attempts(db: Database) -> list[tuple[str, str]]:
    return [(row["engine"], row["outcome"]) for row in db.fetch_all("select engine, outcome from engine_attempts order by id")]


def run(db: Database, settings: Settings, spec: TaskSpec) -> Any:
    return run_task(db, settings, spec, started_by="person")


def test_an_agent_task_reports_answer_engine_and_cost(db: Database, stood_in: Settings, make: Make) -> None:
    """The answer on stdout; which engine and what it cost on the run; the attempts carry the run's id."""
    done = run(db, stood_in, make())
    assert (done.outcome, done.exit_code, done.engine, done.cost_usd) == ("ok", 0, "claude", 0.0421)
    assert GOOD in done.stdout_tail
    row = db.fetch_one("select rid, task from engine_attempts")
    assert row
    assert (str(row["rid"]), row["task"]) == (done.rid, "garden")


def test_a_cap_is_skipped_and_no_failure(db: Database, stood_in: Settings, make: Make) -> None:
    """Every engine capped: outcome skipped, with the earliest reset as the reason; no alert."""
    done = run(db, stood_in, make("rejected", "limit-no-time"))
    assert (done.outcome, done.exit_code) == ("skipped", 0)
    assert "every engine is capped until" in str(done.reason)
    assert db.fetch_all("select 1 from alerts") == []


def test_no_engine_at_all_fails_with_every_reason(db: Database, stood_in: Settings, make: Make) -> None:
    """What each engine said stands on the run."""
    done = run(db, stood_in, make("overloaded", "stream"))
    assert (done.outcome, done.exit_code) == ("failed", 1)
    assert "529" in done.stderr_tail
    assert "stream disconnected" in done.stderr_tail
    assert "ARGUS_AGENT_MODEL" in done.stderr_tail
    assert "529" in str(done.reason), "the reason heads the alert: the sentence, not an exit code"


def test_a_fallen_run_says_why_the_others_did_not(db: Database, stood_in: Settings, make: Make) -> None:
    """Claude is missing, codex answers, its cost is not known and not 0."""
    done = run(db, replace(stood_in, claude="no-such-claude"), make())
    assert (done.outcome, done.engine, done.cost_usd) == ("ok", "codex", None)
    assert attempts(db) == [("claude", "left-alone"), ("codex", "ok")]
    assert [(each["engine"], each["outcome"]) for each in done.output["attempts"]] == attempts(db)
    assert "not installed" in done.output["attempts"][0]["reason"]


def test_a_server_that_did_not_load_is_on_the_run(db: Database, stood_in: Settings, make: Make, tmp_path: Path) -> None:
    """The answer stands, and the run says which server was not there and why."""
    context = tmp_path / "tasks" / "context"
    shutil.copytree(CODE_FOLDER / "tasks" / "context", context)
    (context / "mcp.json").write_text(json.dumps({"mcpServers": {"tools": {"command": "serve"}, "old": {"url": "https://x.example"}}}))
    done = run(db, replace(stood_in, tasks=tmp_path / "tasks"), make("mcp-failed"))
    assert (done.outcome, done.exit_code, done.engine) == ("ok", 0, "claude")
    row = db.fetch_one("select reason from task_runs")
    assert row
    assert "tools" in row["reason"]
    assert "its status is failed" in row["reason"]
    assert "old" in row["reason"]


def test_a_long_job_is_a_loop_with_a_report_for_each_turn(db: Database, stood_in: Settings, make: Make) -> None:
    """It stops when the answer says so; cost and turns are those of all of them."""
    done = run(db, stood_in, make("ok,ok,ok-done", env={"AGENT_LOOP": "9"}))
    assert done.outcome == "ok"
    assert done.cost_usd == pytest.approx(3 * 0.0421)
    assert [turn["outcome"] for turn in done.output["turns"]] == ["ok"] * 3
    assert done.output["stopped"] == "done"
    rows = db.fetch_all("select turn from engine_attempts order by id")
    assert [row["turn"] for row in rows] == [0, 1, 2]


def test_a_cap_in_the_middle_of_a_long_job_keeps_what_was_done(db: Database, stood_in: Settings, make: Make) -> None:
    """Two turns answered, then both engines are capped: ok, stopped because of the cap."""
    done = run(db, stood_in, make("ok,ok,rejected", "limit", env={"AGENT_LOOP": "9"}))
    assert (done.outcome, done.output["stopped"], len(done.output["turns"])) == ("ok", "capped", 3)


@pytest.mark.parametrize(
    ("fields", "says"),
    [({"prompt": "file:none.md"}, "none.md"), ({"env": {"AGENT_ACCESS": "root"}}, "AGENT_ACCESS"), ({"prompt": "{{NAME}}"}, "env.NAME")],
)
def test_a_stanza_that_cannot_be_used_fails_in_a_sentence(db: Database, stood_in: Settings, make: Make, fields: dict[str, Any], says: str) -> None:
    """Exit code 2, no traceback, no engine asked."""
    done = run(db, stood_in, make(**fields))
    assert (done.outcome, done.exit_code) == ("failed", 2)
    assert says in done.stderr_tail
    assert "Traceback" not in done.stderr_tail
    assert attempts(db) == []


def test_taskkits_request_comes_back_as_json(stood_in: Settings, db: Database, make: Make, tmp_path: Path) -> None:
    """On stdin a request, on stdout the result with engine, cost and what became of the answer."""
    spec = make()
    env = {
        **spec.env, "PATH": os.environ["PATH"], "PYTHONPATH": str(CODE_FOLDER), "ARGUS_HOME": str(stood_in.home),
        "ARGUS_DATABASE_URL": str(stood_in.database_url), "ARGUS_CLAUDE": stood_in.claude, "ARGUS_CODEX": stood_in.codex, "ARGUS_TASK": "garden",
    }  # fmt: skip
    argv = [sys.executable, "-m", "argus_memory.tasks.agent_main", "--request", "-"]
    done = subprocess.run(argv, input=json.dumps({"prompt": "Look.", "project": "garden"}), env=env, cwd=spec.folder, capture_output=True, text=True, timeout=120, check=False)
    result = json.loads(done.stdout)
    assert (done.returncode, result["outcome"], result["text"], result["engine"], result["cost_usd"]) == (0, "ok", GOOD, "claude", 0.0421)
    assert db.fetch_one("select project from raw_items where id = %(id)s", {"id": result["raw_id"]}) == {"project": "garden"}
    bad = subprocess.run(argv, input="{}", env=env, capture_output=True, text=True, timeout=120, check=False)
    assert (bad.returncode, bad.stderr.strip()) == (2, "prompt: is missing, text is needed")


@pytest.fixture
def server() -> Iterator[LlmServer]:
    with LlmServer(rule=lambda request: f"Answered: {request.user}") as stub:
        yield stub


def test_an_llm_task_prints_the_answer_and_tells_its_tier(db: Database, settings: Settings, make: Make, server: LlmServer, tmp_path: Path) -> None:
    """The prompt is filled in; the first model is away, so the second answers; what it cost is not known."""
    server.behave("401", model="small")
    asking = replace(settings, llm_base_url=server.base_url, ask_model=("openai/small", "openai/big"))
    spec = make(handler="llm", prompt="Name a flower for {{WHO}}.", env={"WHO": "Kim"})
    done = run(db, asking, spec)
    assert (done.outcome, done.engine, done.cost_usd) == ("ok", "api", None)
    assert "Answered: Name a flower for Kim." in done.stdout_tail
    assert (done.output["model"], done.output["tier"]) == ("openai/big", 1)
    assert [row["stage"] for row in db.fetch_all("select stage from llm_calls")] == ["ask", "ask"]


def test_an_llm_task_without_a_model_says_what_to_set(db: Database, settings: Settings, make: Make) -> None:
    """One sentence, exit code 1."""
    done = run(db, settings, make(handler="llm"))
    assert (done.outcome, done.exit_code) == ("failed", 1)
    assert "ARGUS_ASK_MODEL" in done.stderr_tail
