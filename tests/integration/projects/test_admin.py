"""Projects as a person changes them: rename, merge and take back, other names, and where an episode belongs."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as property_settings
from hypothesis import strategies as st

from argus_memory.db import Database
from argus_memory.errors import ArgusError, Conflict, NotFound, UsageError
from argus_memory.models.embedders import MINILM, find_named_embedder
from argus_memory.settings import Settings
from argus_memory.stages.context import recall_context
from argus_memory.stages.projects import find_project, resolve_project
from argus_memory.stages.recall import recall_for_prompt
from argus_memory.stages.search import search
from argus_memory.upkeep import projects
from argus_memory.upkeep.history import read_timeline
from tests.memory_rows import add_note, add_turn, at

NOW = at(60)
TABLES = ("turns", "episodes", "distilled_notes", "note_decisions", "note_proposals", "task_items")


def talk(db: Database, project: str, text: str = "The tank holds 300 l.", minutes: float = 0) -> int:
    """A turn and a note of a registered project; returns the note's id."""
    with db.transaction() as conn:
        resolve_project(conn, explicit=None, repo=None, cwd=f"/home/kim/{project}", host="den")
    return add_note(db, text, raw_id=add_turn(db, text, at(minutes), project=project), project=project)


def names(db: Database) -> dict[str, list[Any]]:
    return {
        table: [row["project"] for row in db.fetch_all(f"select project from {table} order by 1 nulls last")]
        for table in TABLES
    }


def found(db: Database, **place: Any) -> str | None:
    with db.transaction() as conn:
        return find_project(conn, explicit=place.get("explicit"), repo=None, cwd=place.get("cwd"), host="den")


def test_a_renamed_project_is_found_under_both_names(db: Database, settings: Settings) -> None:
    """Rows take the new name, raw items keep theirs, folder and both names lead to it, and the note's history says so."""
    note = talk(db, "garden")
    receipt = projects.rename(db, "garden", "yard", "kim", now=NOW)
    assert receipt.moved["note"] == receipt.moved["turn"] == 1
    assert names(db)["distilled_notes"] == ["yard"]
    assert db.fetch_one("select project from raw_items") == {"project": "garden"}
    for place in ({"cwd": "/home/kim/garden"}, {"explicit": "garden"}, {"explicit": "yard"}):
        assert found(db, **place) == "yard", place
    embedder = find_named_embedder(MINILM)
    for name in ("garden", "yard"):
        assert [hit.id for hit in search(db, settings, embedder, q="tank", project=name, now=NOW, types=["note"])] == [note]
        assert [each.id for each in recall_context(db, settings, now=NOW, project=name).notes] == [note]
        assert read_timeline(db, since=at(-9999), until=NOW + timedelta(days=1), project=name).entries
    events = db.fetch_all("select event, detail, actor from note_events where event = 'moved'")
    assert [(row["detail"], row["actor"]) for row in events] == [({"from": "garden", "to": "yard"}, "kim")]


def test_a_merge_is_taken_back_whole(db: Database) -> None:
    """Everything of one project goes to the other, its folder too; undo gives back exactly what was moved."""
    talk(db, "garden")
    talk(db, "yard", "The hose is blue.", 1)
    before = names(db)
    receipt = projects.merge(db, "garden", "yard", "kim", now=NOW)
    assert names(db)["distilled_notes"] == ["yard", "yard"]
    assert found(db, cwd="/home/kim/garden") == found(db, explicit="garden") == "yard"
    talk(db, "yard", "Said after the merge.", 2)
    projects.undo(db, receipt.change_id, "kim", now=NOW)
    assert found(db, cwd="/home/kim/garden") == found(db, explicit="garden") == "garden"
    assert names(db)["distilled_notes"] == [*before["distilled_notes"], "yard"]
    with pytest.raises(Conflict, match="taken back"):
        projects.undo(db, receipt.change_id, "kim", now=NOW)


