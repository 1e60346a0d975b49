"""One alert for each change of state: opened once, reminded at a set pace, closed with the down time.

    raise_alert   1. insert the open row; another row is open: nobody is told again, 2. write the delivery
    clear_alert   1. close the open row; none is open: nothing to tell,              2. write the recovery
    remind_alerts 1. move `reminded_at` of an open row on; it moved already: no,     2. write the reminder

Each step 1 changes one row or none, and only who changed it writes step 2, in the same transaction. So two watchdogs
that see the same thing at the same moment tell it once.

A person may snooze an alert (its reminders wait) or close it; what is still wrong then opens a new one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal

from psycopg.types.json import Jsonb

from argus_memory.db import Connection, Database, queries
from argus_memory.errors import Conflict, NotFound
from argus_memory.rules.masking import mask_text, mask_tree
from argus_memory.rules.storable import storable, storable_value
from argus_memory.settings import Settings
from argus_memory.watch.message_text import secrets_of

DeliveryKind = Literal["alert", "recovery", "reminder", "digest", "deliver", "answer"]


@dataclass(frozen=True, slots=True)
class Condition:
    """A thing that is wrong. `kind` and `subject` together name it: ("no-show", "task:backup").

    title: one sentence for a person, without markup; detail: what else helps, lines; evidence: ids to look at;
    channel: where it goes, ARGUS_ALERT_CHANNEL unless given; link: a page that shows more.
    """

    kind: str
    subject: str
    title: str
    detail: str = ""
    severity: Literal["warn", "error"] = "error"
    evidence: Mapping[str, Any] = field(default_factory=dict)
    channel: str | None = None
    link: str | None = None
    task: str | None = None


def raise_alert(conn: Connection, settings: Settings, condition: Condition, *, now: datetime, by: str) -> int | None:
    """Open the alert and put its message into the outbox; None when it was open already (its detail is renewed).

    Secrets in title, detail and evidence are masked: alerts quote output, errors and lines of files.
    """
    q = queries("alerts")
    own = secrets_of(settings)
    title, detail = (mask_text(storable(text), own)[0] for text in (condition.title, condition.detail))
    params = {
        "kind": condition.kind,
        "subject": condition.subject,
        "severity": condition.severity,
        "title": title,
        "detail": detail or None,
        "evidence": Jsonb(mask_tree(storable_value(dict(condition.evidence)), own)[0]),
        "channel": condition.channel,
        "now": now,
        "by": by,
    }
    row = conn.execute(q.open_alert, params).fetchone()
    if row is None:
        conn.execute(q.update_alert, params)
        return None
    alert_id = int(row["id"])
    put_delivery(
        conn,
        key=f"alert:{alert_id}:opened",
        kind="alert",
        channel=condition.channel or settings.alert_channel,
        title=title,
        body=detail,
        link=condition.link,
        alert_id=alert_id,
        task=condition.task,
        now=now,
    )
    return alert_id


def clear_alert(
    conn: Connection, settings: Settings, kind: str, subject: str, *, now: datetime, by: str, title: str | None = None
) -> int | None:
    """Close the open alert and tell the recovery with its down time; None when none was open."""
    params = {"kind": kind, "subject": subject, "now": now, "by": by}
    row = conn.execute(queries("alerts").close_alert, params).fetchone()
    if row is None:
        return None
    _tell_end(conn, settings, row, title or f"Well again: {row['title']}", now)
    return int(row["id"])


def _tell_end(conn: Connection, settings: Settings, row: Mapping[str, Any], title: str, now: datetime) -> None:
    put_delivery(
        conn,
        key=f"alert:{row['id']}:closed",
        kind="recovery",
        channel=row["channel"] or settings.alert_channel,
        title=title,
        body=f"It lasted {describe_span(now - row['opened_at'])}.",
        alert_id=row["id"],
        now=now,
    )


def remind_alerts(db: Database, settings: Settings, *, now: datetime) -> int:
    """Put a reminder of every alert that stayed open for another ARGUS_REMIND_EVERY into the outbox."""
    q = queries("alerts")
    pace = {"now": now, "pace": settings.remind_every}
    told = 0
    for due in db.fetch_all(q.due_reminders, pace):
        with db.transaction() as conn:
            row = conn.execute(q.remind_alert, {**pace, "id": due["id"]}).fetchone()
            if row is None:
                continue
            told += 1
            put_delivery(
                conn,
                key=f"alert:{row['id']}:reminder:{row['reminders']}",
                kind="reminder",
                channel=row["channel"] or settings.alert_channel,
                title=f"Still so, for {describe_span(now - row['opened_at'])}: {row['title']}",
                body=row["detail"] or "",
                alert_id=row["id"],
                now=now,
            )
    return told


@dataclass(frozen=True, slots=True)
class Alert:
    """A row of `alerts`, as it is listed."""

    id: int
    kind: str
    subject: str
    severity: str
    title: str
    detail: str | None
    evidence: Mapping[str, Any]
    opened_at: datetime
    opened_by: str
    reminders: int
    snoozed_until: datetime | None
    closed_at: datetime | None
    closed_by: str | None


@dataclass(frozen=True, slots=True)
class AlertList:
    """The newest `alerts`; `open` and `total` count all there are."""

    open: int
    total: int
    alerts: list[Alert]


def list_alerts(db: Database, *, closed_too: bool = False, limit: int = 100) -> AlertList:
    """Open alerts, newest first; with those that are closed where asked for."""
    counted = db.fetch_one(queries("alerts").count_alerts)
    assert counted is not None
    rows = db.fetch_all(queries("alerts").list_alerts, {"closed_too": closed_too, "limit": limit})
    return AlertList(counted["open"], counted["total"], [Alert(**row) for row in rows])


def snooze_alert(db: Database, id_: int, *, until: datetime) -> datetime:
    """No reminder of this alert before `until`. Raises NotFound for an unknown id and Conflict for a closed alert."""
    row = db.fetch_one(queries("alerts").snooze_alert, {"id": id_, "until": until})
    if row is None:
        raise _no_open_alert(db, id_)
    return until


def close_alert(db: Database, settings: Settings, id_: int, *, now: datetime, by: str) -> None:
    """A person says it is over; whoever was told of the alert is told that. Raises as `snooze_alert`."""
    with db.transaction() as conn:
        row = conn.execute(queries("alerts").close_alert_by_id, {"id": id_, "now": now, "by": by}).fetchone()
        if row is not None:
            _tell_end(conn, settings, row, f"Closed by {by}: {row['title']}", now)
    if row is None:
        raise _no_open_alert(db, id_)


def _no_open_alert(db: Database, id_: int) -> Conflict | NotFound:
    row = db.fetch_one(queries("alerts").find_alert, {"id": id_})
    if row is None:
        return NotFound(f"there is no alert {id_}: `argus alerts` lists the open ones")
    return Conflict(f"alert {id_} is closed since {row['closed_at']:%Y-%m-%d %H:%M} UTC: there is nothing to do")


def put_delivery(
    conn: Connection,
    *,
    key: str,
    kind: DeliveryKind,
    channel: str,
    title: str,
    body: str,
    now: datetime,
    link: str | None = None,
    alert_id: int | None = None,
    task: str | None = None,
    rid: str | None = None,
) -> int | None:
    """Put one message into the outbox; None when one with this key is there already. Secrets in it are masked."""
    row = conn.execute(
        queries("alerts").insert_delivery,
        {
            "key": key,
            "kind": kind,
            "channel": channel,
            "title": storable(mask_text(title)[0]),
            "body": storable(mask_text(body)[0]),
            "link": link,
            "alert_id": alert_id,
            "task": task,
            "rid": rid,
            "now": now,
        },
    ).fetchone()
    return int(row["id"]) if row else None


def describe_span(span: timedelta) -> str:
    """`40 s`, `12 min`, `3 h 5 min`, `2 days 4 h`: two units at most; a span below zero counts as none."""
    seconds = max(0, int(span.total_seconds()))
    if seconds < 60:
        return f"{seconds} s"
    minutes = seconds // 60
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 24:
        return f"{hours} h {minutes} min" if minutes else f"{hours} h"
    days, hours = divmod(hours, 24)
    word = "day" if days == 1 else "days"
    return f"{days} {word} {hours} h" if hours else f"{days} {word}"
