"""Episodes without a folder, filed by their words; what a person filed stays; nothing is ever made global by itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from argus_memory.db import Database
from argus_memory.errors import Conflict, NotFound
from argus_memory.records import GLOBAL_PROJECT
from argus_memory.stages.centroids import LEAST_TURNS, classify_episodes, rebuild_centroids
from argus_memory.stages.projects import resolve_project
from argus_memory.upkeep import projects
from tests.memory_rows import add_note, add_turn, at

NOW = at(6000)
AXES = {"garden": (1.0, 0.0, 0.1), "shop": (0.0, 1.0, 0.1)}
_SPACE = (
    "insert into embedding_spaces (model, dim, checksum, status, thresholds, calibration)"
    " values ('stand-in', 3, 'c', 'active', %(thresholds)s, '{}') returning id"
)


def add_space(db: Database, thresholds: str = '{"project": 0.85, "project_margin": 0.02}') -> int:
    row = db.fetch_one(_SPACE, {"thresholds": thresholds})
    assert row
    return int(row["id"])


def vector(db: Database, space: int, raw_id: int, value: Any) -> None:
    with db.transaction() as conn:
        conn.execute(
            "insert into turn_vectors (space_id, raw_id, dim, embedding) values (%s, %s, 3, %s::float8[]::vector)",
            (space, raw_id, list(np.asarray(value) / np.linalg.norm(value))),
        )


def fill(db: Database, space: int) -> None:
    """Two projects with enough turns of their own direction."""
    for number, (name, axis) in enumerate(AXES.items()):
        with db.transaction() as conn:
            resolve_project(conn, explicit=None, repo=None, cwd=f"/home/kim/{name}", host="den")
        for turn in range(LEAST_TURNS):
            raw = add_turn(db, f"{name} {turn}", at(turn), project=name, session=f"{name}{number}")
            vector(db, space, raw, axis)


def add_episode(db: Database, space: int, value: Any, project: str | None = None, session: str = "loose") -> int:
    """A closed episode of one turn, with a note; returns its id."""
    raw = add_turn(db, f"said in {session}", at(500), project=project, session=session)
    vector(db, space, raw, value)
    row = db.fetch_one(
        "insert into episodes (session, source, project, project_method, project_confidence, first_raw_id, last_raw_id,"
        " turn_count, block_count, started_at, ended_at, boundary_reason, content_key)"
        " values (%(s)s, 'claude-code', %(p)s, %(m)s, 0.6, %(r)s, %(r)s, 1, 1, %(at)s, %(at)s, 'idle', %(s)s) returning id",
        {"s": session, "p": project, "m": "cwd" if project else "none", "r": raw, "at": at(500)},
    )
    assert row
    with db.transaction() as conn:
        conn.execute("update turns set episode_id = %s, ordinal = 0 where raw_id = %s", (row["id"], raw))
    note = add_note(db, f"Noted in {session}.", raw_id=raw, project=project)
    with db.transaction() as conn:
        conn.execute("update distilled_notes set episode_id = %s, project = %s where id = %s", (row["id"], project, note))
    return int(row["id"])


def filed(db: Database, episode: int) -> dict[str, Any]:
    row = db.fetch_one(
        "select e.project, e.project_method as method, t.project as turn, n.project as note from episodes e"
        " join turns t on t.episode_id = e.id join distilled_notes n on n.episode_id = e.id where e.id = %(id)s",
        {"id": episode},
    )
    assert row
    return dict(row)


def test_what_is_near_and_alone_is_filed(db: Database) -> None:
    """An episode near one project is filed there with method and confidence, its turns and notes with it; one between
    two is left alone, counted, and not asked about again."""
    space = add_space(db)
    fill(db, space)
    near, between = add_episode(db, space, (1, 0.1, 0.1)), add_episode(db, space, (1, 1, 0.1), session="between")
    report = classify_episodes(db, now=NOW)
    assert (report.turns_added, report.classified, report.unclear) == (2 * LEAST_TURNS, 1, 1)
    assert filed(db, near) == {"project": "garden", "method": "classified", "turn": "garden", "note": "garden"}
    assert filed(db, between)["project"] is None
    assert projects.list_projects(db, now=NOW)["unclear"] == 1
    again = classify_episodes(db, now=NOW)
    assert (again.turns_added, again.classified, again.unclear) == (0, 0, 0)
    moved = db.fetch_all("select actor, detail from note_events where event = 'moved'")
    assert [(row["actor"], row["detail"]) for row in moved] == [("argus", {"from": None, "to": "garden"})]


def test_an_uncalibrated_space_files_nothing(db: Database) -> None:
    """Without measured thresholds the words decide nothing; the centroids are kept all the same."""
    space = add_space(db, "{}")
    fill(db, space)
    episode = add_episode(db, space, (1, 0, 0.1))
    report = classify_episodes(db, now=NOW)
    assert (report.calibrated, report.turns_added) == (False, 2 * LEAST_TURNS)
    assert filed(db, episode)["project"] is None


def test_rebuilt_centroids_are_those_that_were_added_to(db: Database) -> None:
    """Turn by turn or all at once, the sums are the same."""
    space = add_space(db)
    fill(db, space)
    classify_episodes(db, now=NOW)
    for turn in range(7):
        vector(db, space, add_turn(db, f"more {turn}", at(900 + turn), project="shop", session="late"), (0.3, 1, turn))
        classify_episodes(db, now=NOW)
    query = "select project_id, sums, turns, last_turn_id from project_centroids order by 1"
    added = db.fetch_all(query)
    rebuild_centroids(db, now=NOW)
    rebuilt = db.fetch_all(query)
    assert [(row["project_id"], row["turns"], row["last_turn_id"]) for row in added] == [
        (row["project_id"], row["turns"], row["last_turn_id"]) for row in rebuilt
    ]
    for one, other in zip(added, rebuilt, strict=True):
        assert one["sums"] == pytest.approx(other["sums"], abs=1e-4)


def test_a_mismatch_is_shown_and_settled_by_a_person(db: Database) -> None:
    """An episode of one folder that reads like another project is listed; kept or assigned, it is asked no more, and
    no machine files it otherwise."""
    space = add_space(db)
    fill(db, space)
    odd = add_episode(db, space, (0.05, 1, 0.1), project="garden", session="odd")
    kept = add_episode(db, space, (0.06, 1, 0.1), project="garden", session="kept")
    classify_episodes(db, now=NOW)
    assert rebuild_centroids(db, now=NOW) == 2
    listed = projects.list_mismatches(db)
    assert {(row["episode_id"], row["project"], row["suggested"]) for row in listed} == {
        (odd, "garden", "shop"), (kept, "garden", "shop"),
    }  # fmt: skip
    projects.assign(db, odd, "shop", "kim", now=NOW)
    projects.assign(db, kept, None, "kim", now=NOW)
    assert projects.list_mismatches(db) == []
    assert rebuild_centroids(db, now=NOW) == 0
    classify_episodes(db, now=NOW)
    assert filed(db, odd) == {"project": "shop", "method": "assigned", "turn": "shop", "note": "shop"}
    assert filed(db, kept)["project"] == "garden"


def test_assigning_what_is_not_there_is_refused(db: Database) -> None:
    """An episode or project that does not exist, and one that was replaced, are named."""
    space = add_space(db)
    fill(db, space)
    episode = add_episode(db, space, (1, 0, 0.1))
    with pytest.raises(NotFound, match="no episode 999"):
        projects.assign(db, 999, "shop", "kim", now=NOW)
    with pytest.raises(NotFound, match="did you mean shop"):
        projects.assign(db, episode, "shopp", "kim", now=NOW)
    with db.transaction() as conn:
        conn.execute("update episodes set replaced_at = now(), replaced_reason = 'test' where id = %s", (episode,))
    with pytest.raises(Conflict, match="replaced"):
        projects.assign(db, episode, "shop", "kim", now=NOW)


def test_global_is_only_ever_chosen(db: Database) -> None:
    """However near global notes may be, no episode is filed there by itself; a person may."""
    space = add_space(db)
    fill(db, space)
    for turn in range(LEAST_TURNS):
        vector(db, space, add_turn(db, f"g {turn}", at(turn), project=GLOBAL_PROJECT, session="g"), (0, 0, 1))
    episode = add_episode(db, space, (0, 0, 1))
    classify_episodes(db, now=NOW)
    rebuild_centroids(db, now=NOW)
    assert filed(db, episode)["project"] is None
    projects.assign(db, episode, GLOBAL_PROJECT, "kim", now=NOW)
    assert filed(db, episode)["note"] == GLOBAL_PROJECT
