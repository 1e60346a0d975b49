"""The capture hook as a process: what it reads, sends and remembers."""

from __future__ import annotations

import json
import os
import subprocess
import threading
import time
from pathlib import Path

import pytest

from tests.helpers import wait_until
from tests.stubs.hook_home import HOOKS, HookHome
from tests.stubs.hook_server import HookServer, Reply, Request

EVENTS = (
    "SessionStart", "UserPromptSubmit", "Stop", "SubagentStop", "StopFailure", "PreCompact", "PostCompact",
    "SessionEnd",
)  # fmt: skip


def test_a_stop_sends_the_turns_and_moves_the_offset(home: HookHome, server: HookServer) -> None:
    """Every visible turn arrives once, with role, host, position and uuid; the offset is the file's end."""
    session = home.session()
    texts = session.talk(4)
    ran = home.capture(session.event())
    assert (ran.code, ran.out, ran.err) == (0, "", "")
    assert server.bodies == texts
    item = server.stored[0]
    assert (item["source"], item["kind"], item["session"], item["cwd"]) == (
        "claude-code", "turn", session.id, "/home/ada/shop",
    )  # fmt: skip
    assert item["metadata"]["role"] == "user"
    assert item["metadata"]["host"] == os.uname().nodename
    assert home.offset(session.id)["offset"] == session.path.stat().st_size


def test_only_what_is_new_is_sent_again(home: HookHome, server: HookServer) -> None:
    """The next event sends the turns since, and an event without news only its heartbeat."""
    session = home.session()
    session.talk(2)
    home.capture(session.event())
    later = session.talk(2, start=3)
    home.capture(session.event("UserPromptSubmit", prompt="and now?"))
    home.capture(session.event())
    assert [len(request.items) for request in server.requests] == [2, 2, 0]
    assert server.bodies[2:] == later
    assert server.repeats == 0


@pytest.mark.parametrize("event", EVENTS)
def test_every_event_captures_and_prints_nothing(home: HookHome, server: HookServer, event: str) -> None:
    """Whatever the event, the new turns and a heartbeat that names it arrive, and stdout stays empty."""
    session = home.session()
    texts = session.talk(2)
    ran = home.capture(session.event(event, source="clear", reason="logout", trigger="auto"))
    assert (ran.code, ran.out) == (0, "")
    assert server.bodies == texts
    beat = server.beats[-1]
    assert (beat["event"], beat["session"], beat["target"]) == (event, session.id, "claude-code")
    assert (beat["source"], beat["reason"], beat["trigger"]) == ("clear", "logout", "auto")
    assert {"host", "version", "cwd", "at"} <= set(beat)


def test_a_line_that_is_still_being_written_waits(home: HookHome, server: HookServer) -> None:
    """Half a line is left alone and read once it is whole; nothing is lost or sent twice."""
    session = home.session()
    session.talk(1)
    line = json.dumps(session.record("assistant", "the second half comes later")).encode() + b"\n"
    session.write(line[:70])
    home.capture(session.event())
    assert len(server.stored) == 1
    session.write(line[70:])
    home.capture(session.event())
    assert server.bodies[1:] == ["the second half comes later"]
    assert server.repeats == 0


def test_a_session_end_takes_a_last_line_without_newline(home: HookHome, server: HookServer) -> None:
    """At rest a whole last record is taken although its newline is missing; a cut one is left."""
    session = home.session()
    session.talk(1)
    session.write(json.dumps(session.record("assistant", "no newline after me")).encode())
    home.capture(session.event())
    assert len(server.stored) == 1
    home.capture(session.event("SessionEnd"))
    assert server.bodies[1:] == ["no newline after me"]


def test_damaged_lines_lose_only_themselves(home: HookHome, server: HookServer) -> None:
    """A 1 MB line, bytes that are no UTF-8, a scalar and broken JSON do not keep their neighbours back."""
    session = home.session()
    session.say("user", "before")
    session.write(b'{"type": "user", broken\n\xff\xfe\x00garbage\n42\n\n')
    session.say("user", "x" * 1_200_000)
    session.say("user", "a lone surrogate \ud800 and a NUL \0 in it")
    session.say("assistant", "after")
    home.capture(session.event())
    assert [len(body) for body in server.bodies] == [6, 1_200_000, 36, 5]
    assert "\ufffd" in server.bodies[2]
    assert "\0" not in server.bodies[2]


