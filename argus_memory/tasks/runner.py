"""One execution of a task, wrapped so that its report cannot be skipped.

run_task:

1. write the run's row (or skip it: no_overlap);
2. make its folder, environment and order, and start the guard, which starts the task;
3. while it runs: apply its messages, move `beat_at`;
4. when the guard reports, or is gone: judge the end, close the row, its expectation, alert and deliveries at once.

Where the database is away at step 4 the guard's report and the messages stay in $ARGUS_HOME/run/tasks, and
`close_orphans` files them. Where this process dies, the guard ends the task and leaves the same files.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import Any

import psycopg

from argus_memory.db import Database
from argus_memory.errors import Unreachable
from argus_memory.records import RunResult, StartedBy, TaskSpec
from argus_memory.settings import Settings
from argus_memory.tasks.config_env import expand_spec, referenced_secrets
from argus_memory.tasks.runner_env import (
    CannotStart,
    RunPlace,
    make_argv,
    make_env,
    make_kill_argv,
    place_of,
)
from argus_memory.tasks.runner_file import RunFiles, file_end, file_messages, make_end, write_json
from argus_memory.tasks.runner_guard import GuardProcess
from argus_memory.tasks.runs_orphans import close_orphans
from argus_memory.tasks.runs_write import RunBegun, RunEnd, RunFinished, beat_run, begin_run
from argus_memory.tasks.spec_json import spec_to_json

log = logging.getLogger(__name__)

STOP_GRACE = timedelta(seconds=10)  # between SIGTERM and SIGKILL
SETTLE = timedelta(seconds=1)  # what a task left behind may end by itself, a `tee` for instance
BEAT_EVERY = 15.0  # seconds
LOOK_EVERY = 0.5  # seconds between looks at the messages
STOP_PATIENCE = timedelta(seconds=60)  # beyond the grace, for a guard that was asked to stop
AWAY = (Unreachable, psycopg.Error)  # whatever the database says, the report must not be lost


def utc_now() -> datetime:
    return datetime.now(UTC)


def run_task(
    db: Database,
    settings: Settings,
    spec: TaskSpec,
    *,
    started_by: StartedBy,
    due_at: datetime | None = None,
    attempt: int = 0,
    retries_left: int = 0,
    dagster_run_id: str | None = None,
    extra_env: Mapping[str, str] | None = None,
    clock: Callable[[], datetime] = utc_now,
    stop_grace: timedelta = STOP_GRACE,
) -> RunResult:
    """Run the task to its end and report it; never raises for what the task does.

    due_at: the occurrence this run is for; attempt: 0 for the first; retries_left: attempts that follow a failed one;
    extra_env: Dagster Pipes' variables. Raises Unreachable when the row cannot be written before the start (then
    nothing was started). Where this process is told to end, the task is ended and reported before that goes on.
    """
    now = clock()
    rid = str(uuid.uuid4())
    begin = {
        "rid": rid, "started_by": started_by, "due_at": due_at, "attempt": attempt, "retries_left": retries_left,
        "dagster_run_id": dagster_run_id,
    }  # fmt: skip
    if spec.no_overlap:
        close_orphans(db, settings, now=now, task=spec.name)  # a dead run must not keep this one from starting
    begun = begin_run(db, settings, spec, now=now, **begin)  # type: ignore[arg-type]  # the six above
    if begun.skipped:
        return _result(spec, begun, now, RunEnd("skipped", now, reason=begun.skipped))
    missing = None
    secrets: tuple[str, ...] = ()
    try:
        secrets = referenced_secrets(spec, settings)  # before the files: what it is given is masked in what it writes
        spec = expand_spec(spec, settings)
    except ValueError as error:
        missing = {"start_error": str(error)}
    place = place_of(settings, rid)
    files = RunFiles.open(place, spec.name, now, spec, secrets)
    report = missing or _execute(db, settings, spec, files, due_at, attempt, extra_env or {}, clock, stop_grace)
    files.messages.read(last=True)  # what it said in its last moments counts for how it ended
    end = make_end(settings, files, report)
    _file(db, settings, files, end, report, clock)
    stopped_by = report.get("raised")
    if isinstance(stopped_by, BaseException):
        raise stopped_by
    return _result(spec, begun, now, end)


def _execute(
    db: Database,
    settings: Settings,
    spec: TaskSpec,
    files: RunFiles,
    due_at: datetime | None,
    attempt: int,
    extra_env: Mapping[str, str],
    clock: Callable[[], datetime],
    stop_grace: timedelta,
) -> dict[str, Any]:
    """The guard's report, also of what never started; `raised` holds what told this process to end."""
    place = files.place
    try:
        place.folder.mkdir(parents=True, mode=0o700)
        place.messages.touch(0o600)
        write_json(place.spec, {**spec_to_json(spec), "secrets": list(files.secrets)})
        env, names = make_env(settings, spec, place, due_at=due_at, attempt=attempt, extra_env=extra_env)
        order = {
            "rid": place.rid,
            "about": {"task": spec.name, "rid": place.rid},
            "argv": make_argv(spec, env, place, names),
            "kill_argv": make_kill_argv(spec, env, place),
            "cwd": str(spec.folder),
            "env": env,
            "spool": str(place.spool),
            "lock": str(place.lock),
            "max_runtime": spec.max_runtime.total_seconds(),
            "grace": stop_grace.total_seconds(),
            "settle": SETTLE.total_seconds(),
        }
        guard = GuardProcess(order)
    except CannotStart as error:
        return {"start_error": str(error)}
    except (OSError, ValueError) as error:
        return {"start_error": f"it could not be started: {error}"}
    try:
        return _attend(db, settings, files, guard, clock, stop_grace)
    finally:
        guard.close()


