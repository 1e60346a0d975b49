"""One task through the ledger: what it is called at each moment, and who is told."""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta

from argus_memory.db import Database
from argus_memory.settings import Settings
from argus_memory.tasks.runs import accept_report
from tests.integration.no_show.ledger_rows import (
    add_dagster_run,
    add_gap,
    add_pause,
    add_run,
    add_task,
    alerts,
    clock,
    end_run,
    execute,
    ledger,
    make_dagster_tables,
    moves,
    only,
    told,
    watch,
)  # fmt: skip


def test_nothing_is_expected_before_it_is_due(db: Database, settings: Settings) -> None:
    """No row is written ahead, and none for what came due while the schedule was being loaded."""
    add_task(db, schedule="* * * * *", from_at=clock("10:00:30"))
    assert watch(db, settings, clock("10:01:30")).entered == 0
    assert watch(db, settings, clock("10:02:59")).entered == 0  # 10:02:00 is the end of the span
    watch(db, settings, clock("10:03:01"))
    assert ledger(db) == {"10:03": "expected"}


def test_a_run_on_time(db: Database, settings: Settings) -> None:
    """expected → started → ok, and nobody is told."""
    add_task(db)
    watch(db, settings, clock("01:00:10"))
    run = add_run(db, clock("01:00"), clock("01:00:20"))
    assert moves(watch(db, settings, clock("01:00:30"))) == [("01:00", "expected", "started")]
    end_run(db, run, clock("01:01"))
    assert moves(watch(db, settings, clock("01:01:10"))) == [("01:00", "started", "ok")]
    assert told(db) == []


def test_a_no_show_is_told_when_the_grace_is_over_and_its_end_with_the_down_time(
    db: Database, settings: Settings
) -> None:
    """Expected up to the last second of the grace, then missed with one alert; the next run closes it."""
    add_task(db)
    watch(db, settings, clock("01:05:00"))
    assert ledger(db) == {"01:00": "expected"}
    missed = watch(db, settings, clock("01:05:01"))
    assert moves(missed) == [("01:00", "expected", "missed")]
    assert only(missed).reason == "no run had begun by 01:05; it has never run"
    for minute in ("01:05:16", "01:30:00"):
        assert watch(db, settings, clock(minute)).changes == ()
    add_run(db, clock("02:00"), clock("02:00:05"))
    watch(db, settings, clock("02:00:10"))
    assert alerts(db) == [("no-show", "task:backup", False)]
    assert told(db) == [
        ("alert", "Task backup did not run: no run had begun by 01:05; it has never run"),
        ("recovery", "Task backup runs again"),
    ]
    recovery = db.fetch_one("select body from deliveries where kind = 'recovery'")
    assert recovery is not None
    assert recovery["body"] == "It lasted 55 min."


def test_misses_in_a_row_are_one_alert(db: Database, settings: Settings) -> None:
    """Three missed hours open one alert, whose detail is renewed."""
    add_task(db)
    for hour in ("01", "02", "03"):
        watch(db, settings, clock(f"{hour}:06"))
    assert list(ledger(db).values()) == ["missed"] * 3
    assert [kind for kind, _ in told(db)] == ["alert"]
    detail = db.fetch_one("select detail from alerts")
    assert detail is not None
    assert detail["detail"] == "Due 2027-03-01 03:00 (UTC)."


def test_a_run_that_waits_in_the_queue_is_late_and_not_missed(db: Database, settings: Settings) -> None:
    """queued within the grace, late after it, no alert; when Dagster ends it unbegun it is missed."""
    make_dagster_tables(db)
    add_task(db)
    run_id = add_dagster_run(db, clock("01:00"), "QUEUED", clock("01:00:02"))
    assert moves(watch(db, settings, clock("01:00:10"))) == [("01:00", "expected", "queued")]
    late = only(watch(db, settings, clock("01:06")))
    assert (late.from_status, late.to_status) == ("queued", "late")
    assert late.reason == "its Dagster run has waited in the queue since 01:00"
    assert watch(db, settings, clock("01:20")).changes == ()
    assert told(db) == []
    execute(db, "update dagster.runs set status = 'CANCELED'")
    missed = only(watch(db, settings, clock("01:30")))
    assert missed.to_status == "missed"
    assert missed.reason == f"its Dagster run {run_id[:8]} ended (CANCELED) before the task began"
    row = db.fetch_one("select dagster_run_id from expected_runs")
    assert row is not None
    assert row["dagster_run_id"] == run_id


