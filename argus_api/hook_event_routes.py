"""`POST /hooks/{event}`: the hooks of Claude Code's type `http`, for a machine where the API is local.

What comes is what a command hook has on stdin, and what goes back is what it would print: the same code does the
work, in this process instead of one of its own. SessionStart accepts no http hooks and stays a command.

Whatever fails, the answer is 200 without a word, as a command hook ends with 0: a session must not stumble over its
memory. What failed is in the hooks' own log, in the heartbeat, and here.
"""

from __future__ import annotations

import logging
import os
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, Final

import anyio
from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter, Request
from starlette.responses import JSONResponse, Response

from argus_api.auth import Level, require
from argus_api.body import read_json, require_object
from argus_api.hooks.parts.base import OWN_SESSION, load_config, text_of
from argus_api.hooks.parts.capture import capture_event, guess_target
from argus_api.hooks.parts.event import EVENT_MAX
from argus_api.hooks.parts.offsets import mark_own
from argus_api.hooks.parts.recall import recall_event
from argus_api.hub import Here, Hub
from argus_memory.errors import NotFound, UsageError
from argus_memory.rules.storable import storable

router = APIRouter(dependencies=[require(Level.CAPTURE)])
EVENTS: Final = ("UserPromptSubmit", "Stop", "SubagentStop", "StopFailure", "PreCompact", "PostCompact", "SessionEnd")
OWN_HEADER: Final = "x-argus-own-session"
THREADS: Final = 4  # of their own: each asks this API once more, and must not wait for itself
# What does not fit an event's time, as the command hook does it in a process of its own.
_LATER = ThreadPoolExecutor(max_workers=2, thread_name_prefix="hook-rest")

log = logging.getLogger(__name__)


@router.post("/hooks/{event}")
async def hook(request: Request, hub: Here, event: str) -> Response:
    """What the session is to be told, or nothing. 404 for an event that is not taken over HTTP."""
    if event not in EVENTS:
        raise NotFound(f"no hook answers {event[:40]!r} over HTTP; these do: {', '.join(EVENTS)}")
    given: dict[str, Any] = require_object(await read_json(request, EVENT_MAX))
    named = text_of(given, "hook_event_name")
    if named and named != event:
        raise UsageError(f"hook_event_name: is {named[:40]!r}, and the address says {event}")
    given["hook_event_name"] = event
    state = request.app.state
    if not hasattr(state, "hook_threads"):
        state.hook_threads = CapacityLimiter(THREADS)
    port = (request.scope.get("server") or (None, None))[1] or hub.settings.api_port
    work = partial(_answer, hub, given, port, request.headers.get(OWN_HEADER, "") not in ("", "0"))
    with anyio.CancelScope(shield=True):  # a host that gives up waiting loses its answer, not what was said
        output = await to_thread.run_sync(work, limiter=state.hook_threads)
    return JSONResponse(output) if output else Response(status_code=200)


def _answer(hub: Hub, event: dict[str, Any], port: int, own: bool) -> dict[str, Any]:
    started = time.monotonic()
    environment = _environment(hub, port)
    config = load_config(environment)
    session = storable(text_of(event, "session_id"))
    cwd = text_of(event, "cwd")
    if own:
        mark_own(config, session)
        return {}
    _drop_foreign_path(event, environment)
    target = guess_target(event)
    output: dict[str, Any] = {}
    try:
        output = recall_event(config, event, target, session, cwd, started)
    except Exception:
        log.exception("recall of %s over HTTP failed", event["hook_event_name"])
    try:
        rest = capture_event(config, environment, event, None, target, session, cwd, time.monotonic())
        if rest is not None:
            _LATER.submit(_quietly, rest)
    except Exception:
        log.exception("capture of %s over HTTP failed", event["hook_event_name"])
    return output


def _quietly(rest: Any) -> None:
    try:
        rest()
    except Exception:
        log.exception("the rest of a capture over HTTP failed")


def _environment(hub: Hub, port: int) -> dict[str, str]:
    """What a command hook on this machine would have, with this API as the hub."""
    own = {
        "ARGUS_HOME": str(hub.settings.home), "ARGUS_API_URL": "", "ARGUS_API_HOST": hub.settings.api_host,
        "ARGUS_API_PORT": str(port), "ARGUS_CAPTURE_TOKEN": hub.settings.capture_token or "",
    }  # fmt: skip
    kept = {name: value for name, value in os.environ.items() if name not in (OWN_SESSION, "CLAUDE_CODE_SESSION_ID")}
    return {**kept, **own}


def _drop_foreign_path(event: dict[str, Any], environment: dict[str, str]) -> None:
    """A transcript's path counts only below a home of the two programs: the token captures, it reads no files."""
    given = text_of(event, "transcript_path")
    if not given:
        return
    homes = (environment.get("CLAUDE_CONFIG_DIR") or "~/.claude", environment.get("CODEX_HOME") or "~/.codex")
    try:
        path = Path(given).expanduser().resolve()
        below = any(path.is_relative_to(Path(home).expanduser().resolve()) for home in homes)
    except (OSError, RuntimeError, ValueError):  # a loop, an unknown user, a NUL
        below = False
    if not below:
        del event["transcript_path"]
