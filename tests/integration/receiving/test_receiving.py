"""`remember`, `correct` and proposals: what is written is captured first, and the receipt says what became of it."""

from __future__ import annotations

from typing import Any

import pytest

from argus_memory.db import Database
from argus_memory.errors import Conflict, NotFound, UsageError
from argus_memory.settings import Settings
from argus_memory.stages.distill import distill_pending
from argus_memory.upkeep import decisions
from argus_memory.upkeep.held import approve_decision
from argus_memory.upkeep.proposals import (
    accept_proposal,
    list_proposals,
    reject_proposal,
)
from argus_memory.upkeep.reads import get_note as read_note
from argus_memory.upkeep.receiving import correct as correct_note
from argus_memory.upkeep.receiving import remember
from argus_memory.upkeep.redacting import redact
from argus_memory.upkeep.writing import Writer
from tests.memory_rows import add_note, add_turn, at

KIM = Writer("kim")
CLAUDE = Writer("claude", "agent", "mcp", session="s1")
NOW = at(600)
FACT = "The router listens on port 8080."


def rows(db: Database, query: str, *values: Any) -> list[dict[str, Any]]:
    return db.fetch_all(query, values)  # type: ignore[arg-type]


def get_note(db: Database, note_id: int | None, **more: Any) -> Any:
    assert note_id is not None
    return read_note(db, note_id, **more)


def correct(*arguments: Any, **more: Any) -> Any:
    return correct_note(*arguments, **more)


def say(db: Database, settings: Settings, text: str = FACT, writer: Writer = KIM, minutes: float = 0, **more: Any) -> Any:
    return remember(db, settings, text, writer, now=at(600 + minutes), project="garden", **more)


def test_a_person_s_word_is_a_note_at_once(db: Database, settings: Settings) -> None:
    """The words are a raw item, the note quotes them, is confident, and its receipt names both."""
    receipt = say(db, settings)
    assert receipt.outcome == "created"
    note = get_note(db, receipt.note_id, now=at(601))
    assert note.state == "live"
    assert (note.note.content, note.note.source_ref, note.raw_id) == (FACT, FACT, receipt.raw_id)
    assert note.note.confidence >= 0.7
    assert rows(db, "select outcome, actor, raw_id from note_writes") == [
        {"outcome": "created", "actor": "kim", "raw_id": receipt.raw_id}
    ]


def test_what_was_written_is_never_distilled(db: Database, settings: Settings) -> None:
    """No pass takes the item up, and one that is told to leaves the note as it was written."""
    receipt = say(db, settings)
    assert distill_pending(db, settings, now=at(700)).units_distilled == 0
    with db.transaction() as conn:
        conn.execute("update distill_state set status = 'pending' where unit_id = %s", (receipt.raw_id,))
    report = distill_pending(db, settings, now=at(701))
    assert (report.units_distilled, report.units_skipped) == (0, 1)
    assert rows(db, "select id, deleted_at from distilled_notes") == [{"id": receipt.note_id, "deleted_at": None}]


def test_the_same_fact_is_reinforced_by_another_voice_only(db: Database, settings: Settings) -> None:
    """Said again it is no second note; another person's word makes it surer, the same person's does not."""
    first = say(db, settings)
    again = say(db, settings, "the router listens on port 8080", minutes=1)
    sure = rows(db, "select confidence from distilled_notes")
    other = say(db, settings, FACT, Writer("ana"), minutes=2)
    assert [again.outcome, other.outcome] == ["reinforced", "reinforced"]
    assert again.note_id == other.note_id == first.note_id
    assert sure[0]["confidence"] == pytest.approx(0.8)
    assert rows(db, "select confidence from distilled_notes")[0]["confidence"] > sure[0]["confidence"]


def test_a_repeated_request_is_one_write(db: Database, settings: Settings) -> None:
    """A request sent twice with one uuid writes once and names the note both times."""
    first = say(db, settings, uuid="request-1")
    second = say(db, settings, minutes=1, uuid="request-1")
    assert (second.outcome, second.note_id) == ("no-op", first.note_id)
    assert len(rows(db, "select id from raw_items")) == 1


