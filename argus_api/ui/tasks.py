"""`/ui/tasks`: what is to run and whether it ran; one task with its ledger and runs; to-dos noticed in memory."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from datetime import UTC, datetime
from typing import Final, Literal
from urllib.parse import quote
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from psycopg.rows import DictRow
from starlette.responses import Response, StreamingResponse

from argus_api.hub import Here, Hub, utc_now
from argus_api.note_routes import RowId
from argus_api.ui import plots
from argus_api.ui.changes import ACTOR, change
from argus_api.ui.lists import Listing, one_of, options
from argus_api.ui.page import Viewer, render
from argus_api.ui.security import HEADERS, Sent, SignedIn
from argus_api.ui.words import money_text, span_text
from argus_memory.errors import NotFound, Unreachable, UsageError
from argus_memory.option_values import parse_duration
from argus_memory.rules.storable import storable
from argus_memory.tasks.registry import pause_task, resume_task
from argus_memory.upkeep.pages import tasks
from argus_memory.upkeep.task_items import decide_task_item
from argus_memory.watch.start_task import find_task, load_tasks, start_task

router = APIRouter()
RUNS: Final = Listing(tasks.RUN_SORTS, ("outcome",))
TODOS: Final = Listing(tasks.TODO_SORTS, ("status", "project"))
FOLLOW_SECONDS: Final = 1.0
FOLLOW_LOOKS: Final = 600  # then the stream ends; a browser opens it anew
TONES: Final = {"ok": "ok", "skipped": "unknown", "overrunning": "warn"}
TODO_VERBS: Final[dict[str, tuple[Literal["verified", "dropped", "open"], str]]] = {
    "done": ("verified", "Done"), "drop": ("dropped", "Dropped"), "reopen": ("open", "Open again"),
}  # fmt: skip


def zone_of(request: Request, hub: Hub) -> ZoneInfo:
    zone = Viewer(request, hub.settings, utc_now()).zone
    return zone if isinstance(zone, ZoneInfo) else ZoneInfo("UTC")


@router.get("/ui/tasks")
def show_list(request: Request, hub: Here, session: SignedIn) -> Response:
    now = utc_now()
    page = tasks.find_tasks(hub.db, load_tasks(hub.settings), zone_of(request, hub), now=now)
    strips = {name: _strip(days, name, slot=8) for name, days in page.strips.items()}
    return render(request, "tasks.html", page=page, strips=strips, days=tasks.LIST_DAYS, address=address)


@router.get("/ui/tasks/todos")
def show_todos(request: Request, hub: Here, session: SignedIn) -> Response:
    view = TODOS.read(request)
    filters = {"status": one_of(view, "status", tasks.TODO_STATUSES), "project": view["project"]}
    page = tasks.find_todos(hub.db, filters, wanted=view.wanted)
    return render(request, "todos.html", view=view, page=page, statuses=options(tasks.TODO_STATUSES), moment=_moment)


@router.post("/ui/todos/{id}/{verb}")
def decide_todo(request: Request, hub: Here, form: Sent, id: RowId, verb: str) -> Response:  # noqa: A002
    if verb not in TODO_VERBS:
        raise NotFound(f"a to-do cannot be told to {verb[:40]!r}")
    to, done = TODO_VERBS[verb]

    def act() -> str:
        before = decide_task_item(hub.db, id, to, actor=ACTOR, now=utc_now())
        return f"{done}: to-do {id} was {before}."

    return change(request, "/ui/tasks/todos", act)


@router.get("/ui/tasks/{name}")
def show_one(request: Request, hub: Here, session: SignedIn, name: str) -> Response:
    view = RUNS.read(request)
    outcome = one_of(view, "outcome", tasks.OUTCOMES)
    page = tasks.find_one(
        hub.db, load_tasks(hub.settings), storable(name), outcome, zone_of(request, hub), wanted=view.wanted,
        now=utc_now(),
    )  # fmt: skip
    return render(
        request, "task.html", view=view, page=page, outcomes=options(tasks.OUTCOMES), path=address(page.name),
        strip=_strip(page.strip, page.name, slot=4), durations=_durations(page.plotted), costs=_costs(page.plotted),
        tones=TONES,
    )  # fmt: skip


@router.get("/ui/tasks/{name}/runs/{id}")
def show_run(request: Request, hub: Here, session: SignedIn, name: str, id: RowId) -> Response:  # noqa: A002
    row, calls = tasks.find_run(hub.db, storable(name), id)
    whole = request.query_params.get("whole") == "1"
    return render(request, "task_run.html", row=row, calls=calls, path=address(name), tones=TONES, whole=whole)


@router.get("/ui/tasks/{name}/events")
async def follow(request: Request, hub: Here, session: SignedIn, name: str) -> Response:
    """Server-sent events: `run` with the newest run whenever it changes, from its state now on; ends after a while,
    and the browser asks again."""
    return StreamingResponse(
        run_events(hub, storable(name), request.is_disconnected),
        media_type="text/event-stream", headers={**HEADERS, "Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )  # fmt: skip


async def run_events(hub: Hub, name: str, gone: Callable[[], Awaitable[bool]]) -> AsyncIterator[str]:
    last = None
    for _ in range(FOLLOW_LOOKS):
        row = await run_in_threadpool(tasks.follow_run, hub.db, name)
        state = None if row is None else {
            "id": row["id"], "outcome": row["outcome"],
            "seconds": int(((row["finished_at"] or utc_now()) - row["started_at"]).total_seconds()),
        }  # fmt: skip
        if state != last:
            last = state
            yield f"event: run\ndata: {json.dumps(state)}\n\n"
        if await gone():
            return
        await asyncio.sleep(FOLLOW_SECONDS)


@router.post("/ui/tasks/{name}/{verb}")
def act_on(request: Request, hub: Here, form: Sent, name: str, verb: str) -> Response:
    deeds = {"run": _run, "pause": _pause, "resume": _resume}
    if verb not in deeds:
        raise NotFound(f"a task cannot be told to {verb[:40]!r}")

    def act() -> str:
        try:
            return deeds[verb](hub, name, form, zone_of(request, hub))
        except Unreachable as error:
            raise UsageError(str(error)) from error

    goal = "/ui/tasks" if form.text("from") == "list" else address(name)
    return change(request, goal, act)


def _run(hub: Hub, name: str, form: Sent, zone: ZoneInfo) -> str:
    run_id = start_task(hub.settings, find_task(hub.settings, name), why="ui")
    return f"Started: Dagster run {run_id[:8]}; its report appears here when it begins."


def _pause(hub: Hub, name: str, form: Sent, zone: ZoneInfo) -> str:
    until = _end_of(form.text("until").strip(), zone)
    reason = storable(form.text("reason").strip())[:500] or None
    done = pause_task(hub.db, name, until=until, actor=ACTOR, reason=reason, now=utc_now())
    return f"Paused {f'until {done.until_at:%Y-%m-%d %H:%M} UTC' if done.until_at else 'until you resume it'}."


def _resume(hub: Hub, name: str, form: Sent, zone: ZoneInfo) -> str:
    resume_task(hub.db, name, actor=ACTOR, now=utc_now())
    return "Resumed: its next due time counts again."


def _end_of(text: str, zone: ZoneInfo) -> datetime | None:
    """A span (2h, 3d) or a local time (2026-12-24T18:00); blank: no end. Raises UsageError."""
    if not text:
        return None
    try:
        return utc_now() + parse_duration(text)
    except (ValueError, OverflowError):
        pass
    try:
        at = datetime.fromisoformat(text)
        return (at if at.tzinfo else at.replace(tzinfo=zone)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise UsageError(f"until: {text[:60]!r} is no span (2h, 3d) and no time (2026-12-24T18:00)") from None


def address(name: str) -> str:
    return f"/ui/tasks/{quote(name, safe='')}"


def _strip(days: Sequence[tasks.Day], name: str, *, slot: int) -> object:
    return plots.strip([plots.Column(1, day.words, day.tone) for day in days], f"{name}, what was due", slot=slot)


def _durations(runs: Sequence[DictRow]) -> object:
    bars = []
    for run in runs:
        took = run["finished_at"] - run["started_at"]
        told = f"{run['started_at']:%Y-%m-%d %H:%M} UTC: {span_text(took)}, {run['outcome']}"
        bars.append(plots.Column(took.total_seconds(), told, TONES.get(run["outcome"], "failed")))
    return plots.columns(bars, "How long the last runs took")


def _costs(runs: Sequence[DictRow]) -> object | None:
    """None where no run has a known cost."""
    if all(run["cost_usd"] is None for run in runs):
        return None
    bars = [
        plots.Column(
            float(run["cost_usd"] or 0),
            f"{run['started_at']:%Y-%m-%d %H:%M} UTC: "
            + ("cost unknown" if run["cost_usd"] is None else money_text(float(run["cost_usd"]))),
            "none" if run["cost_usd"] is None else "accent",
        )
        for run in runs
    ]
    return plots.columns(bars, "What the last runs cost")


def _moment(text: str) -> datetime:
    """A time inside a row's json."""
    return datetime.fromisoformat(text)
