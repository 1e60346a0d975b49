"""What a search is narrowed to besides a project: the source and kind of what was captured, a time, a note's state.

Conditions for the two tracks of recall_tracks.py; rows are `n`, of notes or of turns. Values are parameters.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, LiteralString

from argus_memory.db import LIVE_NOTE

LIVE: Final = "live"
ANY: Final = "any"
# What may become of a note, as a condition on its row.
STATES: Final[Mapping[str, LiteralString]] = {
    LIVE: LIVE_NOTE,
    "pinned": f"({LIVE_NOTE} and n.pinned_at is not null)",
    "excluded": "(n.deleted_at is null and n.excluded_at is not null)",
    "ended": "(n.deleted_at is null and n.valid_to <= %(now)s)",
    "replaced": "n.superseded_by is not null",
    "forgotten": "n.deleted_reason = 'forgotten'",
    "redacted": "n.deleted_reason = 'redacted'",
    ANY: "true",
}
# Turns that support such notes are withheld for these reasons.
WITHHELD: Final[Mapping[str, tuple[str, ...]]] = {
    "excluded": ("excluded",),
    "replaced": ("superseded", "corrected"),
    "forgotten": ("forgotten",),
}


@dataclass(frozen=True, slots=True)
class Scope:
    """None: not narrowed. `since` is included, `until` is not; `state` is one of STATES."""

    source: str | None = None
    kind: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    state: str = LIVE

    def narrow_notes(self, query: LiteralString) -> LiteralString:
        """A query over notes with its live-note predicate replaced by this scope's."""
        parts: list[LiteralString] = [STATES[self.state]]
        if self.source or self.kind:
            parts.append(
                "exists (select from raw_items s where s.id = n.raw_id"
                " and (%(scope_source)s::text is null or s.source = %(scope_source)s)"
                " and (%(scope_kind)s::text is null or s.kind = %(scope_kind)s))"
            )
        parts += self._times()
        return query.replace(LIVE_NOTE, f"({' and '.join(parts)})")

    def narrow_turns(self, shown: LiteralString) -> LiteralString:
        """The condition on turns, `shown` included."""
        parts: list[LiteralString] = [shown, *self._times()]
        if self.source:
            parts.append("n.source = %(scope_source)s")
        if self.kind and self.kind != "turn":
            parts.append("false")
        if self.state == LIVE:
            parts.append("not exists (select from withheld_turns w where w.raw_id = n.raw_id)")
        elif self.state != ANY:
            parts.append(
                "exists (select from withheld_turns w"
                " where w.raw_id = n.raw_id and w.reason = any(%(scope_reasons)s))"
            )
        return f"({' and '.join(parts)})"

    def params(self) -> dict[str, Any]:
        return {
            "scope_source": self.source, "scope_kind": self.kind, "scope_since": self.since,
            "scope_until": self.until, "scope_reasons": list(WITHHELD.get(self.state, ())),
        }  # fmt: skip

    def _times(self) -> list[LiteralString]:
        parts: list[LiteralString] = []
        if self.since is not None:
            parts.append("n.said_at >= %(scope_since)s")
        if self.until is not None:
            parts.append("n.said_at < %(scope_until)s")
        return parts
