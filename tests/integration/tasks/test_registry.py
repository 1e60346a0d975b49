"""What a load of config.ini leaves in the database: tasks, schedules in force, alerts, pauses."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from argus_memory.db import Database
from argus_memory.errors import Conflict, NotFound, UsageError
from argus_memory.records import TaskList
from argus_memory.settings import Settings
from argus_memory.tasks.config import parse_task_list
from argus_memory.tasks.register_again import TaskRegister
from argus_memory.tasks.registry import Registered, find_pauses, is_paused, pause_task, register_tasks, resume_task
from argus_memory.watch.alerts import Condition, raise_alert

NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)
LATER = NOW + timedelta(hours=1)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("backup", "weather"):
        (tmp_path / "tasks" / name).mkdir(parents=True)
    return tmp_path / "tasks"


def listed(folder: Path, text: str) -> TaskList:
    return parse_task_list(text.encode(), folder / "config.ini", default_zone="Europe/Vienna")


def load(db: Database, settings: Settings, folder: Path, text: str, now: datetime = NOW) -> Registered:
    return register_tasks(db, settings, listed(folder, text), now=now, by="test")


def rows(db: Database, query: str) -> list[dict[str, Any]]:
    return [dict(row) for row in db.fetch_all(query)]  # type: ignore[arg-type]


BACKUP = "[backup]\ncommand = sh run.sh\nschedule = 0 3 * * *\nenv.TOKEN = s3cret-value\nenv.KEY = ${KEY}\n"
WEATHER = "[weather]\ncommand = sh run.sh\nschedule = @hourly\nmax_runtime = 10m\n"


def test_a_first_load_adds_tasks_and_their_schedules(db: Database, settings: Settings, folder: Path) -> None:
    """Every stanza becomes a row, and each scheduled one has its schedule in force from now."""
    done = load(db, settings, folder, BACKUP + WEATHER)
    assert (done.added, done.tasks, done.broken) == (("backup", "weather"), 2, ())
    in_force = rows(db, "select task, schedule, timezone, max_runtime, from_at, until_at from task_schedules order by 1")
    assert in_force[1] == {
        "task": "weather", "schedule": "@hourly", "timezone": "Europe/Vienna", "max_runtime": timedelta(minutes=10),
        "from_at": NOW, "until_at": None,
    }  # fmt: skip
    assert len(in_force) == 2


def test_the_same_list_again_changes_nothing(db: Database, settings: Settings, folder: Path) -> None:
    """A second load of the same file writes no row, also when stanzas have slid down a line: changed_at stays."""
    load(db, settings, folder, BACKUP + WEATHER)
    again = load(db, settings, folder, BACKUP + WEATHER, LATER)
    assert not again.anything
    slid = load(db, settings, folder, "; a comment\n" + BACKUP + WEATHER, LATER)
    assert not slid.anything
    assert rows(db, "select distinct changed_at from tasks") == [{"changed_at": NOW}]
    assert rows(db, "select count(*) as n from task_schedules") == [{"n": 2}]


def test_a_register_compares_only_what_it_does_not_know(db: Database, settings: Settings, folder: Path) -> None:
    """Confirmed again, nothing is compared while the rows stay as they are; any change of them is seen and undone."""
    compared: list[Registered] = []

    class Counted(TaskRegister):
        def compare(self, db: Database, settings: Settings, *, now: datetime, by: str) -> Registered:
            compared.append(super().compare(db, settings, now=now, by=by))
            return compared[-1]

    register = Counted(listed(folder, BACKUP + WEATHER.replace("schedule", "shedule")))
    first = register.confirm(db, settings, now=NOW, by="test")
    assert (first.added, first.broken) == (("backup", "weather"), ("weather",))
    assert [register.confirm(db, settings, now=LATER, by="test").anything for _ in range(4)] == [False] * 4
    assert len(compared) == 2  # once to write, once to find it in order
    assert register.confirm(db, settings, now=LATER, by="test") == compared[-1]
    for change in (
        "update tasks set spec = spec || '{\"retries\": 9}' where name = 'backup'",
        "update tasks set removed_at = now() where name = 'backup'",
        "update task_schedules set until_at = now()",
        "update tasks set problem = 'none' where name = 'weather'",
    ):
        with db.transaction() as conn:
            conn.execute(change)
        known = len(compared)
        for _ in range(3):
            register.confirm(db, settings, now=LATER, by="test")
        assert len(compared) == known + 2, change
    spec = rows(db, "select spec, removed_at from tasks where name = 'backup'")[0]
    assert (spec["spec"]["retries"], spec["removed_at"]) == (0, None)
    assert rows(db, "select task, timezone from task_schedules where until_at is null") == [
        {"task": "backup", "timezone": "Europe/Vienna"}
    ]


def test_a_changed_schedule_leaves_its_history(db: Database, settings: Settings, folder: Path) -> None:
    """The old schedule ends where the new one begins; the other task's is not touched."""
    load(db, settings, folder, BACKUP + WEATHER)
    done = load(db, settings, folder, BACKUP.replace("0 3", "30 4") + WEATHER, LATER)
    assert done.changed == ("backup",)
    assert rows(db, "select schedule, from_at, until_at from task_schedules where task = 'backup' order by id") == [
        {"schedule": "0 3 * * *", "from_at": NOW, "until_at": LATER},
        {"schedule": "30 4 * * *", "from_at": LATER, "until_at": None},
    ]
    assert rows(db, "select count(*) as n from task_schedules where task = 'weather'") == [{"n": 1}]


