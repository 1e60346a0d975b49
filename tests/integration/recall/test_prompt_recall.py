"""Prompt recall against a real database: gates, floors, what is left out, the ledger."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from argus_memory.db import Database
from argus_memory.rules.fence import CLOSE, OPEN, cut_fenced
from argus_memory.rules.recall_text import length16
from argus_memory.settings import INJECTION_MAX_CHARS
from argus_memory.stages.recall import PromptRecall, recall_for_prompt
from tests.integration.recall.conftest import NOW, Store
from tests.memory_rows import add_note, add_turn, at

PORT = "Which port does the staging database listen on?"


def ask(store: Store, prompt: str = PORT, **more: Any) -> PromptRecall:
    values: dict[str, Any] = {"session": "now", "project": "garden", "now": NOW} | more
    return recall_for_prompt(store.db, store.settings, store.embedder, prompt=prompt, **values)


def ledger(db: Database, id_: int) -> dict[str, Any]:
    row = db.fetch_one("select * from injections where id = %(id)s", {"id": id_})
    assert row
    return row


def note_ids(found: PromptRecall) -> list[int]:
    return [note.id for note in found.notes]


def test_a_question_gets_the_note_that_answers_it(store: Store) -> None:
    """The note comes first, with both scores and the tracks that found it, and its source in the text."""
    found = ask(store)
    assert note_ids(found)[0] == store.ids["port"]
    best = found.notes[0]
    assert best.why == {"lexical": 1, "semantic": 1}
    assert best.rrf_score == pytest.approx(2 / 61)
    assert "port 5433" in found.text
    assert "2026-03-02" in found.text
    assert f"note {best.id}" in found.text


def test_the_text_is_fenced_and_capture_would_cut_it(store: Store) -> None:
    """What is injected never comes back as a memory."""
    text = ask(store).text
    assert text.startswith(OPEN)
    assert text.endswith(CLOSE)
    assert cut_fenced(text) == ("", 1)


@pytest.mark.parametrize(
    ("prompt", "reason"), [("<task-notification>x</task-notification>", "system-turn"), ("yes go on", "substance")]
)
def test_gated_prompts_are_not_looked_up_and_on_record(store: Store, prompt: str, reason: str) -> None:
    """No embedding is asked for, and the ledger says why."""
    asked = len(store.embedder.batches)
    found = ask(store, prompt)
    row = ledger(store.db, found.injection_id)
    assert (found.skipped, found.text, row["skipped"]) == (reason, "", reason)
    assert row["query"] == prompt
    assert len(store.embedder.batches) == asked


def test_nothing_on_record_gives_nothing_and_says_so(store: Store) -> None:
    """The best of nothing is not injected; the row names what was dropped and why."""
    found = ask(store, "Explain the rules of cricket to beginners please")
    row = ledger(store.db, found.injection_id)
    assert (found.skipped, found.notes, found.turns, found.text) == ("nothing-on-record", (), (), "")
    assert row["skipped"] == "nothing-on-record"
    assert {each["reason"] for each in row["dropped"]} <= {"evidence-floor", "relevance-floor"}


def test_every_recall_is_one_row_with_scores_floor_and_time(store: Store) -> None:
    """The ledger row holds what was given in order, both scores, the floor, and what was left out."""
    found = ask(store, limit=1)
    row = ledger(store.db, found.injection_id)
    assert row["prompt_mode"]
    assert row["note_ids"] == [store.ids["port"]]
    assert len(row["note_scores"]) == len(row["rrf_scores"]) == 1
    assert row["floor"] == pytest.approx(0.015)
    assert row["milliseconds"] > 0
    assert row["characters"] == len(found.text)
    assert row["degraded"] is None
    assert all({"type", "id", "score", "rrf_score", "reason"} == set(each) for each in row["dropped"])


def test_a_shown_note_is_counted(store: Store) -> None:
    """shown_count rises by one for what was injected, and for nothing else."""
    ask(store, limit=1)
    rows = store.db.fetch_all("select id, shown_count from distilled_notes")
    shown = {row["id"]: row["shown_count"] for row in rows}
    assert shown[store.ids["port"]] == 1
    assert sum(shown.values()) == 1


def test_a_note_is_not_injected_twice_until_the_session_is_compacted(store: Store) -> None:
    """The second time it is dropped as already injected; after a compact mark it comes again."""
    assert note_ids(ask(store))[0] == store.ids["port"]
    again = ask(store, now=NOW + timedelta(minutes=1))
    assert store.ids["port"] not in note_ids(again)
    assert again.skipped is None
    dropped = {(each["type"], each["id"]): each["reason"] for each in ledger(store.db, again.injection_id)["dropped"]}
    assert dropped["note", store.ids["port"]] == "already-injected"
    store.db.fetch_all(
        """insert into session_marks (session, source, mark, at)
           values ('now', 'claude-code', 'compact', %(at)s) returning id""",
        {"at": NOW + timedelta(minutes=2)},
    )
    assert store.ids["port"] in note_ids(ask(store, now=NOW + timedelta(minutes=3)))
    assert store.ids["port"] in note_ids(ask(store, session="another", now=NOW + timedelta(minutes=4)))


def test_verbatim_turns_are_found_before_anything_is_distilled(store: Store) -> None:
    """A captured turn answers by itself, and the turn that holds the answer comes with it."""
    found = ask(store, "What draws the charts of our report?")
    assert store.ids["answer"] in [turn.raw_id for turn in found.turns]
    assert "drawn by vega" in found.text


def test_a_turn_that_waits_for_its_vector_is_judged_by_its_words(store: Store) -> None:
    """What was said a moment ago is recalled at once, also in a session whose earlier turns are embedded."""
    add_turn(store.db, "The zephyr archive lives on the north shelf.", at(13), session="charts")
    found = ask(store, "Where does the zephyr archive live on which shelf?")
    assert "north shelf" in found.text


def test_the_current_sessions_own_turns_are_left_out(store: Store) -> None:
    """They are in its context already."""
    found = ask(store, "What draws the charts of our report?", session="charts")
    assert all(turn.session != "charts" for turn in found.turns)


def test_tombstoned_superseded_and_future_notes_never_come_back(store: Store) -> None:
    """Only live notes are recalled, by words and by meaning."""
    for change in ("valid_to = '2026-04-01'", "valid_to = null, valid_from = '2027-01-01'", "deleted_at = now()"):
        store.db.fetch_all(
            f"update distilled_notes set {change} where id = %(id)s returning id",  # type: ignore[arg-type]
            {"id": store.ids["port"]},
        )
        found = ask(store, session=change)
        assert store.ids["port"] not in note_ids(found)


def test_the_canary_is_never_recalled(store: Store) -> None:
    """The health probe's notes and turns exist, and nobody is given them."""
    add_note(store.db, "The staging database listens on port 1.", project="argus-canary")
    add_turn(store.db, "the staging database listens on port 2", at(20), project="argus-canary", session="probe")
    store.embed()
    found = ask(store)
    assert all(note.project != "argus-canary" for note in found.notes)
    assert all(turn.project != "argus-canary" for turn in found.turns)