def test_more_than_a_thousand_turns_go_in_several_requests(home: HookHome, server: HookServer) -> None:
    """No request carries more than 1,000 items, and together they carry all, in order."""
    session = home.session()
    texts = session.talk(2300)
    home.capture(session.event())
    wait_until(lambda: len(server.stored) == 2300, what="all turns arrived")
    assert server.bodies == texts
    assert max(len(request.items) for request in server.requests) <= 1000
    wait_until(lambda: home.offset(session.id).get("offset") == session.path.stat().st_size)


def test_one_poisonous_item_in_a_thousand_stands_alone(home: HookHome, server: HookServer) -> None:
    """A final 4xx is narrowed down to its item, which is logged, said and not retried; 999 arrive."""
    server.rule = lambda request: (
        Reply(422, {"error": {"code": "invalid_item", "message": "items[0].body: no"}})
        if any("number 617 " in item["body"] for item in request.items)
        else None
    )
    session = home.session()
    session.talk(1000)
    home.capture(session.event())
    wait_until(lambda: "rejected for good (422)" in home.log)
    assert len(server.stored) == 999
    assert len(server.requests) < 40
    assert home.log.count("rejected for good") == 1
    wait_until(lambda: home.offset(session.id).get("offset") == session.path.stat().st_size)
    before = len(server.requests)
    home.capture(session.event())
    assert [len(request.items) for request in server.requests[before:]] == [0]
    assert "1 turn refused by the server for good" in home.recall(session.event("SessionStart")).context


def test_a_server_that_takes_less_at_once_gets_less(home: HookHome, server: HookServer) -> None:
    """413 halves the batch until it fits."""
    server.rule = lambda request: Reply(413, {"error": {"code": "too_large"}}) if len(request.items) > 6 else None
    session = home.session()
    texts = session.talk(20)
    home.capture(session.event())
    assert server.bodies == texts
    assert "rejected" not in home.log.replace("0 rejected", "")


def test_a_heartbeat_the_server_does_not_know_costs_no_turn(home: HookHome, server: HookServer) -> None:
    """An older server that refuses the hook object still gets every turn."""
    server.rule = lambda request: Reply(422, {"error": {"code": "invalid"}}) if request.hook else None
    session = home.session()
    texts = session.talk(3)
    home.capture(session.event())
    assert server.bodies == texts


@pytest.mark.parametrize("status", [301, 401, 408, 429, 500, 503])
def test_a_passing_refusal_holds_the_offset(home: HookHome, server: HookServer, status: int) -> None:
    """After 401, 408, 429, 5xx or a redirect nothing is lost: the next event that gets through sends it all."""
    server.rule = lambda _: Reply(status, {"error": {"code": "x", "message": "not now"}})
    session = home.session()
    texts = session.talk(3)
    assert home.capture(session.event()).code == 0
    assert home.offset(session.id) == {}
    server.rule = None
    home.capture(session.event())
    assert server.bodies == texts


def test_another_program_on_the_port_costs_no_turn(home: HookHome, server: HookServer) -> None:
    """A 404 that is not Argus' own says that the address is wrong, not the item."""
    server.rule = lambda _: Reply(404, raw=b"<h1>Not found</h1>")
    session = home.session()
    texts = session.talk(2)
    home.capture(session.event())
    server.rule = None
    home.capture(session.event())
    assert server.bodies == texts


def test_a_rotated_token_is_picked_up(home: HookHome, server: HookServer) -> None:
    """With the old token everything waits; with the new one in the env file everything arrives; neither is logged."""
    session = home.session()
    texts = session.talk(2)
    server.token = "the-new-capture-token"
    home.capture(session.event())
    assert server.stored == []
    assert "refused the capture token (401)" in home.log
    home.write_env("the-new-capture-token")
    home.capture(session.event())
    assert server.bodies == texts
    assert "capture-token" not in home.log


