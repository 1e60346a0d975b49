"""Recordings as the classifiers see them, and the stand-in executables on a PATH."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from argus_memory.models.engines.records import Ended, EngineRequest
from tests.stubs.engines.recordings import BY_ENGINE

STAND_INS = Path(__file__).parents[2] / "stubs" / "engines"
NOW = datetime(2026, 3, 4, 13, 0, tzinfo=UTC)  # a Wednesday


@pytest.fixture
def ended() -> Callable[[str, str], Ended]:
    """What a process leaves that printed this recording at NOW."""

    def of(engine: str, kind: str) -> Ended:
        recording = BY_ENGINE[engine][kind]
        events, noise = [], []
        for line in recording.lines(NOW.timestamp()):
            try:
                value = json.loads(line)
            except ValueError:
                value = None
            if isinstance(value, dict):
                events.append(value)
            else:
                noise.append(line)
        made = Ended(tuple(events), "\n".join(noise), recording.stderr, recording.exit_code)
        if recording.end == "signal":
            return replace(made, exit_code=None, signal=9)
        return replace(made, exit_code=None, timed_out=True) if recording.end else made

    return of


@pytest.fixture
def request_for(tmp_path: Path) -> Callable[..., EngineRequest]:
    """A request for stand-ins: `claude="ok"`, `codex="limit,ok"`; anything else is a field of the request."""

    def make(claude: str = "ok", codex: str = "ok", **changes: Any) -> EngineRequest:
        log, folder = tmp_path / "log", tmp_path / "folder"
        log.mkdir(exist_ok=True)
        folder.mkdir(exist_ok=True)
        env = {"STAND_IN_LOG": str(log), "STAND_IN_CLAUDE": claude, "STAND_IN_CODEX": codex, **changes.pop("env", {})}
        base = EngineRequest("Look after the beds.", "SYSTEM TEXT", folder, timedelta(seconds=20), "task/garden", env)
        return replace(base, **changes)

    return make


@pytest.fixture
def calls(tmp_path: Path) -> Callable[[str], list[dict[str, Any]]]:
    """How a stand-in was called so far."""

    def of(engine: str) -> list[dict[str, Any]]:
        return [json.loads(path.read_text()) for path in sorted((tmp_path / "log").glob(f"{engine}-*.json"))]

    return of
