"""Embed against a real database: spaces, batches, failures."""

from __future__ import annotations

from datetime import UTC, datetime

import psycopg
import pytest

from argus_memory.db import Database
from argus_memory.errors import ConfigurationFailure
from argus_memory.settings import Settings
from argus_memory.stages.embed import embed_pending
from argus_memory.stages.spaces import EMBED_ATTEMPTS, drop_retired_vectors, ensure_space
from tests.memory_rows import add_dialog, add_note, add_turn, at
from tests.stubs.llm_server import LlmServer
from tests.word_embedder import WordEmbedder

NOW = datetime(2026, 5, 20, 12, tzinfo=UTC)


def count(db: Database, table: str, where: str = "true") -> int:
    row = db.fetch_one(f"select count(*)::int as n from {table} where {where}")  # type: ignore[arg-type]
    assert row
    return int(row["n"])


def spaces(db: Database) -> dict[str, str]:
    return {row["model"]: row["status"] for row in db.fetch_all("select model, status from embedding_spaces")}


def test_turns_and_notes_get_vectors_and_leave_the_queue(db: Database, settings: Settings) -> None:
    """What was there before the first space and what came after it is embedded, with the speaker in the text."""
    embedder = WordEmbedder()
    add_turn(db, "the port is 5433", at(0))
    ensure_space(db, embedder, now=NOW)
    add_note(db, "Kim prefers pytest.")
    report = embed_pending(db, settings, embedder, now=NOW)
    assert (report.turns_embedded, report.notes_embedded, report.waiting) == (2, 1, 0)
    assert count(db, "embed_queue") == 0
    assert "User: the port is 5433" in [text for batch in embedder.batches for text in batch]


def test_the_first_space_is_live_at_once_with_its_thresholds(db: Database, settings: Settings) -> None:
    """Nothing has to be built beside anything."""
    space = ensure_space(db, WordEmbedder(), now=NOW)
    assert space.status == "active"
    assert space.thresholds["dedup_floor"] > 0
    assert space.calibration["status"] == "uncalibrated"


def test_batches_hold_at_most_64_and_the_newest_come_first(db: Database, settings: Settings) -> None:
    """An import of last year never stands before today's turns."""
    embedder = WordEmbedder()
    add_dialog(db, 40)
    add_turn(db, "said last", at(9999))
    embed_pending(db, settings, embedder, now=NOW, target="turn")
    sizes = [len(batch) for batch in embedder.batches if "ferry" not in batch[0]]
    assert sizes == [64, 17]
    assert any("said last" in text for text in embedder.batches[1])


def test_each_pass_leaves_its_trace_also_an_empty_one(db: Database, settings: Settings) -> None:
    """A pass with nothing to do is a row with zeros."""
    embed_pending(db, settings, WordEmbedder(), now=NOW)
    row = db.fetch_one("select outcome, counts from stage_passes where stage = 'embed'")
    assert row
    assert row["outcome"] == "ok"
    assert row["counts"]["turns_embedded"] == 0


def test_a_model_that_is_down_is_reported_and_costs_nothing(db: Database, settings: Settings) -> None:
    """The pass ends, the queue is as it was, no attempt is counted, and the next pass does the work."""
    embedder = WordEmbedder()
    add_dialog(db, 2)
    ensure_space(db, embedder, now=NOW)
    embedder.down = True
    report = embed_pending(db, settings, embedder, now=NOW)
    assert report.failure == "infra"
    assert report.error is not None
    assert (report.turns_embedded, report.waiting, count(db, "embed_queue", "attempts > 0")) == (0, 4, 0)
    assert count(db, "stage_passes", "outcome = 'failed'") == 1
    embedder.down = False
    assert embed_pending(db, settings, embedder, now=NOW).turns_embedded == 4


def test_a_model_that_is_down_at_its_first_use_is_reported(db: Database, settings: Settings) -> None:
    """A space whose scale could not be asked for is not made."""
    embedder = WordEmbedder()
    embedder.down = True
    report = embed_pending(db, settings, embedder, now=NOW)
    assert (report.failure, report.space_id) == ("infra", None)
    assert spaces(db) == {}


def test_one_refused_text_stands_alone_and_is_parked_in_the_end(db: Database, settings: Settings) -> None:
    """The other 19 are embedded in the same pass; the one is counted, parked after five passes, and named."""
    embedder = WordEmbedder()
    ensure_space(db, embedder, now=NOW)
    add_dialog(db, 10)
    bad = add_turn(db, "the poisonous one", at(500))
    embedder.refused = "poisonous"
    report = embed_pending(db, settings, embedder, now=NOW)
    assert (report.turns_embedded, report.failed, report.waiting) == (20, 1, 1)
    for _ in range(EMBED_ATTEMPTS - 1):
        report = embed_pending(db, settings, embedder, now=NOW)
    assert (report.waiting, report.parked) == (0, 1)
    row = db.fetch_one("select target_id, last_error from embed_queue")
    assert row == {"target_id": bad, "last_error": "ContentFailure: one of the texts was refused"}