def _attend(
    db: Database,
    settings: Settings,
    files: RunFiles,
    guard: GuardProcess,
    clock: Callable[[], datetime],
    stop_grace: timedelta,
) -> dict[str, Any]:
    """Wait for the report, with messages and beats meanwhile; whatever raises here stops the task first."""
    raised: BaseException | None = None
    deadline = None
    beaten = monotonic()
    while deadline is None or monotonic() < deadline:
        try:
            if guard.wait(LOOK_EVERY):
                assert guard.report is not None
                return guard.report | {"raised": raised}
            if raised is None:
                beaten = _keep(db, settings, files, beaten, clock)
        except BaseException as error:  # noqa: BLE001 — raised again when the run is filed
            raised = raised or error
            guard.stop()
            deadline = deadline or monotonic() + (stop_grace + STOP_PATIENCE).total_seconds()
    return {"guard_lost": True, "raised": raised}


def _keep(
    db: Database, settings: Settings, files: RunFiles, beaten: float, clock: Callable[[], datetime]
) -> float:
    """Messages and the beat; a database that is away costs neither the run nor a message."""
    try:
        file_messages(db, settings, files, now=clock())
        if monotonic() - beaten >= BEAT_EVERY:
            beat_run(db, files.place.rid, now=clock())
            return monotonic()
    except AWAY as error:
        log.warning("run %s of %s goes on without the database: %s", files.place.rid, files.task, error)
    return beaten


def _file(
    db: Database,
    settings: Settings,
    files: RunFiles,
    end: RunEnd,
    report: Mapping[str, Any],
    clock: Callable[[], datetime],
) -> RunFinished | None:
    """Close the run, or leave its report in the spool for close_orphans."""
    try:
        return file_end(db, settings, files, end, now=clock())
    except AWAY as error:
        log.warning("the report of run %s waits in %s: %s", files.place.rid, files.place.spool, error)
        _keep_report(files, report)
        return None


def _keep_report(files: RunFiles, report: Mapping[str, Any]) -> None:
    """In the spool, unless the guard did it already."""
    place = files.place
    if place.spool.exists():
        return
    kept = {name: value for name, value in report.items() if name != "raised"}
    try:
        place.root.mkdir(parents=True, exist_ok=True)
        write_json(place.spool, {"about": {"task": files.task, "rid": place.rid}, **kept})
    except OSError as error:
        log.error("the report of run %s of %s can be kept nowhere (%s): %s", place.rid, files.task, error, kept)


def _result(spec: TaskSpec, begun: RunBegun, started_at: datetime, end: RunEnd) -> RunResult:
    return RunResult(
        rid=begun.rid,
        task=spec.name,
        outcome=end.outcome,
        started_at=started_at,
        finished_at=end.finished_at,
        exit_code=end.exit_code,
        signal=end.signal,
        reason=end.reason,
        stdout_tail=end.stdout_tail,
        stderr_tail=end.stderr_tail,
        stdout_bytes=end.stdout_bytes or 0,
        stderr_bytes=end.stderr_bytes or 0,
        output=end.output,
        metrics=end.metrics,
        cost_usd=end.cost_usd,
        engine=end.engine,
    )


__all__ = ["STOP_GRACE", "RunPlace", "run_task"]