def test_a_run_that_began_after_its_grace_is_late_until_it_ends(db: Database, settings: Settings) -> None:
    """late says by how much; its end is ok and keeps the words."""
    make_dagster_tables(db)
    add_task(db)
    add_dagster_run(db, clock("01:00"), "QUEUED", clock("01:00:02"))
    watch(db, settings, clock("01:06"))
    run = add_run(db, clock("01:00"), clock("01:12"))
    watch(db, settings, clock("01:12:10"))
    row = db.fetch_one("select status, reason, task_run_id from expected_runs")
    assert row == {"status": "late", "reason": "it began 12 min after it was due", "task_run_id": run}
    end_run(db, run, clock("01:13"))
    done = only(watch(db, settings, clock("01:13:10")))
    assert (done.to_status, done.reason) == ("ok", "it began 12 min after it was due")


def test_a_run_that_takes_too_long_is_told_and_its_end_too(db: Database, settings: Settings) -> None:
    """overrunning opens its own alert past max_runtime, and the end of the run closes it."""
    add_task(db)
    run = add_run(db, clock("01:00"), clock("01:00:05"))
    watch(db, settings, clock("01:30:20"))
    assert ledger(db)["01:00"] == "started"
    assert only(watch(db, settings, clock("01:31"))).to_status == "overrunning"
    end_run(db, run, clock("01:40"))
    watch(db, settings, clock("01:40:10"))
    assert ledger(db)["01:00"] == "ok"
    assert alerts(db) == [("task-overrunning", "task:backup", False)]
    assert [kind for kind, _ in told(db)] == ["alert", "recovery"]


def test_a_failed_attempt_with_retries_left_is_not_the_end(db: Database, settings: Settings) -> None:
    """started while another attempt may come; failed and told when none came."""
    add_task(db)
    add_run(db, clock("01:00"), clock("01:00:05"), finished_at=clock("01:01"), outcome="failed", retries_left=1,
            reason="exit code 2")  # fmt: skip
    watch(db, settings, clock("01:02"))
    row = db.fetch_one("select status, reason from expected_runs")
    assert row == {"status": "started", "reason": "attempt 1 failed (exit code 2), it is tried again"}
    failed = only(watch(db, settings, clock("01:11:30")))
    assert failed.to_status == "failed"
    assert alerts(db) == [("task-failed", "task:backup", True)]


def test_a_retry_that_succeeds_makes_it_ok(db: Database, settings: Settings) -> None:
    """The newest attempt decides."""
    add_task(db)
    add_run(db, clock("01:00"), clock("01:00:05"), finished_at=clock("01:01"), outcome="failed", retries_left=1)
    watch(db, settings, clock("01:02"))
    add_run(db, clock("01:00"), clock("01:02:30"), finished_at=clock("01:03"), outcome="ok", attempt=1)
    assert only(watch(db, settings, clock("01:04"))).to_status == "ok"


def test_a_paused_task_is_not_missed_and_is_expected_again_after_the_end(db: Database, settings: Settings) -> None:
    """What is due in the pause is paused and told to nobody; the first due time after its end counts."""
    add_task(db)
    add_pause(db, clock("00:30"), clock("02:30"))
    paused = only(watch(db, settings, clock("01:00:10")))
    assert (paused.to_status, paused.reason) == ("paused", "paused by anna until 02:30")
    watch(db, settings, clock("03:06"))
    assert ledger(db) == {"01:00": "paused", "02:00": "paused", "03:00": "missed"}
    assert [kind for kind, _ in told(db)] == ["alert"]


def test_pausing_a_missing_task_ends_its_alert(db: Database, settings: Settings) -> None:
    """Nobody is reminded of a task that was paused on purpose."""
    add_task(db)
    watch(db, settings, clock("01:06"))
    add_pause(db, clock("01:10"), None)
    watch(db, settings, clock("01:10:10"))
    assert told(db)[-1] == ("recovery", "Task backup is paused, nothing of it is expected")


def test_a_run_by_hand_ends_the_alert(db: Database, settings: Settings) -> None:
    """A person who runs the missing task by hand has done what was missing; the ledger keeps the miss."""
    add_task(db)
    watch(db, settings, clock("01:06"))
    add_run(db, None, clock("01:20"), finished_at=clock("01:21"), outcome="ok", started_by="person")
    watch(db, settings, clock("01:21:10"))
    assert alerts(db) == [("no-show", "task:backup", False)]
    assert ledger(db) == {"01:00": "missed"}


