"""Stand-in engines beside a real database, and a stanza for an agent."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from argus_memory.settings import CODE_FOLDER, Settings
from argus_memory.tasks.agent import AgentRequest

STAND_INS = Path(__file__).parents[2] / "stubs" / "engines"


@pytest.fixture
def stood_in(settings: Settings) -> Settings:
    """Settings whose claude and codex are the stand-ins, without a model for the API."""
    return replace(settings, claude=str(STAND_INS / "claude"), codex=str(STAND_INS / "codex"), tasks=CODE_FOLDER / "tasks")


@pytest.fixture
def job(tmp_path: Path) -> Callable[..., AgentRequest]:
    """`job(claude="rejected", codex="ok")`: a request whose engines replay these recordings."""

    def make(claude: str = "ok", codex: str = "ok", **changes: Any) -> AgentRequest:
        log, folder = tmp_path / "log", tmp_path / "garden"
        log.mkdir(exist_ok=True)
        folder.mkdir(exist_ok=True)
        env = {"STAND_IN_LOG": str(log), "STAND_IN_CLAUDE": claude, "STAND_IN_CODEX": codex}
        base = AgentRequest("garden", "Look after the beds.", folder, timedelta(seconds=60), rid=str(uuid4()), env=env)
        return replace(base, **changes)

    return make


@pytest.fixture
def asked(tmp_path: Path) -> Callable[[str], list[dict[str, Any]]]:
    """How a stand-in was called so far."""

    def of(engine: str) -> list[dict[str, Any]]:
        return [json.loads(path.read_text()) for path in sorted((tmp_path / "log").glob(f"{engine}-*.json"))]

    return of


