"""All stages over what waits, in this process."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from argus_memory.db import Database
from argus_memory.settings import Settings
from argus_memory.stages.passes import record_pass
from argus_memory.upkeep.process import StageWork
from argus_memory.upkeep.process_all import process_all, report_of_runs
from tests.memory_rows import add_turn, at
from tests.stubs.llm_server import LlmServer, refused_url

NOW = at(60 * 24 * 30)


def say_something(db: Database, session: str = "s1") -> None:
    add_turn(db, "We decided to water the beds at 6:30 every morning.", at(0), session=session)
    add_turn(db, "Noted, I set the timer to 6:30.", at(1), session=session, role="assistant")


def test_until_idle_leaves_nothing_due(db: Database, settings: Settings) -> None:
    """From captured turns to deduplicated notes with vectors, with the counts of every stage."""
    say_something(db)
    seen: list[StageWork] = []
    processed = process_all(db, settings, now=NOW, until_idle=True, progress=seen.append)
    report = processed.report
    assert (report.turns_embedded, report.episodes_closed, report.units_distilled) == (2, 1, 1)
    assert report.notes_created >= 1
    assert report.notes_embedded == report.notes_created
    assert (processed.errors, processed.changed) == ({}, True)
    assert set(report.seconds) == {"embed", "segment", "distill", "dedup", "task_items", "impact", "note_files", "projects"}
    assert [work.stage for work in seen][:2] == ["turn_embeddings", "episodes"]
    assert db.fetch_one("select count(*) as n from distilled_notes where deduped_at is null") == {"n": 0}
    again = process_all(db, settings, now=NOW, until_idle=True)
    assert (again.rounds, again.changed) == (1, False)


def test_a_live_conversation_is_left_alone(db: Database, settings: Settings) -> None:
    """Until idle does not mean until closed: a tail that is not due stays open."""
    say_something(db)
    processed = process_all(db, settings, now=at(5), until_idle=True)
    assert (processed.report.turns_embedded, processed.report.episodes_closed) == (2, 0)


def test_without_an_embedder_the_other_stages_run(db: Database, settings: Settings) -> None:
    """The failure is named, and once vectors have been waited for, episodes and notes are made without them."""
    say_something(db)
    away = replace(settings, embed_model="openai/away", llm_base_url=refused_url())
    patient = datetime.now(UTC) + timedelta(hours=1)
    processed = process_all(db, away, now=lambda: patient)
    assert "embed" in processed.errors
    assert (processed.report.episodes_closed, processed.report.units_distilled) == (1, 1)
    assert processed.report.turns_embedded == 0


def test_a_run_keeps_the_books_of_its_embedding_calls(db: Database, settings: Settings) -> None:
    """Each call of a model server that a run makes for vectors is a row, as those for notes are."""
    say_something(db)
    with LlmServer() as server:
        at_server = replace(
            settings, llm_base_url=server.base_url, llm_api_key="k" * 20, embed_model="openai/nomic-embed-text"
        )
        process_all(db, at_server, now=NOW)
        asked = [call for call in server.calls if call.kind == "embeddings"]
    rows = db.fetch_all("select outcome from llm_calls where stage = 'embed'")
    assert len(rows) == len(asked) > 0
    assert {row["outcome"] for row in rows} == {"ok"}


def test_the_report_of_a_run_is_read_from_its_passes(db: Database) -> None:
    """Counts and seconds of all passes of a run, an error of its last failed pass, and nothing of other runs."""
    counts = [
        ("embed", {"turns_embedded": 3, "parked": 7}, None),
        ("segment", {"episodes_closed": 1}, None),
        ("segment", {"episodes_closed": 2}, None),
        ("distill", {"units_distilled": 3, "notes_created": 4, "parked": 1}, None),
        ("dedup", {"verdicts": {"distinct": 1}, "held": 1}, "budget used up"),
        ("dedup", {"verdicts": {"distinct": 2, "duplicate": 1}}, None),
        ("embed", {"notes_embedded": 4}, "refused"),
    ]
    with db.transaction() as conn:
        for stage, numbers, error in counts:
            outcome = "failed" if error else "ok"
            record_pass(conn, stage, at(0), at(1 / 60), outcome, numbers, error, "mine")
        record_pass(conn, "segment", at(0), at(1), "ok", {"episodes_closed": 99}, None, "another")
    processed = report_of_runs(db, ["mine"])
    report = processed.report
    assert (report.turns_embedded, report.episodes_closed, report.notes_created, report.parked) == (3, 3, 4, 1)
    assert (report.dedup, report.held) == ({"distinct": 3, "duplicate": 1}, 1)
    assert report.seconds == {"embed": 2.0, "segment": 2.0, "distill": 1.0, "dedup": 2.0, "task_items": 0.0, "impact": 0.0, "note_files": 0.0, "projects": 0.0}
    assert processed.errors == {"embed": "refused"}