def test_a_changed_schedule_is_judged_by_the_one_of_its_time(db: Database, settings: Settings) -> None:
    """Up to the change the old times are expected, after it the new ones, also when nobody watched in between."""
    add_task(db, schedule="0 * * * *")
    add_task(db, schedule="30 * * * *", from_at=clock("02:10"))
    watch(db, settings, clock("03:40"))
    assert list(ledger(db)) == ["01:00", "02:00", "02:30", "03:30"]


def test_a_disabled_task_is_expected_no_more_and_its_alert_ends(db: Database, settings: Settings) -> None:
    """A schedule that was closed has no due times after its end."""
    add_task(db)
    watch(db, settings, clock("01:06"))
    execute(db, "update task_schedules set until_at = %(at)s", at=clock("01:30"))
    watch(db, settings, clock("05:00"))
    assert ledger(db) == {"01:00": "missed"}
    assert told(db)[-1] == ("recovery", "Task backup is no longer expected")


def test_an_overlap_that_is_forbidden_is_no_miss(db: Database, settings: Settings) -> None:
    """While another run of a task without overlap is at work, the next is skipped, and says so."""
    add_task(db, no_overlap=True, max_runtime=timedelta(hours=3))
    run = add_run(db, clock("01:00"), clock("01:00:05"))
    execute(db, "update task_runs set beat_at = %(at)s", at=clock("02:05"))
    watch(db, settings, clock("02:06"))
    row = db.fetch_one("select status, reason from expected_runs where due_at = %(due)s", {"due": clock("02:00")})
    assert row == {"status": "skipped-overlap", "reason": "a run of 01:00 was still at work, and it may not overlap"}
    end_run(db, run, clock("02:30"))
    watch(db, settings, clock("02:31"))
    assert ledger(db) == {"01:00": "ok", "02:00": "skipped-overlap"}
    assert told(db) == []


def test_a_run_that_died_with_its_machine_hides_no_miss(db: Database, settings: Settings) -> None:
    """A run left open that no longer beats is no reason to skip the next."""
    add_task(db, no_overlap=True, max_runtime=timedelta(hours=9))
    add_run(db, clock("01:00"), clock("01:00:05"))
    watch(db, settings, clock("02:06"))
    assert ledger(db)["02:00"] == "missed"


def test_two_days_asleep(db: Database, settings: Settings) -> None:
    """Every hour of the sleep has its row with the reason, one warning is told, and the latest waits for Dagster."""
    add_task(db)
    add_run(db, clock("01:00"), clock("01:00:05"), finished_at=clock("01:01"), outcome="ok")
    watch(db, settings, clock("01:01:10"))
    add_gap(db, clock("01:30"), clock("01:30", 3))
    woken = watch(db, settings, clock("01:30:15", 3))
    assert woken.entered == 48
    states = ledger(db)
    assert states.pop("03 01:00") == "expected"
    assert states.pop("01:00") == "ok"
    assert set(states.values()) == {"missed"}
    row = db.fetch_one("select reason from expected_runs where due_at = %(due)s", {"due": clock("05:00", 2)})
    assert row is not None
    assert row["reason"] == "the hub was off from 2027-03-01 01:30 to 2027-03-03 01:30"
    alert = db.fetch_one("select severity, title, evidence from alerts")
    assert alert is not None
    assert alert["severity"] == "warn"
    assert alert["evidence"]["count"] == 47
    add_run(db, clock("01:00", 3), clock("01:31", 3), finished_at=clock("01:32", 3), outcome="ok")
    watch(db, settings, clock("01:32:10", 3))
    assert [kind for kind, _ in told(db)] == ["alert", "recovery"]


def test_after_a_sleep_the_latest_is_missed_when_dagster_does_not_catch_up(db: Database, settings: Settings) -> None:
    """The grace is counted from the waking, once."""
    add_task(db)
    add_gap(db, clock("00:55"), clock("01:40"))
    watch(db, settings, clock("01:40:15"))
    assert ledger(db) == {"01:00": "expected"}
    watch(db, settings, clock("01:45:01"))
    row = db.fetch_one("select status, reason, start_by from expected_runs")
    assert row is not None
    assert row["status"] == "missed"
    assert row["reason"] == "the hub was off from 00:55 to 01:40, and no run followed by 01:45"
    assert row["start_by"] == clock("01:45")


def test_a_silence_that_is_not_noted_yet_counts_too(db: Database, settings: Settings) -> None:
    """The watcher that just woke has an old beat: nothing is called missed before Dagster could catch up."""
    add_task(db)
    execute(
        db, "insert into watcher_beats (watcher, at, since, host, pid) values ('watchdog', %(at)s, %(at)s, 'h', 1)",
        at=clock("00:50"),
    )  # fmt: skip
    watch(db, settings, clock("01:20"))
    assert ledger(db) == {"01:00": "expected"}


