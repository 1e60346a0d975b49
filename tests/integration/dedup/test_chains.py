"""Chains of merges can be taken back in any order, and nothing of them is left."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as property_settings
from hypothesis import strategies as st

from argus_memory.db import Database
from argus_memory.errors import Conflict
from argus_memory.rules.dedup_judgement import Judgement, NoteView, plan
from argus_memory.stages.dedup_find import view
from argus_memory.stages.dedup_write import Decision, write_decisions
from argus_memory.upkeep.review import approve, reject, undo
from tests.integration.dedup.test_dedup import NOW
from tests.memory_rows import add_note, add_turn, at

STATE = "id, deleted_at, deleted_reason, superseded_by, valid_to, confidence::numeric(6,4), pinned_at"
NOTES = 6
VERDICTS = st.sampled_from(["duplicate", "refine", "supersede"])
MERGES = st.lists(st.tuples(st.integers(0, NOTES - 1), st.integers(0, NOTES - 1), VERDICTS), min_size=1, max_size=8)


def state(db: Database) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Notes, and turns that are withheld for them."""
    withheld = db.fetch_all("select raw_id, note_id, reason from withheld_turns order by 1, 2")
    return db.fetch_all(f"select {STATE} from distilled_notes order by id"), withheld


def look_at(db: Database, note_id: int) -> NoteView:
    row = db.fetch_one("select n.*, pinned_at is not null as pinned from distilled_notes n where id = %(id)s", {"id": note_id})
    assert row
    return view(row)


def merge(db: Database, note_id: int, other_id: int, verdict: Any) -> None:
    """As a pass of dedup writes it, where both notes are live."""
    note, other = look_at(db, note_id), look_at(db, other_id)
    with db.transaction() as conn:
        conn.execute("update distilled_notes set deduped_at = null where id = %s", (note_id,))
        made = plan(note, other, Judgement(verdict, "test"))
        write_decisions(conn, note, [Decision(made, "test", 0.9, same_fact=True)], now=NOW, pass_id=_pass(conn))


def _pass(conn: Any) -> int:
    row = conn.execute(
        "insert into stage_passes (stage, started_at, finished_at, outcome, counts)"
        " values ('dedup', %s, %s, 'ok', '{}') returning id",
        (NOW, NOW),
    ).fetchone()
    return int(row["id"])


@property_settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(merges=MERGES, order=st.randoms(use_true_random=False), sure=st.integers(0, NOTES - 1))
def test_taken_back_in_any_order_nothing_is_left(db: Database, merges: Any, order: Any, sure: int) -> None:
    """After every merge was undone or rejected, in any order, notes, confidences, validity and withheld turns are
    those of before."""
    notes = [add_note(db, f"The tank is big {n}.", raw_id=add_turn(db, f"The tank is big {n}.", at(n))) for n in range(NOTES)]
    with db.transaction() as conn:
        conn.execute("update distilled_notes set confidence = 0.8 where id = %s", (notes[sure],))
        conn.execute("update distilled_notes set pinned_at = %s where id = %s", (NOW, notes[-1]))
    before = state(db)
    live = set(notes)
    for one, other, verdict in merges:
        if one != other and {notes[one], notes[other]} <= live:
            merge(db, notes[one], notes[other], verdict)
            rows = db.fetch_all("select id from distilled_notes where deleted_at is null")
            live = {row["id"] for row in rows}
    done = db.fetch_all(
        "select id, status from dedup_log where status in ('applied', 'pending') and note_id = any(%(ids)s)", {"ids": notes}
    )
    order.shuffle(done)
    for row in done:
        if row["status"] == "pending":
            try:
                approve(db, row["id"], "kim", now=NOW)
            except Conflict:
                reject(db, row["id"], "kim", now=NOW)
    left = [row["id"] for row in db.fetch_all(
        "select id from dedup_log where status in ('applied', 'approved') and note_id = any(%(ids)s)", {"ids": notes}
    )]  # fmt: skip
    order.shuffle(left)
    for id_ in left:
        undo(db, id_, "kim", now=NOW + timedelta(hours=1))
    assert state(db) == before


def test_a_pinned_note_that_is_held_can_be_merged_by_a_person(db: Database) -> None:
    """Approving a held refine takes the pinned note away, with its confidence; undo brings it back pinned."""
    ids = [add_note(db, f"The hose is {n} m long.", raw_id=add_turn(db, f"The hose is {n} m long.", at(n))) for n in (1, 2)]
    with db.transaction() as conn:
        conn.execute("update distilled_notes set pinned_at = %s where id = %s", (NOW, ids[0]))
    before = state(db)
    merge(db, ids[1], ids[0], "refine")
    assert state(db) == before
    held = db.fetch_one("select id from dedup_log where status = 'pending'")
    assert held
    receipt = approve(db, held["id"], "kim", now=NOW)
    assert receipt.tombstoned == (ids[0],)
    assert look_at(db, ids[1]).confidence == pytest.approx(0.6)
    undo(db, held["id"], "kim", now=NOW)
    assert state(db) == before
