"""The API as a process of its own on a database of its own, as `argus up` starts it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import httpx
import psycopg

from argus_cli.embedded_postgres import EmbeddedPostgres
from argus_cli.ports import find_free_port
from argus_memory.db import Database
from tests.helpers import wait_until

REPOSITORY = Path(__file__).resolve().parent.parent
CAPTURE, MCP, ADMIN = "capture-token-for-tests", "mcp-token-for-tests-only", "admin-token-for-tests-only"
_numbers = count(1)


@dataclass(frozen=True)
class ApiProcess:
    """`url` of the running API, its home, and the database behind it."""

    url: str
    home: Path
    db: Database
    log: Path
    pid: int

    def client(self, token: str | None = ADMIN) -> httpx.Client:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return httpx.Client(base_url=self.url, headers=headers, timeout=30, trust_env=False)


@contextmanager
def api_process(
    postgres: EmbeddedPostgres, folder: Path, *, home: Path | None = None, extra: Mapping[str, str] | None = None
) -> Iterator[ApiProcess]:
    """One API on a fresh database; both are gone afterwards."""
    name, port = f"argus_process_{next(_numbers)}", find_free_port()
    home, log = home or folder / "home", folder / "api.log"
    kept = {key: value for key, value in os.environ.items() if not key.startswith("ARGUS_")}
    with psycopg.connect(postgres.dsn("postgres", "postgres"), autocommit=True) as admin:
        admin.execute(f"create database {name} template argus_template owner argus strategy wal_log")
        dsn = postgres.dsn("argus", name)
        environment = {
            **kept, "ARGUS_HOME": str(home), "ARGUS_DATABASE_URL": dsn, "ARGUS_CAPTURE_TOKEN": CAPTURE,
            "ARGUS_MCP_TOKEN": MCP, "ARGUS_ADMIN_TOKEN": ADMIN, "ARGUS_API_PORT": str(port),
            "ARGUS_DAGSTER_PORT": str(find_free_port()), "ARGUS_TASKS": str(folder / "tasks"),
            "PYTHONPATH": str(REPOSITORY), **(extra or {}),
        }  # fmt: skip
        with log.open("wb") as output:
            process = subprocess.Popen(
                [sys.executable, "-m", "uvicorn", "argus_api.app:create_app", "--factory", "--host", "127.0.0.1",
                 "--port", str(port), "--no-access-log", "--log-level", "warning", "--timeout-graceful-shutdown", "2"],
                cwd=REPOSITORY, env=environment, stdout=output, stderr=output,
            )  # fmt: skip
        url = f"http://127.0.0.1:{port}"
        try:
            wait_until(lambda: _answers(process, url, log), seconds=60, step=0.05, what="the API answers")
            with Database(dsn) as db:
                yield ApiProcess(url, home, db, log, process.pid)
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(5)
            admin.execute(f"drop database if exists {name} with (force)")


def _answers(process: subprocess.Popen[bytes], url: str, log: Path) -> bool:
    assert process.poll() is None, log.read_text("utf-8", "replace")
    try:
        return httpx.get(f"{url}/ui/sign-in", timeout=2, trust_env=False).status_code < 500
    except httpx.TransportError:
        return False
