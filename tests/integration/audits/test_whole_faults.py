"""For each audit of what is stored one fault is planted, and the audit names it."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from argus_memory.db import Database
from argus_memory.records import CANARY_PROJECT
from argus_memory.settings import Settings
from argus_memory.watch.audits import AUDITS, Finding, run_audit
from tests.distill_rows import add_episode
from tests.integration.audits.conftest import Force
from tests.memory_rows import add_note, add_space, add_turn, add_vector, at

NOW = at(60 * 24)


def ask(db: Database, settings: Settings, key: str, now: datetime = NOW) -> Finding:
    (audit,) = (audit for audit in AUDITS if audit.key == key)
    return run_audit(audit, db, settings, now)


def found(db: Database, settings: Settings, key: str, now: datetime = NOW) -> tuple[str, tuple[str, ...]]:
    finding = ask(db, settings, key, now)
    return finding.status, finding.offending


def change(db: Database, statement: str, *params: Any) -> None:
    with db.transaction() as conn:
        conn.execute(statement, params or None)  # type: ignore[arg-type]


def add_injection(db: Database, when: datetime, **fields: Any) -> int:
    row = {"session": "s1", "host": "den", "prompt_mode": True, "at": when, **fields}
    made = db.fetch_one(
        f"insert into injections ({', '.join(row)}) values ({', '.join(f'%({name})s' for name in row)}) returning id",
        row,
    )
    assert made
    return int(made["id"])


def test_a_turn_without_its_row_in_turns(db: Database, settings: Settings, force: Force) -> None:
    """A captured turn that the trigger made nothing of is named."""
    add_turn(db, "traced", at(0))
    lost = add_turn(db, "lost", at(1))
    assert found(db, settings, "raw_items/turns_traced") == ("ok", ())
    force("delete from embed_queue")
    force("delete from turns where raw_id = %s", lost)
    assert found(db, settings, "raw_items/turns_traced") == ("failed", (str(lost),))


def test_a_session_that_asked_but_never_arrived(db: Database, settings: Settings) -> None:
    """A session whose prompts recall saw an hour ago is named when none of its turns arrived; one that arrived, one
    whose turns were skipped, a young one and the canary's are not."""
    for session in ("arrived", "skipped", "silent"):
        add_injection(db, at(0), session=session)
    add_injection(db, at(0), session="argus-canary-x", project=CANARY_PROJECT)
    add_turn(db, "hello", at(1), session="arrived")
    change(
        db,
        "insert into capture_outcomes (at, source, session, outcome, count) values (%s, 'claude-code', 'skipped', 'skipped', 1)",
        at(1),
    )
    assert found(db, settings, "raw_items/sessions_captured", at(59)) == ("ok", ())
    assert found(db, settings, "raw_items/sessions_captured", at(61)) == ("failed", ("silent",))


def test_an_episode_that_lost_a_turn(db: Database, settings: Settings) -> None:
    """An episode with fewer turns than it counts, and a turn in an episode that was replaced, are named."""
    episode, raws = add_episode(db, [("user", "one"), ("assistant", "two")])
    replaced, others = add_episode(db, [("user", "three")], start=10)
    assert found(db, settings, "episodes/episodes_whole") == ("ok", ())
    change(db, "update turns set episode_id = null, ordinal = null where raw_id = %s", raws[0])
    change(db, "update episodes set replaced_at = now() where id = %s", replaced)
    assert found(db, settings, "episodes/episodes_whole") == (
        "failed",
        (f"episode {episode}", f"turn {others[0]}"),
    )


def test_a_unit_of_nothing(db: Database, settings: Settings) -> None:
    """A row of distill_state for an episode or an item that does not exist is named; a turn is no item."""
    episode, raws = add_episode(db, [("user", "one")])
    assert found(db, settings, "episodes/units_resolve") == ("ok", ())
    change(
        db,
        "insert into distill_state (unit_kind, unit_id, said_at) values ('episode', %s, now()), ('item', %s, now())",
        episode + 1, raws[0],
    )  # fmt: skip
    assert found(db, settings, "episodes/units_resolve") == ("failed", (f"episode {episode + 1}", f"item {raws[0]}"))


def test_a_live_uid_that_stands_twice(db: Database, settings: Settings) -> None:
    """Two live notes of one uid and speaker are named once dedup has had its time; those of two speakers, a pair
    that a person parted, and one that is deleted are not."""
    first, second = add_note(db, "It rains.", uid="u"), add_note(db, "It rains.", uid="u")
    add_note(db, "It rains.", uid="u", role="assistant")
    parted = [add_note(db, "It snows.", uid="v") for _ in range(2)]
    gone = [add_note(db, "It hails.", uid="w") for _ in range(2)]
    change(
        db,
        "insert into dedup_log (note_id, other_id, verdict, model, status, reasoning, decided_at)"
        " values (%s, %s, 'duplicate', 'rules', 'undone', 'x', now())",
        *parted,
    )
    change(db, "update distilled_notes set deleted_at = now(), deleted_reason = 'x' where id = %s", gone[0])
    change(db, "update distilled_notes set created_at = %s", at(0))
    assert found(db, settings, "distilled_notes/uids_unique", at(119)) == ("ok", ())
    finding = ask(db, settings, "distilled_notes/uids_unique", at(121))
    expected = {f"distilled_notes {first}", f"distilled_notes {second}"}
    assert (finding.status, set(finding.offending), finding.total) == ("failed", expected, 2)


