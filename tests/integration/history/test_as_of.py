"""Recall and search as of a day; and of two notes that contradict each other."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest

from argus_memory.db import Database
from argus_memory.errors import UsageError
from argus_memory.settings import Settings
from argus_memory.stages.acting import as_actor
from argus_memory.stages.context import recall_context
from argus_memory.stages.embed import embed_pending
from argus_memory.stages.recall import PromptRecall, recall_for_prompt
from argus_memory.stages.search import search
from argus_memory.upkeep import review
from tests.memory_rows import add_turn
from tests.word_embedder import WordEmbedder

from .test_reads import change, day, learn, supersede

NOW = day(40)
QUESTION = "Which port does the staging database listen on?"
OLD, NEW = "The staging database listens on port 5433.", "The staging database listens on port 6001."


@pytest.fixture
def embedder(db: Database, settings: Settings) -> WordEmbedder:
    return WordEmbedder()


@pytest.fixture
def ask(db: Database, settings: Settings, embedder: WordEmbedder) -> Callable[..., PromptRecall]:
    def recall(as_of: datetime | None = None, **more: Any) -> PromptRecall:
        embed_pending(db, settings, embedder, now=NOW)
        return recall_for_prompt(
            db, settings, embedder, prompt=QUESTION, project="garden", now=NOW, as_of=as_of, **more
        )

    return recall


def hold(db: Database, new: int, old: int) -> int:
    """A supersession that waits for a person."""
    with db.transaction() as conn:
        as_actor(conn, "argus", now=day(11))
        row = conn.execute(
            "insert into dedup_log (note_id, other_id, verdict, model, status, reasoning, at)"
            " values (%s, %s, 'supersede', 'rules', 'pending', 'another port', %s) returning id",
            (new, old, day(11)),
        ).fetchone()
    assert row
    return int(row["id"])


def shown(found: PromptRecall) -> list[int]:
    return [note.id for note in found.notes]


def test_a_superseded_fact_is_recalled_as_of_its_time(db: Database, ask: Callable[..., PromptRecall]) -> None:
    """Before the change the old value, after it the new one, and before either nothing."""
    old, new = learn(db, OLD, 0), learn(db, NEW, 10)
    supersede(db, old, new, 12)
    assert shown(ask()) == [new]
    assert shown(ask(day(5))) == [old]
    assert set(shown(ask(day(11)))) == {old, new}  # learned on day 10, seen to contradict on day 12
    assert shown(ask(day(12))) == [new]
    assert shown(ask(day(-1))) == []


def test_the_turns_of_a_past_day_are_those_said_by_then(db: Database, ask: Callable[..., PromptRecall]) -> None:
    """A turn of the superseded note is verbatim then; a later turn is not known then."""
    old = learn(db, OLD, 0)
    later = add_turn(db, "Port 7777 for the staging database from now on.", day(20), session="later")
    found = ask(day(5))
    assert later not in [turn.raw_id for turn in found.turns]
    assert (shown(found), found.skipped) == ([old], None)
    assert later in [turn.raw_id for turn in ask(day(30)).turns]


@pytest.mark.parametrize("reason", ["forgotten", "corrected", "redacted"])
def test_what_a_person_took_away_stays_away(
    db: Database, ask: Callable[..., PromptRecall], reason: str
) -> None:
    """Also as of a day when it still stood: neither the note nor its turn."""
    old = learn(db, OLD, 0)
    change(db, old, 12, "deleted_at = now(), deleted_reason = %(reason)s", reason=reason)
    found = ask(day(5))
    assert (found.notes, found.turns) == ((), ())


def test_an_excluded_note_is_not_recalled_as_of_any_day(db: Database, ask: Callable[..., PromptRecall]) -> None:
    """Excluded now is excluded then."""
    change(db, learn(db, OLD, 0), 12, "excluded_at = now()")
    assert ask(day(5)).text == ""


def test_search_as_of_a_day(db: Database, settings: Settings, embedder: WordEmbedder) -> None:
    """The same question of search: notes and turns of then."""
    old, new = learn(db, OLD, 0), learn(db, NEW, 10)
    supersede(db, old, new, 12)
    embed_pending(db, settings, embedder, now=NOW)
    for moment, expected in ((day(5), {old}), (None, {new})):
        hits = search(db, settings, embedder, q="staging port", now=NOW, as_of=moment, types=["note"])
        assert {hit.id for hit in hits} == expected
    turns = search(db, settings, embedder, q="staging port", now=NOW, as_of=day(5), types=["turn"])
    assert [hit.text for hit in turns] == [OLD]
    with pytest.raises(UsageError, match=r"as_of: .* is yet to come"):
        search(db, settings, embedder, q="x", now=NOW, as_of=day(41))


def test_a_change_is_told_without_the_dead_value(db: Database, ask: Callable[..., PromptRecall]) -> None:
    """The day since when the new value holds stands in the text, and the old value nowhere."""
    old, new = learn(db, OLD, 0), learn(db, NEW, 10)
    supersede(db, old, new, 12)
    found = ask()
    assert "6001. (this changed on 2026-03-12)" in found.text
    assert "5433" not in found.text
    assert found.notes[0].changed_on == day(10).date()


def test_of_two_conflicting_notes_the_later_is_shown(
    db: Database, settings: Settings, ask: Callable[..., PromptRecall]
) -> None:
    """While a person has not decided: the later one with the day of the change; the ledger says why the other was
    left out. Rejected, both stand again."""
    old, new = learn(db, OLD, 0), learn(db, NEW, 10)
    held = hold(db, new, old)
    found = ask(session="a")
    assert shown(found) == [new]
    assert "this changed on 2026-03-12" in found.text
    assert "5433" not in found.text
    row = db.fetch_one("select dropped from injections where id = %(id)s", {"id": found.injection_id})
    assert row
    assert {"note", old, "overruled-by-later"} <= {value for one in row["dropped"] for value in one.values()}
    assert [note.id for note in recall_context(db, settings, now=NOW, project="garden").notes] == [new]
    review.reject(db, held, "kim", now=NOW)
    found = ask(session="b")
    assert set(shown(found)) == {old, new}
    assert "this changed" not in found.text


def test_a_later_note_that_was_not_found_itself_takes_the_place(
    db: Database, ask: Callable[..., PromptRecall]
) -> None:
    """The question leads to the old wording only: the later note is shown."""
    old, new = learn(db, OLD, 0), learn(db, "Six thousand and one it is.", 10)
    hold(db, new, old)
    assert shown(ask()) == [new]


def test_a_conflict_with_a_note_that_is_gone_is_none(db: Database, ask: Callable[..., PromptRecall]) -> None:
    """When the later note was forgotten, the older one stands."""
    old, new = learn(db, OLD, 0), learn(db, NEW, 10)
    hold(db, new, old)
    change(db, new, 13, "deleted_at = now(), deleted_reason = 'forgotten'")
    assert shown(ask()) == [old]


def test_notes_in_a_ring_of_conflicts_are_still_shown(db: Database, ask: Callable[..., PromptRecall]) -> None:
    """Each overrules the other: something is shown, and the recall ends."""
    old, new = learn(db, OLD, 0), learn(db, NEW, 10)
    hold(db, new, old)
    hold(db, old, new)
    assert set(shown(ask())) & {old, new}


def test_the_context_says_that_something_changed_without_the_dead_value(
    db: Database, settings: Settings
) -> None:
    """At the start of a session the later of two conflicting notes stands in the older one's place, with the day of
    the change, also where it would not be shown by itself."""
    old, new = learn(db, OLD, 0, category="preference"), learn(db, NEW, 10)
    change(db, new, 10, "project = 'elsewhere'")
    hold(db, new, old)
    context = recall_context(db, settings, now=NOW, project="garden")
    assert [note.id for note in context.notes] == [new]
    assert "6001. (this changed on 2026-03-12)" in context.text
    assert "5433" not in context.text


def test_an_excluded_later_note_overrules_nothing(db: Database, ask: Callable[..., PromptRecall]) -> None:
    """What a person keeps out of recall does not keep the other one out."""
    old, new = learn(db, OLD, 0), learn(db, NEW, 10)
    hold(db, new, old)
    change(db, new, 13, "excluded_at = now()")
    assert shown(ask()) == [old]


def test_a_chain_of_conflicts_leads_to_the_last(db: Database, ask: Callable[..., PromptRecall]) -> None:
    """Of three values that dispute each other in turn the last is shown, and neither dead one is printed."""
    old, mid = learn(db, OLD, 0), learn(db, NEW, 10)
    last = learn(db, "The staging database listens on port 7100.", 20)
    hold(db, mid, old)
    hold(db, last, mid)
    found = ask()
    assert shown(found) == [last]
    assert "this changed on 2026-03-22" in found.text
    assert "5433" not in found.text
    assert "6001" not in found.text
