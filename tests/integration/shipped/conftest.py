"""The tasks that come with Argus, run for real: their folders copied, a running API, loopback feeds and models."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from argus_api.app import create_app
from argus_cli.ports import find_free_port
from argus_memory.db import Database
from argus_memory.records import RunResult, TaskSpec
from argus_memory.settings import CODE_FOLDER, Settings
from argus_memory.tasks.config import read_task_list
from argus_memory.tasks.runner import run_task
from tests.helpers import wait_until
from tests.stubs.llm_server import LlmServer

RunShipped = Callable[..., RunResult]


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_args: object) -> None:
        pass


@pytest.fixture
def site(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A folder and the address it is served at."""
    folder = tmp_path / "site"
    folder.mkdir()
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield folder, f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def models() -> Iterator[LlmServer]:
    with LlmServer() as server:
        yield server


@pytest.fixture
def served(db: Database, settings: Settings, models: LlmServer) -> Iterator[Settings]:
    """The settings of a running API with a model to ask; `db` comes first, so that its pool outlives the API's."""
    port = find_free_port()
    settings = replace(
        settings, api_port=port, api_url=f"http://127.0.0.1:{port}", llm_base_url=models.base_url, llm_api_key="none",
        ask_model=("openai/small",), tasks=CODE_FOLDER / "tasks",
    )  # fmt: skip
    runner = uvicorn.Server(
        uvicorn.Config(create_app(settings), port=port, log_level="critical", timeout_graceful_shutdown=1)
    )
    thread = threading.Thread(target=runner.run, daemon=True)
    thread.start()
    wait_until(lambda: runner.started, what="the API has started")
    yield settings
    runner.should_exit = True
    thread.join(10)


@pytest.fixture
def run_shipped(db: Database, served: Settings, tmp_path: Path) -> RunShipped:
    """`run_shipped(name, feeds=[…], env={…}, settings=…)` runs the stanza in a copy of its folder."""
    specs = {spec.name: spec for spec in read_task_list(CODE_FOLDER / "tasks", default_zone="UTC").tasks}

    def run(name: str, *, feeds: Any = (), env: Any = (), settings: Settings = served) -> RunResult:
        spec: TaskSpec = specs[name]
        folder = tmp_path / "tasks" / name
        shutil.copytree(spec.folder, folder, dirs_exist_ok=True)
        if feeds:
            (folder / "feeds.txt").write_text("\n".join(feeds) + "\n")
        given = {**spec.env, "HOME": str(tmp_path), "FEEDS_PRIVATE": "yes", **dict(env)}
        return run_task(db, settings, replace(spec, folder=folder, env=given), started_by="person")

    return run