@pytest.mark.parametrize(
    ("fault", "named"),
    [
        ("valid_to = valid_from - interval '1 day'", "valid_to lies before"),
        ("deleted_at = now()", "deleted without a reason"),
        ("deleted_at = now(), deleted_reason = 'duplicate'", "without naming the note that stays"),
        ("deleted_at = now(), deleted_reason = 'superseded', superseded_by = {other}", "without an end"),
        ("superseded_by = id", "stands in for itself"),
        ("superseded_by = {other}", "superseded by another"),
    ],
)
def test_a_note_whose_validity_contradicts_itself(db: Database, settings: Settings, fault: str, named: str) -> None:
    """A note whose validity, tombstone and stand-in do not agree is named, with what is wrong."""
    note, other = add_note(db, "It rains."), add_note(db, "It snows.")
    assert found(db, settings, "distilled_notes/validity_consistent") == ("ok", ())
    change(db, f"update distilled_notes set {fault.format(other=other)} where id = %s", note)
    finding = ask(db, settings, "distilled_notes/validity_consistent")
    assert (finding.status, finding.offending) == ("failed", (f"distilled_notes {note}",))
    assert named in finding.detail


def test_a_confidence_that_no_merge_gave(db: Database, settings: Settings) -> None:
    """A live note whose confidence differs from what its newest merge says is named; one never merged is not."""
    note, gone = add_note(db, "It rains.", confidence=0.6), add_note(db, "It rains.")
    add_note(db, "It snows.", confidence=0.9)
    change(
        db,
        "insert into dedup_log (note_id, other_id, verdict, model, status, reasoning, confidence_before, confidence_after)"
        " values (%s, %s, 'duplicate', 'rules', 'applied', 'x', 0.5, 0.6)",
        gone, note,
    )  # fmt: skip
    assert found(db, settings, "distilled_notes/confidence_consistent") == ("ok", ())
    change(db, "update distilled_notes set confidence = 0.95 where id = %s", note)
    assert found(db, settings, "distilled_notes/confidence_consistent") == ("failed", (f"distilled_notes {note}",))


def test_ids_of_notes_that_lead_nowhere(db: Database, settings: Settings) -> None:
    """A link to a note that is not there, and a rejection, a failure and a call of a unit that is not, are named."""
    note = add_note(db, "It rains.")
    assert found(db, settings, "distilled_notes/note_ids_resolve") == ("ok", ())
    change(db, "update distilled_notes set links = array[%s::bigint, 999] where id = %s", note, note)
    change(db, "insert into gate_rejections (unit_kind, unit_id, reason) values ('episode', 7, 'grounding')")
    change(
        db,
        "insert into distill_failures (unit_kind, unit_id, class, detail, attempt) values ('item', 999, 'infra', 'x', 1)",
    )
    change(
        db,
        "insert into llm_calls (stage, unit_kind, unit_id, model, milliseconds, outcome) values ('distill', 'episode', 8, 'm', 1, 'ok')",
    )
    assert found(db, settings, "distilled_notes/note_ids_resolve") == (
        "failed",
        ("call 1", "failure 1", f"note {note}", "rejection 1"),
    )


@pytest.mark.parametrize(("target", "asset"), [("turn", "turn_embeddings"), ("note", "note_embeddings")])
def test_a_vector_that_is_not_of_unit_length(db: Database, settings: Settings, target: str, asset: str) -> None:
    """A vector of the live space that is longer or shorter than one is named; of a retired space it is not."""
    space = add_space(db)
    raw = add_turn(db, "It rains.", at(0))
    ids = {"turn": raw, "note": add_note(db, "It rains.", raw_id=raw)}
    add_vector(db, space, target, ids[target], [0.6, 0.8])
    key = f"{asset}/{target}_vectors_unit"
    assert found(db, settings, key) == ("ok", ())
    change(db, f"update {target}_vectors set embedding = '[3,4]'")
    assert found(db, settings, key) == ("failed", (f"{target}_vectors {ids[target]}",))
    change(db, "update embedding_spaces set status = 'retired'")
    assert found(db, settings, key) == ("ok", ())


