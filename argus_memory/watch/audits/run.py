"""Ask every audit, keep each answer, and tell a person about each change.

1. ask; what cannot be asked is failed
2. in one transaction: the row of `audit_results`, and the alert `audit` / `check:<asset>/<audit>`, opened when the
   answer is failed, closed when it is ok. `unknown` opens and closes nothing: it is neither.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import quote

from psycopg.types.json import Jsonb

from argus_memory.db import Connection, Database, queries
from argus_memory.errors import Unreachable
from argus_memory.settings import Settings
from argus_memory.watch.alerts import Condition, clear_alert, raise_alert
from argus_memory.watch.audits.catalog import AUDITS
from argus_memory.watch.audits.questions import Audit, Finding, answer, asking

IDS_IN_MESSAGE = 10

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Answer:
    """`kept`: whether the answer could be written down; without a database it cannot."""

    audit: Audit
    finding: Finding
    kept: bool


def run_audits(
    db: Database,
    settings: Settings,
    *,
    now: datetime,
    by: str,
    run_id: str | None = None,
    audits: Sequence[Audit] = AUDITS,
) -> Iterator[Answer]:
    """The answers in the order of `audits`, each kept before the next is asked. Never raises for what is wrong."""
    with asking(db, settings, now) as asked:
        for audit in audits:
            finding = answer(audit, asked)
            kept = asked.away is None
            if kept:
                try:
                    _keep(db, settings, audit, finding, now=now, by=by, run_id=run_id)
                except Unreachable as error:
                    asked.away, kept = str(error), False
            if not kept:
                log.warning("the answer of the audit %s could not be kept: %s", audit.key, asked.away)
            yield Answer(audit, finding, kept)


def look_command(audit: Audit) -> str:
    """What a person types to see the rows."""
    return f'psql "$(argus dsn)" -c "{audit.look}"'


def check_url(settings: Settings, audit: Audit) -> str:
    """The check's page in Dagster."""
    name = quote(audit.name)
    return f"{settings.dagster_url}/assets/{quote(audit.asset)}?view=checks&checkDetail={name}"


def _keep(
    db: Database, settings: Settings, audit: Audit, finding: Finding, *, now: datetime, by: str, run_id: str | None
) -> None:
    with db.transaction() as conn:
        _record(conn, audit, finding, now, run_id)
        _tell(conn, settings, audit, finding, now=now, by=by)


def _record(conn: Connection, audit: Audit, finding: Finding, now: datetime, run_id: str | None) -> None:
    conn.execute(
        queries("audit_history").insert_result,
        {
            "audit": audit.name,
            "asset": audit.asset,
            "now": now,
            "status": finding.status,
            "severity": audit.severity,
            "total": finding.total,
            "offending": Jsonb(list(finding.offending)),
            "detail": finding.detail or None,
            "run_id": run_id,
        },
    )


def _tell(conn: Connection, settings: Settings, audit: Audit, finding: Finding, *, now: datetime, by: str) -> None:
    subject = f"check:{audit.key}"
    if finding.status == "ok":
        clear_alert(conn, settings, "audit", subject, now=now, by=by)
    elif finding.status == "failed":
        condition = Condition(
            kind="audit",
            subject=subject,
            title=f"{audit.question} No: check {audit.name} of {audit.asset} failed",
            detail=_describe(audit, finding),
            severity=audit.severity,
            evidence={"offending": list(finding.offending), "total": finding.total},
            link=check_url(settings, audit),
        )
        raise_alert(conn, settings, condition, now=now, by=by)


def _describe(audit: Audit, finding: Finding) -> str:
    lines = [finding.detail] if finding.detail else []
    if finding.offending:
        shown = ", ".join(finding.offending[:IDS_IN_MESSAGE])
        more = finding.total - min(len(finding.offending), IDS_IN_MESSAGE)
        lines.append(f"{finding.total}: {shown}" + (f" and {more} more" if more > 0 else ""))
    lines.append(look_command(audit))
    return "\n".join(lines)
