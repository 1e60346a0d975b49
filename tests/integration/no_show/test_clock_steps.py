"""The clock of the machine is wrong for a while and set right again: nothing that is missed then stays untold."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from argus_memory.db import Database
from argus_memory.settings import Settings
from argus_memory.watch.alerts import remind_alerts
from argus_memory.watch.beats import beat
from tests.integration.no_show.ledger_rows import add_task, alerts, clock, ledger, moves, told, watch


def pass_by(db: Database, settings: Settings, now: datetime) -> list[tuple[str, str, str]]:
    """One pass of the watchdog as it goes: its beat, then the ledger."""
    beat(db, "watchdog", now=now)
    return moves(watch(db, settings, now))


@pytest.mark.parametrize("ahead", [timedelta(hours=3), timedelta(days=1), timedelta(days=40)])
@pytest.mark.parametrize("schedule", ["0 11 * * *", "0 * * * *"])
def test_a_no_show_after_the_clock_was_set_back_is_told_when_its_grace_is_over(
    db: Database, settings: Settings, ahead: timedelta, schedule: str
) -> None:
    """A clock that was ahead left a silence that reaches into the future, which excuses nothing."""
    add_task(db, schedule=schedule)
    pass_by(db, settings, clock("10:30"))
    pass_by(db, settings, clock("10:31") + ahead)
    for minute in range(33, 66):
        pass_by(db, settings, clock("10:00") + timedelta(minutes=minute))
        assert ledger(db)["11:00"] == "expected"
    assert ("11:00", "expected", "missed") in pass_by(db, settings, clock("11:05:15"))
    assert ("no-show", "task:backup", True) in alerts(db)


def test_an_alert_of_a_time_that_is_still_to_come_is_reminded_of(db: Database, settings: Settings) -> None:
    """An alert that was opened while the clock was ahead is not silent until that time comes."""
    add_task(db, from_at=clock("10:20"))
    pass_by(db, settings, clock("10:30"))
    pass_by(db, settings, clock("10:31") + timedelta(days=2))
    assert alerts(db) == [("no-show", "task:backup", True)]
    back = clock("10:33")
    remind_alerts(db, settings, now=back)
    remind_alerts(db, settings, now=back + timedelta(seconds=15))
    assert [kind for kind, _ in told(db)] == ["alert", "reminder"]
    remind_alerts(db, settings, now=back + settings.remind_every)
    assert [kind for kind, _ in told(db)] == ["alert", "reminder", "reminder"]
