"""One door to every review, whatever its kind: approve, reject, undo. For faces that show all kinds in one list."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Final, Literal

from argus_memory.db import Database
from argus_memory.errors import Conflict, NotFound
from argus_memory.settings import Settings
from argus_memory.upkeep import review
from argus_memory.upkeep.held import approve_decision, reject_decision
from argus_memory.upkeep.proposals import accept_proposal, reject_proposal, undo_auto
from argus_memory.upkeep.regeneration import accept, dismiss

Kind = Literal["merges", "decisions", "proposals", "regenerations"]
Verb = Literal["approve", "reject", "undo"]
KINDS: Final[tuple[Kind, ...]] = ("merges", "decisions", "proposals", "regenerations")
VERBS: Final[tuple[Verb, ...]] = ("approve", "reject", "undo")


def settle(
    db: Database, settings: Settings, kind: str, id_: int, verb: str, actor: str, *, now: datetime
) -> str:
    """What happened, in a sentence. Raises NotFound for what there is not, Conflict for what waits no more."""
    deeds = _deeds(db, settings, id_, actor, now).get(kind)
    if deeds is None:
        raise NotFound(f"there is no kind of review called {kind[:40]!r}: they are {', '.join(KINDS)}")
    if verb not in VERBS:
        raise NotFound(f"a review cannot be told to {verb[:40]!r}: {', '.join(VERBS)}")
    if verb not in deeds:
        raise Conflict(
            "a decision is taken back on the note's page, by its opposite"
            if kind == "decisions"
            else "what a regeneration switched is made anew by another one"
        )
    return deeds[verb]()


def _deeds(
    db: Database, settings: Settings, id_: int, actor: str, now: datetime
) -> Mapping[str, Mapping[str, Callable[[], str]]]:
    def merge(decide: Callable[..., review.ReviewReceipt]) -> Callable[[], str]:
        return lambda: _of_merge(decide(db, id_, actor, now=now))

    def approve_one() -> str:
        done = approve_decision(db, id_, actor, now=now)
        return f"Approved: {done.detail or f'decision {done.decision_id} is in force'}."

    def reject_one() -> str:
        reject_decision(db, id_, actor, now=now)
        return "Rejected: the note stays as it is."

    def make() -> str:
        return f"Approved: it is note {accept_proposal(db, id_, actor, now=now).note_id}."

    def turn_down() -> str:
        reject_proposal(db, id_, actor, now=now)
        return "Rejected: it does not come back by itself."

    def wait_again() -> str:
        undo_auto(db, id_, actor, now=now)
        return "Taken back: it waits again."

    def switch() -> str:
        done = accept(db, settings, id_, actor, clock=lambda: now)
        return f"Switched: regeneration {done.id} stands."

    def leave() -> str:
        dismiss(db, id_, actor, now=now)
        return "Dismissed: the old notes stand."

    return {
        "merges": {verb: merge(getattr(review, verb)) for verb in VERBS},
        "decisions": {"approve": approve_one, "reject": reject_one},
        "proposals": {"approve": make, "reject": turn_down, "undo": wait_again},
        "regenerations": {"approve": switch, "reject": leave},
    }


def _of_merge(done: review.ReviewReceipt) -> str:
    if done.status == "approved":
        gone = ", ".join(map(str, done.tombstoned))
        return f"Approved{f': note {gone} is gone, and can be brought back here' if gone else ''}."
    if done.status == "rejected":
        return "Rejected: both notes stand."
    back = ", ".join(map(str, done.restored))
    waits = " It waits again." if done.status == "pending" else ""
    return f"Taken back{f': note {back} is back' if back else ''}.{waits}"