def test_a_server_that_is_down_costs_little_and_is_said(home: HookHome, server: HookServer) -> None:
    """Exit code 0 in under 2 seconds, nothing printed; the next session hears what was missed; later all arrives."""
    there, home.url = home.url, "http://127.0.0.1:9"
    session = home.session()
    texts = session.talk(14)
    began = time.monotonic()
    ran = home.capture(session.event())
    assert time.monotonic() - began < 2.0
    assert (ran.code, ran.out) == (0, "")
    started = home.recall(session.event("SessionStart", source="startup"))
    clock = time.strftime("%H:%M", time.localtime(1796032921.0))
    assert started.context.startswith("Argus: 14 turns since 2026-11-30 ")
    assert f" {clock} not captured: server unreachable" in started.context
    assert json.loads(started.out)["systemMessage"] == started.context
    home.url = there
    home.capture(session.event())
    assert server.bodies == texts
    assert server.beats[-1]["missed"]["turns"] == 14
    assert "sent since" in home.recall(session.event("SessionStart")).context
    assert home.recall(session.event("SessionStart")).out == ""


def test_an_unreachable_address_does_not_hold_the_session(home: HookHome) -> None:
    """An address that swallows packets is given up in time."""
    home.url = "http://10.255.255.1:8484"
    session = home.session()
    session.talk(1)
    began = time.monotonic()
    assert home.capture(session.event()).code == 0
    assert time.monotonic() - began < 2.0


def test_a_session_end_returns_in_a_second_and_is_finished_behind_it(home: HookHome, server: HookServer) -> None:
    """A server that takes its time delays no SessionEnd: the rest is detached, and the turns and the mark arrive."""
    slow = threading.Event()
    asked = threading.Event()

    def wait(_: Request) -> None:
        if not asked.is_set():
            asked.set()
            slow.wait(10)

    server.rule = wait
    session = home.session()
    texts = session.talk(3)
    began = time.monotonic()
    ran = home.capture(session.event("SessionEnd", reason="logout"))
    assert time.monotonic() - began < 1.0
    assert (ran.code, ran.out) == (0, "")
    slow.set()
    wait_until(lambda: home.offset(session.id).get("offset") == session.path.stat().st_size)
    assert sorted(set(server.bodies)) == sorted(texts)
    wait_until(lambda: any(beat["event"] == "SessionEnd" for beat in server.beats))


def test_a_stop_waits_for_its_answer_to_reach_the_transcript(home: HookHome, server: HookServer) -> None:
    """The transcript may lag: what is written a moment later still goes with this Stop, once."""
    session = home.session()
    session.say("user", "what is the rounding rule?")
    line = json.dumps(session.record("assistant", "It rounds half to even.")).encode() + b"\n"
    timer = threading.Timer(0.12, lambda: session.write(line))
    timer.start()
    home.capture(session.event(last_assistant_message="It rounds half to even."))
    timer.join()
    wait_until(lambda: "It rounds half to even." in server.bodies)
    assert server.bodies == ["what is the rounding rule?", "It rounds half to even."]


def test_an_answer_that_comes_later_is_waited_for_behind_the_session(home: HookHome, server: HookServer) -> None:
    """Past the short wait the hook returns, and a detached process sends the answer without another event."""
    session = home.session()
    session.say("user", "and negative amounts?")
    began = time.monotonic()
    home.capture(session.event(last_assistant_message="Away from zero."))
    assert time.monotonic() - began < 2.0
    assert len(server.stored) == 1
    session.say("assistant", "Away from zero.")
    wait_until(lambda: "Away from zero." in server.bodies)


def test_a_moved_transcript_is_read_on(home: HookHome, server: HookServer) -> None:
    """A worktree moves the file: it is found by the session's id and read from where it was."""
    session = home.session()
    session.talk(2)
    home.capture(session.event())
    event = session.event()
    folder = home.projects / "-home-ada-shop-worktree"
    folder.mkdir()
    session.path.rename(folder / session.path.name)
    session.folder = folder
    later = session.talk(2, start=3)
    home.capture(event)
    assert server.bodies[2:] == later
    assert server.repeats == 0


def test_another_configuration_folder_is_honoured(home: HookHome, server: HookServer, tmp_path: Path) -> None:
    """CLAUDE_CONFIG_DIR moves the projects: a wrong path in the event is still resolved."""
    home.extra["CLAUDE_CONFIG_DIR"] = str(tmp_path / "elsewhere")
    home.projects = tmp_path / "elsewhere" / "projects"
    session = home.session()
    texts = session.talk(2)
    home.capture({**session.event(), "transcript_path": "/nowhere/at/all.jsonl"})
    assert server.bodies == texts


