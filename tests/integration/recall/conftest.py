"""A store with a few notes and a conversation, embedded by words."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from argus_memory.db import Database
from argus_memory.settings import Settings
from argus_memory.stages.embed import embed_pending
from tests.memory_rows import add_note, add_turn, at
from tests.word_embedder import WordEmbedder

NOW = datetime(2026, 5, 20, 12, tzinfo=UTC)


@dataclass(frozen=True)
class Store:
    """Ids of what is in it, by a short name."""

    db: Database
    settings: Settings
    embedder: WordEmbedder
    ids: dict[str, int]

    def embed(self) -> None:
        embed_pending(self.db, self.settings, self.embedder, now=NOW)


@pytest.fixture
def store(db: Database, settings: Settings) -> Store:
    ids = {
        "port": add_note(db, "The staging database listens on port 5433."),
        "tabs": add_note(db, "Kim prefers tabs over spaces in the garden code.", category="preference"),
        "other": add_note(db, "The staging database of the harbour is called tern.", project="harbour"),
        "backup": add_note(db, "Backups of everything are kept for thirty days.", project="global"),
        "asked": add_turn(db, "Which library draws the charts of the report?", at(10), session="charts"),
        "answer": add_turn(
            db, "The charts of the report are drawn by vega.", at(11), role="assistant", session="charts"
        ),
        "talk": add_turn(db, "Shall we water the tomatoes in the evening?", at(12), session="charts"),
    }  # fmt: skip
    made = Store(db, settings, WordEmbedder(), ids)
    made.embed()
    return made