def test_only_a_secret_is_refused(db: Database, settings: Settings) -> None:
    """Nothing of it is stored but the receipt, which does not hold it either."""
    receipt = say(db, settings, "<private>the alarm code</private>")
    assert (receipt.outcome, receipt.note_id, receipt.raw_id) == ("refused", None, None)
    assert "secret" in receipt.detail
    assert rows(db, "select id from raw_items") == []
    assert [row["outcome"] for row in rows(db, "select outcome from note_writes")] == ["refused"]


def test_a_secret_in_a_fact_is_masked_in_the_note_too(db: Database, settings: Settings) -> None:
    """Masking comes before everything: the note holds the mark, not the secret."""
    receipt = say(db, settings, "The alarm code is <private>998877</private> at home.")
    assert get_note(db, receipt.note_id, now=NOW).note.content == "The alarm code is [redacted:private] at home."


def test_a_dispute_is_named(db: Database, settings: Settings) -> None:
    """A person's word stands beside what it disputes, and the receipt names that note and the way to replace it."""
    first = say(db, settings)
    second = say(db, settings, "The router listens on port 9090.", minutes=1)
    assert (second.outcome, second.disputes) == ("created", (first.note_id,))
    assert f"correct {first.note_id}" in second.detail


def test_a_person_overrules_a_forget_and_is_told_so(db: Database, settings: Settings) -> None:
    """What was forgotten comes back by a person's word alone; the decision that kept it out is overtaken."""
    first = say(db, settings)
    decisions.forget(db, first.note_id, "kim", now=at(601))
    again = say(db, settings, minutes=2)
    assert again.outcome == "created"
    assert again.note_id != first.note_id
    assert "forgotten" in again.detail
    assert [row["status"] for row in rows(db, "select status from note_decisions where decision = 'forget'")] == ["overtaken"]


def test_an_agent_s_word_on_what_was_forgotten_waits(db: Database, settings: Settings) -> None:
    """An agent cannot bring back what a person forgot, even where a person's turn says it."""
    add_turn(db, FACT, at(590), session="s1")
    first = say(db, settings)
    decisions.forget(db, first.note_id, "kim", now=at(601))
    receipt = say(db, settings, FACT, CLAUDE, minutes=2)
    assert receipt.outcome == "queued"
    assert "forgotten" in receipt.detail
    assert rows(db, "select id from distilled_notes where deleted_at is null") == []


def test_an_agent_s_own_fact_waits_and_one_that_was_said_does_not(db: Database, settings: Settings) -> None:
    """What stands in a person's turn is a note that quotes the turn; all else is a proposal."""
    turn = add_turn(db, f"Listen: {FACT}", at(590), session="s1")
    said = say(db, settings, FACT, CLAUDE)
    own = say(db, settings, "The attic is damp.", CLAUDE, minutes=1)
    assert (said.outcome, own.outcome) == ("created", "queued")
    note = get_note(db, said.note_id, now=NOW)
    assert (note.raw_id, note.note.source_ref) == (turn, FACT)
    assert [row["content"] for row in list_proposals(db)] == ["The attic is damp."]


def test_a_queued_fact_names_the_note_it_disputes(db: Database, settings: Settings) -> None:
    """The receipt and the proposal hold the disputed note's id."""
    first = say(db, settings)
    receipt = say(db, settings, "The router listens on port 9090.", CLAUDE, minutes=1)
    assert (receipt.outcome, receipt.disputes) == ("queued", (first.note_id,))
    assert list_proposals(db)[0]["disputes"] == first.note_id


def test_an_accepted_proposal_is_a_note(db: Database, settings: Settings) -> None:
    """Accepting makes the note of the proposal's own words; a second decision is a conflict."""
    queued = say(db, settings, "The attic is damp.", CLAUDE)
    receipt = accept_proposal(db, queued.decision_id, "kim", now=at(601))
    assert receipt.outcome == "created"
    note = get_note(db, receipt.note_id, now=at(602))
    assert (note.state, note.note.content, note.raw_id) == ("live", "The attic is damp.", queued.raw_id)
    with pytest.raises(Conflict, match="was accepted by kim"):
        reject_proposal(db, queued.decision_id, "kim", now=at(602))


