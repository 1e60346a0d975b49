"""Notes of a day made anew: what carries over, what goes, what comes, and who decides."""

from __future__ import annotations

from dataclasses import replace

import pytest

from argus_memory.errors import Conflict, ContentFailure, InfraFailure, NotFound
from argus_memory.records import Unit
from argus_memory.upkeep.decisions import forget, pin
from argus_memory.upkeep.regeneration import accept, dismiss
from tests.integration.regenerate.conftest import FACTS, Diary
from tests.memory_rows import add_space, add_vector, at

TABS, PUMP, MARA, POSTGRES = FACTS


def test_the_same_model_changes_nothing(diary: Diary) -> None:
    """Everything learned a second time: no note is added, removed or written, and history gains no line."""
    before = diary.db.fetch_all("select * from distilled_notes order by id")
    events = diary.db.fetch_one("select count(*) from note_events")
    done = diary.regenerate(last=1)
    assert (done.status, done.loss, done.counts["unchanged"]) == ("switched", 0.0, 8)
    assert diary.db.fetch_all("select * from distilled_notes order by id") == before
    assert diary.db.fetch_one("select count(*) from note_events") == events


def test_a_reworded_note_keeps_all_it_earned(diary: Diary) -> None:
    """Row, uid, confidence, shown count, validity and pin go on under the new words; its vector is made anew."""
    space = add_space(diary.db)
    note = diary.notes()[TABS]
    add_vector(diary.db, space, "note", note, [1, 0])
    diary.set(note, confidence=0.8, shown_count=3, valid_to=at(99999), deduped_at=at(2))
    before = diary.db.fetch_one("select uid, text_key, confidence, shown_count, valid_from, valid_to from distilled_notes"
                                f" where id = {note}")  # fmt: skip
    again = "The user prefers tabs in Python files."
    diary.model.says = lambda line: again if line == TABS else line
    done = diary.regenerate()
    assert (done.counts["changed"], done.counts["unchanged"], done.loss) == (1, 3, 0.0)
    assert diary.notes()[again] == note
    after = diary.db.fetch_one("select uid, text_key, confidence, shown_count, valid_from, valid_to from distilled_notes"
                               f" where id = {note}")  # fmt: skip
    assert before
    assert after
    assert after.pop("text_key") != before.pop("text_key")
    assert after == before
    assert diary.db.fetch_one("select deduped_at from distilled_notes where id = %(id)s", {"id": note}) == {"deduped_at": None}
    assert not diary.db.fetch_all("select from note_vectors where note_id = %(id)s", {"id": note})
    assert diary.db.fetch_all("select from embed_queue where target = 'note' and target_id = %(id)s", {"id": note})
    assert diary.regenerate().counts["unchanged"] == 4, "the new words are found again by the same place"


def test_a_note_of_another_fact_takes_no_notes_confidence(diary: Diary) -> None:
    """A model that now reads another number makes another note; the old one goes, with history."""
    old = diary.notes()[PUMP]
    diary.set(old, confidence=0.9)
    diary.model.says = lambda line: "The pump runs at 14 bar." if line == PUMP else line
    done = diary.regenerate()
    assert (done.counts["added"], done.counts["removed"], done.loss) == (1, 1, 0.25)
    row = diary.db.fetch_one("select confidence from distilled_notes where content = 'The pump runs at 14 bar.'")
    assert row == {"confidence": 0.5}
    gone = diary.db.fetch_one("select deleted_reason, deleted_at from distilled_notes where id = %(id)s", {"id": old})
    assert gone == {"deleted_reason": "redistilled", "deleted_at": diary.now}
    events = diary.db.fetch_all("select event, actor from note_events where note_id = %(id)s order by id desc", {"id": old})
    assert events[0] == {"event": "redistilled", "actor": "test"}


def test_what_the_model_finds_besides_is_added(diary: Diary) -> None:
    """A new fact of the day is a new note of the same unit, embedded and looked at like any other."""
    diary.model.more = {PUMP: "The pump has a gauge."}
    done = diary.regenerate()
    assert (done.counts["added"], done.counts["unchanged"], done.loss) == (1, 4, 0.0)
    assert len(diary.notes()) == 5


