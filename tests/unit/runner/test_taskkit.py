"""taskkit: what it writes inside a run, what it says outside of one, and how its calls fail."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import taskkit
from taskkit.__main__ import main

FOLDER = Path(taskkit.__file__).parent
RID = "0b9f5f0e-4c8b-4f7e-9a4c-2f3b8f6f1d11"


@pytest.fixture
def lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[dict[str, Any]]]:
    """Inside a run: the messages written so far."""
    path = tmp_path / "messages.jsonl"
    monkeypatch.setenv("ARGUS_TASK_MESSAGES", str(path))
    monkeypatch.setenv("ARGUS_TASK", "watering")
    monkeypatch.setenv("ARGUS_TASK_RID", RID)
    return lambda: [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


@pytest.fixture
def outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ARGUS_TASK_MESSAGES", "ARGUS_API_URL", "ARGUS_MCP_TOKEN"):
        monkeypatch.delenv(name, raising=False)


class Hub:
    """A stand-in that answers each call with what `reply` says."""

    def __init__(self) -> None:
        self.status = 200
        self.body: bytes = b"{}"
        self.seen: list[tuple[str, str, Any, str | None]] = []
        hub = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                size = int(self.headers.get("Content-Length") or 0)
                data = self.rfile.read(size)
                sent = json.loads(data) if data else None
                hub.seen.append((self.command, self.path, sent, self.headers.get("Authorization")))
                self.send_response(hub.status)
                self.send_header("Content-Length", str(len(hub.body)))
                self.end_headers()
                self.wfile.write(hub.body)

            do_POST = do_GET  # noqa: N815 — its name is http.server's

            def log_message(self, *_: Any) -> None:
                """Tests read no log."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def reply(self, value: Any, status: int = 200) -> None:
        self.status, self.body = status, value if isinstance(value, bytes) else json.dumps(value).encode()


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    stand_in = Hub()
    monkeypatch.setenv("ARGUS_API_URL", f"http://127.0.0.1:{stand_in.server.server_port}")
    monkeypatch.setenv("ARGUS_MCP_TOKEN", "a-token-for-this-test")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")  # nobody: a loopback hub is asked without it
    yield stand_in
    stand_in.server.shutdown()
    stand_in.server.server_close()


def test_every_call_is_one_message(lines: Callable[[], list[dict[str, Any]]]) -> None:
    """Each function appends one JSON line of its type with what it was given."""
    taskkit.report({"beds": 4}, summary="done")
    taskkit.metric("litres", 12)
    taskkit.cost(None, engine="local")
    taskkit.deliver("Dry", "bed 4", key="dry")
    taskkit.skip("rain")
    assert lines() == [
        {"type": "report", "output": {"beds": 4}, "summary": "done"},
        {"type": "metric", "name": "litres", "value": 12.0},
        {"type": "cost", "usd": None, "engine": "local"},
        {"type": "deliver", "title": "Dry", "text": "bed 4", "key": "dry"},
        {"type": "skip", "reason": "rain"},
    ]


@pytest.mark.parametrize(
    "call",
    [
        lambda: taskkit.metric("litres", float("nan")),
        lambda: taskkit.cost(-1),
        lambda: taskkit.report({"x": float("inf")}),
        lambda: taskkit.report("x" * 300_000),
        lambda: taskkit.remember("text", kind="turn"),
    ],
)
def test_what_could_not_be_read_is_not_written(call: Callable[[], Any], lines: Callable[[], list[dict[str, Any]]]) -> None:
    """A value the runner would pass over raises where it is made."""
    with pytest.raises(ValueError):
        call()
    assert lines() == []


def test_by_hand_it_says_what_it_would_have_sent(outside: None, capsys: pytest.CaptureFixture[str]) -> None:
    """Outside a run nothing is sent, and standard error says so with the content."""
    taskkit.report(summary="4 beds")
    receipt = taskkit.remember("Bed 4 leaks")
    said = capsys.readouterr().err
    assert said.count("not in a run of Argus") == 2
    assert "4 beds" in said
    assert "Bed 4 leaks" in said
    assert receipt["id"] is None