def test_a_vector_of_the_wrong_size_is_refused_loudly(db: Database, settings: Settings) -> None:
    """The pass says which size came; nothing is stored."""
    embedder = WordEmbedder()
    ensure_space(db, embedder, now=NOW)
    add_turn(db, "hello", at(0))
    embedder.answers_dim = 32
    report = embed_pending(db, settings, embedder, now=NOW)
    assert report.failure == "configuration"
    assert "32 numbers instead of 64" in (report.error or "")
    assert count(db, "turn_vectors") == 0


def test_the_database_refuses_a_wrong_size_by_itself(db: Database) -> None:
    """No path around the stage can store one either: the constraint's name says what is wrong."""
    space = ensure_space(db, WordEmbedder(), now=NOW)
    raw = add_turn(db, "hello", at(0))
    with pytest.raises(psycopg.errors.CheckViolation, match="turn_vectors_dimension"):
        db.fetch_all(
            "insert into turn_vectors (space_id, raw_id, dim, embedding) values (%(s)s, %(r)s, 64, '[1,2]')"
            " returning raw_id",
            {"s": space.id, "r": raw},
        )


def test_a_change_of_model_builds_beside_and_switches_when_complete(db: Database, settings: Settings) -> None:
    """The old space stays live until the new one holds everything; then it is retired and keeps its vectors."""
    old, new = WordEmbedder(model="old"), WordEmbedder(32, model="new")
    add_dialog(db, 3)
    embed_pending(db, settings, old, now=NOW)
    report = embed_pending(db, settings, new, now=NOW, limit=4)
    assert spaces(db) == {"old": "active", "new": "building"}
    assert (report.turns_embedded, report.went_live, report.waiting) == (4, False, 2)
    report = embed_pending(db, settings, new, now=NOW)
    assert report.went_live
    assert spaces(db) == {"old": "retired", "new": "active"}
    assert count(db, "turn_vectors", "dim = 64") == 6
    assert count(db, "embed_queue") == 0


def test_housekeeping_takes_retired_vectors_away_and_going_back_builds_anew(
    db: Database, settings: Settings
) -> None:
    """Only the live space's vectors are left; the old model's space can be built again."""
    old, new = WordEmbedder(model="old"), WordEmbedder(32, model="new")
    add_dialog(db, 1)
    embed_pending(db, settings, old, now=NOW)
    embed_pending(db, settings, new, now=NOW)
    assert drop_retired_vectors(db).turns == 2
    assert count(db, "turn_vectors") == 2
    assert embed_pending(db, settings, old, now=NOW).went_live
    assert spaces(db) == {"old": "active", "new": "retired"}


def test_a_parked_item_does_not_hold_the_switch_up(db: Database, settings: Settings) -> None:
    """A text no model takes would otherwise keep the old space live for ever."""
    old, new = WordEmbedder(model="old"), WordEmbedder(32, model="new")
    add_turn(db, "the poisonous one", at(0))
    embed_pending(db, settings, old, now=NOW)
    new.refused = "poisonous"
    for _ in range(EMBED_ATTEMPTS):
        embed_pending(db, settings, new, now=NOW)
    assert spaces(db)["new"] == "active"


def test_each_space_has_its_index_for_turns_and_notes(db: Database) -> None:
    """The nearest neighbours of one space are found by an index of that space alone."""
    space = ensure_space(db, WordEmbedder(), now=NOW)
    rows = db.fetch_all("select indexname from pg_indexes where indexdef like '%hnsw%'")
    names = {row["indexname"] for row in rows}
    assert names == {f"turn_vectors_nearest_{space.id}", f"note_vectors_nearest_{space.id}"}


def test_a_model_server_is_asked_without_dimensions_and_its_calls_are_on_record(
    db: Database, settings: Settings
) -> None:
    """LiteLLM's request names model and texts only; failed calls are rows too; a wrong size is a clear sentence."""
    from dataclasses import replace

    from argus_memory.stages.spaces import open_embedder

    with LlmServer() as server:
        at_server = replace(
            settings, llm_base_url=server.base_url, llm_api_key="k" * 20, embed_model="openai/nomic-embed-text"
        )
        embedder = open_embedder(db, at_server)
        add_turn(db, "hello from here", at(0))
        report = embed_pending(db, at_server, embedder, now=NOW)
        assert report.error is None
        assert report.turns_embedded == 1
        bodies = [call.body for call in server.calls if call.kind == "embeddings"]
        assert bodies
        assert all("dimensions" not in body for body in bodies)
        server.embed_dim = 384
        with pytest.raises(ConfigurationFailure, match="384 numbers instead of 768"):
            embedder.embed(["again"])
    rows = db.fetch_all("select outcome from llm_calls where stage = 'embed' order by id")
    outcomes = [row["outcome"] for row in rows]
    assert outcomes[-1] == "configuration"
    assert set(outcomes[:-1]) == {"ok"}