def test_a_transcript_of_another_session_is_read_besides_ones_own(home: HookHome, server: HookServer) -> None:
    """After a resume the path may be another session's: both files are read, each under its own offset."""
    old, new = home.session(), home.session()
    first, second = old.talk(2), new.talk(2, start=10)
    home.capture({**new.event(), "transcript_path": str(old.path)})
    assert sorted(server.bodies) == sorted(first + second)
    assert home.offset(old.id)["offset"] == old.path.stat().st_size
    assert home.offset(new.id)["offset"] == new.path.stat().st_size


@pytest.mark.parametrize("grown", [False, True])
def test_a_replaced_transcript_is_read_from_its_start(home: HookHome, server: HookServer, grown: bool) -> None:
    """A file that shrank, or another text of more bytes, starts again; the server knows what repeats."""
    session = home.session()
    session.talk(4)
    home.capture(session.event())
    session.path.unlink()
    texts = session.talk(9 if grown else 2, start=20)
    home.capture(session.event())
    assert server.bodies[4:] == texts


def test_a_transcript_that_does_not_exist_is_survived(home: HookHome, server: HookServer) -> None:
    """No file, no error: the heartbeat arrives all the same."""
    ran = home.capture(home.session().event("SessionStart"))
    assert (ran.code, ran.out, ran.err) == (0, "", "")
    assert server.beats[-1]["event"] == "SessionStart"


@pytest.mark.parametrize("kind", ["folder", "pipe", "agent"])
def test_what_is_no_transcript_is_left_alone(home: HookHome, server: HookServer, kind: str) -> None:
    """A folder, a pipe that would never end, or a subagent's file in place of the transcript."""
    session = home.session()
    session.talk(1)
    path = session.folder / ("agent-1234abcd.jsonl" if kind == "agent" else "odd.jsonl")
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.write_bytes(session.path.read_bytes())
    session.path.unlink()
    ran = home.capture({**session.event(), "transcript_path": str(path)})
    assert ran.code == 0
    assert server.stored == []


def test_parallel_hooks_send_each_turn_once(home: HookHome, server: HookServer) -> None:
    """Eight hooks at the same moment on one session: the lock keeps them apart."""
    session = home.session()
    texts = session.talk(50)
    event = json.dumps(session.event()).encode()
    running = [
        subprocess.Popen(
            [home.python, "-I", "-S", str(HOOKS / "capture_hook.py")], stdin=subprocess.PIPE, env=home.environment
        )
        for _ in range(8)
    ]
    for process in running:
        assert process.stdin is not None
        process.stdin.write(event)
        process.stdin.close()
    assert [process.wait(20) for process in running] == [0] * 8
    assert server.bodies == texts
    assert server.repeats == 0


def test_a_session_start_sweeps_unread_tails(home: HookHome, server: HookServer) -> None:
    """Sessions whose last events never came are read at the next start, of whichever project; agents' files not."""
    lost, other = home.session(), home.session("-home-ada-blog")
    lost.talk(2)
    home.capture(lost.event())
    tail = lost.talk(2, start=3)
    unseen = other.talk(2, start=30)
    (other.folder / "agent-99aa88bb.jsonl").write_bytes(other.path.read_bytes().replace(b"turn number", b"agent"))
    fresh = home.session()
    home.capture(fresh.event("SessionStart", source="startup"))
    assert sorted(server.bodies[2:]) == sorted(tail + unseen)
    before = len(server.requests)
    home.capture(fresh.event("SessionStart", source="startup"))
    assert [request.items for request in server.requests[before:]] == [[]]


def test_what_argus_started_is_never_captured(home: HookHome, server: HookServer) -> None:
    """A session with Argus' own mark sends nothing, not even when a later session sweeps."""
    own = home.session()
    own.talk(2)
    home.extra["ARGUS_SESSION"] = "1"
    for event in ("SessionStart", "Stop", "SessionEnd"):
        assert home.capture(own.event(event)).out == ""
    assert home.recall(own.event("SessionStart")).out == ""
    assert server.requests == []
    del home.extra["ARGUS_SESSION"]
    home.capture(home.session().event("SessionStart"))
    assert server.stored == []


