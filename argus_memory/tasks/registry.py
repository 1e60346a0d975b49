"""What the database knows of the task list: which tasks there are, which schedule was in force when, who paused what.

    register_tasks   a load of config.ini → tasks, task_schedules (closed and opened), alerts `task-broken`
    pause_task       → task_pauses; resume_task ends it

The ledger of expected runs judges each occurrence by the schedule of its own time, so no row is changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Final

from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from argus_memory.db import Connection, Database, queries
from argus_memory.errors import Conflict, NotFound, UsageError
from argus_memory.records import BrokenTask, TaskList, TaskSpec
from argus_memory.rules.masking import mask_text
from argus_memory.settings import Settings
from argus_memory.tasks.config_env import mask_env
from argus_memory.tasks.names import LIST_FILE, alert_subject
from argus_memory.watch.alerts import Condition, clear_alert, raise_alert

BROKEN: Final = "task-broken"
_PLACE: Final = ("line", "file")  # where a stanza stands is no change of it
_MASKED_TEXTS: Final = ("command", "prompt", "description")


@dataclass(frozen=True, slots=True)
class Registered:
    """What one load changed, by name. `broken`: all that are broken now; `newly_broken` and `mended`: since."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()
    newly_broken: tuple[str, ...] = ()
    mended: tuple[str, ...] = ()
    tasks: int = 0

    @property
    def anything(self) -> bool:
        return bool(self.added or self.removed or self.changed or self.newly_broken or self.mended)


@dataclass(frozen=True, slots=True)
class Pause:
    """A pause that holds; until_at None: until somebody ends it."""

    id: int
    task: str
    from_at: datetime
    until_at: datetime | None
    actor: str
    reason: str | None


def register_tasks(db: Database, settings: Settings, task_list: TaskList, *, now: datetime, by: str) -> Registered:
    """Write down what this load of config.ini says.

    1. ask what is known (the only question when nothing changed)
    2. under a lock, ask again and put tasks that are new, changed, broken, mended or gone
    3. close the schedule in force where it changed, and open the new one
    4. raise `task-broken` for each broken stanza, clear it for each mended one; a task that is gone, or no longer
       expected, takes its own alerts with it, since nothing would ever close them; a stanza that is not there while
       the file has faults of its own counts as there still
    """
    wanted = _wanted(task_list)
    q = queries("tasks")
    if not _differences(db.fetch_all(q.registered_tasks), wanted).writes:
        return Registered(broken=tuple(t.name for t in task_list.broken), tasks=len(task_list.tasks))
    with db.transaction() as conn:
        conn.execute(q.lock_registration)
        changes = _differences(conn.execute(q.registered_tasks).fetchall(), wanted)
        _write(conn, changes, wanted, now)
        _tell(conn, settings, changes, task_list, now=now, by=by)
    return changes.as_registered(task_list)


def pause_task(
    db: Database, name: str, *, until: datetime | None, actor: str, reason: str | None, now: datetime
) -> Pause:
    """Nothing of this task is started or expected until `until` (None: until it is resumed); replaces an open pause.

    Raises NotFound for a task that is not registered, UsageError for an end that is over.
    """
    if until is not None and until <= now:
        raise UsageError(f"the pause would end at {until:%Y-%m-%d %H:%M} UTC, which is over; name a later time")
    q = queries("tasks")
    with db.transaction() as conn:
        _get_task(conn, name)
        conn.execute(q.end_pauses, {"name": name, "now": now, "actor": actor})
        params = {"name": name, "now": now, "until": until, "actor": actor, "reason": reason}
        row = conn.execute(q.begin_pause, params).fetchone()
        assert row is not None
    return Pause(int(row["id"]), name, now, until, actor, reason)


def resume_task(db: Database, name: str, *, actor: str, now: datetime) -> None:
    """End the pause that holds; raises NotFound for an unknown task, Conflict for one that is not paused."""
    with db.transaction() as conn:
        _get_task(conn, name)
        if not conn.execute(queries("tasks").end_pauses, {"name": name, "now": now, "actor": actor}).fetchall():
            raise Conflict(f"task {name} is not paused; `argus task list` shows what is")


