"""From the guard's report to outcome and reason; the tails; the stanza as JSON."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from argus_memory.records import TaskSpec
from argus_memory.settings import load_settings
from argus_memory.tasks.outcomes import judge_end
from argus_memory.tasks.runner_env import CannotStart, make_argv, make_env, place_of
from argus_memory.tasks.spec_json import spec_from_json, spec_to_json
from argus_memory.tasks.tails import TAIL_MAX, Masker

SPEC = TaskSpec("watering", "code", Path("/tasks/watering"), Path("/tasks/config.ini"), 3, command="true")


@pytest.mark.parametrize(
    ("report", "skip", "outcome", "words"),
    [
        ({"exit_code": 0}, None, "ok", None),
        ({"exit_code": 0}, "rain", "skipped", "rain"),
        ({"exit_code": 1}, "rain", "failed", "exit code 1"),
        ({"exit_code": 126}, None, "failed", "may not be executed"),
        ({"exit_code": 127}, None, "failed", "not found"),
        ({"exit_code": 143}, None, "failed", "SIGTERM"),
        ({"exit_code": 137, "signal": 9, "oom_kills": 1}, None, "failed", "out-of-memory"),
        ({"exit_code": 137, "signal": 9}, None, "failed", "outside Argus"),
        ({"exit_code": 139, "signal": 11}, None, "failed", "SIGSEGV"),
        ({"exit_code": 0, "ended_by": "max-runtime"}, None, "timed-out", "max_runtime of 1 h"),
        ({"exit_code": 137, "signal": 9, "ended_by": "runner-gone", "killed": True}, None, "orphaned", "ignored SIGTERM"),
        ({"exit_code": 143, "signal": 15, "ended_by": "stopped"}, None, "failed", "it was stopped"),
        ({"start_error": "no such image"}, None, "failed", "no such image"),
        ({"guard_lost": True}, None, "failed", "guard"),
        ({}, None, "failed", "not known"),
        ({"exit_code": 0, "strays": 2}, None, "ok", "2 processes it left behind were ended"),
        ({"exit_code": 0, "left_alive": 1}, None, "ok", "could not be ended"),
    ],
)
def test_outcome_and_reason(report: dict[str, Any], skip: str | None, outcome: str, words: str | None) -> None:
    """Each way to end has its outcome and a reason that names it."""
    found, reason = judge_end(report, skip=skip, max_runtime=timedelta(hours=1))
    assert found == outcome
    assert reason is None if words is None else words in (reason or "")


def test_a_secret_across_the_cut_is_masked_whole() -> None:
    """Secrets are masked before the tail is cut, so half of one is never kept."""
    secret = "ghp_" + "a1B2c3D4e5" * 4
    data = b"x\n" * 1000 + secret.encode() + b"\n" + b"y" * (TAIL_MAX - 20)
    kept = Masker().tail(data, len(data))
    assert secret[-16:] not in kept
    assert len(kept) <= TAIL_MAX


def test_a_cut_tail_begins_with_a_line_where_lines_are_short() -> None:
    """The first, broken line of a tail is left out."""
    data = b"".join(b"line %d\n" % number for number in range(10_000))
    kept = Masker().tail(data[-65536:], len(data))
    assert kept.startswith("line ")
    assert kept.endswith("line 9999\n")


def test_a_stanza_survives_its_json() -> None:
    """Durations, folders and lists come back as they were."""
    spec = TaskSpec(
        "dig", "agent", Path("/t/dig"), Path("/t/config.ini"), 9, prompt="dig", env={"A": "1"}, engines=("claude",),
        model=("m",), max_runtime=timedelta(minutes=90), budget_usd=1.5, schedule="@daily",
    )  # fmt: skip
    assert spec_from_json({**spec_to_json(spec), "a_later_field": 1}) == spec


def make(spec: TaskSpec, tmp_path: Path, parent: dict[str, str]) -> tuple[dict[str, str], list[str]]:
    settings = load_settings(
        {"ARGUS_HOME": str(tmp_path), "ARGUS_DATABASE_URL": "postgresql://argus:pass-word-x@127.0.0.1:1/argus",
         "ARGUS_ADMIN_TOKEN": "admin-token-for-tests-only", "ARGUS_ASK_MODEL": "one,two", "ARGUS_LLM_TIMEOUT": "90s"}
    )  # fmt: skip
    due = datetime(2027, 3, 1, 6, 0, tzinfo=UTC)
    return make_env(settings, spec, place_of(settings, "r"), due_at=due, attempt=2, extra_env={}, parent=parent)


def test_our_own_handlers_get_database_and_models_and_no_admin_token(tmp_path: Path) -> None:
    """llm and agent tasks are our own code: they may reach the database and the models, not a person's rights."""
    for handler in ("llm", "agent"):
        spec = TaskSpec("dig", handler, Path("/t"), Path("/t/config.ini"), 9, prompt="dig")  # type: ignore[arg-type]
        env, _ = make(spec, tmp_path, {"ARGUS_ADMIN_TOKEN": "x", "ANTHROPIC_API_KEY": "k", "HTTPS_PROXY": "p"})
        assert env["ARGUS_DATABASE_URL"].startswith("postgresql://")
        assert (env["ARGUS_ASK_MODEL"], env["ARGUS_LLM_TIMEOUT"]) == ("one,two", "90s")
        assert "ARGUS_ADMIN_TOKEN" not in env
        assert ("ANTHROPIC_API_KEY" in env) == (handler == "agent")
        assert env["HTTPS_PROXY"] == "p"
        assert make_argv(spec, env, place_of(load_settings({"ARGUS_HOME": str(tmp_path)}), "r"), [])[-1].endswith("_main")


def test_a_code_task_gets_its_run_and_nothing_of_ours(tmp_path: Path) -> None:
    """The run's variables are set; the database's address is not among them."""
    env, names = make(SPEC, tmp_path, {"PATH": "/bin", "SECRET": "x"})
    assert (env["ARGUS_TASK"], env["ARGUS_TASK_DUE_AT"], env["ARGUS_TASK_ATTEMPT"]) == ("watering", "2027-03-01T06:00:00+00:00", "2")
    assert env["ARGUS_SESSION"] == "task/watering"
    assert env["PATH"].endswith(":/bin")
    assert not {"ARGUS_DATABASE_URL", "SECRET"} & env.keys()
    assert "PATH" not in names


@pytest.mark.parametrize(("fields", "words"), [({"command": None}, "no command"), ({"command": "a\0b"}, "NUL"), ({"image": "alpine"}, "docker")])
def test_what_cannot_be_started_says_why(fields: dict[str, Any], words: str, tmp_path: Path) -> None:
    """A stanza without a command, with a NUL in it, or with an image and no docker."""
    from dataclasses import replace

    spec = replace(SPEC, **fields)
    with pytest.raises(CannotStart, match=words):
        make_argv(spec, {"PATH": str(tmp_path)}, place_of(load_settings({"ARGUS_HOME": str(tmp_path)}), "r"), [])