def test_an_embedder_that_is_down_leaves_the_words_and_says_so(store: Store) -> None:
    """Keyword only: the note is still found, and answer and row say why it is less."""
    store.embedder.down = True
    found = ask(store)
    assert store.ids["port"] in note_ids(found)
    assert found.notes[0].why == {"lexical": 1}
    assert "keyword only" in (found.degraded or "")
    assert ledger(store.db, found.injection_id)["degraded"] == found.degraded


def test_before_the_first_embedding_the_words_are_enough(db: Database, store: Store) -> None:
    """A store that was never embedded answers by keyword."""
    vectors = ("embed_queue", "turn_vectors", "note_vectors", "embedding_spaces")
    for table in (*vectors, "term_frequencies", "term_statistics"):
        db.fetch_all(f"delete from {table} returning 1")  # type: ignore[arg-type]
    found = ask(store)
    assert store.ids["port"] in note_ids(found)
    assert found.degraded == "nothing is embedded yet: keyword only"


def test_the_callers_floor_stands_before_the_setting(store: Store) -> None:
    """A machine's own floor, above what two first places give, lets nothing through."""
    found = ask(store, floor=0.04)
    assert found.skipped == "nothing-on-record"
    assert ledger(store.db, found.injection_id)["floor"] == pytest.approx(0.04)


def test_the_own_project_comes_first(store: Store) -> None:
    """Of two like notes the own project's stands first; the other project's is not shut out."""
    twin = add_note(store.db, "The staging database listens on port 5433.", project="harbour")
    store.embed()
    found = note_ids(ask(store, project="harbour"))
    assert found.index(twin) < found.index(store.ids["port"])


def test_the_text_never_exceeds_its_limit(store: Store) -> None:
    """However long notes and turns are, at most 8,000 characters are injected, and what is given is in the row."""
    for number in range(8):
        filling = f"The staging database listens on port 5433, says page {number}. " + "𝔴ords " * 400
        add_turn(store.db, filling, at(30 + number), session=f"long{number}")
    store.embed()
    found = ask(store, limit=12)
    assert length16(found.text) <= INJECTION_MAX_CHARS
    assert len(ledger(store.db, found.injection_id)["turn_ids"]) == len(found.turns)


def test_plain_rrf_is_an_option(store: Store) -> None:
    """With ARGUS_FUSION=rrf the order's score is the plain one times the priors."""
    plain = replace(store, settings=replace(store.settings, fusion="rrf"))
    best = ask(plain).notes[0]
    assert best.id == store.ids["port"]
    assert best.score is not None
    assert best.rrf_score is not None
    assert best.score <= best.rrf_score * 1.25


@pytest.mark.parametrize(
    "prompt",
    ["\0 nul in a prompt of several words", "' | & ! :* <-> \\ (a b c d e f)", "x" * 40_000 + " a b c d e"],
)
def test_odd_prompts_are_answered(store: Store, prompt: str) -> None:
    """NUL, query operators and enormous prompts are text like any other."""
    assert ask(store, prompt).injection_id > 0