def test_a_rejected_proposal_stays_out(db: Database, settings: Settings) -> None:
    """It cannot be accepted later, the agent is told when it tries again, and no distillation makes the fact."""
    queued = say(db, settings, "The attic is damp.", CLAUDE)
    reject_proposal(db, queued.decision_id, "kim", now=at(601))
    with pytest.raises(Conflict, match="was rejected by kim"):
        accept_proposal(db, queued.decision_id, "kim", now=at(602))
    again = say(db, settings, "The attic is damp.", CLAUDE, minutes=3)
    assert again.outcome == "refused"
    assert [row["decision"] for row in rows(db, "select decision from note_decisions where status = 'in-force'")] == ["reject"]
    with pytest.raises(NotFound):
        accept_proposal(db, 999, "kim", now=NOW)


def test_an_automatic_acceptance_looks_again(db: Database, settings: Settings) -> None:
    """What disputes a note by now is left for a person, though it disputed nothing when it came in."""
    queued = say(db, settings, "The router listens on port 9090.", CLAUDE)
    say(db, settings, minutes=1)
    with pytest.raises(Conflict, match="a person decides"):
        accept_proposal(db, queued.decision_id, "argus", now=at(602), auto=True)


def test_a_correction_replaces_in_one_step(db: Database, settings: Settings) -> None:
    """The new note stands, the old is kept as superseded by it, and the decision is on record."""
    first = say(db, settings)
    receipt = correct(db, settings, first.note_id, "The router listens on port 9090.", KIM, now=at(601), reason="moved")
    assert receipt.outcome == "changed"
    old, new = get_note(db, first.note_id, now=at(602)), get_note(db, receipt.note_id, now=at(602))
    assert (old.state, old.superseded_by, new.state) == ("corrected", receipt.note_id, "live")
    assert new.note.project == "garden"
    decision = rows(db, "select decision, status, new_note_id, reason from note_decisions")
    assert decision == [{"decision": "correct", "status": "in-force", "new_note_id": receipt.note_id, "reason": "moved"}]
    events = rows(db, "select event, actor from note_events where note_id = %s order by id desc limit 1", first.note_id)
    assert events == [{"event": "corrected", "actor": "kim"}]


def test_a_pinned_note_s_correction_is_pinned(db: Database, settings: Settings) -> None:
    """A person's correction keeps what was decided of the note, also as a decision about the new words."""
    first = say(db, settings)
    decisions.pin(db, first.note_id, "kim", now=at(601))
    receipt = correct(db, settings, first.note_id, "The router listens on port 9090.", KIM, now=at(602))
    assert rows(db, "select pinned_at is not null as pinned from distilled_notes where id = %s", receipt.note_id) == [{"pinned": True}]
    assert rows(db, "select decision from note_decisions where uid = %s and status = 'in-force'", receipt.uid) == [{"decision": "pin"}]


def test_a_correction_back_to_what_was_corrected_stands(db: Database, settings: Settings) -> None:
    """A person may take a correction back: the first words are a note again, and nothing keeps them out."""
    first = say(db, settings)
    second = correct(db, settings, first.note_id, "The router listens on port 9090.", KIM, now=at(601))
    third = correct(db, settings, second.note_id, FACT, KIM, now=at(602))
    assert third.outcome == "changed"
    live = rows(db, "select content from distilled_notes where deleted_at is null")
    assert live == [{"content": FACT}]
    assert say(db, settings, FACT, Writer("ana"), minutes=5).outcome == "reinforced"


def test_a_correction_to_the_same_words_changes_nothing(db: Database, settings: Settings) -> None:
    """No raw item, no decision: a no-op."""
    first = say(db, settings)
    receipt = correct(db, settings, first.note_id, "the router listens on port 8080", KIM, now=at(601))
    assert (receipt.outcome, receipt.note_id) == ("no-op", first.note_id)
    assert len(rows(db, "select id from raw_items")) == 1


