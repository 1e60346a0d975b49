"""The daily digest: what ran, what did not, what waits for a person, what it cost; one message a local day.

The task `daily-digest` writes it at its hour, the watchdog where that did not happen; the key makes it one.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from argus_memory.db import Database, queries
from argus_memory.settings import Settings
from argus_memory.stages.spaces import EMBED_ATTEMPTS
from argus_memory.tasks.config import default_zone_of
from argus_memory.watch.alerts import list_alerts, put_delivery
from argus_memory.watch.digest_text import DigestFacts, digest_body, digest_title
from argus_memory.watch.sender_state import find_sender_state

SPAN: Final = timedelta(days=1)


def write_digest(db: Database, settings: Settings, *, now: datetime, by: str) -> int | None:
    """Put today's digest into the outbox; None when it is there already. `by` is on its row as the task."""
    key = digest_key(settings, now)
    if db.fetch_one(queries("deliveries").find_by_key, {"key": key}) is not None:
        return None
    title, body = digest_words(db, settings, now=now)
    with db.transaction() as conn:
        return put_delivery(
            conn,
            key=key,
            kind="digest",
            channel=settings.alert_channel,
            title=title,
            body=body,
            link=f"http://127.0.0.1:{settings.dagster_port}/",
            task=by,
            now=now,
        )


def digest_key(settings: Settings, now: datetime) -> str:
    return f"digest:{now.astimezone(ZoneInfo(default_zone_of(settings))):%Y-%m-%d}"


def digest_words(db: Database, settings: Settings, *, now: datetime) -> tuple[str, str]:
    """(title, body) of the day that ends at `now`."""
    facts = find_facts(db, settings, now=now)
    return digest_title(facts), digest_body(facts)


def find_facts(db: Database, settings: Settings, *, now: datetime) -> DigestFacts:
    q = queries("digest")
    params = {"since": now - SPAN, "now": now, "late": now, "attempts": EMBED_ATTEMPTS}
    with db.transaction() as conn:
        ran, missed, levels, *single = (
            conn.execute(query, params).fetchall()
            for query in (
                q.tasks_ran, q.not_run, q.levels, q.held_reviews, q.parked_units, q.costs, q.canaries, q.told_costs,
            )
        )  # fmt: skip
    held, parked, costs, canaries, told = (rows[0] for rows in single)
    alerts = [
        {"id": one.id, "title": one.title, "opened_at": one.opened_at} for one in list_alerts(db, limit=1000).alerts
    ]
    return DigestFacts(
        now=now,
        zone=ZoneInfo(default_zone_of(settings)),
        ran=ran,
        missed=missed,
        levels=levels,
        held=held,
        parked=parked,
        costs={**costs, "told_runs": told["runs"], "told_usd": told["usd"]},
        canaries=canaries,
        alerts=alerts,
        outbox=find_sender_state(db, settings, now=now).detail,
    )
