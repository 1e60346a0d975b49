"""What waits, asked of a real database in one query."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from argus_memory.db import Database
from argus_memory.settings import Settings
from argus_memory.stages.segment import find_due
from argus_memory.watch.pending import decide_run, find_pending, has_fresh_work, pending_params, pending_query
from tests.distill_rows import add_episode, add_item
from tests.memory_rows import add_dialog, add_note, add_space, add_turn, add_vector, at


def test_an_empty_store_has_nothing_pending(db: Database, settings: Settings) -> None:
    """A store that holds nothing asks for no run."""
    work = find_pending(db, settings, at(0))
    assert decide_run(work, at(0)).run_key is None
    assert (work.tails_due, work.units_due, work.turns_queued, work.captured) == (0, 0, 0, {})


def test_a_live_tail_is_left_alone_until_it_is_due(db: Database, settings: Settings) -> None:
    """A conversation that goes on is not due; half an hour after its last turn it is, as the segment stage says."""
    add_dialog(db, 2)
    soon, silent, later = at(10), at(34), at(40)
    assert (find_pending(db, settings, soon).tails_due, find_pending(db, settings, soon).tails_open) == (0, 1)
    assert find_pending(db, settings, silent).tails_due == len(find_due(db, settings, silent)) == 1
    assert find_pending(db, settings, silent).tails_urgent == 0
    assert find_pending(db, settings, later).tails_urgent == 1


def test_an_ended_session_waits_for_nobody(db: Database, settings: Settings) -> None:
    """After an end mark the tail is due at once, and urgent."""
    add_dialog(db, 2)
    with db.transaction() as conn:
        conn.execute(
            "insert into session_marks (session, source, mark, at) values ('s1', 'claude-code', 'end', %s)", (at(4),)
        )
    assert find_pending(db, settings, at(5)).tails_urgent == 1


def test_a_short_idle_time_leaves_little_patience(db: Database, settings: Settings) -> None:
    """Where silence closes a tail after a minute, it waits for company for ten seconds and no longer."""
    add_dialog(db, 1)  # its last turn at minute 1
    brief = replace(settings, idle_close=timedelta(minutes=1))
    assert find_pending(db, brief, at(2.1)).tails_urgent == 0
    assert find_pending(db, brief, at(2.2)).tails_urgent == 1


def test_units_are_due_when_their_next_attempt_is(db: Database, settings: Settings) -> None:
    """A pending unit is due, one that waits for its next attempt or that a run has claimed is not, a parked one is
    only counted."""
    ids = [add_item(db, f"a document, number {n}") for n in range(5)]
    with db.transaction() as conn:
        for query, value, unit in (
            ("update distill_state set next_attempt_at = %s where unit_id = %s", at(30), ids[1]),
            ("update distill_state set claimed_at = %s where unit_id = %s", at(0), ids[2]),
            ("update distill_state set claimed_at = %s where unit_id = %s", at(-60), ids[3]),
            ("update distill_state set status = %s where unit_id = %s", "parked", ids[4]),
        ):
            conn.execute(query, (value, unit))
    work = find_pending(db, settings, at(1))
    assert (work.units_due, work.units_later, work.units_parked) == (2, 2, 1)  # ids 0 and 3: its run is dead
    assert work.units_next_at == at(30)
    assert find_pending(db, settings, at(31)).units_due == 4


def test_an_attempt_changes_the_key(db: Database, settings: Settings) -> None:
    """A unit that was tried in vain and is due again is other work than before."""
    unit = add_item(db, "a document")
    before = decide_run(find_pending(db, settings, at(1)), at(1))
    with db.transaction() as conn:
        conn.execute("update distill_state set attempts = 1 where unit_id = %s", (unit,))
    assert decide_run(find_pending(db, settings, at(1)), at(1)).run_key != before.run_key


def test_the_queue_of_vectors(db: Database, settings: Settings) -> None:
    """Turns and notes that wait for vectors are counted apart, and what failed too often is no reason to run."""
    add_space(db)
    turn = add_turn(db, "first", at(0))
    with db.transaction() as conn:
        conn.execute("update embed_queue set queued_at = %s", (at(0),))
    note = add_note(db, "The printer lives in the cellar.", raw_id=turn)
    work = find_pending(db, settings, at(5))
    assert (work.turns_queued, work.turns_since, work.notes_queued, work.notes_newest) == (1, at(0), 1, note)
    assert work.notes_undeduped == 0  # it is compared when it has its vector
    with db.transaction() as conn:
        conn.execute("update embed_queue set attempts = 5")
    work = find_pending(db, settings, at(5))
    assert (work.turns_queued, work.notes_queued, work.embed_parked) == (0, 0, 2)
    assert work.notes_undeduped == 1  # it never will have one


def test_notes_wait_for_dedup_once_they_have_a_vector(db: Database, settings: Settings) -> None:
    """A live note with a vector that was not compared yet is work; a tombstoned or expired one is not."""
    space = add_space(db)
    ids = [add_note(db, f"note {n}") for n in range(3)]
    for note in ids:
        add_vector(db, space, "note", note, [1, 0])
    with db.transaction() as conn:
        conn.execute("update distilled_notes set deleted_at = %s where id = %s", (at(0), ids[1]))
        conn.execute("update distilled_notes set valid_to = %s where id = %s", (at(1), ids[2]))
    work = find_pending(db, settings, at(60))
    assert (work.notes_undeduped, work.undeduped_newest) == (1, ids[0])


def test_the_first_turn_ever_waits_though_there_is_no_space(db: Database, settings: Settings) -> None:
    """Before the first pass of embed nothing is queued; the first turn asks for that pass after ten minutes."""
    add_turn(db, "first", at(0))
    work = find_pending(db, settings, at(9))
    assert (work.turns_queued, work.unspaced_since) == (0, at(0))
    assert decide_run(work, at(9)).run_key is None
    assert decide_run(find_pending(db, settings, at(10)), at(10)).run_key


def test_what_came_is_told_by_the_day_it_was_said(db: Database, settings: Settings) -> None:
    """Items above the id last reported are counted by the UTC day they were said."""
    add_turn(db, "old", at(0))
    seen = find_pending(db, settings, at(1))
    add_turn(db, "one", at(2))
    add_turn(db, "two", at(60 * 15))  # midnight UTC
    work = find_pending(db, settings, at(1), raw_id=seen.raw_id)
    assert work.captured == {"2026-03-02": 1, "2026-03-03": 1}
    assert work.raw_id == seen.raw_id + 2
    assert find_pending(db, settings, at(1), raw_id=work.raw_id).captured == {}


def test_the_question_reads_no_more_when_more_is_stored(db: Database, settings: Settings) -> None:
    """With nothing new, eighty times as many items cost the same pages, also without figures for the planner."""

    def pages() -> int:
        top = find_pending(db, settings, at(0)).raw_id
        with db.transaction() as conn:
            asked = pending_params(settings, at(0), raw_id=top)
            plan = conn.execute("explain (analyze, buffers, format json) " + pending_query(), asked).fetchone()
        assert plan is not None
        root = plan["QUERY PLAN"][0]["Plan"]
        return int(root["Shared Hit Blocks"]) + int(root["Shared Read Blocks"])

    add_documents(db, 0, 100)
    few = pages()
    add_documents(db, 100, 8000)
    assert pages() < few + 20


def add_documents(db: Database, first: int, last: int) -> None:
    """Raw items that no stage has to do anything about, as the health probe's."""
    with db.transaction() as conn:
        conn.execute(
            "insert into raw_items (source, kind, body, project, dedup_key, said_at) select 'argus', 'document',"
            " 'document ' || n, 'argus-canary', md5('d' || n), %s"
            " from generate_series(%s::int, %s::int - 1) n",
            (at(0), first, last),
        )


def test_the_past_steps_back_for_what_was_said_today(db: Database, settings: Settings) -> None:
    """Due tails and units count as fresh only when they were said after the moment asked for."""
    now = at(60)
    add_dialog(db, 1, start=-60 * 24 * 30)
    old, _ = add_episode(db, [("user", "hello")], start=-60 * 24 * 30)
    assert not has_fresh_work(db, settings, now, now - timedelta(hours=24))
    new, _ = add_episode(db, [("user", "hello again")], start=0)
    assert has_fresh_work(db, settings, now, now - timedelta(hours=24))
    with db.transaction() as conn:
        conn.execute("update distill_state set status = 'done' where unit_id = %s", (new,))
    assert not has_fresh_work(db, settings, now, now - timedelta(hours=24))
    add_dialog(db, 1, start=0)  # idle for an hour
    assert has_fresh_work(db, settings, now, now - timedelta(hours=24))
    assert old != new
