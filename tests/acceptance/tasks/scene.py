"""A hub with tasks of its own and a loopback Telegram: what a person would look at, and the seconds it took."""

from __future__ import annotations

import html
import json
import shutil
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil

from argus_memory.db import Database
from argus_memory.errors import Unreachable
from argus_memory.settings import Settings, load_settings
from argus_memory.watch.dagster_launch import ask_dagster
from argus_memory.watch.dagster_tasks import find_tasks, launch_task
from tests.acceptance.hub import REPOSITORY, Hub, new_hub
from tests.helpers import wait_until
from tests.stubs.telegram_server import TOKEN, TelegramServer

CHAT = "4242"
PATIENCE = 180.0  # seconds for what is no promise: a busy machine starts a run slowly
CLOCK = time.time() - time.monotonic()  # from the Telegram server's clock to the wall
MATERIALIZED = """query ($key: AssetKeyInput!) { assetOrError(assetKey: $key) { __typename
    ... on Asset { assetMaterializations(limit: 20) { runId metadataEntries { label } } } } }"""

LOADED = """query { workspaceOrError { __typename
    ... on Workspace { locationEntries { loadStatus updatedTimestamp } } } }"""


@dataclass
class Scene:
    """Everything under test, and what was measured: a line each, printed when the module ends."""

    hub: Hub
    telegram: TelegramServer
    store: Database
    tasks: Path
    pids: dict[str, int] = field(default_factory=dict)
    ready_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def settings(self) -> Settings:
        ports = {"ARGUS_DAGSTER_PORT": str(self.hub.dagster_port), "ARGUS_API_PORT": str(self.hub.api_port)}
        return load_settings({"ARGUS_HOME": str(self.hub.home), **ports})

    def is_well(self, since: datetime) -> bool:
        """Every service answers, and Dagster's pages have read the code anew since then."""
        if self.hub.pids().keys() != self.pids.keys():
            return False
        try:
            data = ask_dagster(self.settings.dagster_url, LOADED, {}, seconds=10)["workspaceOrError"]
        except Unreachable:
            return False
        entries = data.get("locationEntries", [])
        ready = [each["loadStatus"] == "LOADED" and each["updatedTimestamp"] > since.timestamp() for each in entries]
        return bool(ready) and all(ready) and bool(find_tasks(self.settings.dagster_url))

    def is_starting(self) -> bool:
        """Whether Dagster has a run whose worker is not at work yet."""
        return bool(self.many("select 1 from dagster.runs where status in ('QUEUED', 'NOT_STARTED', 'STARTING')"))

    def call(self, *words: str, code: int = 0) -> str:
        done = self.hub.argus(*words)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    def launch(self, task: str) -> str:
        """Start a task as a person does in Dagster; the run's id."""
        return launch_task(self.settings, task)

    def post(self, path: str, body: Mapping[str, Any]) -> tuple[int, dict[str, Any]]:
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.hub.api_port}{path}",
            json.dumps(body).encode(),
            {"Content-Type": "application/json", "Authorization": f"Bearer {self.settings.mcp_token}"},
        )
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=30) as response:
            return response.status, json.loads(response.read())

    # --- what is written down --------------------------------------------------------------------------------

    def one(self, query: str, what: str, *, seconds: float = PATIENCE, **params: Any) -> dict[str, Any]:
        """The first row of the query, as soon as there is one."""
        row = wait_until(lambda: self.store.fetch_one(query, params), seconds=seconds, step=0.1, what=what)
        assert row is not None
        return row

    def many(self, query: str, **params: Any) -> list[dict[str, Any]]:
        return self.store.fetch_all(query, params)

    def started(self, task: str) -> dict[str, Any]:
        query = "select * from task_runs where task = %(task)s and finished_at is null"
        return self.one(query, f"{task} did not start", task=task)

    def ended(self, task: str, *, run: str, seconds: float = PATIENCE) -> dict[str, Any]:
        query = "select * from task_runs where dagster_run_id = %(run)s and finished_at is not null"
        return self.one(query, f"{task} was not closed", run=run, seconds=seconds)

    def alert(self, kind: str, subject: str, *, seconds: float = PATIENCE) -> dict[str, Any]:
        query = "select * from alerts where kind = %(kind)s and subject = %(subject)s"
        return self.one(query, f"no alert {kind} {subject}", kind=kind, subject=subject, seconds=seconds)

    def told(self, kind: str, subject: str) -> list[str]:
        """Kinds of the messages about this, in their order: of all its alerts that ever were."""
        query = """select d.kind from deliveries d join alerts a on a.id = d.alert_id
                   where a.kind = %(kind)s and a.subject = %(subject)s order by d.id"""
        return [row["kind"] for row in self.many(query, kind=kind, subject=subject)]

    def message(self, alert: Mapping[str, Any], kind: str = "alert", *, seconds: float = PATIENCE) -> dict[str, Any]:
        query = "select * from deliveries where alert_id = %(id)s and kind = %(kind)s"
        return self.one(query, f"no {kind} of {alert['subject']}", id=alert["id"], kind=kind, seconds=seconds)

    def arrival(self, message: Mapping[str, Any], *, seconds: float = PATIENCE) -> datetime:
        """When Telegram took it (its title is in it)."""

        def find() -> datetime | None:
            taken = [one.at for one in self.telegram.accepted if escaped(message["title"]) in one.text]
            return datetime.fromtimestamp(taken[0] + CLOCK, UTC) if taken else None

        at = wait_until(find, seconds=seconds, what=f"{message['title']!r} did not arrive: {self.telegram.texts}")
        assert at is not None
        return at

    def waiting(self) -> set[str]:
        """Titles of the messages that are not sent yet."""
        return {
            row["title"] for row in self.many("select title from deliveries where status in ('pending', 'sending')")
        }

    def measure(self, what: str, since: datetime, until: datetime) -> float:
        took = (until - since).total_seconds()
        self.seconds[what] = max(took, self.seconds.get(what, 0.0))
        return took

    def materialized(self, task: str) -> list[str]:
        """Ids of the runs that Dagster shows as this asset's materializations, newest first."""
        data = ask_dagster(self.settings.dagster_url, MATERIALIZED, {"key": {"path": ["task", task]}}, seconds=60)[
            "assetOrError"
        ]
        return [each["runId"] for each in data.get("assetMaterializations", [])]


