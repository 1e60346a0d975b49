"""Neighbours are found in the note's own project, whether it is read whole or searched by the index."""

from __future__ import annotations

import math

import pytest

from argus_memory.db import Database
from argus_memory.stages.dedup_find import SCOPE_READ_WHOLE, find_near, find_pending, find_space
from tests.integration.dedup.test_dedup import NOW
from tests.memory_rows import add_note, add_space, add_vector, at

ANGLE = 0.001  # radians from one note's vector to the next one's


def fill(db: Database, space: int, project: str | None, count: int, role: str = "user") -> None:
    """Looked-at notes of a project, their vectors fanned out one ANGLE from the next."""
    seed = add_note(db, f"seed of {project} by {role}", project=project, role=role)
    params = {"seed": seed, "count": count, "space": space, "angle": ANGLE, "name": f"{project} {role}"}
    with db.transaction() as conn:
        conn.execute("update distilled_notes set valid_to = valid_from where id = %(seed)s", params)
        conn.execute(
            """insert into distilled_notes (uid, text_key, raw_id, title, content, category, importance, project,
                   source_ref, role, said_at, model, valid_from, deduped_at)
               select md5(%(name)s || k), md5(%(name)s || k), raw_id, 'n', %(name)s || ' ' || k, category, importance,
                      project, source_ref, role, said_at, model, valid_from, valid_from
               from distilled_notes, generate_series(1, %(count)s) k where id = %(seed)s""",
            params,
        )
        conn.execute(
            """insert into note_vectors (space_id, note_id, dim, embedding)
               select %(space)s, id, 2, array[cos(k * %(angle)s), sin(k * %(angle)s)]::real[]::vector
               from (select id, split_part(content, ' ', 3)::int as k from distilled_notes
                     where content like %(name)s || ' %%' and title = 'n') made""",
            params,
        )


@pytest.mark.parametrize("project", ["garden", None])
@pytest.mark.parametrize("count", [SCOPE_READ_WHOLE // 10, SCOPE_READ_WHOLE + 20])
def test_the_nearest_of_the_project_and_speaker_are_found(db: Database, project: str | None, count: int) -> None:
    """The three nearest of the same project and speaker or of `global`, closest first, though nearer ones of another
    project and another speaker stand all around; one far away is under the floor."""
    space = add_space(db, dedup_floor=0.8, dedup_same=0.95)
    fill(db, space, project, count)
    fill(db, space, "elsewhere", 60)
    fill(db, space, project, 30, role="assistant")
    fill(db, space, "global", 1)
    new = add_note(db, "A new one.", project=project, said_at=at(500))
    add_vector(db, space, "note", new, [1, 0])
    far = add_note(db, "Far from all.", project=project, said_at=at(501))
    add_vector(db, space, "note", far, [-1, 0])
    with db.transaction() as conn:
        found_space = find_space(conn)
        pending = {each.note.id: each for each in find_pending(conn, found_space, now=NOW, limit=10)}
        near = find_near(conn, pending[new].note, pending[new].embedding, found_space, now=NOW)
        none = find_near(conn, pending[far].note, pending[far].embedding, found_space, now=NOW)
    assert {near[0].content, near[1].content} == {f"{project} user 1", "global user 1"}
    assert near[2].content == f"{project} user 2"
    assert [note.similarity for note in near] == pytest.approx([math.cos(k * ANGLE) for k in (1, 1, 2)], abs=1e-6)
    assert none == []
