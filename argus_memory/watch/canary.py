"""The canary: a turn that travels as a client would send it, from the hook's process over HTTP to recall and search.

    hook      capture_hook.py reads a transcript in a home of its own, and sends it to ARGUS_API_URL
    capture   the turn is a row, in the project `argus-canary`
    recall    POST /recall/notes gives it back
    search    GET /search finds it

All in CANARY_PROJECT, which no person's recall, search, count or digest knows. The step that failed, or that was not
reached in time, is in `canary_runs` and in the alert `canary`.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

from argus_memory.db import Database, queries
from argus_memory.records import CANARY_PROJECT, CANARY_SESSION
from argus_memory.settings import CODE_FOLDER, Settings
from argus_memory.watch.alerts import Condition, clear_alert, raise_alert

KIND = "canary"
HOOK = CODE_FOLDER / "argus_api" / "hooks" / "capture_hook.py"
FOLDER = "/argus-canary"  # where the turn says it was spoken; no such folder, so that no glob of a person excludes it
HOOK_SECONDS = 20.0  # it takes 0.1 s, and gives up by itself after 1.3
PATIENCE_SECONDS = 10.0  # to be found again: a turn is searchable by its words as soon as it is stored
REQUEST_SECONDS = 5.0
PAUSE_SECONDS = 0.25
# After a failure the next one goes out sooner, so that it is soon known when all is well again.
RETRY_AFTER = timedelta(minutes=5)
LETTERS = "bcdfghjklmnpqrstvwxz"  # no vowel: never a word, and no stemmer touches it


class CanaryLost(Exception):
    """`step`: where it was lost; the text says what was seen there. Never leaves this module."""

    def __init__(self, step: str, seen: str) -> None:
        super().__init__(seen)
        self.step = step


@dataclass(frozen=True, slots=True)
class CanaryResult:
    """How a canary fared; `step` and `detail` only where it was lost."""

    marker: str
    ok: bool
    seconds: float
    step: str | None = None
    detail: str | None = None


def is_due(db: Database, settings: Settings, now: datetime) -> bool:
    """Whether the next one is to go out. One of a process that died counts as sent."""
    row = db.fetch_one(queries("canary").last_sent)
    if row is None or row["sent_at"] > now:  # the clock was set back
        return True
    pace = settings.canary_every if row["outcome"] == "ok" else min(settings.canary_every, RETRY_AFTER)
    return bool(now - row["sent_at"] >= pace)


def run_canary(
    db: Database,
    settings: Settings,
    *,
    by: str,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    hook: Path = HOOK,
    patience: float = PATIENCE_SECONDS,
) -> CanaryResult:
    """Send one and look for it; its row and its alert are written. Raises Unreachable when the database is away."""
    marker = "canary" + "".join(random.choices(LETTERS, k=14))  # noqa: S311  a word nobody has said, no secret
    sent_at = clock()
    q = queries("canary")
    with db.transaction() as conn:
        conn.execute(q.begin_canary, {"marker": marker, "session": session_of(marker), "now": sent_at})
    lost: CanaryLost | None = None
    try:
        captured_at = send_turn(db, settings, hook, marker, sent_at, patience)
        with db.transaction() as conn:
            conn.execute(q.canary_captured, {"marker": marker, "at": captured_at})
        await_answer("recall", lambda: recalls(settings, marker), patience)
        await_answer("search", lambda: finds(settings, marker), patience)
    except CanaryLost as error:
        lost = error
    ended_at = clock()
    _settle(db, settings, marker, lost, ended_at, by)
    took = (ended_at - sent_at).total_seconds()
    return CanaryResult(marker, lost is None, took, lost.step if lost else None, str(lost) if lost else None)


def send_turn(db: Database, settings: Settings, hook: Path, marker: str, now: datetime, patience: float) -> datetime:
    """Send through the hook's process, in a home of its own that holds one session's transcript; when it was stored.

    A hook that the hub kept waiting goes on in a process of its own, so the home stays until the turn is there.
    """
    if not settings.capture_token:
        raise CanaryLost("hook", "ARGUS_CAPTURE_TOKEN is not set")
    session = session_of(marker)
    with tempfile.TemporaryDirectory(prefix="argus-canary-", ignore_cleanup_errors=True) as name:
        home = Path(name)
        transcript = home / ".claude" / "projects" / FOLDER.replace("/", "-") / f"{session}.jsonl"
        transcript.parent.mkdir(parents=True)
        transcript.write_text(json.dumps(record(marker, session, now)) + "\n", "utf-8")
        event = {"session_id": session, "transcript_path": str(transcript), "cwd": FOLDER, "hook_event_name": "Stop"}
        try:
            ran = subprocess.run(  # noqa: S603  our own hook
                [sys.executable, "-I", "-S", str(hook), "--target", "claude-code"],
                input=json.dumps(event).encode(), env=hook_environment(settings, home), cwd=home,
                capture_output=True, timeout=HOOK_SECONDS, check=False,
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired) as error:
            raise CanaryLost("hook", f"it did not end well ({type(error).__name__})") from error
        if ran.returncode != 0:
            raise CanaryLost("hook", f"it ended with exit code {ran.returncode}")
        try:
            return await_capture(db, session, patience)
        except CanaryLost as lost:
            said = last_line(home / ".argus" / "hook.log")
            raise CanaryLost(lost.step, f"{lost}; the hook says: {said or 'nothing'}") from lost


def session_of(marker: str) -> str:
    return f"{CANARY_SESSION}-{marker}"


def hook_environment(settings: Settings, home: Path) -> dict[str, str]:
    """What a client's hook finds: its own home, where the hub is, the token."""
    kept = {name: os.environ[name] for name in ("PATH", "SSL_CERT_FILE", "LANG") if name in os.environ}
    return {
        **kept,
        "HOME": str(home),
        "ARGUS_HOME": str(home / ".argus"),
        "ARGUS_API_URL": settings.api_url,
        "ARGUS_CAPTURE_TOKEN": settings.capture_token or "",
    }


