"""History is complete: from a note's events alone it can be told what it was at every moment of a random life."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import count
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from argus_memory.db import Connection, Database
from argus_memory.rules.timeline import stand
from argus_memory.stages.acting import as_actor
from argus_memory.upkeep.history import load_facts
from tests.memory_rows import add_note, at

_numbers = count(1)
MOMENTS = count(1000)
SETTINGS = {
    "confidence": "confidence = %(number)s / 100.0",
    "reword": "content = %(text)s",
    "retitle": "title = %(text)s",
    "pin": "pinned_at = %(now)s",
    "unpin": "pinned_at = null",
    "exclude": "excluded_at = %(now)s",
    "include": "excluded_at = null",
    "forget": "deleted_at = %(now)s, deleted_reason = 'forgotten'",
    "supersede": "deleted_at = %(now)s, deleted_reason = 'superseded', superseded_by = %(other)s, valid_to = %(ago)s",
    "merge": "deleted_at = %(now)s, deleted_reason = 'duplicate', superseded_by = %(other)s",
    "restore": "deleted_at = null, deleted_reason = null, superseded_by = null, valid_to = null",
    "end": "valid_to = %(ago)s",
    "begin": "valid_from = %(ago)s",
    "move": "project = %(text)s",
    "both": "content = %(text)s, confidence = %(number)s / 100.0, pinned_at = %(now)s",
}
KEPT = ("title, content, category, importance, confidence, project, keywords, tags, context, source_ref, raw_id, model,"
        " valid_from, valid_to, pinned_at, excluded_at, deleted_at is not null"
        " as gone, deleted_reason, superseded_by, confirmed_at, exported_at, redacted_at")  # fmt: skip
LIVE = ("deleted_at is null and excluded_at is null and valid_from <= %(now)s and (valid_to is null or valid_to > %(now)s)"
        " as live")  # fmt: skip
steps = st.lists(
    st.tuples(st.integers(0, 1), st.sampled_from(sorted(SETTINGS)), st.integers(1, 99)), min_size=1, max_size=12
)


def snapshot(conn: Connection, note: int, now: datetime) -> dict[str, Any]:
    row = conn.execute(
        f"select {KEPT}, {LIVE} from distilled_notes where id = %(id)s", {"id": note, "now": now}
    ).fetchone()
    assert row
    return dict(row)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps)
def test_every_change_of_a_random_life_is_on_record(db: Database, life: list[tuple[int, str, int]]) -> None:
    """A step that changes a note leaves at least one event of that step, by its actor and time, and one that changes
    nothing leaves none; what stood after each step is told by the rule, and by the database's own function."""
    with db.transaction() as conn:
        conn.execute(f"alter table distilled_notes alter column created_at set default '{at(0).isoformat()}'::timestamptz")
    notes = [add_note(db, f"Fact number {next(_numbers)}.") for _ in range(3)]
    seen: list[tuple[int, datetime, dict[str, Any]]] = []
    for which, what, number in life:
        now = at(next(MOMENTS))
        with db.transaction() as conn:
            before = snapshot(conn, notes[which], now)
            as_actor(conn, f"actor {now}", now=now)
            conn.execute(
                f"update distilled_notes set {SETTINGS[what]} where id = %(id)s",
                {"id": notes[which], "number": number, "text": f"text {number}", "now": now,
                 "other": notes[2], "ago": now - timedelta(minutes=number * 20)},
            )  # fmt: skip
            after = snapshot(conn, notes[which], now)
            told = conn.execute("select event, actor from note_events where at = %s", (now,)).fetchall()
        changed = {name for name in before if name != "live" and before[name] != after[name]}
        assert bool(told) == bool(changed), (what, changed, told)
        assert all(row["actor"] == f"actor {now}" for row in told)
        assert len({row["event"] for row in told}) == len(told)
        for each in notes[:2]:
            with db.transaction() as conn:
                seen.append((each, now, snapshot(conn, each, now)))
    with db.transaction() as conn:
        facts = load_facts(conn, notes)
        for note, moment, was in seen:
            standing = stand(facts[note], moment)
            assert (standing.live, standing.text) == (was["live"], was["content"])
            row = conn.execute(
                "select argus_live_at(id, created_at, valid_from, valid_to, %s) as live from distilled_notes where id = %s",
                (moment, note),
            ).fetchone()
            assert row is not None
            assert row["live"] == (standing.live or (standing.why_not == "excluded" and _valid(was, moment)))


def _valid(was: dict[str, Any], moment: datetime) -> bool:
    """The database's function does not ask for exclusion: recall does that by the present mark."""
    return was["valid_from"] <= moment and (was["valid_to"] is None or was["valid_to"] > moment)
