"""ARGUS_TEXT_SEARCH is a property of the store: changing it makes every search term anew, or nothing."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from argus_memory.db import Database
from argus_memory.errors import SettingError
from argus_memory.settings import Settings
from argus_memory.stages.capture import accept
from argus_memory.upkeep.text_search import apply_text_search

NOW = datetime(2026, 3, 1, tzinfo=UTC)
TURN = {"source": "cli", "kind": "turn", "body": "Die Drucker stehen im Keller", "session": "s"}


def found(db: Database, term: str) -> bool:
    return db.fetch_one("select 1 from turns where tsv @@ %(term)s::tsquery", {"term": term}) is not None


def test_another_language_makes_the_terms_anew(db: Database, settings: Settings) -> None:
    """After a change to german a stored turn is found by its german stem, and new turns are indexed alike."""
    accept(db, settings, [TURN], now=NOW)
    assert found(db, "'stehen'")
    done = apply_text_search(db, "german", now=NOW)
    assert done is not None
    assert (done.before, done.turns, done.notes) == ("english", 1, 0)
    assert not found(db, "'stehen'")
    assert found(db, "'steh'")
    accept(db, settings, [{**TURN, "body": "Die Lampen hängen im Flur"}], now=NOW)
    assert found(db, "'lamp'")


def test_the_same_configuration_touches_nothing(db: Database) -> None:
    """The setting the store has already needs no work."""
    assert apply_text_search(db, "english", now=NOW) is None


def test_an_unknown_configuration_is_refused_with_the_known_ones(db: Database) -> None:
    """A name the server does not have stops the start, and the sentence names those it has."""
    with pytest.raises(SettingError, match=r"klingon.*accepted: .*english"):
        apply_text_search(db, "klingon", now=NOW)
    assert db.fetch_one("select value from store_settings where key = 'text_search'") == {"value": "english"}