@pytest.mark.parametrize("how", ["glob", "file"])
def test_an_excluded_folder_never_leaves_the_machine(
    home: HookHome, server: HookServer, tmp_path: Path, how: str
) -> None:
    """ARGUS_EXCLUDE or an .argus-ignore file in a parent: no request at all, at capture, recall and sweep."""
    secret = tmp_path / "secret" / "deep"
    secret.mkdir(parents=True)
    if how == "glob":
        home.extra["ARGUS_EXCLUDE"] = f"/somewhere/else,{tmp_path}/secret"
    else:
        (tmp_path / "secret" / ".argus-ignore").touch()
    session = home.session()
    session.cwd = str(secret)
    session.talk(2)
    for event in ("SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"):
        assert home.capture(session.event(event, prompt="p", last_assistant_message="m")).code == 0
        assert home.recall(session.event(event, prompt="p")).out == ""
    assert server.requests == []
    home.capture(home.session().event("SessionStart"))
    assert server.stored == []


def test_a_deleted_working_folder_is_survived(home: HookHome, server: HookServer, tmp_path: Path) -> None:
    """The process may stand in a folder that is gone."""
    gone = tmp_path / "gone"
    gone.mkdir()
    session = home.session()
    texts = session.talk(2)
    script = f"cd {gone} && rmdir {gone} && exec {home.python} -I -S {HOOKS / 'capture_hook.py'}"
    event = {**session.event(), "cwd": None}
    ended = subprocess.run(
        ["/bin/sh", "-c", script], input=json.dumps(event).encode(), env=home.environment, capture_output=True,
        check=False,
    )  # fmt: skip
    assert (ended.returncode, ended.stdout) == (0, b"")
    assert server.bodies == texts


def test_a_home_that_cannot_be_written_is_survived(home: HookHome, server: HookServer, tmp_path: Path) -> None:
    """Without a place for offsets the turns are sent all the same."""
    (tmp_path / "a-file").write_text("")
    home.argus = tmp_path / "a-file"
    home.extra["ARGUS_CAPTURE_TOKEN"] = server.token
    session = home.session()
    texts = session.talk(2)
    ran = home.capture(session.event())
    assert (ran.code, ran.out) == (0, "")
    assert server.bodies == texts


def test_a_damaged_offset_file_only_costs_repeats(home: HookHome, server: HookServer) -> None:
    """Rubbish in the offset file starts the session again from 0; the server knows the repeats."""
    session = home.session()
    texts = session.talk(2)
    home.capture(session.event())
    for rubbish in ("", "[1,2]", '{"offset": -4}', '{"offset": "x"}', '{"offset": 3, "parser": [], "tail": 7}'):
        (home.argus / "hook-offsets" / f"{session.id}.offset").write_text(rubbish)
        assert home.capture(session.event()).code == 0
    assert server.bodies == texts
    assert server.repeats == 10


def test_the_log_stays_small_and_files_are_private(home: HookHome, server: HookServer) -> None:
    """hook.log is turned over; nobody else reads it, the offsets or the heartbeat; no words of the session in it."""
    (home.argus / "hook.log").write_text("x" * 600_000)
    session = home.session()
    session.talk(1)
    home.capture(session.event())
    assert (home.argus / "hook.log.1").stat().st_size > 600_000
    home.capture(session.event())
    assert (home.argus / "hook.log").stat().st_size < 1000
    assert "invoice" not in home.log
    for folder in ("hook-offsets", "hook-heartbeat"):
        assert (home.argus / folder).stat().st_mode & 0o077 == 0
        assert all(path.stat().st_mode & 0o077 == 0 for path in (home.argus / folder).iterdir())
    beat = json.loads((home.argus / "hook-heartbeat" / "claude-code-capture.json").read_text())
    assert (beat["event"], beat["session"]) == ("Stop", session.id)


def test_the_repository_goes_with_the_turns(home: HookHome, server: HookServer, tmp_path: Path) -> None:
    """Remote and common folder of the repository a turn was said in, without credentials."""
    work = tmp_path / "shop"
    (work / ".git").mkdir(parents=True)
    (work / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (work / ".git" / "config").write_text('[remote "origin"]\n\turl = https://ada:pw@git.example/ada/shop.git\n')
    session = home.session()
    session.cwd = str(work)
    session.talk(1)
    home.capture(session.event())
    repo = server.stored[0]["metadata"]["repo"]
    assert repo == {"remote": "https://git.example/ada/shop.git", "common_dir": str((work / ".git").resolve())}