@pytest.mark.parametrize("gone", ["", BACKUP.replace("[backup]\n", "[backup]\nenabled = false\n"), BACKUP.replace("schedule = 0 3 * * *\n", "")])
def test_a_task_taken_out_or_switched_off_is_no_longer_expected(
    db: Database, settings: Settings, folder: Path, gone: str
) -> None:
    """Its schedule ends, and an open no-show alert with it: nothing would ever close it."""
    load(db, settings, folder, BACKUP + WEATHER)
    with db.transaction() as conn:
        raise_alert(conn, settings, Condition("no-show", "task:backup", "Backup did not run"), now=NOW, by="test")
        raise_alert(conn, settings, Condition("no-show", "task:weather", "Weather did not run"), now=NOW, by="test")
    load(db, settings, folder, gone + WEATHER, LATER)
    assert rows(db, "select task from task_schedules where until_at is null") == [{"task": "weather"}]
    assert rows(db, "select subject from alerts where closed_at is null") == [{"subject": "task:weather"}]
    removed = rows(db, "select removed_at from tasks where name = 'backup'")[0]["removed_at"]
    assert removed == (None if gone else LATER)


def test_a_task_that_comes_back_is_added_again(db: Database, settings: Settings, folder: Path) -> None:
    """A stanza put back counts from then, and its first sight is kept."""
    load(db, settings, folder, BACKUP)
    load(db, settings, folder, "", LATER)
    done = load(db, settings, folder, BACKUP, LATER + timedelta(hours=1))
    assert done.added == ("backup",)
    assert rows(db, "select removed_at, first_seen_at from tasks") == [{"removed_at": None, "first_seen_at": NOW}]
    assert rows(db, "select count(*) as n from task_schedules where until_at is null") == [{"n": 1}]


def test_a_broken_stanza_is_an_alert_until_it_is_mended(db: Database, settings: Settings, folder: Path) -> None:
    """One alert names file, line and cure; it is told once, and its end once; the neighbour goes on."""
    load(db, settings, folder, BACKUP + WEATHER)
    bad = BACKUP.replace("schedule", "shedule")
    done = load(db, settings, folder, bad + WEATHER, LATER)
    assert (done.newly_broken, done.broken) == (("backup",), ("backup",))
    assert load(db, settings, folder, "\n" + bad + WEATHER, LATER).newly_broken == ()
    alert = rows(db, "select kind, subject, title, detail from alerts where closed_at is null")
    assert [(row["kind"], row["subject"]) for row in alert] == [("task-broken", "task:backup")]
    assert "config.ini:3: unknown key `shedule`" in alert[0]["title"]
    assert "write `schedule`" in alert[0]["detail"]
    assert rows(db, "select task from task_schedules where until_at is null") == [{"task": "weather"}]
    assert load(db, settings, folder, BACKUP + WEATHER, LATER + timedelta(hours=2)).mended == ("backup",)
    assert rows(db, "select kind, title from deliveries order by id") == [
        {"kind": "alert", "title": alert[0]["title"]},
        {"kind": "recovery", "title": "Task backup can be used again"},
    ]