def find_pauses(db: Database, *, now: datetime, name: str | None = None) -> dict[str, Pause]:
    """The pauses that hold, by task."""
    rows = db.fetch_all(queries("tasks").open_pauses, {"now": now, "name": name})
    return {str(row["task"]): Pause(**row) for row in rows}


def is_paused(db: Database, name: str, *, now: datetime) -> bool:
    return bool(find_pauses(db, now=now, name=name))


def as_stored(spec: TaskSpec) -> dict[str, Any]:
    """The stanza as tasks.spec keeps it: spans in seconds, env values and secrets in texts masked."""
    stored = {**asdict(spec), "folder": str(spec.folder), "file": str(spec.file), "env": mask_env(spec.env)}
    stored["start_grace"] = spec.start_grace.total_seconds()
    stored["max_runtime"] = spec.max_runtime.total_seconds()
    stored["engines"], stored["model"] = list(spec.engines), list(spec.model)
    for key in _MASKED_TEXTS:
        if stored[key]:
            stored[key] = mask_text(stored[key])[0]
    return stored


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A row of `tasks` as it has to be, and the schedule that has to be in force (None: none)."""

    handler: str | None
    spec: dict[str, Any]
    problem: str | None
    schedule: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class _Changes:
    """Names by what became of them, and what is to be written."""

    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[str, ...]
    newly_broken: tuple[str, ...]
    mended: tuple[str, ...]
    unexpected: tuple[str, ...]  # had a schedule, has none now
    put: tuple[str, ...]
    close: tuple[int, ...]
    open: tuple[str, ...]

    @property
    def writes(self) -> bool:
        return bool(self.put or self.removed or self.close or self.open)

    def as_registered(self, task_list: TaskList) -> Registered:
        return Registered(
            added=self.added,
            removed=self.removed,
            changed=self.changed,
            broken=tuple(task.name for task in task_list.broken),
            newly_broken=self.newly_broken,
            mended=self.mended,
            tasks=len(task_list.tasks),
        )


def _wanted(task_list: TaskList) -> dict[str, _Wanted]:
    rows = {task.name: _Wanted(task.handler, as_stored(task), None, _schedule_of(task)) for task in task_list.tasks}
    for broken in task_list.broken:
        rows[broken.name] = _Wanted(None, {"file": str(broken.file), "line": broken.line}, broken.sentence, None)
    return rows


def _schedule_of(task: TaskSpec) -> dict[str, Any] | None:
    if task.schedule is None or not task.enabled:
        return None
    return {
        "schedule": task.schedule,
        "timezone": task.timezone,
        "start_grace": task.start_grace.total_seconds(),
        "max_runtime": task.max_runtime.total_seconds(),
        "mode": task.mode,
        "failures_before_alert": task.failures_before_alert,
    }


def _differences(known: Iterable[DictRow], wanted: Mapping[str, _Wanted]) -> _Changes:
    """Compare two loads; pure."""
    rows = {str(row["name"]): row for row in known}
    alive = {name for name, row in rows.items() if row["removed_at"] is None}
    put, added, changed, newly_broken, mended, unexpected = [], [], [], [], [], []
    close: list[int] = []
    opened: list[str] = []
    for name, want in wanted.items():
        row = rows.get(name)
        if row is None or name not in alive:
            added.append(name)
        elif row["problem"] is None and want.problem is None and _moved(row["spec"]) != _moved(want.spec):
            changed.append(name)
        if want.problem and (row is None or name not in alive or row["problem"] is None):
            newly_broken.append(name)
        elif row is not None and name in alive and row["problem"] and not want.problem:
            mended.append(name)
        if row is None or name not in alive or (row["spec"], row["problem"]) != (want.spec, want.problem):
            put.append(name)
        in_force = _in_force(row)
        if in_force != want.schedule:
            if row is not None and in_force is not None:
                close.append(int(row["schedule_id"]))
            if want.schedule is not None:
                opened.append(name)
            else:
                unexpected.append(name)
    # A list that cannot be read whole does not say that a task is gone: it stays expected, and its alerts stay open.
    removed = [] if LIST_FILE in wanted else sorted(alive - set(wanted))
    close += [int(rows[name]["schedule_id"]) for name in removed if rows[name]["schedule_id"] is not None]
    return _Changes(
        tuple(added), tuple(removed), tuple(changed), tuple(newly_broken), tuple(mended), tuple(unexpected),
        tuple(put), tuple(close), tuple(opened),
    )


def _moved(spec: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in spec.items() if key not in _PLACE}


def _in_force(row: DictRow | None) -> dict[str, Any] | None:
    if row is None or row["schedule_id"] is None:
        return None
    return {
        "schedule": row["schedule"],
        "timezone": row["timezone"],
        "start_grace": row["start_grace"].total_seconds(),
        "max_runtime": row["max_runtime"].total_seconds(),
        "mode": row["mode"],
        "failures_before_alert": row["failures_before_alert"],
    }


def _write(conn: Connection, changes: _Changes, wanted: Mapping[str, _Wanted], now: datetime) -> None:
    q = queries("tasks")
    rows = [
        {"name": name, "handler": wanted[name].handler, "spec": wanted[name].spec, "problem": wanted[name].problem}
        for name in changes.put
    ]
    conn.execute(q.put_tasks, {"rows": Jsonb(rows), "now": now})
    conn.execute(q.remove_tasks, {"names": list(changes.removed), "now": now})
    conn.execute(q.close_schedules, {"ids": list(changes.close), "now": now})
    schedules = [{"task": name, **(wanted[name].schedule or {})} for name in changes.open]
    conn.execute(q.open_schedules, {"rows": Jsonb(schedules), "now": now})


def _tell(
    conn: Connection, settings: Settings, changes: _Changes, task_list: TaskList, *, now: datetime, by: str
) -> None:
    """Alerts of broken stanzas are raised at every change: raise_alert tells once and renews the detail."""
    for broken in task_list.broken:
        raise_alert(conn, settings, _as_condition(broken), now=now, by=by)
    gone = {alert_subject(name): f"Task {name} was taken out of {LIST_FILE}" for name in changes.removed}
    quiet = {alert_subject(name): f"Task {name} is no longer expected" for name in changes.unexpected}
    mended = {alert_subject(name): f"Task {name} can be used again" for name in changes.mended}
    if LIST_FILE in changes.removed:
        gone[alert_subject(LIST_FILE)] = f"{LIST_FILE} can be read whole again"
    subjects = {"subjects": [*gone, *quiet, *mended]}
    for row in conn.execute(queries("tasks").alerts_of_tasks, subjects).fetchall():
        kind, subject = str(row["kind"]), str(row["subject"])
        title = gone.get(subject)
        if title is None and kind == BROKEN:
            title = mended.get(subject)
        if title is None and kind == "no-show":
            title = quiet.get(subject)
        if title is not None:
            clear_alert(conn, settings, kind, subject, now=now, by=by, title=title)


def _as_condition(broken: BrokenTask) -> Condition:
    what = f"{LIST_FILE} has lines" if broken.name == LIST_FILE else f"Task {broken.name}"
    verb = "that cannot be used" if broken.name == LIST_FILE else "cannot be used"
    return Condition(
        kind=BROKEN,
        subject=alert_subject(broken.name),
        title=f"{what} {verb}: {broken.file.name}:{broken.line}: {broken.problem}",
        detail=f"What to do: {broken.cure}.\nThe file: {broken.file}",
        evidence={"file": str(broken.file), "line": broken.line},
        task=None if broken.name == LIST_FILE else broken.name,
    )


def _get_task(conn: Connection, name: str) -> DictRow:
    row = conn.execute(queries("tasks").find_task, {"name": name}).fetchone()
    if row is None or row["removed_at"] is not None:
        raise NotFound(f"there is no task {name}; `argus task list` shows them, `argus reload` reads a new one")
    return row