def test_targets_of_the_queue_that_do_not_exist(db: Database, settings: Settings, force: Force) -> None:
    """A queued turn or note that does not exist is named, and so is a vector of something that is no turn."""
    space = add_space(db)
    turn = add_turn(db, "It rains.", at(0))
    add_vector(db, space, "turn", turn, [1, 0])
    assert found(db, settings, "turn_embeddings/turn_vectors_resolve") == ("ok", ())
    assert found(db, settings, "note_embeddings/note_vectors_resolve") == ("ok", ())
    change(
        db,
        "insert into embed_queue (space_id, target, target_id) values (%s, 'turn', 99), (%s, 'note', 99)",
        space,
        space,
    )
    force("delete from turns")
    assert found(db, settings, "turn_embeddings/turn_vectors_resolve") == (
        "failed",
        (f"queue {space}:99", f"vector {space}:{turn}"),
    )
    assert found(db, settings, "note_embeddings/note_vectors_resolve") == ("failed", (f"queue {space}:99",))


def test_a_recall_without_its_row(db: Database, settings: Settings, force: Force) -> None:
    """A note that was shown more often than the ledger says, and a number missing in the ledger, are named; numbers
    missing around a restart of Postgres are not, and neither are those of recalls that may still be written."""
    note = add_note(db, "It rains.")
    ids = [add_injection(db, at(n), note_ids=[note], note_scores=[1.0], rrf_scores=[1.0]) for n in range(3)]
    change(db, "update distilled_notes set shown_count = 3")
    assert found(db, settings, "injections/ledger_complete", at(60)) == ("ok", ())
    force("delete from injections where id = %s", ids[1])
    assert found(db, settings, "injections/ledger_complete", at(60)) == (
        "failed",
        (f"injection {ids[1]}", f"note {note}"),
    )
    assert found(db, settings, "injections/ledger_complete", at(11)) == ("failed", (f"note {note}",))
    started = db.fetch_one("select pg_postmaster_start_time() as at")
    assert started
    change(db, "update injections set at = %s - interval '1 minute' where id = %s", started["at"], ids[0])
    change(db, "update injections set at = %s + interval '1 minute' where id = %s", started["at"], ids[2])
    later = started["at"] + timedelta(hours=1)
    assert found(db, settings, "injections/ledger_complete", later) == ("failed", (f"note {note}",))


def test_a_session_that_recall_never_saw(db: Database, settings: Settings) -> None:
    """A session that started on a machine with a recall hook, and has no row in the ledger, is named; one on a
    machine that never recalled is not."""
    add_injection(db, at(0), session="before", prompt_mode=False)
    for session, host in (("seen", "den"), ("unseen", "den"), ("elsewhere", "attic")):
        change(
            db,
            "insert into session_marks (session, source, mark, at, host) values (%s, 'claude-code', 'start', %s, %s)",
            session, at(30), host,
        )  # fmt: skip
        add_turn(db, "hello", at(31), session=session)
    add_injection(db, at(30), session="seen", prompt_mode=False)
    assert found(db, settings, "injections/sessions_recalled", at(35)) == ("ok", ())
    assert found(db, settings, "injections/sessions_recalled", at(60)) == ("failed", ("unseen",))


def test_a_ledger_that_names_what_does_not_exist(db: Database, settings: Settings) -> None:
    """A recall that gave a note or a turn that is not there is named."""
    note = add_note(db, "It rains.")
    add_injection(db, at(0), note_ids=[note], note_scores=[1.0], rrf_scores=[1.0])
    assert found(db, settings, "injections/injected_ids_resolve") == ("ok", ())
    wrong = add_injection(db, at(1), turn_ids=[999], turn_scores=[1.0])
    assert found(db, settings, "injections/injected_ids_resolve") == ("failed", (f"injection {wrong}",))


def test_a_verdict_that_did_not_happen(db: Database, settings: Settings) -> None:
    """A verdict that counts is named when the note it took away is live; one that was undone is not."""
    kept, gone = add_note(db, "It rains."), add_note(db, "It rains.")
    change(
        db,
        "insert into dedup_log (note_id, other_id, verdict, model, status, reasoning) values"
        " (%s, %s, 'duplicate', 'rules', 'applied', 'x')",
        gone, kept,
    )  # fmt: skip
    change(
        db,
        "update distilled_notes set deleted_at = now(), deleted_reason = 'duplicate', superseded_by = %s where id = %s",
        kept, gone,
    )  # fmt: skip
    assert found(db, settings, "dedup_log/verdicts_match") == ("ok", ())
    change(db, "update distilled_notes set deleted_at = null, deleted_reason = null where id = %s", gone)
    assert found(db, settings, "dedup_log/verdicts_match") == ("failed", ("verdict 1",))
    change(db, "update dedup_log set status = 'undone', decided_at = now()")
    assert found(db, settings, "dedup_log/verdicts_match") == ("ok", ())