def test_a_clock_set_forward_and_back(db: Database, settings: Settings) -> None:
    """What was missed in a time that never was is expected again, and is missed again when it really does not run."""
    add_task(db)
    add_run(db, clock("01:00"), clock("01:00:05"), finished_at=clock("01:01"), outcome="ok")
    watch(db, settings, clock("01:01:10"))
    watch(db, settings, clock("03:06"))  # two hours ahead by mistake
    assert ledger(db) == {"01:00": "ok", "02:00": "missed", "03:00": "missed"}
    back = watch(db, settings, clock("01:06:30"))
    assert moves(back) == [("02:00", "missed", "expected"), ("03:00", "missed", "expected")]
    assert alerts(db) == [("no-show", "task:backup", False)]
    add_run(db, clock("02:00"), clock("02:00:05"), finished_at=clock("02:01"), outcome="ok")
    watch(db, settings, clock("02:01:10"))
    watch(db, settings, clock("03:05:10"))
    assert ledger(db) == {"01:00": "ok", "02:00": "ok", "03:00": "missed"}
    assert alerts(db)[-1] == ("no-show", "task:backup", True)


def test_a_report_from_a_clock_a_day_ahead_neither_hides_nor_raises(db: Database, settings: Settings) -> None:
    """A start that lies in the future counts as now: started, and overrunning only by our own clock."""
    add_task(db)
    add_run(db, clock("01:00"), clock("01:00:05", 2))
    watch(db, settings, clock("01:00:30"))
    assert ledger(db) == {"01:00": "started"}


def test_an_observed_task_is_judged_by_the_reports_of_its_scheduler(db: Database, settings: Settings) -> None:
    """A report counts for the time it belongs to; without one it is missed, and a late one is taken up after all."""
    add_task(db, mode="observe")
    watch(db, settings, clock("01:00:10"))
    report(db, settings, clock("01:00:20"), clock("01:01"))
    watch(db, settings, clock("01:01:10"))
    missed = only(watch(db, settings, clock("02:05:10")))
    assert (missed.to_status, missed.reason) == ("missed", "no report of a run came by 02:05")
    report(db, settings, clock("02:20"), clock("02:21"))
    watch(db, settings, clock("02:21:10"))
    assert ledger(db) == {"01:00": "ok", "02:00": "ok"}
    assert alerts(db) == [("no-show", "task:backup", False)]


def report(db: Database, settings: Settings, started_at: datetime, ended_at: datetime) -> None:
    """Start and end of a run, as another scheduler reports them."""
    rid = str(uuid.uuid4())
    accept_report(db, settings, {"task": "backup", "rid": rid, "event": "start"}, now=started_at)
    accept_report(db, settings, {"task": "backup", "rid": rid, "event": "end", "exit_code": 0}, now=ended_at)


def test_an_unreadable_schedule_takes_no_other_down(db: Database, settings: Settings) -> None:
    """A schedule or zone that cannot be read any more is named, and the others are judged."""
    add_task(db, "one", schedule="61 * * * *")
    add_task(db, "two", zone="Mars/Olympus")
    add_task(db, "three")
    seen = watch(db, settings, clock("01:06"))
    assert seen.entered == 1
    assert [sentence.split(" cannot")[0] for sentence in seen.unreadable] == [
        "the schedule of task one", "the schedule of task two",
    ]  # fmt: skip
    assert ledger(db, "three") == {"01:00": "missed"}


def test_a_daily_task_in_its_zone_on_the_nights_of_changed_clocks(db: Database, settings: Settings) -> None:
    """In Berlin 2:30 is due at the end of the gap, and the second time where it comes twice: one row each night."""
    add_task(db, schedule="30 2 * * *", zone="Europe/Berlin", from_at=clock("12:00", 27))
    watch(db, settings, clock("00:59:50", 28))
    assert ledger(db) == {}
    watch(db, settings, clock("01:00:10", 28))
    assert ledger(db) == {"28 01:00": "expected"}


def test_a_task_that_watches_nothing_writes_nothing(db: Database, settings: Settings) -> None:
    """A second pass at the same moment changes no row and tells nobody."""
    add_task(db)
    watch(db, settings, clock("01:06"))
    events = db.fetch_one("select count(*) as n from expected_run_events")
    again = watch(db, settings, clock("01:06"), by="dagster")
    assert (again.entered, again.changes, again.raised, again.cleared) == (0, (), 0, 0)
    assert db.fetch_one("select count(*) as n from expected_run_events") == events
