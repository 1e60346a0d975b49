"""Codex: hooks whose transcript path is null, `notify`, and words that stand in no transcript."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.stubs.hook_home import HookHome
from tests.stubs.hook_server import HookServer

THREAD = "0b1f6f0e-1111-4222-8333-444455556666"


def rollout(home: HookHome, *texts: str) -> Path:
    """A rollout that holds these texts, user and assistant in turn."""
    path = home.codex / "2026" / "11" / "30" / f"rollout-2026-11-30T10-00-00-{THREAD}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    lines: list[dict[str, Any]] = [
        {"timestamp": "2026-11-30T10:00:00.000Z", "type": "session_meta",
         "payload": {"id": THREAD, "cwd": "/home/ada/shop", "cli_version": "0.128.0"}},
    ]  # fmt: skip
    for number, text in enumerate(texts):
        kind = "agent_message" if number % 2 else "user_message"
        lines.append({
            "timestamp": f"2026-11-30T10:00:{number + 1:02d}.000Z", "type": "event_msg",
            "payload": {"type": kind, "message": text},
        })  # fmt: skip
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def notify(*prompts: str, answer: str = "done") -> str:
    return json.dumps({
        "type": "agent-turn-complete", "thread-id": THREAD, "turn-id": "7", "cwd": "/home/ada/shop",
        "input-messages": list(prompts), "last-assistant-message": answer,
    })  # fmt: skip


def test_a_null_transcript_path_is_looked_up(home: HookHome, server: HookServer) -> None:
    """The rollout is found by the session id; its turns are Codex's."""
    rollout(home, "sort the imports", "sorted")
    event = {
        "session_id": THREAD, "turn_id": "1", "transcript_path": None, "cwd": "/home/ada/shop",
        "hook_event_name": "Stop", "model": "m", "stop_hook_active": False, "last_assistant_message": "sorted",
    }  # fmt: skip
    ran = home.capture(event, "--target", "codex")
    assert (ran.code, ran.out) == (0, "")
    assert server.bodies == ["sort the imports", "sorted"]
    assert {item["source"] for item in server.stored} == {"codex"}
    assert server.beats[-1]["target"] == "codex"


def test_notify_reads_the_rollout(home: HookHome, server: HookServer) -> None:
    """`notify` is an event like any other: the rollout is read, and its words are not sent a second time."""
    rollout(home, "sort the imports", "done")
    ran = home.capture(None, "--target", "codex", notify("sort the imports"))
    assert (ran.code, ran.out) == (0, "")
    assert server.bodies == ["sort the imports", "done"]
    home.capture(None, "--target", "codex", notify("sort the imports"))
    assert server.repeats == 0


def test_notify_without_a_rollout_sends_its_own_words(home: HookHome, server: HookServer) -> None:
    """Nothing else will ever carry them; the same turn told twice is known by its uuid."""
    for _ in range(2):
        home.capture(None, "--target", "codex", notify("only here", answer="noted"))
    assert server.bodies == ["only here", "noted"]
    assert server.stored[0]["metadata"]["from"] == "hook-event"


def test_words_of_notify_wait_out_an_outage(home: HookHome, server: HookServer) -> None:
    """They are kept in the spool while the server is down, and go with the next event."""
    there, home.url = home.url, "http://127.0.0.1:9"
    home.capture(None, "--target", "codex", notify("kept for later"))
    home.url = there
    home.capture(home.session().event("SessionStart"))
    assert server.bodies == ["kept for later", "done"]
    assert not (home.argus / "hook-spool.jsonl").exists()


def test_the_spool_is_bounded_and_says_what_it_dropped(home: HookHome) -> None:
    """The oldest words go first, and the next session start counts them."""
    home.url = "http://127.0.0.1:9"
    for number in range(4):
        text = f"prompt {number} " + "x" * 300_000
        event = json.loads(notify(text, answer=""))
        event["turn-id"] = str(number)
        path = home.root / "argv.json"
        path.write_text(json.dumps(event))
        # An argument of this size is near the system's limit, so it goes through the event on stdin.
        home.capture({"session_id": f"s{number}", "cwd": "/home/ada/shop", "hook_event_name": "UserPromptSubmit",
                      "prompt": text})  # fmt: skip
    spool = (home.argus / "hook-spool.jsonl").read_bytes()
    assert len(spool) <= 1024 * 1024
    assert b"prompt 0 " not in spool
    assert b"prompt 3 " in spool
    said = home.recall({"session_id": "s", "cwd": "/home/ada", "hook_event_name": "SessionStart"}).context
    assert "1 waiting prompts dropped" in said


def test_a_prompt_whose_transcript_is_only_late_is_sent_once(home: HookHome, server: HookServer) -> None:
    """The first prompt of a session comes before its file: the file carries it, under its own uuid."""
    session = home.session()
    home.capture(session.event("UserPromptSubmit", prompt="the very first words"))
    assert server.stored == []
    session.say("user", "the very first words")
    home.capture(session.event("Stop"))
    home.capture(session.event("SessionEnd"))
    assert server.bodies == ["the very first words"]
    assert server.repeats == 0


def test_a_prompt_that_never_gets_a_transcript_is_sent_at_the_end(home: HookHome, server: HookServer) -> None:
    """At SessionEnd it is clear that no file will come; machine words are left out as in a transcript."""
    session = home.session()
    home.capture(session.event("UserPromptSubmit", prompt="without any file"))
    home.capture(session.event("UserPromptSubmit", prompt="<command-name>/clear</command-name>"))
    home.capture(session.event("Stop", last_assistant_message="an answer without any file"))
    home.capture(session.event("SessionEnd"))
    assert server.bodies == ["without any file", "an answer without any file"]


def test_a_person_who_wants_no_record_leaves_none(home: HookHome, server: HookServer) -> None:
    """With CLAUDE_CODE_SKIP_PROMPT_HISTORY there is no transcript, and no spool either."""
    home.extra["CLAUDE_CODE_SKIP_PROMPT_HISTORY"] = "1"
    session = home.session()
    home.capture(session.event("UserPromptSubmit", prompt="off the record"))
    home.capture(session.event("SessionEnd"))
    assert server.stored == []
    assert not (home.argus / "hook-spool.jsonl").exists()
