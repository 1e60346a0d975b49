"""`runtime` as the model that distills or judges: the engines in a model's place, within their own budget."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from argus_memory.db import Database
from argus_memory.errors import BudgetExceeded, ConfigurationFailure, ContentFailure
from argus_memory.settings import Settings
from argus_memory.stages.distill import distill_pending
from argus_memory.stages.model_door import open_door
from tests.distill_rows import add_episode
from tests.memory_rows import at

NOW = at(600)
SCHEMA = {"type": "object", "properties": {"verdict": {"type": "string", "enum": ["distinct", "duplicate"]}}, "required": ["verdict"]}
Asked = Callable[[str], list[dict[str, Any]]]


@pytest.fixture
def play(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., None]:
    """The recordings of the stand-ins, by the environment of this process."""

    def set_up(claude: str, codex: str = "limit") -> None:
        (tmp_path / "log").mkdir(exist_ok=True)
        monkeypatch.setenv("STAND_IN_LOG", str(tmp_path / "log"))
        monkeypatch.setenv("STAND_IN_CLAUDE", claude)
        monkeypatch.setenv("STAND_IN_CODEX", codex)

    return set_up


def judge(db: Database, settings: Settings) -> tuple[dict[str, Any], Any]:
    return open_door(db, settings).complete_json("judge", SCHEMA, "You judge.", "Two notes.", settings.judge_model)


@pytest.fixture
def by_runtime(stood_in: Settings) -> Settings:
    return replace(stood_in, judge_model=("runtime",), distill_model=("runtime",), runtime_calls_per_hour=3)


def test_an_engine_answers_in_a_models_place(db: Database, by_runtime: Settings, play: Callable[..., None], asked: Asked) -> None:
    """The answer is held against the schema; the engine is named; it had no tools, no servers and an empty folder."""
    play("json")
    value, info = judge(db, by_runtime)
    assert value == {"verdict": "distinct"}
    assert (info.model, info.model_real) == ("runtime", "claude/claude-fable-5")
    (call,) = asked("claude")
    assert call["argv"][call["argv"].index("--tools") + 1] == ""
    assert call["files"]["mcp.json"].endswith('{"mcpServers": {}}')
    assert '"verdict"' in call["stdin"]
    assert call["env"]["ARGUS_SESSION"] == "stage/judge"
    row = db.fetch_one("select stage, rid, outcome from engine_attempts")
    assert row == {"stage": "judge", "rid": None, "outcome": "ok"}


def test_prose_is_repaired_once_and_then_a_content_failure(db: Database, by_runtime: Settings, play: Callable[..., None], asked: Asked) -> None:
    """As with any model; the second request tells what was wrong."""
    play("prose,json")
    assert judge(db, by_runtime)[0] == {"verdict": "distinct"}
    assert "cannot be used" in asked("claude")[1]["stdin"]
    play("prose")
    with pytest.raises(ContentFailure):
        judge(db, replace(by_runtime, runtime_calls_per_hour=50))


def test_the_hours_calls_are_a_budget_of_their_own(db: Database, by_runtime: Settings, play: Callable[..., None], asked: Asked) -> None:
    """After the third call nothing is asked any more, and the message says what to do."""
    play("json")
    for _ in range(3):
        judge(db, by_runtime)
    with pytest.raises(BudgetExceeded, match="ARGUS_RUNTIME_CALLS_PER_HOUR"):
        judge(db, by_runtime)
    assert len(asked("claude")) == 3


def test_every_engine_capped_stops_the_pass_and_counts_against_nothing(db: Database, by_runtime: Settings, play: Callable[..., None]) -> None:
    """The unit stays pending without a failure on it; the report says why."""
    play("session-limit", "limit")
    add_episode(db, [("user", "We decided to use drip irrigation."), ("assistant", "Noted.")])
    report = distill_pending(db, by_runtime, now=NOW)
    assert (report.units_distilled, report.content_failures, report.transient_failures) == (0, 0, 1)
    assert "limits end by themselves" in str(report.stopped)


def test_a_note_says_which_engine_made_it(db: Database, by_runtime: Settings, play: Callable[..., None]) -> None:
    """`model` is runtime, `model_real` engine and model; the gate looks at it as at any other."""
    play("distilled")
    add_episode(db, [("user", "We decided to use drip irrigation."), ("assistant", "Noted.")])
    report = distill_pending(db, by_runtime, now=NOW)
    assert (report.units_distilled, report.notes_created, report.notes_rejected) == (1, 1, 1)
    row = db.fetch_one("select model, model_real, content from distilled_notes")
    assert row == {"model": "runtime", "model_real": "claude/claude-fable-5", "content": "Drip irrigation is used."}


def test_without_the_word_no_engine_is_asked(db: Database, stood_in: Settings, play: Callable[..., None], asked: Asked) -> None:
    """Off by default: the extractive distiller works, and no program is started."""
    play("json")
    add_episode(db, [("user", "We decided to use drip irrigation."), ("assistant", "Noted.")])
    assert distill_pending(db, stood_in, now=NOW).units_distilled == 1
    assert asked("claude") == []


def test_runtime_may_stand_behind_a_model_or_before_it(db: Database, by_runtime: Settings, play: Callable[..., None]) -> None:
    """A chain of both: where one cannot be used the other answers."""
    play("json")
    mixed = replace(by_runtime, llm_base_url="http://127.0.0.1:9/v1", judge_model=("openai/none", "runtime"))
    assert judge(db, mixed)[1].tier == 1
    play("logged-out", "logged-out")
    with pytest.raises(ConfigurationFailure):
        judge(db, replace(by_runtime, runtime_calls_per_hour=50))