def test_what_cannot_be_is_refused_in_a_sentence(db: Database) -> None:
    """A taken name, a circle, names kept for Argus, an unknown project with the nearest names; nothing is changed."""
    talk(db, "garden")
    talk(db, "yard", "The hose is blue.", 1)
    before = names(db)
    with pytest.raises(Conflict, match="argus project merge"):
        projects.rename(db, "garden", "yard", "kim", now=NOW)
    with pytest.raises(Conflict, match="nothing to merge"):
        projects.merge(db, "garden", "garden", "kim", now=NOW)
    with pytest.raises(NotFound, match="did you mean garden"):
        projects.rename(db, "gardn", "lawn", "kim", now=NOW)
    with pytest.raises(Conflict, match="already"):
        projects.rename(db, "garden", "garden", "kim", now=NOW)
    for name in ("global", "argus-canary", " ", "a\nb", "x" * 300):
        with pytest.raises(UsageError):
            projects.rename(db, "garden", name, "kim", now=NOW)
    with pytest.raises(UsageError, match="cannot be renamed"):
        projects.merge(db, "global", "yard", "kim", now=NOW)
    projects.merge(db, "garden", "yard", "kim", now=NOW)
    with pytest.raises(Conflict, match="nothing to merge"):
        projects.merge(db, "yard", "garden", "kim", now=NOW)
    with pytest.raises(Conflict, match="merge"):
        projects.rename(db, "yard", "garden", "kim", now=NOW)
    assert names(db)["distilled_notes"] == ["yard", "yard"]
    assert before["distilled_notes"] == ["garden", "yard"]


def test_other_names_come_and_go(db: Database) -> None:
    """An alias leads to its project until it is taken away; then it is no project."""
    talk(db, "garden")
    projects.add_alias(db, "garden", "beds", "kim", now=NOW)
    assert found(db, explicit="beds") == "garden"
    assert projects.get_project(db, "beds", now=NOW)["name"] == "garden"
    projects.remove_alias(db, "beds", "kim", now=NOW)
    with pytest.raises(NotFound):
        projects.get_project(db, "beds", now=NOW)
    with pytest.raises(NotFound, match="no alias"):
        projects.remove_alias(db, "beds", "kim", now=NOW)


def test_no_such_project_is_not_nothing_recorded(db: Database, settings: Settings) -> None:
    """A search names the nearest; a recall answers and says so, in the answer and the ledger; a known project with
    nothing is empty."""
    talk(db, "garden")
    with db.transaction() as conn:
        resolve_project(conn, explicit="quiet", repo=None, cwd=None, host=None)
    embedder = find_named_embedder(MINILM)
    with pytest.raises(NotFound, match="did you mean garden"):
        search(db, settings, embedder, q="tank", project="gardan", now=NOW)
    assert search(db, settings, embedder, q="tank", project="quiet", now=NOW) == []
    told = recall_for_prompt(db, settings, embedder, prompt="how big is the tank", now=NOW, project="gardan")
    assert told.unknown_project
    assert "gardan" in told.unknown_project
    row = db.fetch_one("select degraded from injections")
    assert row
    assert "no project 'gardan'" in row["degraded"]
    assert recall_for_prompt(db, settings, embedder, prompt="how big is the tank", now=NOW).unknown_project is None
    assert recall_context(db, settings, now=NOW, project="quiet").unknown_project is None


STEPS = st.lists(
    st.tuples(st.sampled_from(["rename", "merge", "undo", "alias"]), st.integers(0, 3), st.integers(0, 5)), max_size=8
)


@property_settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
def test_after_all_is_taken_back_nothing_is_left(db: Database, steps: Any) -> None:
    """Whatever is renamed, merged and taken back, undone newest first the rows and their folders are as before; no
    name ever leads to two projects."""
    tag = f"{db.fetch_one('select count(*) as n from raw_items')['n']}"  # type: ignore[index]
    own = [f"p{number}x{tag}" for number in range(4)]
    for number, name in enumerate(own):
        talk(db, name, f"Fact {number} of {name}.", number)
    before = names(db)
    last = db.fetch_one("select coalesce(max(id), 0) as id from project_changes")
    assert last
    for verb, which, other in steps:
        try:
            if verb == "rename":
                projects.rename(db, own[which], f"new{other}x{tag}", "kim", now=NOW)
            elif verb == "merge":
                projects.merge(db, own[which], own[other % 4], "kim", now=NOW)
            elif verb == "alias":
                projects.add_alias(db, own[which], f"also{other}x{tag}", "kim", now=NOW)
            else:
                projects.undo(db, last["id"] + other, "kim", now=NOW)
        except ArgusError:
            continue
        doubled = db.fetch_all("select alias from project_aliases a join projects p on p.name = a.alias"
                               " where p.merged_into is null")  # fmt: skip
        assert doubled == []
    for row in db.fetch_all(
        "select id from project_changes c where id > %(last)s and change in ('renamed', 'merged') and not exists ("
        " select from project_changes u where u.change = 'undone' and u.detail ->> 'change' = c.id::text)"
        " order by id desc", {"last": last["id"]},
    ):  # fmt: skip
        projects.undo(db, row["id"], "kim", now=NOW)
    assert names(db) == before
    for name in own:
        assert found(db, cwd=f"/home/kim/{name}") == name
