"""A turn whose words support what was taken away: no recall shows it, search marks it, a restore brings it back."""

from __future__ import annotations

from typing import Any

import pytest

from argus_memory.stages.context import recall_context
from argus_memory.stages.recall import recall_for_prompt
from argus_memory.stages.search import search
from argus_memory.upkeep.decisions import exclude, forget, include, restore
from tests.integration.recall.conftest import NOW, Store, store  # noqa: F401
from tests.memory_rows import add_note, at

QUESTION = "Which library draws the charts of the garden report, please?"


def recalled(store: Store) -> set[int]:  # noqa: F811
    found = recall_for_prompt(
        store.db, store.settings, store.embedder, prompt=QUESTION, now=NOW, project="garden", gated=False, floor=0.0
    )
    return {turn.raw_id for turn in found.turns}


def last_turns(store: Store) -> set[int]:  # noqa: F811
    return {turn.raw_id for turn in recall_context(store.db, store.settings, now=NOW, project="garden").turns}


def marked(store: Store) -> dict[int, str | None]:  # noqa: F811
    hits = search(store.db, store.settings, store.embedder, q=QUESTION, now=NOW, types=["turn"])
    return {hit.id: hit.withheld for hit in hits}


@pytest.mark.parametrize(("do", "undo", "reason"), [(forget, restore, "forgotten"), (exclude, include, "excluded")])
def test_the_turn_is_withheld_for_as_long(store: Store, do: Any, undo: Any, reason: str) -> None:  # noqa: F811
    """Prompt recall and session context leave it out; search shows it with the reason; the opposite lifts it."""
    answer = store.ids["answer"]
    note = add_note(store.db, "The charts of the report are drawn by vega.", raw_id=answer, said_at=at(11))
    assert answer in recalled(store)
    assert answer in last_turns(store)
    do(store.db, note, "kim", now=NOW)
    assert answer not in recalled(store)
    assert answer not in last_turns(store)
    assert marked(store)[answer] == reason
    assert marked(store)[store.ids["asked"]] is None
    undo(store.db, note, "kim", now=NOW)
    assert marked(store)[answer] is None
    assert answer in last_turns(store)


def test_turns_of_merged_notes_are_withheld_too(store: Store) -> None:  # noqa: F811
    """What was merged into a forgotten note said the same: its turn is withheld as well."""
    merged = add_note(store.db, "Vega draws the charts.", raw_id=store.ids["answer"])
    kept = add_note(store.db, "The charts of the report are drawn by vega.", said_at=at(1))
    with store.db.transaction() as conn:
        conn.execute(
            "update distilled_notes set deleted_at = %s, deleted_reason = 'duplicate', superseded_by = %s where id = %s",
            (NOW, kept, merged),
        )
    forget(store.db, kept, "kim", now=NOW)
    assert marked(store)[store.ids["answer"]] == "forgotten"
