"""A redaction that an agent asks for: nothing is taken out until a person approves it."""

from __future__ import annotations

from typing import Any

import pytest

from argus_memory.db import Database
from argus_memory.errors import Conflict
from argus_memory.upkeep.decisions import forget, lock_note, write_decision
from argus_memory.upkeep.held import approve_decision, list_held_decisions, preview_redaction, reject_decision
from argus_memory.upkeep.redacting import redact
from tests.integration.receiving.nowhere import find_in_columns
from tests.memory_rows import add_note, add_turn, at

SECRET = "Zwiebelhuber 0171-5550199"
SAID = f"The plumber is {SECRET} and comes on Friday. The cellar key hangs behind the door."
NOW = at(600)


def hold(db: Database, note_id: int, text: str | None) -> int:
    with db.transaction() as conn:
        note = lock_note(conn, note_id)
        return write_decision(
            conn, note, "redact", "claude", now=NOW, kind="agent", reason=f"{SECRET} is private", held=True, new_text=text
        )


def state(db: Database, decision: int) -> dict[str, Any] | None:
    return db.fetch_one(
        "select status, actor, decided_by, content, new_text from note_decisions where id = %(id)s", {"id": decision}
    )


@pytest.fixture
def said(db: Database) -> int:
    """A note of a turn that names the plumber."""
    return add_note(db, f"The plumber is {SECRET}.", raw_id=add_turn(db, SAID, at(0)))


def test_it_is_shown_before_and_changes_nothing(db: Database, dsn: str, said: int) -> None:
    """A preview tells the rows that would change, and the words still stand afterwards, the decision waits."""
    decision = hold(db, said, SECRET)
    shown = preview_redaction(db, decision, "kim", now=NOW)
    assert (shown.outcome, len(shown.raws), shown.notes) == ("dry-run", 1, (said,))
    assert [one.id for one in list_held_decisions(db)] == [decision]
    assert find_in_columns(dsn, "Zwiebelhuber")


@pytest.mark.parametrize("text", [SECRET, None])
def test_approved_the_words_are_nowhere(db: Database, dsn: str, said: int, text: str | None) -> None:
    """Of a span and of a whole item: no column holds them, the tables are swept, and the record names both actors."""
    decision = hold(db, said, text)
    receipt = approve_decision(db, decision, "kim", now=NOW)
    assert (receipt.outcome, receipt.decision_id) == ("changed", decision)
    assert find_in_columns(dsn, "Zwiebelhuber") == []
    assert db.fetch_all("select from redaction_sweeps where swept_at is null") == []
    settled = state(db, decision)
    assert settled
    assert (settled["status"], settled["actor"], settled["decided_by"]) == ("overtaken", "claude", "kim")
    own = db.fetch_all("select actor, actor_kind from note_decisions where decision = 'redact' and status = 'in-force'")
    assert own == [{"actor": "kim", "actor_kind": "person"}]
    assert (db.fetch_one("select count(*)::int as n from redactions where actor = 'kim'") or {})["n"] >= 1


def test_a_note_beside_the_words_stands_and_may_be_said_again(db: Database, said: int) -> None:
    """Words of the same item that the note does not say go, and nothing keeps the note's own fact out afterwards."""
    door = add_note(db, "The cellar key hangs behind the door.", raw_id=add_turn(db, SAID + " Bye.", at(1)))
    with db.transaction() as conn:
        start = SAID.index("The cellar")
        conn.execute(
            "update distilled_notes set source_ref = content, source_start = %s, source_end = %s where id = %s",
            (start, len(SAID), door),
        )
    approve_decision(db, hold(db, door, SECRET), "kim", now=NOW)
    assert db.fetch_one("select content, deleted_at from distilled_notes where id = %(id)s", {"id": door}) == {
        "content": "The cellar key hangs behind the door.", "deleted_at": None,
    }  # fmt: skip
    bound = db.fetch_all("select from note_decisions where status = 'in-force' and note_id = %(id)s", {"id": door})
    assert bound == []


def test_rejected_the_words_stand(db: Database, dsn: str, said: int) -> None:
    """It cannot be approved afterwards, nor previewed."""
    decision = hold(db, said, SECRET)
    reject_decision(db, decision, "kim", now=NOW)
    assert find_in_columns(dsn, "Zwiebelhuber")
    for refused in (approve_decision, preview_redaction):
        with pytest.raises(Conflict, match="rejected by kim"):
            refused(db, decision, "kim", now=NOW)


def test_a_note_that_was_forgotten_meanwhile_loses_its_words_too(db: Database, dsn: str, said: int) -> None:
    """Forgotten words are in the store still; approving takes them out."""
    decision = hold(db, said, SECRET)
    forget(db, said, "kim", now=NOW)
    assert approve_decision(db, decision, "kim", now=NOW).outcome == "changed"
    assert find_in_columns(dsn, "Zwiebelhuber") == []


def test_words_that_are_gone_by_now(db: Database, said: int) -> None:
    """What a person redacted in between is settled by that, and nothing waits or can be approved."""
    decision = hold(db, said, SECRET)
    redact(db, note_id=said, text=SECRET, reason="asked", actor="kim", now=NOW)
    assert list_held_decisions(db) == []
    with pytest.raises(Conflict, match=f"decision {decision}: it is overtaken by kim"):
        approve_decision(db, decision, "robin", now=NOW)


def test_part_of_the_words_gone_by_now(db: Database, said: int) -> None:
    """A note that the first redaction left alone still waits; its words stand nowhere, which is a conflict that says so."""
    door = add_note(db, "The cellar key hangs behind the door.", raw_id=add_turn(db, SAID + " Bye.", at(1)))
    with db.transaction() as conn:
        conn.execute(
            "update distilled_notes set source_ref = content, source_start = %s, source_end = %s where id = %s",
            (SAID.index("The cellar"), len(SAID), door),
        )
    decision = hold(db, door, SECRET)
    redact(db, note_id=said, text=SECRET, reason="asked", actor="kim", now=NOW)
    with pytest.raises(Conflict, match="taken out meanwhile: reject it"):
        approve_decision(db, decision, "kim", now=NOW)
    assert reject_decision(db, decision, "kim", now=NOW).outcome == "no-op"


def test_a_failure_leaves_all_as_it_was(db: Database, dsn: str, said: int) -> None:
    """One transaction: where the record cannot be written, the words are not taken out and the decision waits."""
    decision = hold(db, said, SECRET)
    with db.transaction() as conn:
        conn.execute("alter table redaction_sweeps add constraint none check (false) not valid")
    with pytest.raises(Exception, match="none"):
        approve_decision(db, decision, "kim", now=NOW)
    assert find_in_columns(dsn, "Zwiebelhuber")
    assert (state(db, decision) or {})["status"] == "held"
