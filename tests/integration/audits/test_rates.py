"""What the gate refuses and what dedup decides is held against the two weeks before."""

from __future__ import annotations

from datetime import timedelta

from argus_memory.db import Database
from argus_memory.settings import Settings
from tests.integration.audits.healthy import add_rejections, add_verdicts
from tests.integration.audits.test_whole_faults import ask
from tests.memory_rows import add_note, add_turn, at

NOW = at(60 * 24 * 20)
DAY = timedelta(days=1)


def add_notes(db: Database, when: object, count: int) -> None:
    raw = add_turn(db, "It rains.", at(0))
    with db.transaction() as conn:
        conn.execute(
            "insert into distilled_notes (uid, raw_id, title, content, category, importance, source_ref, said_at, model,"
            " valid_from, created_at) select 'u' || n, %s, 't', 'c', 'fact', 0.5, 'c', now(), 'm', now(), %s"
            " from generate_series(1, %s) n",
            (raw, when, count),
        )


def test_a_share_of_rejections_that_rose(db: Database, settings: Settings) -> None:
    """As many refused as before is ok; when most candidates of a day are refused, the refusals are named; a store
    without such a past says that it cannot tell."""
    assert ask(db, settings, "distilled_notes/rejection_rate", NOW).status == "unknown"
    for day in range(1, 11):
        add_notes(db, NOW - day * DAY - DAY / 2, 40)
        add_rejections(db, NOW - day * DAY - DAY / 2, "grounding", 10)
    add_notes(db, NOW - DAY / 2, 40)
    add_rejections(db, NOW - DAY / 2, "grounding", 12)
    assert ask(db, settings, "distilled_notes/rejection_rate", NOW).status == "ok"
    assert ask(db, settings, "distilled_notes/poison_rate", NOW).status == "ok"
    add_rejections(db, NOW - DAY / 3, "poison", 60)
    finding = ask(db, settings, "distilled_notes/rejection_rate", NOW)
    assert (finding.status, finding.total, len(finding.offending)) == ("failed", 72, 50)
    assert finding.offending[0] == "rejection 172"
    poison = ask(db, settings, "distilled_notes/poison_rate", NOW)
    assert (poison.status, poison.total) == ("failed", 60)
    assert set(poison.offending) == {f"rejection {id_}" for id_ in range(123, 173)}


def test_verdicts_that_are_mixed_otherwise(db: Database, settings: Settings) -> None:
    """A day with the usual verdicts is ok; one with mostly merges is named with the merges, and with both mixes."""
    note, other = add_note(db, "It rains."), add_note(db, "It snows.")
    assert ask(db, settings, "dedup_log/verdict_mix", NOW).status == "unknown"
    for day in range(1, 11):
        add_verdicts(db, NOW - day * DAY - DAY / 2, note, other, distinct=27 + day % 3, duplicate=3)
    add_verdicts(db, NOW - DAY / 2, note, other, distinct=50, duplicate=8)
    assert ask(db, settings, "dedup_log/verdict_mix", NOW).status == "ok"
    add_verdicts(db, NOW - DAY / 3, note, other, supersede=40)
    finding = ask(db, settings, "dedup_log/verdict_mix", NOW)
    assert (finding.status, finding.total) == ("failed", 40)
    rows = db.fetch_all("select 'verdict ' || id as id from dedup_log where verdict = 'supersede'")
    assert set(finding.offending) == {row["id"] for row in rows}
    assert "supersede 41% (before 0%)" in finding.detail
