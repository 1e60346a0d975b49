"""The recall hook as a process: what it asks and what it prints."""

from __future__ import annotations

import json
import subprocess
import threading
import time
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.helpers import wait_until
from tests.stubs.hook_home import HOOKS, HookHome
from tests.stubs.hook_server import HookServer, Reply, Request

FENCED = "<argus-memory>\n" + "- 2026-11-01: prices are rounded half to even (shop)\n" * 3 + "</argus-memory>"


def test_a_session_start_gets_the_context(home: HookHome, server: HookServer, tmp_path: Path) -> None:
    """GET /recall/context with folder, repository and session; the text comes back as additionalContext."""
    server.text = FENCED
    work = tmp_path / "größe & co"
    (work / ".git").mkdir(parents=True)
    (work / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    session = home.session()
    session.cwd = str(work)
    ran = home.recall(session.event("SessionStart", source="startup"))
    assert ran.code == 0
    assert json.loads(ran.out) == {
        "hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": FENCED}
    }
    request = server.requests[0]
    query = parse_qs(urlsplit(request.path).query)
    assert (request.method, urlsplit(request.path).path) == ("GET", "/recall/context")
    assert query["cwd"] == [str(work)]
    assert query["session"] == [session.id]
    assert json.loads(query["repo"][0])["common_dir"] == str((work / ".git").resolve())


def test_a_prompt_gets_what_is_on_record(home: HookHome, server: HookServer) -> None:
    """POST /recall/notes with prompt, session, folder and this machine's floor."""
    server.text = FENCED
    home.extra["ARGUS_RECALL_FLOOR"] = "0.02"
    session = home.session()
    ran = home.recall(session.event("UserPromptSubmit", prompt="how are prices rounded?"))
    assert ran.context == FENCED
    assert json.loads(ran.out)["hookSpecificOutput"]["hookEventName"] == "UserPromptSubmit"
    request = server.requests[0]
    assert (request.method, request.path) == ("POST", "/recall/notes")
    assert request.json == {
        "prompt": "how are prices rounded?", "session": session.id, "cwd": "/home/ada/shop", "floor": 0.02,
    }  # fmt: skip


@pytest.mark.parametrize("event", ["SessionStart", "UserPromptSubmit"])
def test_nothing_on_record_prints_nothing(home: HookHome, server: HookServer, event: str) -> None:
    """An empty text is no output at all."""
    assert home.recall(home.session().event(event, prompt="hello there")).out == ""


@pytest.mark.parametrize("event", ["Stop", "SessionEnd", "PreCompact", "SubagentStop", "Unknown"])
def test_other_events_print_nothing(home: HookHome, server: HookServer, event: str) -> None:
    """Context at a Stop would keep the turn going for ever."""
    server.text = FENCED
    assert home.recall(home.session().event(event)).out == ""
    assert server.requests == []


@pytest.mark.parametrize("letter", ["x", "ö", "😀"])
def test_the_context_stays_below_the_hosts_limit(home: HookHome, server: HookServer, letter: str) -> None:
    """At most 8,000 characters as the host counts them, the line about what was missed included; the fence's last
    line is never cut off."""
    server.text = "<argus-memory>\n" + (letter * 90 + "\n") * 300 + "</argus-memory>"
    session = home.session()
    session.talk(2)
    there, home.url = home.url, "http://127.0.0.1:9"
    home.capture(session.event())
    home.url = there
    context = home.recall(session.event("SessionStart")).context
    assert 7000 < len(context.encode("utf-16-le")) // 2 <= 8000
    assert context.startswith("Argus: 2 turns since")
    assert context.endswith("</argus-memory>")


@pytest.mark.parametrize(
    "reply",
    [Reply(401, {"error": {"code": "x"}}), Reply(500, {}), Reply(200, raw=b"prose"), Reply(200, []),
     Reply(200, {"text": 7}), Reply(200, {}), Reply(200, raw=b"\xff\xfe")],
    ids=range(7),
)  # fmt: skip
def test_a_bad_answer_fails_open(home: HookHome, server: HookServer, reply: Reply) -> None:
    """Refused, broken or of another shape: exit code 0, nothing printed, the log has the reason."""
    server.rule = lambda _: reply
    ran = home.recall(home.session().event("UserPromptSubmit", prompt="anything"))
    assert (ran.code, ran.out, ran.err) == (0, "", "")
    assert "recall UserPromptSubmit" in home.log


def test_a_server_that_never_answers_is_left(home: HookHome, server: HookServer) -> None:
    """The whole of a recall is bounded: after five seconds the prompt goes on without."""
    over = threading.Event()

    def hang(_: Request) -> None:
        over.wait(20)

    server.rule = hang
    began = time.monotonic()
    ran = home.recall(home.session().event("UserPromptSubmit", prompt="anything"))
    took = time.monotonic() - began
    over.set()
    assert (ran.code, ran.out) == (0, "")
    assert took < 6.0
    assert "did not answer in time" in home.log


def test_a_server_that_is_down_costs_next_to_nothing(home: HookHome) -> None:
    """A refused connection is known at once."""
    home.url = "http://127.0.0.1:9"
    began = time.monotonic()
    assert home.recall(home.session().event("UserPromptSubmit", prompt="anything")).out == ""
    assert time.monotonic() - began < 2.0


def test_hooks_wired_twice_give_their_context_once(home: HookHome, server: HookServer) -> None:
    """A plugin's copy beside the settings' runs the same event in parallel: one of the two keeps silent, and the
    same event later is answered again."""
    server.text = FENCED
    silent = threading.Event()

    def meet(_: Request) -> Any:
        silent.wait(4)  # the first is answered only when the other has ended: within the hook's own patience

    server.rule = meet
    event = home.session().event("SessionStart")
    running = [
        subprocess.Popen(
            [home.python, "-I", "-S", str(HOOKS / "recall_hook.py")], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, env=home.environment,
        )
        for _ in range(2)
    ]
    for process in running:
        assert process.stdin is not None
        process.stdin.write(json.dumps(event).encode())
        process.stdin.close()
    wait_until(lambda: any(process.poll() is not None for process in running), what="one of the two ends")
    silent.set()
    outputs = [process.stdout.read() if process.stdout else b"" for process in running]
    assert [process.wait(10) for process in running] == [0, 0]
    assert sorted(map(bool, outputs)) == [False, True]
    server.rule = None
    assert home.recall(event).context == FENCED