def test_remember_captures_with_its_source(lines: object, hub: Hub) -> None:
    """The item is of source task and of the kind asked for, with task and run in its metadata, and never a turn."""
    hub.reply({"id": 7, "duplicate": False, "skipped": None, "redactions": []}, 201)
    assert taskkit.remember("Bed 4 leaks", kind="event", project="garden", metadata={"bed": 4})["id"] == 7
    ((method, path, item, token),) = hub.seen
    assert (method, path, token) == ("POST", "/capture", "Bearer a-token-for-this-test")
    assert (item["source"], item["kind"], item["body"], item["project"]) == ("task", "event", "Bed 4 leaks", "garden")
    assert {"task": "watering", "rid": RID, "bed": 4}.items() <= item["metadata"].items()
    assert "argus_session" not in item["metadata"]


def test_recall_searches(lines: object, hub: Hub) -> None:
    """The query is sent whole, the results come as they are."""
    hub.reply({"results": [{"id": 1, "title": "valve"}]})
    assert taskkit.recall("valve & pump", limit=3) == [{"id": 1, "title": "valve"}]
    assert hub.seen[0][1] == "/search?q=valve+%26+pump&limit=3"


def test_ask_adds_its_cost_to_the_run(lines: Callable[[], list[dict[str, Any]]], hub: Hub) -> None:
    """The answer is returned with model and tier; the run hears what it cost, null where that is not known."""
    hub.reply({"text": "bed 4", "model": "local", "model_real": "local-7b", "tier": 1, "cost_usd": None})
    assert taskkit.ask("which bed?", system="short")["text"] == "bed 4"
    assert hub.seen[0][2] == {"prompt": "which bed?", "system": "short"}
    assert lines() == [{"type": "cost", "usd": None, "engine": "local-7b"}]


@pytest.mark.parametrize(
    ("status", "body", "error", "words"),
    [
        (403, {"error": {"code": "forbidden", "message": "the token may not"}}, taskkit.Refused, "the token may not"),
        (422, {"error": {"code": "invalid", "message": "body: is empty"}}, taskkit.Refused, "body: is empty"),
        (503, {"error": {"code": "unreachable", "message": "no model"}}, taskkit.NotReachable, "no model"),
        (500, b"oops", taskkit.Refused, "HTTP 500"),
        (200, b"<html>", taskkit.NotReachable, "not Argus"),
        (200, [1], taskkit.NotReachable, "not Argus"),
    ],
)
def test_an_error_is_one_sentence(lines: object, hub: Hub, status: int, body: Any, error: type[Exception], words: str) -> None:
    """What the hub says is what the exception says."""
    hub.reply(body, status)
    with pytest.raises(error, match=words):
        taskkit.ask("x")


