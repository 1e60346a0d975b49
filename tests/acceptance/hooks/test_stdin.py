"""The hooks against whatever comes, or does not come, on stdin; and against every Python they may meet."""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from tests.stubs.hook_home import HOOKS, HookHome
from tests.stubs.hook_server import HookServer

BOTH = ("capture_hook", "recall_hook")


def pythons() -> list[str]:
    """Every Python from 3.8 to 3.13 on this machine, at least the one the tests run under."""
    folders = [*map(Path, os.environ.get("PATH", "").split(":")), *Path.home().glob(".pyenv/versions/*/bin")]
    names = {f"3.{minor}": f"python3.{minor}" for minor in range(8, 14)}
    found = {}
    for version, name in names.items():
        for folder in folders:
            path = folder / name
            if path.is_file() and os.access(path, os.X_OK) and ".pyenv/shims" not in str(path):
                found.setdefault(version, str(path))
    base = shutil.which("python3") or "python3"
    return sorted(found.values()) or [base]


@pytest.mark.parametrize("hook", BOTH)
@pytest.mark.parametrize(
    "data",
    [b"", b"   \n", b"{", b"not json", b"[1, 2]", b"null", b'"text"', b"\xff\xfe\x00", b"[" * 100_000,
     b'{"hook_event_name": 7, "session_id": [], "cwd": {}, "transcript_path": 4, "prompt": null}',
     b'{"hook_event_name": "Stop", "session_id": "../../../etc/x", "cwd": "relative"}',
     b'{"hook_event_name": "SessionStart", "session_id": "", "cwd": "/\\u0000/x", "transcript_path": "/\\u0000"}',
     b'{"hook_event_name": "UserPromptSubmit", "prompt": "lone \\ud800", "session_id": "\\udfff", "cwd": "/tmp"}'],
    ids=range(13),
)  # fmt: skip
def test_any_input_is_survived(home: HookHome, server: HookServer, hook: str, data: bytes) -> None:
    """Empty, broken, of another shape: exit code 0, nothing printed, nothing on stderr, no internal failure."""
    ran = home.run(hook, data)
    assert (ran.code, ran.out, ran.err) == (0, "", "")
    assert "failed:" not in home.log, home.log


@pytest.mark.parametrize("hook", BOTH)
def test_fifty_megabytes_are_refused(home: HookHome, server: HookServer, hook: str) -> None:
    """A prompt of 50 MB is neither read to its end nor sent, and the log says so."""
    data = b'{"hook_event_name": "UserPromptSubmit", "prompt": "' + b"x" * 50_000_000 + b'"}'
    began = time.monotonic()
    assert home.run(hook, data).code == 0
    assert time.monotonic() - began < 3.0
    assert "larger than 16 MB and was refused" in home.log
    assert all(len(request.body) < 10_000 for request in server.requests)


@pytest.mark.parametrize("hook", BOTH)
def test_a_pipe_that_stays_open_is_not_waited_for(home: HookHome, server: HookServer, hook: str) -> None:
    """With a whole event on it the hook goes on at once; with half of one it gives up in a few seconds."""
    session = home.session()
    session.talk(1)
    server.text = "recorded facts"
    whole = json.dumps(session.event("SessionStart")).encode()
    for data, limit in ((whole, 2.0), (whole[:-9], 4.0)):
        process = subprocess.Popen(
            [home.python, "-I", "-S", str(HOOKS / f"{hook}.py")], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env=home.environment,
        )  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        began = time.monotonic()
        process.stdin.write(data)
        process.stdin.flush()
        out = process.stdout.read()
        assert process.wait(10) == 0
        assert time.monotonic() - began < limit
        process.stdin.close()
        assert (b"recorded facts" in out) == (hook == "recall_hook" and data is whole)
    assert "stdin stayed open" in home.log


def test_a_non_blocking_pipe_is_read(home: HookHome, server: HookServer) -> None:
    """EAGAIN is not an end: the event is read when it comes, in pieces."""
    session = home.session()
    texts = session.talk(2)
    reader, writer = os.pipe()
    for fd in (reader, writer):
        fcntl.fcntl(fd, fcntl.F_SETFL, fcntl.fcntl(fd, fcntl.F_GETFL) | os.O_NONBLOCK)
    process = subprocess.Popen(
        [home.python, "-I", "-S", str(HOOKS / "capture_hook.py")], stdin=reader, env=home.environment
    )
    data = json.dumps(session.event()).encode()
    for start in range(0, len(data), 50):
        os.write(writer, data[start : start + 50])
        time.sleep(0.002)  # pieces that come apart are what is tried here
    assert process.wait(10) == 0
    os.close(reader)
    os.close(writer)
    assert server.bodies == texts


def test_no_stdin_at_all_is_survived(home: HookHome, server: HookServer) -> None:
    """A closed descriptor 0 (Codex's notify closes it)."""
    for hook in BOTH:
        script = f"exec {home.python} -I -S {HOOKS / hook}.py <&-"
        ended = subprocess.run(["/bin/sh", "-c", script], env=home.environment, capture_output=True, check=False)
        assert (ended.returncode, ended.stdout) == (0, b"")


def test_an_empty_event_still_captures(home: HookHome, server: HookServer) -> None:
    """When nothing comes on stdin, the session is known from the environment, and tails are swept."""
    session = home.session()
    texts = session.talk(2)
    home.extra["CLAUDE_CODE_SESSION_ID"] = session.id
    home.capture(b"")
    assert server.bodies == texts
    del home.extra["CLAUDE_CODE_SESSION_ID"]
    later = session.talk(1, start=3)
    home.capture(b"")
    assert server.bodies == texts + later


@pytest.mark.parametrize("python", pythons(), ids=lambda path: re.sub(r".*/", "", path))
def test_every_python_runs_both_hooks(home: HookHome, server: HookServer, python: str) -> None:
    """From 3.8 on: a capture with a growing transcript of either program, an outage, and a recall."""
    home.python = python
    session = home.session()
    texts = session.talk(3)
    server.text = "<recorded>facts</recorded>"
    assert home.capture(session.event()).err == ""
    there, home.url = home.url, "http://127.0.0.1:9"
    texts += session.talk(2, start=4)
    home.capture(session.event())
    home.url = there
    rollout = home.codex / "2026" / "rollout-2026-11-30T10-00-00-0b1f6f0e-1111-4222-8333-444455556666.jsonl"
    rollout.parent.mkdir(parents=True)
    lines = [
        ("session_meta", {"id": "s", "cwd": "/home/ada/shop"}),
        ("event_msg", {"type": "user_message", "message": "hi"}),
        ("event_msg", {"type": "agent_message", "message": "yo"}),
    ]
    stamp = "2026-11-30T10:00:00.000Z"
    rollout.write_text(
        "".join(json.dumps({"timestamp": stamp, "type": kind, "payload": payload}) + "\n" for kind, payload in lines)
    )
    home.capture(session.event("SessionStart"))
    assert sorted(server.bodies) == sorted([*texts, "hi", "yo"])
    ran = home.recall(session.event("UserPromptSubmit", prompt="what about the export?"))
    assert (ran.code, ran.context) == (0, server.text)
    assert "failed:" not in home.log, home.log