def record(marker: str, session: str, now: datetime) -> dict[str, Any]:
    """A line of a transcript as Claude Code writes it."""
    return {
        "type": "user",
        "uuid": f"{session}-1",
        "parentUuid": None,
        "sessionId": session,
        "cwd": FOLDER,
        "timestamp": now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        "isSidechain": False,
        "message": {"role": "user", "content": f"The bird called {marker} was sent to see whether turns arrive."},
    }


def await_capture(db: Database, session: str, patience: float) -> datetime:
    """When the turn was stored; raises CanaryLost when it was not, or elsewhere."""
    end = time.monotonic() + patience
    while True:
        row = db.fetch_one(queries("canary").find_captured, {"session": session})
        if row is not None:
            break
        if time.monotonic() >= end:
            raise CanaryLost("capture", f"not stored within {patience:g} s")
        time.sleep(PAUSE_SECONDS)
    if row["project"] != CANARY_PROJECT:
        raise CanaryLost("capture", f"stored as raw item {row['id']} in another project")
    captured_at: datetime = row["captured_at"]
    return captured_at


def await_answer(step: str, ask: Callable[[], str | None], patience: float) -> None:
    """Ask until it is found; `ask` says what it saw instead, None when it was found."""
    end = time.monotonic() + patience
    while (seen := ask()) is not None:
        if time.monotonic() >= end:
            raise CanaryLost(step, f"not found within {patience:g} s: {seen}")
        time.sleep(PAUSE_SECONDS)


def recalls(settings: Settings, marker: str) -> str | None:
    """Whether the prompt's recall gives the turn back, as a hook of that project would ask."""
    question = {"prompt": f"Where did the bird called {marker} go after it was sent?", "project": CANARY_PROJECT}
    status, answer = call(settings, "/recall/notes", question)
    if status == 200 and marker in str(answer.get("text", "")):
        return None
    return f"POST /recall/notes answers {status or 'nothing'}" + (
        f", {answer['skipped']}" if answer.get("skipped") else ""
    )


def finds(settings: Settings, marker: str) -> str | None:
    status, answer = call(settings, f"/search?q={quote(marker)}&project={CANARY_PROJECT}&type=turn")
    results = answer.get("results")
    found = isinstance(results, list) and any(marker in str(hit.get("text", "")) for hit in results)
    return None if status == 200 and found else f"GET /search answers {status or 'nothing'} without it"


def call(settings: Settings, path: str, body: Mapping[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
    """One request at ARGUS_API_URL with the capture token; status 0 where nothing answers."""
    request = urllib.request.Request(  # noqa: S310  the operator's own address
        settings.api_url + path,
        None if body is None else json.dumps(body).encode(),
        {"Authorization": f"Bearer {settings.capture_token}", "Content-Type": "application/json"},
    )
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=REQUEST_SECONDS) as response:
            status, data = response.status, response.read()
    except urllib.error.HTTPError as error:
        return error.code, {}
    except OSError:
        return 0, {}
    try:
        answer = json.loads(data)
    except ValueError:
        return status, {}
    return status, answer if isinstance(answer, dict) else {}


def last_line(path: Path) -> str:
    """The hook's last word of itself, without its time; it never holds a token or what was said."""
    try:
        lines = path.read_text("utf-8", "replace").splitlines()
    except FileNotFoundError:
        return ""
    return " ".join(lines[-1].split()[2:])[:300] if lines else ""


def _settle(db: Database, settings: Settings, marker: str, lost: CanaryLost | None, now: datetime, by: str) -> None:
    """The outcome and its alert, in one transaction."""
    row = {
        "marker": marker,
        "outcome": "failed" if lost else "ok",
        "recalled_at": None if lost else now,
        "step": lost.step if lost else None,
        "detail": str(lost)[:500] if lost else None,
    }
    with db.transaction() as conn:
        conn.execute(queries("canary").end_canary, row)
        if lost is None:
            title = "A turn travels from hook to recall again"
            clear_alert(conn, settings, KIND, KIND, now=now, by=by, title=title)
        else:
            raise_alert(conn, settings, _condition(marker, lost), now=now, by=by)


def _condition(marker: str, lost: CanaryLost) -> Condition:
    cures = {
        "hook": "run `argus doctor`; the hook is argus_api/hooks/capture_hook.py, the hub is asked at ARGUS_API_URL.",
        "capture": "see logs/api.log: hooks reach the API, but what they send is not stored.",
        "recall": "see logs/api.log and `argus status`: what is captured is not recalled.",
        "search": "see logs/api.log and `argus status`: what is captured is not found.",
    }
    return Condition(
        kind=KIND,
        subject=KIND,
        title=f"A turn sent as a test did not come through: lost at {lost.step}",
        detail=f"{lost}\nWhat to do: {cures[lost.step]}",
        evidence={"marker": marker, "step": lost.step},
    )