def escaped(title: str) -> str:
    """As it stands in Telegram's HTML."""
    return html.escape(title)


def task_process(worker: int) -> psutil.Process | None:
    """The process of a task that sleeps, below the guard of this run's worker; None before it is there."""
    for process in psutil.Process(worker).children(recursive=True):
        words = process.cmdline()
        if words and words[0] in ("sh", "sleep") and "sleep" in " ".join(words):
            return process
    return None


@contextmanager
def new_scene(folder: Path, stanzas: str, files: Mapping[str, str], settings: Mapping[str, str]) -> Iterator[Scene]:
    """The hub, started, with these stanzas and the files of their folders (`name/file` → text)."""
    folder.joinpath("config.ini").write_text(stanzas)
    for line in stanzas.splitlines():
        if line.startswith("["):
            folder.joinpath(line.strip("[]")).mkdir()
    for path, text in files.items():
        folder.joinpath(path).write_text(text)
    shutil.copytree(REPOSITORY / "tasks" / "context", folder / "context")
    with TelegramServer() as telegram:
        extra = {
            "ARGUS_TASKS": str(folder),
            "ARGUS_TIMEZONE": "UTC",
            "ARGUS_TELEGRAM_TOKEN": TOKEN,
            "ARGUS_TELEGRAM_BASE_URL": telegram.url,
            "ARGUS_TELEGRAM_CHATS": f"main={CHAT}",
            **settings,
        }
        with new_hub(extra) as hub:
            hub.start()
            with Database(hub.argus("dsn").stdout.strip()) as store:
                scene = Scene(hub, telegram, store, folder, hub.pids())
                yield scene
                for what, seconds in scene.seconds.items():
                    print(f"measured: {what}: {seconds:.1f} s")  # noqa: T201