def test_without_a_hub_the_reason_is_named(outside: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing variable and a hub that is down are told apart."""
    with pytest.raises(taskkit.NotConfigured, match="ARGUS_API_URL is not set"):
        taskkit.recall("x")
    monkeypatch.setenv("ARGUS_API_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("ARGUS_MCP_TOKEN", "t")
    with pytest.raises(taskkit.NotReachable, match="does not answer"):
        taskkit.recall("x")
    monkeypatch.setenv("ARGUS_API_URL", "file:///etc/hostname")
    with pytest.raises(taskkit.NotConfigured, match="no http"):
        taskkit.recall("x")


def test_the_command_writes_the_same_messages(lines: Callable[[], list[dict[str, Any]]], monkeypatch: pytest.MonkeyPatch) -> None:
    """Shell tasks say the same with `taskkit …`; wrong use ends with 2 and writes nothing."""
    assert main(["report", "--summary", "done", "--output", '{"beds": 4}']) == 0
    assert main(["metric", "litres", "2.5"]) == 0
    assert main(["cost", "unknown"]) == 0
    assert main(["deliver", "Dry", "bed 4", "--channel", "garden"]) == 0
    assert main(["skip", "rain"]) == 0
    assert main(["report", "--output", "{broken"]) == 2
    assert main(["report"]) == 2
    with pytest.raises(SystemExit, match="2"):
        main(["metric", "litres", "much"])
    assert [line["type"] for line in lines()] == ["report", "metric", "cost", "deliver", "skip"]
    assert lines()[0]["output"] == {"beds": 4}


def test_the_command_answers_and_fails_with_its_codes(lines: object, hub: Hub, capsys: pytest.CaptureFixture[str]) -> None:
    """An answer goes to standard output; 1 is refused, 3 not reachable."""
    hub.reply({"text": "bed 4", "model": "m", "cost_usd": 0.1})
    assert main(["ask", "which?"]) == 0
    assert capsys.readouterr().out == "bed 4\n"
    hub.reply({"error": {"code": "forbidden", "message": "no"}}, 403)
    assert main(["ask", "which?"]) == 1
    hub.reply({"error": {"code": "unreachable", "message": "no"}}, 503)
    assert main(["remember", "x"]) == 3


def test_every_command_has_help() -> None:
    """`taskkit --help` names every command."""
    done = subprocess.run([sys.executable, "-m", "taskkit", "--help"], capture_output=True, text=True, check=True, cwd=FOLDER.parent)
    for name in ("report", "metric", "cost", "deliver", "skip", "remember", "recall", "ask", "agent"):
        assert f"\n    {name} " in done.stdout


def test_it_needs_nothing_but_an_old_python() -> None:
    """Every file is Python 3.8 and imports the standard library and itself; dagster_pipes where it is there."""
    allowed = set(sys.stdlib_module_names) | {"taskkit", "dagster_pipes"}
    for path in FOLDER.glob("*.py"):
        tree = ast.parse(path.read_text(), feature_version=(3, 8))
        for node in ast.walk(tree):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert all(name.split(".")[0] in allowed for name in names), path


PIPED = "import taskkit; taskkit.metric('beds', 4); taskkit.report(summary='done')"


def test_messages_travel_over_dagster_pipes_too(lines: Callable[[], list[dict[str, Any]]], tmp_path: Path) -> None:
    """Where the run has a Pipes session each message is in it, and the file has the same."""
    from dagster_pipes import encode_param

    messages = tmp_path / "pipes.jsonl"
    messages.touch()
    context = {
        "asset_keys": ["task/watering"], "code_version_by_asset_key": {}, "provenance_by_asset_key": {}, "partition_key": None,
        "partition_key_range": None, "partition_time_window": None, "run_id": "r", "job_name": "j", "retry_number": 0, "extras": {},
    }
    env = {
        **os.environ,
        "DAGSTER_PIPES_CONTEXT": encode_param({"data": context}),
        "DAGSTER_PIPES_MESSAGES": encode_param({"path": str(messages)}),
    }
    done = subprocess.run([sys.executable, "-c", PIPED], env=env, capture_output=True, text=True, cwd=FOLDER.parent, check=True)
    piped = [json.loads(line) for line in messages.read_text().splitlines()]
    assert done.stderr == ""
    custom = [each["params"]["payload"]["argus"] for each in piped if each["method"] == "report_custom_message"]
    assert custom == lines()
    assert piped[-1]["method"] == "closed"


def test_a_pipes_session_that_cannot_be_used_costs_nothing(lines: Callable[[], list[dict[str, Any]]]) -> None:
    """Broken Pipes variables are said once, and every message is in the file."""
    env = {**os.environ, "DAGSTER_PIPES_CONTEXT": "nonsense", "DAGSTER_PIPES_MESSAGES": "nonsense"}
    done = subprocess.run([sys.executable, "-c", PIPED], env=env, capture_output=True, text=True, cwd=FOLDER.parent, check=False)
    assert done.returncode == 0
    assert done.stderr.count("Dagster Pipes cannot be used") == 1
    assert len(lines()) == 2