def test_half_of_the_facts_lost_is_held_for_a_person(diary: Diary) -> None:
    """Above the guard nothing is switched, the diff shows what would go, and a person's word switches it."""
    before = diary.notes()
    diary.model.says = lambda line: line if line in (TABS, PUMP) else None
    held = diary.regenerate()
    assert (held.status, held.loss, held.counts["removed"]) == ("held", 0.5, 2)
    assert "--accept" in str(held.error)
    assert diary.notes() == before
    removed = diary.db.fetch_all("select old_text, new_text from regeneration_notes"
                                 f" where regeneration_id = {held.id} and change = 'removed' order by id")  # fmt: skip
    assert [row["old_text"] for row in removed] == [MARA, POSTGRES]
    done = accept(diary.db, diary.settings, held.id, "kim", clock=lambda: diary.now)
    assert (done.status, done.counts["did_removed"]) == ("switched", 2)
    assert set(diary.notes()) == {TABS, PUMP}
    with pytest.raises(Conflict, match="switched by kim"):
        accept(diary.db, diary.settings, held.id, "kim")


def test_a_held_one_can_be_dismissed(diary: Diary) -> None:
    """Dismissed, it is accepted no more, and the notes stand."""
    before = diary.notes()
    diary.model.says = lambda _line: None
    held = diary.regenerate()
    assert dismiss(diary.db, held.id, "kim", now=diary.now).status == "dismissed"
    with pytest.raises(Conflict, match="dismissed by kim"):
        accept(diary.db, diary.settings, held.id, "kim")
    with pytest.raises(NotFound):
        accept(diary.db, diary.settings, held.id + 7, "kim")
    assert diary.notes() == before


def test_the_guard_is_the_operators(diary: Diary) -> None:
    """ARGUS_REGENERATE_LOSS=0.5 lets half of the facts go."""
    diary.model.says = lambda line: line if line in (TABS, PUMP) else None
    assert diary.regenerate(settings=replace(diary.settings, regenerate_loss=0.5)).status == "switched"


def test_a_dry_run_only_shows(diary: Diary) -> None:
    """The diff is written, nothing else is; it may be accepted afterwards without another go of the model."""
    diary.model.says = lambda line: "The user prefers tabs in Python files." if line == TABS else line
    notes = diary.db.fetch_all("select * from distilled_notes order by id")
    states = diary.db.fetch_all("select * from distill_state order by unit_id")
    shown = diary.regenerate("dry-run")
    assert (shown.status, shown.counts["changed"]) == ("shown", 1)
    assert diary.db.fetch_all("select * from distilled_notes order by id") == notes
    assert diary.db.fetch_all("select * from distill_state order by unit_id") == states
    line = diary.db.fetch_one(f"select old_text, new_text from regeneration_notes where regeneration_id = {shown.id}"
                              " and change = 'changed'")  # fmt: skip
    assert line == {"old_text": TABS, "new_text": "The user prefers tabs in Python files."}
    accept(diary.db, diary.settings, shown.id, "kim", clock=lambda: diary.now)
    assert "The user prefers tabs in Python files." in diary.notes()


def test_a_pinned_note_is_neither_lost_nor_reworded(diary: Diary) -> None:
    """What a person pinned stays word for word, whatever the model makes now, and is no loss."""
    for text in (TABS, PUMP):
        pin(diary.db, diary.notes()[text], "kim", now=at(5))
    before = diary.notes()
    says = {TABS: "The user prefers tabs in Python files.", PUMP: None}
    diary.model.says = lambda line: says.get(line, line)
    done = diary.regenerate()
    assert (done.status, done.counts["kept_by_decision"], done.loss) == ("switched", 2, 0.0)
    assert diary.notes() == before


