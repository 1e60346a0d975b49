"""`GET /healthz`: is it working? Without a token, and so without a word of what is remembered."""

from __future__ import annotations

from anyio import CapacityLimiter, move_on_after, to_thread
from fastapi import APIRouter, Request
from starlette.responses import Response

from argus_api.answers import answer
from argus_api.hub import Hub, utc_now
from argus_memory.watch.health import check_health
from argus_memory.watch.health_judge import Check, overall

router = APIRouter()
PATIENCE_SECONDS = 4.0  # the supervisor gives up after five
THREADS = 2  # of their own: a database that hangs must not keep the question waiting behind captures


@router.get("/healthz")
async def healthz(request: Request) -> Response:
    """200 while captures are taken (ok or degraded), 503 when they are not (down)."""
    state = request.app.state
    if not hasattr(state, "health_threads"):
        state.health_threads = CapacityLimiter(THREADS)
    hub: Hub = state.hub
    checks: dict[str, Check] | None = None
    with move_on_after(PATIENCE_SECONDS):
        checks = await to_thread.run_sync(_ask, hub, abandon_on_cancel=True, limiter=state.health_threads)
    if checks is None:
        checks = {"database": Check("failed", f"no answer within {PATIENCE_SECONDS:g} s")}
    status = overall(checks)
    shown = {name: {"status": c.status, "detail": c.detail, "since": c.since} for name, c in checks.items()}
    return answer({"status": status, "checks": shown}, 503 if status == "down" else 200)


def _ask(hub: Hub) -> dict[str, Check]:
    return check_health(hub.db, hub.settings, now=utc_now())
