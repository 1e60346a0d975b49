"""What people and agents decided, in a store that is in order: the tables of memory a person can trust."""

from __future__ import annotations

from datetime import datetime

from argus_memory.db import Database
from argus_memory.upkeep.decisions import exclude, pin

# Each takes %(now)s; notes, raw items, injections, episodes and projects stand already.
_ROWS = (
    "insert into note_proposals (at, raw_id, content, category, actor) select %(now)s, min(id), 'The pump is new.',"
    " 'fact', 'codex' from raw_items",
    "insert into forgotten_arrivals (at, source, raw_items, notes, actor) values (%(now)s, 'cli', 0, 0, 'kim')",
    "insert into note_writes (at, verb, raw_id, outcome, note_id, actor, actor_kind) select %(now)s, 'remember',"
    " min(r.id), 'no-op', min(n.id), 'kim', 'person' from raw_items r, distilled_notes n",
    "insert into redaction_sweeps (relation, xid, asked_at, swept_at) values ('public.turns', '7', %(now)s, %(now)s)",
    "insert into injection_uses (injection_id, note_id, used, score, turn_raw_id, at) select min(i.id), min(n.id), true,"
    " 0.8, min(r.id), %(now)s from injections i, distilled_notes n, raw_items r",
    "insert into injection_checks (injection_id, at, outcome) select min(id), %(now)s, 'no-answer' from injections"
    " on conflict do nothing",
    "insert into project_attributions (episode_id, project, method, at, actor) select min(id), 'garden', 'kept', %(now)s,"
    " 'kim' from episodes on conflict do nothing",
    "insert into memory_health (at, score, parts) values (%(now)s, 90, '{}')",
    "insert into note_files (note_id, path, noticed_at) select min(id), 'pump.py', %(now)s from distilled_notes",
    "insert into project_aliases (alias, project_id, at, actor) select 'yard', min(id), %(now)s, 'kim' from projects",
    "insert into project_changes (at, change, project, other, actor) select %(now)s, 'alias', min(name), 'yard', 'kim'"
    " from projects",
    "insert into project_moves (change_id, kind, name) select min(id), 'alias', 'yard' from project_changes",
    "insert into project_centroids (project_id, space_id, sums, turns, last_turn_id, rebuilt_at)"
    " select min(p.id), min(s.id), '{0.5,0.5}', 1, 1, %(now)s from projects p, embedding_spaces s",
    "insert into project_mismatches (episode_id, project, suggested, similarity, margin, at)"
    " select min(id), 'garden', 'shed', 0.8, 0.2, %(now)s from episodes",
    "insert into regenerations (mode, first_day, last_day, actor, model, started_at, finished_at, status, loss_guard)"
    " values ('dry-run', '2026-03-02', '2026-03-02', 'kim', 'm', %(now)s, %(now)s, 'shown', 0.3)",
    "insert into regeneration_units (regeneration_id, unit_kind, unit_id, said_at, outcome, fingerprint, notes_before,"
    " candidates, rejected) select min(r.id), 'episode', min(e.id), %(now)s, 'made', 'f', 1, 1, 0"
    " from regenerations r, episodes e",
    "insert into regeneration_notes (regeneration_id, unit_kind, unit_id, change, old_text, new_text)"
    " select min(r.id), 'episode', min(e.id), 'unchanged', 'a', 'a' from regenerations r, episodes e",
)


def decide(db: Database, *, now: datetime) -> None:
    """Pin a note, leave another out of recall, and put a row into each table that belongs to decisions."""
    notes = [row["id"] for row in db.fetch_all("select id from distilled_notes where deleted_at is null order by id")]
    pin(db, notes[0], "kim", now=now)
    exclude(db, notes[-1], "kim", now=now)
    with db.transaction() as conn:
        for row in _ROWS:
            conn.execute(row, {"now": now})
