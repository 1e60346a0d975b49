"""One alert for each change of state, whoever sees it."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import timedelta

import pytest

from argus_memory.db import Database
from argus_memory.errors import Conflict, NotFound
from argus_memory.settings import Settings
from argus_memory.watch.alerts import (
    Condition,
    clear_alert,
    close_alert,
    list_alerts,
    raise_alert,
    remind_alerts,
    snooze_alert,
)
from tests.integration.deliveries.conftest import NOW

WRONG = Condition("no-show", "task:backup", "backup did not run", detail="due 03:00")
HOURS = timedelta(hours=1)


def open_one(db: Database, settings: Settings, condition: Condition = WRONG) -> int | None:
    with db.transaction() as conn:
        return raise_alert(conn, settings, condition, now=NOW, by="test")


def kinds(db: Database) -> list[str]:
    return [row["kind"] for row in db.fetch_all("select kind from deliveries order by id")]


def test_two_watchdogs_at_once_tell_once(db: Database, settings: Settings) -> None:
    """Of eight that raise, then clear, at the same moment one alert, one message and one recovery come."""
    gate = threading.Barrier(8)
    won: list[int | None] = []

    def watch() -> None:
        gate.wait(20)
        opened = open_one(db, settings)
        gate.wait(20)
        with db.transaction() as conn:
            closed = clear_alert(conn, settings, "no-show", "task:backup", now=NOW + 2 * HOURS, by="test")
        won.extend((opened, closed))

    threads = [threading.Thread(target=watch) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len([id_ for id_ in won if id_ is not None]) == 2
    assert kinds(db) == ["alert", "recovery"]
    row = db.fetch_one("select title, body from deliveries where kind = 'recovery'")
    assert row == {"title": "Well again: backup did not run", "body": "It lasted 2 h."}


def test_a_change_that_is_rolled_back_tells_nothing(db: Database, settings: Settings) -> None:
    """Alert and message are one transaction."""
    with db.transaction() as conn:
        raise_alert(conn, settings, WRONG, now=NOW, by="test")
        conn.rollback()
    assert (list_alerts(db, closed_too=True).total, kinds(db)) == (0, [])


def test_the_detail_is_renewed_without_a_word(db: Database, settings: Settings) -> None:
    """What is wrong may change while it stays wrong."""
    open_one(db, settings)
    assert open_one(db, settings, replace(WRONG, detail="due 03:00 and 04:00")) is None
    assert list_alerts(db).alerts[0].detail == "due 03:00 and 04:00"
    assert kinds(db) == ["alert"]


def test_reminders_come_at_their_pace_from_two_at_once(db: Database, settings: Settings) -> None:
    """Every six hours one, though four ask at the same moment."""
    open_one(db, settings)
    for hours, told in ((5, 0), (6, 1), (7, 1), (12, 2)):
        now = NOW + hours * HOURS
        threads = [threading.Thread(target=remind_alerts, args=(db, settings), kwargs={"now": now}) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert kinds(db).count("reminder") == told


def test_a_snoozed_alert_is_silent_until_then(db: Database, settings: Settings) -> None:
    """Its reminder comes when the time is over; a closed or unknown one cannot be snoozed."""
    id_ = open_one(db, settings)
    assert id_ is not None
    snooze_alert(db, id_, until=NOW + 10 * HOURS)
    assert remind_alerts(db, settings, now=NOW + 7 * HOURS) == 0
    assert remind_alerts(db, settings, now=NOW + 11 * HOURS) == 1
    close_alert(db, settings, id_, now=NOW + 12 * HOURS, by="kim")
    with pytest.raises(Conflict, match="is closed since"):
        snooze_alert(db, id_, until=NOW + 20 * HOURS)
    with pytest.raises(NotFound, match="no alert 999"):
        close_alert(db, settings, 999, now=NOW, by="kim")


def test_what_is_closed_by_hand_opens_anew_while_it_is_wrong(db: Database, settings: Settings) -> None:
    """Who closed it is told; the next look tells a new alert."""
    id_ = open_one(db, settings)
    assert id_ is not None
    close_alert(db, settings, id_, now=NOW + HOURS, by="kim")
    assert open_one(db, settings) not in (None, id_)
    assert kinds(db) == ["alert", "recovery", "alert"]
    assert db.fetch_one("select title from deliveries where kind = 'recovery'") == {
        "title": "Closed by kim: backup did not run"
    }
    found = list_alerts(db, closed_too=True)
    assert (found.open, found.total, [one.closed_by for one in found.alerts]) == (1, 2, [None, "kim"])


def test_secrets_in_a_message_are_masked(db: Database, settings: Settings) -> None:
    """Whatever a task printed: a key's form does not get into the outbox."""
    key = "ghp_" + "a1B2" * 9
    open_one(db, settings, replace(WRONG, detail=f"token {key}"))
    assert key not in str(db.fetch_all("select * from deliveries"))


def test_no_secret_and_nothing_unstorable_is_in_an_alert(db: Database, settings: Settings) -> None:
    """Titles, details and evidence quote what went wrong: secrets are masked in rows and messages, NULs replaced."""
    token = "ghp_A1b2C3d4E5A1b2C3d4E5A1b2C3d4E5A1b2C3"
    said = f"\0\ud83d {token} {settings.admin_token}"
    open_one(db, settings, Condition("audit", "check:x/y", said, detail=said, evidence={"why": [said]}))
    remind_alerts(db, settings, now=NOW + 48 * HOURS)
    with db.transaction() as conn:
        clear_alert(conn, settings, "audit", "check:x/y", now=NOW + 49 * HOURS, by="test")
    assert kinds(db) == ["alert", "reminder", "recovery"]
    kept = str(db.fetch_all("select * from alerts")) + str(db.fetch_all("select * from deliveries"))
    for secret in (token, settings.admin_token):
        assert str(secret) not in kept
