"""Projects as a person sees them: list, rename, merge and take back, other names, and where an episode belongs.

    rename  the name changes everywhere but in raw items; the old name stays as an alias
    merge   keys, aliases and rows go to the other project; each moved row is written down, so that undo is whole
    assign  a person files an episode: no machine files it otherwise

Each change and its row in `project_changes` are one transaction; raw items keep the name they were captured with.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from psycopg import sql
from psycopg.types.json import Jsonb

from argus_memory.db import Connection, Database, queries
from argus_memory.errors import Conflict, NotFound, UsageError
from argus_memory.records import CANARY_PROJECT, GLOBAL_PROJECT
from argus_memory.rules.project_keys import NAME_MAX
from argus_memory.stages.acting import as_actor
from argus_memory.stages.centroids import file_rows
from argus_memory.stages.projects import require_project

LIST_LIMIT: Final = 200
# What bears a project's name and follows it: kind → table and key.
_ROWS: Final[Mapping[str, tuple[str, str]]] = {
    "turn": ("turns", "raw_id"), "episode": ("episodes", "id"), "note": ("distilled_notes", "id"),
    "decision": ("note_decisions", "id"), "proposal": ("note_proposals", "id"), "item": ("task_items", "id"),
}  # fmt: skip
q = queries("project_admin")


@dataclass(frozen=True, slots=True)
class ProjectReceipt:
    """What a change did; `change_id` is what undo takes. `moved`: rows by kind."""

    change_id: int
    change: str
    project: str
    other: str | None
    moved: Mapping[str, int]


def list_projects(db: Database, *, now: datetime) -> dict[str, Any]:
    """Every project with its counts, the latest first; and episodes that no project could be told for."""
    rows = db.fetch_all(q.list, {"name": None, "now": now})
    unfiled = db.fetch_one(q.unfiled_counts) or {}
    return {"projects": rows, "count": len(rows), **unfiled}


def get_project(db: Database, name: str, *, now: datetime) -> dict[str, Any]:
    """One project by name or alias, with its keys and changes. Raises NotFound with the nearest names."""
    with db.transaction() as conn:
        found = require_project(conn, name)
        row = conn.execute(q.list, {"name": found["name"], "now": now}).fetchone()
        assert row is not None
        keys = [each["key"] for each in conn.execute(q.keys_of, {"id": found["id"]})]
        changes = conn.execute(q.changes, {"name": found["name"], "limit": 50}).fetchall()
    return {**row, "key_names": keys, "changes": changes}


def rename(db: Database, name: str, new: str, actor: str, *, now: datetime) -> ProjectReceipt:
    """Raises NotFound, UsageError for a name that cannot be one, Conflict where the new name is taken."""
    new = _check_name(new)
    with db.transaction() as conn:
        conn.execute(queries("projects").lock_registry)
        found = _changeable(conn, name)
        old = found["name"]
        if old == new:
            raise Conflict(f"the project is called {new!r} already")
        _require_free(conn, new, found["id"])
        as_actor(conn, actor, now=now)
        change = _write(conn, "renamed", old, new, actor, now, {"id": found["id"]})
        return ProjectReceipt(change, "renamed", old, new, _rename(conn, found["id"], old, new, actor, now))


def merge(db: Database, name: str, into: str, actor: str, *, now: datetime) -> ProjectReceipt:
    """All of `name` goes to `into`. Raises NotFound, or Conflict where both are one."""
    with db.transaction() as conn:
        conn.execute(queries("projects").lock_registry)
        gone, stays = _changeable(conn, name), _changeable(conn, into)
        if gone["id"] == stays["id"]:
            raise Conflict(f"{name!r} and {into!r} are one project, {stays['name']!r}: there is nothing to merge")
        as_actor(conn, actor, now=now)
        detail = {"id": gone["id"], "into": stays["id"]}
        change = _write(conn, "merged", gone["name"], stays["name"], actor, now, detail)
        params = {**detail, "change": change}
        conn.execute(q.move_keys, params)
        conn.execute(q.move_aliases, params)
        moved = {kind: _move(conn, kind, gone["name"], stays["name"], change) for kind in _ROWS}
        conn.execute(q.rename_state, {"old": gone["name"], "new": stays["name"]})
        conn.execute(q.set_merged, {"id": gone["id"], "into": stays["id"]})
        conn.execute(q.insert_alias, {"alias": gone["name"], "id": stays["id"], "now": now, "actor": actor})
        conn.execute(q.attach_name, {"name": gone["name"], "id": stays["id"]})
        return ProjectReceipt(change, "merged", gone["name"], stays["name"], moved)


def undo(db: Database, change_id: int, actor: str, *, now: datetime) -> ProjectReceipt:
    """Take a rename or merge back. Raises NotFound, or Conflict where it was, or where something since needs it."""
    with db.transaction() as conn:
        conn.execute(queries("projects").lock_registry)
        row = conn.execute(q.lock_change, {"id": change_id}).fetchone()
        if row is None:
            raise NotFound(f"there is no change {change_id} of projects; `argus project changes` shows them")
        if row["undone_at"] is not None:
            raise Conflict(f"change {change_id} was taken back on {row['undone_at']:%Y-%m-%d}")
        as_actor(conn, actor, now=now)
        if row["change"] == "renamed":
            moved = _undo_rename(conn, row, actor, now)
        elif row["change"] == "merged":
            moved = _undo_merge(conn, row)
        else:
            raise Conflict(f"change {change_id} ({row['change']}) is taken back by its opposite")
        done = _write(conn, "undone", row["project"], row["other"], actor, now, {"change": change_id})
        return ProjectReceipt(done, "undone", row["project"], row["other"], moved)


def add_alias(db: Database, name: str, alias: str, actor: str, *, now: datetime) -> ProjectReceipt:
    """Let another name lead to the project. Raises NotFound, UsageError or Conflict."""
    alias = _check_name(alias)
    with db.transaction() as conn:
        conn.execute(queries("projects").lock_registry)
        found = _changeable(conn, name)
        _require_free(conn, alias, found["id"])
        conn.execute(q.insert_alias, {"alias": alias, "id": found["id"], "now": now, "actor": actor})
        conn.execute(q.attach_name, {"name": alias, "id": found["id"]})
        change = _write(conn, "alias", found["name"], alias, actor, now, {"added": True})
        return ProjectReceipt(change, "alias", found["name"], alias, {})


def remove_alias(db: Database, alias: str, actor: str, *, now: datetime) -> ProjectReceipt:
    """Raises NotFound."""
    with db.transaction() as conn:
        conn.execute(queries("projects").lock_registry)
        row = conn.execute(q.alias_of, {"alias": alias}).fetchone()
        if row is None:
            raise NotFound(f"{alias!r} is no alias; `argus project show NAME` lists a project's")
        found = require_project(conn, row["name"])
        conn.execute(q.delete_alias, {"alias": alias})
        conn.execute(q.detach_name, {"name": alias, "id": found["id"]})
        change = _write(conn, "alias", row["name"], alias, actor, now, {"added": False})
        return ProjectReceipt(change, "alias", row["name"], alias, {})


def assign(db: Database, episode_id: int, project: str | None, actor: str, *, now: datetime) -> ProjectReceipt:
    """File an episode with its turns and notes; None: it stays where it is, and nobody asks again.

    `global` may be named here: a person chooses it. Raises NotFound, or Conflict for an episode that was replaced.
    """
    c = queries("centroids")
    with db.transaction() as conn:
        row = conn.execute(c.lock_episode, {"id": episode_id}).fetchone()
        if row is None:
            raise NotFound(f"there is no episode {episode_id}")
        if row["replaced_at"] is not None:
            raise Conflict(f"episode {episode_id} was replaced by others: assign those")
        name = row["project"] if project is None else require_project(conn, project)["name"]
        as_actor(conn, actor, now=now)
        params = {
            "episode_id": episode_id, "project": name, "method": "kept" if project is None else "assigned",
            "similarity": None, "margin": None, "space": None, "confidence": 1.0, "now": now, "actor": actor,
        }  # fmt: skip
        if project is not None:
            conn.execute(c.file_episode, params)
            file_rows(conn, params)
        conn.execute(c.set_attribution, params)
        conn.execute(c.forget_mismatches, {"episode_id": episode_id})
        detail = {"episode": episode_id, "was": row["project"], "was_method": row["project_method"]}
        change = _write(conn, "assigned", name or "", row["project"], actor, now, detail)
        return ProjectReceipt(change, "assigned", name or "", row["project"], {"episode": 1})


def list_mismatches(db: Database, *, limit: int = LIST_LIMIT) -> list[dict[str, Any]]:
    """Episodes that read as if they belonged to another project, the clearest first."""
    return list(db.fetch_all(queries("centroids").mismatches, {"limit": limit}))


def list_changes(db: Database, *, limit: int = LIST_LIMIT) -> list[dict[str, Any]]:
    """Renames, merges, aliases and assignments, newest first."""
    return list(db.fetch_all(q.changes, {"name": None, "limit": limit}))


def _check_name(name: str) -> str:
    name = name.strip()
    if not name or len(name) > NAME_MAX or any(ord(char) < 32 for char in name):
        raise UsageError(f"{name!r} cannot be a project's name: 1 to {NAME_MAX} printable characters are needed")
    if name in (GLOBAL_PROJECT, CANARY_PROJECT):
        raise UsageError(f"{name!r} is kept for Argus itself")
    return name


def _changeable(conn: Connection, name: str) -> Mapping[str, Any]:
    found = require_project(conn, name)
    if found["name"] in (GLOBAL_PROJECT, CANARY_PROJECT):
        raise UsageError(f"{found['name']!r} cannot be renamed or merged: it is no project of its own")
    return found


def _require_free(conn: Connection, name: str, own: int) -> None:
    taken = conn.execute(queries("projects").find_named, {"name": name}).fetchone()
    if taken is not None and taken["id"] != own:
        raise Conflict(f"{name!r} is project {taken['name']!r}: `argus project merge` puts two into one")
    gone = conn.execute(q.by_name, {"name": name}).fetchone()
    if gone is not None and gone["id"] != own:
        raise Conflict(f"{name!r} is the name of a project that was merged: take the merge back first")


def _rename(conn: Connection, id_: int, old: str, new: str, actor: str, now: datetime) -> dict[str, int]:
    conn.execute(q.rename, {"id": id_, "new": new, "now": now})
    conn.execute(q.delete_alias, {"alias": new})
    conn.execute(q.insert_alias, {"alias": old, "id": id_, "now": now, "actor": actor})
    for name in (old, new):
        conn.execute(q.attach_name, {"name": name, "id": id_})
    conn.execute(q.rename_state, {"old": old, "new": new})
    return {kind: _move(conn, kind, old, new, None) for kind in _ROWS}


def _undo_rename(conn: Connection, row: Mapping[str, Any], actor: str, now: datetime) -> dict[str, int]:
    found = _standing(conn, row["detail"]["id"])
    if found["name"] != row["other"]:
        raise Conflict(f"the project is called {found['name']!r} by now: take back what came after first")
    _require_free(conn, row["project"], found["id"])
    moved = _rename(conn, found["id"], row["other"], row["project"], actor, now)
    conn.execute(q.delete_alias, {"alias": row["other"]})
    conn.execute(q.detach_name, {"name": row["other"], "id": found["id"]})
    return moved


def _undo_merge(conn: Connection, row: Mapping[str, Any]) -> dict[str, int]:
    gone, into = row["detail"]["id"], row["detail"]["into"]
    target = _standing(conn, into)
    params = {"change": row["id"], "id": gone, "into": into}
    conn.execute(q.set_merged, {"id": gone, "into": None})
    conn.execute(q.restore_keys, params)
    conn.execute(q.restore_aliases, params)
    conn.execute(q.delete_alias, {"alias": row["project"]})
    conn.execute(q.attach_name, {"name": row["project"], "id": gone})
    return {kind: _restore(conn, kind, row["project"], target["name"], row["id"]) for kind in _ROWS}


def _standing(conn: Connection, id_: int) -> Mapping[str, Any]:
    """The project of an id, under whatever name; raises Conflict where it was merged into another."""
    row = conn.execute(q.by_id, {"id": id_}).fetchone()
    assert row is not None
    if row["merged_into"] is not None:
        raise Conflict(f"{row['name']!r} was itself merged since: take that back first")
    return row


def _move(conn: Connection, kind: str, old: str, new: str, change: int | None) -> int:
    """Rows of a kind take the new name; with a change each is written down."""
    table, key = _ROWS[kind]
    query = sql.SQL("update {table} set project = %(new)s where project = %(old)s returning {key} as row_id").format(
        table=sql.Identifier(table), key=sql.Identifier(key)
    )
    if change is not None:
        query = sql.SQL(
            "with moved as ({update}) insert into project_moves (change_id, kind, row_id, was)"
            " select %(change)s, %(kind)s, row_id, %(old)s from moved"
        ).format(update=query)
    return conn.execute(query, {"old": old, "new": new, "change": change, "kind": kind}).rowcount


def _restore(conn: Connection, kind: str, name: str, into: str, change: int) -> int:
    """Rows that a merge moved get their name back, unless somebody moved them again."""
    table, key = _ROWS[kind]
    query = sql.SQL(
        "update {table} t set project = %(name)s from project_moves m"
        " where m.change_id = %(change)s and m.kind = %(kind)s and t.{key} = m.row_id and t.project = %(into)s"
    ).format(table=sql.Identifier(table), key=sql.Identifier(key))
    return conn.execute(query, {"name": name, "into": into, "change": change, "kind": kind}).rowcount


def _write(
    conn: Connection,
    change: str,
    project: str,
    other: str | None,
    actor: str,
    now: datetime,
    detail: Mapping[str, Any],
) -> int:
    params = {"change": change, "project": project, "other": other, "actor": actor, "now": now}
    row = conn.execute(q.insert_change, {**params, "detail": Jsonb(dict(detail))}).fetchone()
    assert row is not None
    return int(row["id"])
