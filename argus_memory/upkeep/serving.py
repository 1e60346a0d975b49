"""What an agent is given by id: notes, turns, episodes; and why one is not given.

    live, ended, superseded, merged   given, with its state and what stands in its place
    forgotten, corrected, redacted,   not given: somebody took it away, and the answer says so
    rejected, excluded, withheld

A person's pages and `GET /notes/{id}` show all of it: whoever decides has to see what about.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal

from argus_memory.db import Database, queries
from argus_memory.errors import UsageError
from argus_memory.upkeep.reads import LIVE, judge_state

Type = Literal["note", "turn", "episode"]
TAKEN: Final = ("forgotten", "corrected", "redacted", "rejected")
CONTENT_CHARS: Final = 4000  # of a note
ID_MAX: Final = 2**63 - 1
_WORDS: Final[Mapping[str, Type]] = {"note": "note", "turn": "turn", "raw": "turn", "episode": "episode"}


@dataclass(frozen=True, slots=True)
class Ref:
    """One thing by its type and number; written `note:12`."""

    type: Type
    id: int

    def __str__(self) -> str:
        return f"{self.type}:{self.id}"


@dataclass(frozen=True, slots=True)
class Served:
    """What was asked for. `row` is None exactly when `refused` says why it is not given."""

    ref: Ref
    row: Mapping[str, Any] | None = None
    refused: str | None = None


def parse_ref(text: str, *, default: Type | None = None) -> Ref:
    """`note:12`, `turn:34` (also `raw:34`), `episode:5`; a bare number is one of `default`. Raises UsageError."""
    word, colon, digits = text.strip().partition(":")
    if not colon and default is not None:
        word, digits = default, word
    known = _WORDS.get(word.lower())
    digits = digits.strip()
    number = int(digits) if digits.isascii() and digits.isdigit() and len(digits) <= 19 else 0
    if known is None or not 1 <= number <= ID_MAX:
        raise UsageError(f"{text[:60]!r} is no id: ids are written note:12, turn:34 or episode:5")
    return Ref(known, number)


def serve_notes(db: Database, ids: Sequence[int], *, now: datetime) -> dict[int, Served]:
    """Each of these notes, or why it is not given."""
    if not ids:
        return {}
    rows = db.fetch_all(queries("serving").notes, {"ids": list(ids), "chars": CONTENT_CHARS})
    found = {row["id"]: row for row in rows}
    return {id_: _note(id_, found.get(id_), now) for id_ in ids}


def serve_turns(
    db: Database, ids: Sequence[int], *, now: datetime, from_char: int = 0, chars: int
) -> dict[int, Served]:
    """Each of these items with `chars` characters of its body from `from_char` on, or why it is not given."""
    if not ids:
        return {}
    params = {"ids": list(ids), "from_char": from_char, "chars": chars, "now": now}
    found = {row["id"]: row for row in db.fetch_all(queries("serving").items, params)}
    return {id_: _turn(id_, found.get(id_)) for id_ in ids}


def serve_episode(
    db: Database, episode_id: int, *, now: datetime, offset: int = 0, limit: int, chars: int
) -> Served:
    """The episode with `limit` turns from `offset` on, `chars` characters of each; withheld ones without text."""
    q, ref = queries("serving"), Ref("episode", episode_id)
    with db.transaction() as conn:
        row = conn.execute(q.episode, {"id": episode_id, "now": now}).fetchone()
        if row is None:
            return Served(ref, refused=f"there is no episode {episode_id}")
        params = {"id": episode_id, "offset": offset, "limit": limit, "chars": chars}
        turns = conn.execute(q.episode_turns, params).fetchall()
    return Served(ref, {**row, "turns": [_without_withheld(turn) for turn in turns]})


def find_taken(db: Database, ids: Sequence[int]) -> dict[int, str]:
    """Of these notes, those whose text is not given to agents, with the word for why."""
    if not ids:
        return {}
    return {row["id"]: row["why"] for row in db.fetch_all(queries("serving").taken, {"ids": list(set(ids))})}


def why_not(row: Mapping[str, Any], now: datetime) -> str | None:
    """Why a note is not given; None where it is."""
    by = f" by {row['decided_by']}" if row["decided_by"] else ""
    if row["deleted_at"] is None:
        if row["excluded_at"] is None:
            return None
        return (
            f"note {row['id']} was excluded from recall{by} on {row['excluded_at']:%Y-%m-%d}: it is kept, and a"
            " person can include it again"
        )
    reason = row["deleted_reason"]
    if reason not in TAKEN:
        return None
    told = f"note {row['id']} was {reason}{by} on {row['deleted_at']:%Y-%m-%d}"
    if reason == "corrected" and row["superseded_by"] is not None:
        return f"{told}: note:{row['superseded_by']} says what holds instead"
    if reason == "redacted":
        return f"{told}: its words are gone for good"
    return f"{told}: it is not to be used, and a person can restore it"


def _note(id_: int, row: Mapping[str, Any] | None, now: datetime) -> Served:
    ref = Ref("note", id_)
    if row is None:
        return Served(ref, refused=f"there is no note {id_}")
    refused = why_not(row, now)
    if refused is not None:
        return Served(ref, refused=refused)
    state = judge_state(row, now)
    return Served(ref, {**row, "state": state, "live": state == LIVE})


def _turn(id_: int, row: Mapping[str, Any] | None) -> Served:
    ref = Ref("turn", id_)
    if row is None:
        return Served(ref, refused=f"there is no captured turn {id_}")
    if row["withheld"] is not None:
        return Served(ref, refused=f"turn {id_} is withheld: what it says was {row['withheld']}")
    return Served(ref, row)


def _without_withheld(turn: Mapping[str, Any]) -> Mapping[str, Any]:
    if turn["withheld"] is None:
        return turn
    return {**turn, "body": None}
