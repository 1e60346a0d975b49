"""Procedures and dead ends: kept out of what is shown unasked, and found when somebody is about to try."""

from __future__ import annotations

import pytest

from argus_memory.db import Database
from argus_memory.errors import UsageError
from argus_memory.models.embedders import MINILM, Embedder, find_named_embedder
from argus_memory.rules.dead_ends import with_dead_end
from argus_memory.settings import Settings
from argus_memory.stages.before_you_try import before_you_try
from argus_memory.stages.context import recall_context
from argus_memory.stages.recall import recall_for_prompt
from argus_memory.stages.search import search
from tests.memory_rows import add_note, add_turn, at

NOW = at(600)
FAILED = "We tried WebSockets behind the old proxy, it failed because the proxy drops idle connections."
STEPS = "To renew the certificate of the proxy stop nginx, run certbot, start nginx."
PLAIN = "The old proxy of the shop is a small box in the cellar."


@pytest.fixture
def embedder() -> Embedder:
    return find_named_embedder(MINILM)


def fill(db: Database) -> dict[str, int]:
    """A dead end (pinned), a procedure and a plain fact, all of one project."""
    made = {}
    for text, category in ((FAILED, "fact"), (STEPS, "procedure"), (PLAIN, "fact")):
        raw = add_turn(db, text, at(len(made)), project="shop")
        made[text] = add_note(db, text, raw_id=raw, category=category, project="shop")
        with db.transaction() as conn:
            conn.execute("update distilled_notes set tags = %s where id = %s", (with_dead_end([], text), made[text]))
    with db.transaction() as conn:
        conn.execute("update distilled_notes set pinned_at = %s where id = %s", (NOW, made[FAILED]))
    return made


def test_they_are_not_shown_unasked(db: Database, settings: Settings, embedder: Embedder) -> None:
    """Neither a session's context nor a prompt's recall shows a procedure or a dead end, pinned or not."""
    made = fill(db)
    context = recall_context(db, settings, now=NOW, project="shop")
    assert [note.id for note in context.notes] == [made[PLAIN]]
    found = recall_for_prompt(
        db, settings, embedder, prompt="WebSockets behind the old proxy: certbot and nginx", now=NOW, project="shop"
    )
    assert not {made[FAILED], made[STEPS]} & {note.id for note in found.notes}


def test_they_answer_who_is_about_to_try(db: Database, settings: Settings, embedder: Embedder) -> None:
    """From any project, with the dead end told apart from the procedure, the reason in its words, and a ledger row."""
    made = fill(db)
    warned = before_you_try(db, settings, embedder, plan="use WebSockets behind the old proxy", now=NOW, session="s7")
    assert made[FAILED] in warned.dead_ends
    assert "drops idle connections" in warned.text
    assert made[PLAIN] not in [note.id for note in warned.notes]
    row = db.fetch_one("select session, query, note_ids, prompt_mode from injections")
    assert row
    assert (row["session"], row["query"], row["prompt_mode"]) == ("s7", "use WebSockets behind the old proxy", False)
    assert row["note_ids"] == [note.id for note in warned.notes]
    steps = before_you_try(db, settings, embedder, plan="renew the certificate of the proxy with certbot", now=NOW)
    assert made[STEPS] in [note.id for note in steps.notes]
    assert made[STEPS] not in steps.dead_ends


def test_nothing_on_record_says_so(db: Database, settings: Settings, embedder: Embedder) -> None:
    """A plan nobody ever tried gives nothing, and the ledger says why; a blank one is refused."""
    fill(db)
    warned = before_you_try(db, settings, embedder, plan="bake sourdough bread", now=NOW)
    assert (warned.notes, warned.text) == ((), "")
    assert db.fetch_one("select skipped from injections") == {"skipped": "nothing-on-record"}
    with pytest.raises(UsageError, match="what is to be tried"):
        before_you_try(db, settings, embedder, plan="  ", now=NOW)


def test_search_still_finds_them(db: Database, settings: Settings, embedder: Embedder) -> None:
    """A person who searches is shown everything."""
    made = fill(db)
    hits = search(db, settings, embedder, q="WebSockets proxy certbot", now=NOW, types=["note"])
    assert {made[FAILED], made[STEPS]} <= {hit.id for hit in hits}
