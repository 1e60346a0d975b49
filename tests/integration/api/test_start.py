"""Starting the API as a process of its own."""

from __future__ import annotations

import subprocess
import sys

import pytest

from argus_api.app import create_app
from argus_memory.errors import SettingError, Unreachable
from argus_memory.settings import load_settings

ABSENT = ("dagster", "litellm", "pandas", "great_expectations", "alembic", "sqlalchemy")
SCRIPT = f"""
import sys
from fastapi.testclient import TestClient
from argus_api.app import create_app
app = create_app()
with TestClient(app, base_url="http://127.0.0.1:8484") as client:
    assert client.get("/healthz").status_code == 200
    token = {{"Authorization": "Bearer capture-token-for-tests"}}
    item = {{"source": "claude-code", "kind": "turn", "body": "The pump needs a new seal.", "session": "s"}}
    assert client.post("/capture", json=item, headers=token).status_code == 201
    prompt = {{"prompt": "Which seal does the greenhouse pump need?"}}
    assert client.post("/recall/notes", json=prompt, headers=token).status_code == 200
    assert client.get("/recall/context", headers=token).status_code == 200
print([name for name in {ABSENT!r} if name in sys.modules])
"""


def test_the_api_loads_nothing_heavy(dsn: str, tmp_path: object) -> None:
    """Started, captured into and recalled from, without Dagster, LiteLLM, Great Expectations, pandas or Alembic."""
    environment = {
        "PATH": "/usr/bin:/bin",
        "ARGUS_HOME": str(tmp_path),
        "ARGUS_DATABASE_URL": dsn,
        "ARGUS_CAPTURE_TOKEN": "capture-token-for-tests",
    }
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().splitlines()[-1] == "[]"


def test_without_a_database_named_it_does_not_start(tmp_path: object) -> None:
    """One sentence with the variable and the way out."""
    with pytest.raises(Unreachable, match="ARGUS_DATABASE_URL"):
        create_app(load_settings({"ARGUS_HOME": str(tmp_path)}))


def test_an_embedder_that_does_not_fit_stops_the_start(dsn: str, tmp_path: object) -> None:
    """A bad setting is told at once, not at the first recall."""
    given = {"ARGUS_HOME": str(tmp_path), "ARGUS_DATABASE_URL": dsn, "ARGUS_EMBED_DIM": "768"}
    with pytest.raises(SettingError, match="ARGUS_EMBED_DIM"):
        create_app(load_settings(given))
