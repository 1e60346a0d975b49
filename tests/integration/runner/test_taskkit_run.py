"""A task that uses taskkit, in a real run, against the real API."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from dataclasses import replace

import pytest
import uvicorn

from argus_api.app import create_app
from argus_memory.db import Database
from argus_memory.settings import Settings
from argus_memory.tasks.runner import run_task
from tests.helpers import wait_until
from tests.integration.runner.conftest import MakeSpec

SCRIPT = """
import taskkit
taskkit.metric("beds", 4)
receipt = taskkit.remember("Bed 4 leaks at the brass valve behind the shed.", kind="event", project="garden")
found = taskkit.recall("brass valve")
taskkit.deliver("Bed 4", "leaks")
taskkit.report({"raw_id": receipt["id"], "found": [each["id"] for each in found]}, summary="watched 4 beds")
try:
    taskkit.ask("which bed?")
except taskkit.NotReachable as error:
    print(error)
"""


@pytest.fixture
def hub(db: Database, settings: Settings) -> Iterator[Settings]:
    """Settings of a hub that listens."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    address = f"http://127.0.0.1:{listener.getsockname()[1]}"
    here = replace(settings, api_url=address, api_port=listener.getsockname()[1])
    config = uvicorn.Config(create_app(here), log_level="critical", access_log=False, timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    wait_until(lambda: server.started, what="the server has started")
    yield here
    server.should_exit = True
    thread.join(10)
    listener.close()


def test_a_task_reports_remembers_and_asks(db: Database, hub: Settings, make_spec: MakeSpec) -> None:
    """What it remembers is an item of source task with its run's id; what it reports is on its row and delivered."""
    spec = make_spec("python watch.py && taskkit metric pots 2", channel="garden")
    (spec.folder / "watch.py").write_text(SCRIPT)
    result = run_task(db, hub, spec, started_by="person")
    assert result.outcome == "ok", (result.reason, result.stderr_tail)
    item = db.fetch_one("select id, source, kind, project, metadata from raw_items")
    assert item is not None
    assert (item["source"], item["kind"], item["project"]) == ("task", "event", "garden")
    assert (item["metadata"]["task"], item["metadata"]["rid"]) == ("watering", result.rid)
    assert result.output["raw_id"] == item["id"]
    assert result.metrics == {"beds": 4, "pots": 2}
    assert "ARGUS_ASK_MODEL" in result.stdout_tail
    told = db.fetch_all("select channel, title, body from deliveries order by id")
    assert told == [
        {"channel": "garden", "title": "Bed 4", "body": "leaks"},
        {"channel": "garden", "title": "watering", "body": "watched 4 beds"},
    ]
