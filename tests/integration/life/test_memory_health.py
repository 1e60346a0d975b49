"""The health of a memory, its fading notes, and its graph, on a real store."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any
from xml.etree import ElementTree

import pytest

from argus_memory.db import Database
from argus_memory.errors import NotFound
from argus_memory.models.embedders import MINILM, find_named_embedder
from argus_memory.rules.graph import as_mermaid, as_svg
from argus_memory.rules.memory_health import RULES
from argus_memory.settings import Settings
from argus_memory.stages.dedup import dedup_pending
from argus_memory.stages.embed import embed_pending
from argus_memory.stages.spaces import ensure_space
from argus_memory.upkeep.decisions import exclude, forget, pin, reconfirm
from argus_memory.upkeep.fading import list_fading, read_life
from argus_memory.upkeep.memory_graph import read_graph
from argus_memory.upkeep.memory_health import list_history, read_memory_health, record_memory_health
from tests.memory_rows import add_note, add_turn, at

NOW = at(60 * 24)


def say(db: Database, text: str, minutes: float = 0, **more: Any) -> int:
    return add_note(db, text, raw_id=add_turn(db, text, at(minutes)), said_at=at(minutes), **more)


def embed(db: Database, settings: Settings) -> None:
    embedder = find_named_embedder(MINILM)
    ensure_space(db, embedder, now=NOW)
    embed_pending(db, settings, embedder, now=NOW, target="note")


def parts(db: Database, **more: Any) -> dict[str, int | None]:
    report = read_memory_health(db, now=more.pop("now", NOW), **more)
    return {part.rule.name: part.count for part in report.parts}


def test_an_empty_memory_has_no_score(db: Database) -> None:
    """Without notes nothing is judged: the score is unknown, and so is what needs vectors or answers."""
    report = read_memory_health(db, now=NOW)
    assert (report.score, report.notes) == (None, 0)
    assert [part.rule.name for part in report.parts if part.count is None] == [
        "near-duplicates", "contradictions", "unused",
    ]  # fmt: skip
    assert {part.rule.name for part in report.parts} == {rule.name for rule in RULES}


def test_each_part_counts_what_it_names(db: Database, settings: Settings) -> None:
    """Pairs that dispute each other, notes without a vector, hardly vouched for, unused and unseen ones."""
    say(db, "The tank of the garden holds 300 litres of water.", 0)
    embed(db, settings)
    dedup_pending(db, settings, now=NOW)
    say(db, "The tank of the garden holds 400 litres of water.", 1)
    embed(db, settings)
    dedup_pending(db, settings, now=NOW)
    lone = say(db, "Jazz from the fifties suits the workshop.", 2)
    with db.transaction() as conn:
        conn.execute("update distilled_notes set confidence = 0.2 where id = %s", (lone,))
    found = parts(db)
    assert (found["contradictions"], found["near-duplicates"]) == (1, 0)
    assert (found["unembedded"], found["low-confidence"], found["orphans"]) == (1, 1, 1)
    assert (found["ungrounded"], found["stale"], found["unused"]) == (0, 0, None)
    report = read_memory_health(db, now=NOW)
    (pair,) = next(part for part in report.parts if part.rule.name == "contradictions").examples
    assert "400" in pair["note"]
    assert "300" in pair["other"]
    assert report.score is not None
    assert 0 < report.score < 100
    assert json.dumps(report.as_json(), default=str)


def test_what_was_taken_away_is_counted_nowhere(db: Database, settings: Settings) -> None:
    """Forgotten and excluded notes are in no part, no example and no graph."""
    gone, hidden = say(db, "The safe is behind the blue mirror."), say(db, "The spare safe is behind the red mirror.", 1)
    embed(db, settings)
    forget(db, gone, "kim", now=NOW)
    exclude(db, hidden, "kim", now=NOW)
    report = read_memory_health(db, now=NOW)
    assert report.notes == 0
    assert "mirror" not in json.dumps(report.as_json(), default=str)
    assert "mirror" not in as_svg(read_graph(db, now=NOW))
    with pytest.raises(NotFound):
        read_graph(db, now=NOW, note_id=gone)


def test_scores_are_kept_day_by_day(db: Database) -> None:
    """Each recording is a row, newest first, with its parts."""
    say(db, "The tank holds 300 l.")
    record_memory_health(db, now=NOW)
    record_memory_health(db, now=NOW + timedelta(days=1))
    rows = list_history(db)
    assert [row["at"] for row in rows] == [NOW + timedelta(days=1), NOW]
    assert rows[0]["parts"]["stale"] == {"count": 0, "total": 1}


def test_notes_fade_until_they_give_a_sign(db: Database) -> None:
    """Half a year later a note is asked about, a year later it is stale; pinned and reconfirmed ones are not."""
    plain, held, asked = (say(db, f"Fact number {n} of the shed.", n) for n in range(3))
    half, year = NOW + timedelta(days=180), NOW + timedelta(days=365)
    pin(db, held, "kim", now=NOW)
    reconfirm(db, asked, "kim", now=half)
    found = list_fading(db, "fading", now=half + timedelta(hours=1))
    assert ([each["id"] for each in found.notes], found.count) == ([plain], 1)
    assert [each["id"] for each in list_fading(db, "stale", now=year).notes] == [plain]
    assert list_fading(db, "stale", now=year, after=1).notes == ()
    assert read_life(db, plain, now=year).standing == "stale"
    assert read_life(db, held, now=year).retention == 1
    assert parts(db, now=year)["stale"] == 1


def test_the_graph_shows_what_links_notes(db: Database, settings: Settings) -> None:
    """Notes near in meaning and notes that name the same are linked; around one note only what is near it."""
    one = say(db, "The pump of the pond is serviced by Robin each spring.", 0)
    two = say(db, "Each spring the pump of the pond is serviced by Robin and Ida.", 1)
    far = say(db, "Jazz from the fifties suits the workshop.", 2)
    embed(db, settings)
    dedup_pending(db, settings, now=NOW)
    graph = read_graph(db, now=NOW)
    assert {node.id for node in graph.nodes} >= {f"n{one}", f"n{two}", f"n{far}"}
    assert ("similar", {f"n{one}", f"n{two}"}) in [(edge.kind, {edge.one, edge.other}) for edge in graph.edges]
    thing = next(node for node in graph.nodes if node.title == "Robin")
    assert {edge.one for edge in graph.edges if edge.other == thing.id} == {f"n{one}", f"n{two}"}
    assert read_graph(db, now=NOW, limit=1).left_out == 2
    around = read_graph(db, now=NOW, note_id=far)
    assert [node.id for node in around.nodes] == [f"n{far}"]


def test_hostile_text_stays_text_in_both_forms(db: Database, settings: Settings) -> None:
    """Markup, quotes, arrows, control and right-to-left characters and a very long line break neither form."""
    say(db, '<script>alert("x")</script> --> n1["boo"] & ]]> %% end\u202e gone', 0)
    say(db, "x" * 100_000, 1)
    embed(db, settings)
    graph = read_graph(db, now=NOW)
    ElementTree.fromstring(as_svg(graph, heading="<b>&"))
    mermaid = as_mermaid(graph)
    assert "<script>" not in mermaid
    assert all(line.count('"') in (0, 2) for line in mermaid.splitlines())
    assert len(as_svg(graph)) < 20_000
    assert as_svg(read_graph(db, now=NOW)) == as_svg(graph)