def test_a_forgotten_fact_does_not_come_back(diary: Diary) -> None:
    """Neither in its unit, nor reworded there, nor from the other day where the same was said."""
    forget(diary.db, diary.notes()[TABS], "kim", now=at(5))
    assert diary.regenerate().counts["refused_by_decision"] == 1
    diary.model.says = lambda line: "The user prefers tabs in Python files." if line == TABS else line
    assert diary.regenerate().counts["refused_by_decision"] == 1
    assert set(diary.notes()) == {PUMP, MARA, POSTGRES}
    live = "select from distilled_notes where deleted_at is null and content = %(tabs)s"
    other = diary.db.fetch_all(live, {"tabs": TABS})
    diary.model.says = lambda line: line
    diary.regenerate(last=1)
    assert len(diary.db.fetch_all(live, {"tabs": TABS})) <= len(other)


def test_what_was_decided_meanwhile_counts_more(diary: Diary) -> None:
    """A note decided on between diff and switch: its unit is left as it is, the others are switched."""
    diary.model.more = {PUMP: "The pump has a gauge."}
    shown = diary.regenerate("dry-run", last=1)
    pin(diary.db, diary.notes()[TABS], "kim", now=at(5))
    done = accept(diary.db, diary.settings, shown.id, "kim", clock=lambda: diary.now)
    assert (done.counts["did_moved_on"], done.counts["did_switched"]) == (1, 1)
    assert set(diary.notes()) == {TABS, PUMP, MARA, POSTGRES}


def test_a_fact_forgotten_meanwhile_is_not_added(diary: Diary) -> None:
    """A decision on the same text in another unit, made between diff and switch, is heeded at the switch."""
    diary.model.more = {PUMP: "The pump has a gauge."}
    shown = diary.regenerate("dry-run")
    diary.now = at(1440 * 6)
    days = diary.regenerate(last=1)  # both units have it now
    gauge = diary.db.fetch_one("select id from distilled_notes where content = 'The pump has a gauge.' and episode_id ="
                               f" {diary.units[1]}")  # fmt: skip
    assert days.counts["did_added"] == 2
    assert gauge
    forget(diary.db, gauge["id"], "kim", now=at(5))
    done = accept(diary.db, diary.settings, shown.id, "kim", clock=lambda: diary.now)
    assert done.counts.get("did_added", 0) == 0


def test_a_unit_whose_model_refuses_keeps_its_notes(diary: Diary) -> None:
    """A content failure is written down for its unit, which is no loss; the other is switched."""

    def refuse(unit: Unit) -> None:
        if unit.id == diary.units[0]:
            raise ContentFailure("a refusal")

    before = diary.notes()
    diary.model.before = refuse
    done = diary.regenerate(last=1)
    assert (done.status, done.counts["failed"], done.counts["did_switched"]) == ("switched", 1, 1)
    assert diary.notes() == before


def test_models_that_are_away_switch_nothing(diary: Diary) -> None:
    """After two failures in a row it has failed, with the reason, and every note stands."""

    def away(_unit: Unit) -> None:
        raise InfraFailure("connection refused")

    before = diary.notes()
    diary.model.before = away
    done = diary.regenerate(last=1)
    assert (done.status, done.error) == ("failed", "the models cannot be reached")
    assert diary.notes() == before
    assert diary.db.fetch_one("select outcome from stage_passes where stage = 'regenerate' order by id desc limit 1") == {
        "outcome": "failed"
    }


def test_a_fault_ends_it_as_failed(diary: Diary) -> None:
    """An unforeseen fault is raised, the row says failed, and the next one can start."""

    def break_down(_unit: Unit) -> None:
        raise RuntimeError("broken")

    diary.model.before = break_down
    with pytest.raises(RuntimeError, match="broken"):
        diary.regenerate()
    row = diary.db.fetch_one("select status, error from regenerations order by id desc limit 1")
    assert row == {"status": "failed", "error": "RuntimeError: broken"}
    diary.model.before = lambda _unit: None
    assert diary.regenerate().status == "switched"


def test_what_the_gate_refuses_is_written_down(diary: Diary) -> None:
    """A note put into the wrong mouth never gets in; a dry run leaves no rejection behind."""
    diary.model.more = {PUMP: "Assistant: The pump runs well."}
    asked = "select reason from gate_rejections"
    assert diary.regenerate("dry-run").counts["rejected"] == 1
    assert diary.db.fetch_all(asked) == []
    assert diary.regenerate().counts["rejected"] == 1
    assert diary.db.fetch_all(asked) == [{"reason": "attribution"}]