def test_what_is_wrong_with_the_file_itself_is_an_alert_of_its_own(
    db: Database, settings: Settings, folder: Path
) -> None:
    """A line before the first stanza is broken under config.ini, and mended when it is gone."""
    done = load(db, settings, folder, "command = x\n" + BACKUP)
    assert (done.added, done.broken) == (("backup", "config.ini"), ("config.ini",))
    assert rows(db, "select subject from alerts where closed_at is null") == [{"subject": "task:config.ini"}]
    done = load(db, settings, folder, BACKUP, LATER)
    assert done.removed == ("config.ini",)
    assert rows(db, "select subject from alerts where closed_at is null") == []


def test_a_list_that_cannot_be_read_whole_takes_no_task_away(db: Database, settings: Settings, folder: Path) -> None:
    """A damaged or missing file: its tasks stay expected and their alerts open, until the file is whole again."""
    load(db, settings, folder, BACKUP + WEATHER)
    with db.transaction() as conn:
        raise_alert(conn, settings, Condition("task-failed", "task:weather", "Task weather failed"), now=NOW, by="test")
    done = load(db, settings, folder, "\x00garbage\n", LATER)
    assert (done.removed, "config.ini" in done.broken) == ((), True)
    assert len(rows(db, "select id from task_schedules where until_at is null")) == 2
    assert "task:weather" in {row["subject"] for row in rows(db, "select subject from alerts where closed_at is null")}
    done = load(db, settings, folder, BACKUP + WEATHER, LATER + timedelta(hours=1))
    assert done.removed == ("config.ini",)
    assert [row["subject"] for row in rows(db, "select subject from alerts where closed_at is null")] == ["task:weather"]


def test_no_secret_is_written_down(db: Database, settings: Settings, folder: Path) -> None:
    """tasks.spec hides values of env, keeps references as they stand, and masks secrets in a command."""
    load(db, settings, folder, BACKUP.replace("sh run.sh", "curl -H 'Authorization: Bearer abcdef0123456789abcdef' x"))
    spec = rows(db, "select spec from tasks")[0]["spec"]
    assert spec["env"] == {"TOKEN": "[masked]", "KEY": "${KEY}"}
    assert "abcdef0123456789" not in str(spec)


def test_a_pause_holds_until_its_end(db: Database, settings: Settings, folder: Path) -> None:
    """A task is paused until the time given, and not after; a new pause replaces the one that holds."""
    load(db, settings, folder, BACKUP)
    pause_task(db, "backup", until=None, actor="ann", reason=None, now=NOW)
    pause_task(db, "backup", until=LATER, actor="ann", reason="moving", now=NOW)
    assert is_paused(db, "backup", now=NOW)
    assert find_pauses(db, now=NOW)["backup"].reason == "moving"
    assert not is_paused(db, "backup", now=LATER)
    assert rows(db, "select count(*) as n from task_pauses where ended_at is null") == [{"n": 1}]


def test_a_pause_is_ended_by_whom(db: Database, settings: Settings, folder: Path) -> None:
    """Resuming ends it and names who did; a task that is not paused cannot be resumed."""
    load(db, settings, folder, BACKUP)
    pause_task(db, "backup", until=None, actor="ann", reason=None, now=NOW)
    resume_task(db, "backup", actor="ben", now=LATER)
    assert rows(db, "select actor, ended_by, ended_at from task_pauses") == [
        {"actor": "ann", "ended_by": "ben", "ended_at": LATER}
    ]
    with pytest.raises(Conflict, match="not paused"):
        resume_task(db, "backup", actor="ben", now=LATER)


def test_what_cannot_be_paused_is_said(db: Database, settings: Settings, folder: Path) -> None:
    """An unknown task and an end that is over are refused in a sentence."""
    load(db, settings, folder, BACKUP)
    with pytest.raises(NotFound, match="no task nothing"):
        pause_task(db, "nothing", until=None, actor="ann", reason=None, now=NOW)
    with pytest.raises(UsageError, match="is over"):
        pause_task(db, "backup", until=NOW, actor="ann", reason=None, now=NOW)


def test_a_secret_in_a_line_that_cannot_be_used_goes_nowhere(db: Database, settings: Settings, folder: Path) -> None:
    """A token that stands where a key or a name belongs is masked in the task's problem, the alert and the message."""
    token = "ghp_A1b2C3d4E5A1b2C3d4E5A1b2C3d4E5A1b2C3"
    load(db, settings, folder, f"[backup]\n{token}\ncommand = true\n{token} = 5\nfolder = /x/{token}\nchannel = {token}!\n")
    assert rows(db, "select problem from tasks")[0]["problem"]
    for table in ("tasks", "alerts", "deliveries"):
        assert token not in str(rows(db, f"select * from {table}"))
