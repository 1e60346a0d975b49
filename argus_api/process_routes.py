"""`POST /process` and `POST /segment`: pending work as a Dagster run, or here where Dagster cannot be reached."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from argus_api.answers import answer
from argus_api.auth import Level, require
from argus_api.body import JsonOptions, get_flag
from argus_api.hub import Here, Hub, utc_now
from argus_memory.errors import Conflict, Unreachable
from argus_memory.records import ProcessReport
from argus_memory.upkeep.process import work_stage
from argus_memory.upkeep.process_all import process_all, report_of_runs, report_of_works
from argus_memory.watch.dagster_launch import launch_job, run_url, wait_run

router = APIRouter(dependencies=[require(Level.ADMIN)])
JOB = "process_memory"
SEGMENT_STEPS = ("segment_turns",)  # the job's own name for that stage


@router.post("/process")
def process(hub: Here, options: JsonOptions) -> Response:
    """All stages once. Without `"wait": true` the answer is the run's id and page, with it the report."""
    return _work(hub, get_flag(options, "wait", False), ())


@router.post("/segment")
def segment(hub: Here, options: JsonOptions) -> Response:
    """Close the tails that are due, and nothing else."""
    return _work(hub, get_flag(options, "wait", False), SEGMENT_STEPS)


def _work(hub: Hub, wait: bool, steps: tuple[str, ...]) -> Response:
    try:
        run_id = launch_job(hub.settings, JOB, tags={"argus/why": "api"}, steps=steps)
    except Unreachable as error:
        report, errors = _work_here(hub, steps)
        return answer(_report(report, errors, None, f"{error}; done in this process instead"))
    url = run_url(hub.settings, run_id)
    if not wait:
        return answer({"run_id": run_id, "url": url})
    status = wait_run(hub.settings, run_id)
    done = report_of_runs(hub.db, [run_id])
    if status != "SUCCESS" and not done.errors:
        raise Unreachable(f"run {run_id} ended as {status.lower()}: {url}")
    return answer(_report(done.report, done.errors, run_id, None) | {"url": url})


def _work_here(hub: Hub, steps: tuple[str, ...]) -> tuple[ProcessReport, Mapping[str, str]]:
    if not hub.processing.acquire(blocking=False):
        raise Conflict("the API is working off what is pending already: ask again when that is done")
    try:
        if steps == SEGMENT_STEPS:
            work = work_stage(hub.db, hub.settings, "episodes", step_back=False)
            return report_of_works([work]), {"segment": work.error} if work.error else {}
        done = process_all(hub.db, hub.settings, now=utc_now)
        return done.report, done.errors
    finally:
        hub.processing.release()


def _report(report: ProcessReport, errors: Mapping[str, str], run_id: str | None, note: str | None) -> dict[str, Any]:
    return {"run_id": run_id, "note": note, "errors": dict(errors), **asdict(report)}
