"""`POST /runs`: what other schedulers and scripts report of their runs."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from argus_api.answers import answer
from argus_api.auth import Level, require
from argus_api.body import read_json, require_object
from argus_api.hub import Here, utc_now
from argus_memory.tasks.runs import accept_report

router = APIRouter(dependencies=[require(Level.MCP)])
REPORT_MAX = 4 * 1024 * 1024  # bytes: two streams and an output


@router.post("/runs")
async def runs(hub: Here, request: Request) -> Response:
    """A receipt {"rid", "verdict", "reason"}: 201 when it is news, 200 when it was said before."""
    report = require_object(await read_json(request, REPORT_MAX))
    receipt = await run_in_threadpool(accept_report, hub.db, hub.settings, report, now=utc_now())
    return answer(receipt, 200 if receipt["verdict"] == "repeated" else 201)