def test_a_correction_to_what_stands_already_merges_into_it(db: Database, settings: Settings) -> None:
    """Corrected to the words of another note, it is superseded by that one; no third note is made."""
    first = say(db, settings)
    other = say(db, settings, "The router listens on port 9090.", minutes=1)
    receipt = correct(db, settings, first.note_id, "The router listens on port 9090.", KIM, now=at(602))
    assert (receipt.outcome, receipt.note_id) == ("changed", other.note_id)
    assert len(rows(db, "select id from distilled_notes")) == 2


def test_what_is_gone_cannot_be_corrected_and_nothing_is_captured(db: Database, settings: Settings) -> None:
    """A forgotten, a superseded and a redacted note each name what to do instead."""
    first = say(db, settings)
    second = correct(db, settings, first.note_id, "The router listens on port 9090.", KIM, now=at(601))
    items = len(rows(db, "select id from raw_items"))
    with pytest.raises(Conflict, match=f"note {second.note_id} stands in its place"):
        correct(db, settings, first.note_id, "The router listens on port 1.", KIM, now=at(602))
    decisions.forget(db, second.note_id, "kim", now=at(603))
    with pytest.raises(Conflict, match=r"was forgotten: .*restore"):
        correct(db, settings, second.note_id, "The router listens on port 1.", KIM, now=at(604))
    redact(db, note_id=second.note_id, actor="kim", now=at(605))
    with pytest.raises(Conflict, match=r"was redacted: .*remember"):
        correct(db, settings, second.note_id, "The router listens on port 1.", KIM, now=at(606))
    with pytest.raises(NotFound):
        correct(db, settings, 999, "x y z", KIM, now=at(606))
    assert len(rows(db, "select id from raw_items")) == items


def test_an_agent_s_correction_of_a_person_s_note_is_held_until_approved(db: Database, settings: Settings) -> None:
    """Nothing changes by it; approved, it is a person's correction by the captured words."""
    first = say(db, settings)
    receipt = correct(db, settings, first.note_id, "The router listens on port 9090.", CLAUDE, now=at(601))
    assert (receipt.outcome, receipt.disputes) == ("held", (first.note_id,))
    assert get_note(db, first.note_id, now=at(602)).state == "live"
    applied = approve_decision(db, receipt.decision_id, "kim", now=at(603))
    assert rows(db, "select status, new_note_id, decided_by from note_decisions") == [
        {"status": "in-force", "new_note_id": applied.note_id, "decided_by": "kim"}
    ]
    assert get_note(db, applied.note_id, now=at(604)).note.content == "The router listens on port 9090."
    assert get_note(db, first.note_id, now=at(604)).state == "corrected"


def test_an_agent_corrects_what_nobody_vouches_for(db: Database, settings: Settings) -> None:
    """A doubtful note that an assistant's words made is corrected at once, and stays as doubtful."""
    note = add_note(db, FACT, role="assistant", confidence=0.5)
    receipt = correct(db, settings, note, "The router listens on port 9090.", CLAUDE, now=NOW)
    assert receipt.outcome == "changed"
    assert rows(db, "select confidence from distilled_notes where id = %s", receipt.note_id) == [{"confidence": 0.5}]


def test_what_was_redacted_is_redacted_in_its_correction_s_decision(db: Database, settings: Settings) -> None:
    """Redacting the corrected words leaves them in no decision and no history."""
    first = say(db, settings, "Kim's locker is number Quittenbaum.")
    second = correct(db, settings, first.note_id, "Kim's locker is number Zwetschgenhag.", KIM, now=at(601))
    redact(db, note_id=second.note_id, text="Zwetschgenhag", actor="kim", now=at(602))
    assert rows(db, "select id from note_decisions where new_text like '%%Zwetschgenhag%%' or content like '%%Zwetschgenhag%%'") == []
    assert rows(db, "select id from note_events where detail::text like '%%Zwetschgenhag%%'") == []


def test_wrong_use_is_refused(db: Database, settings: Settings) -> None:
    """No text, too much text and an unknown category are refused with a sentence, and nothing is stored."""
    for text, category in (("  ", "fact"), ("x" * 2001, "fact"), ("fine", "gossip")):
        with pytest.raises(UsageError):
            say(db, settings, text, category=category)
    assert rows(db, "select id from raw_items") == []
