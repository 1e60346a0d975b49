"""Distillation asks for what was decided: facts taken away come to no note, and their turns are withheld again."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from argus_memory.db import Connection
from argus_memory.records import Unit
from argus_memory.rules.decided import PAST, Asked, Fate
from argus_memory.rules.gate import Accepted, Rejected
from argus_memory.rules.uid import text_key
from argus_memory.stages.decided import find_fates, find_forgotten_items, withhold

DECIDED = "decided"  # the rejection's reason


def ask_decisions(
    conn: Connection, unit: Unit, survivors: Mapping[str, Accepted], *, now: datetime
) -> tuple[dict[str, Accepted], dict[str, Fate], list[Rejected]]:
    """(what may become notes by uid, what was decided of each, what may not and why). Turns that say a forgotten
    fact again are withheld from recall."""
    if not survivors:
        return {}, {}, []
    facts = [
        Asked(uid, text_key(verdict.candidate.content), verdict.candidate.content, unit.project)
        for uid, verdict in survivors.items()
    ]
    fates = dict(zip(survivors, find_fates(conn, facts), strict=True))
    gone = find_forgotten_items(conn, [verdict.span.turn.raw_id for verdict in survivors.values()])
    let_in: dict[str, Accepted] = {}
    rejected: list[Rejected] = []
    for uid, verdict in survivors.items():
        out, raw_id = fates[uid].out, verdict.span.turn.raw_id
        if out is not None:
            rejected.append(Rejected(verdict.candidate, DECIDED, out.sentence))
            withhold(conn, [raw_id], out, PAST[out.decision], now=now)
        elif raw_id in gone:
            rejected.append(Rejected(verdict.candidate, DECIDED, "its arrival was forgotten as a whole"))
        else:
            let_in[uid] = verdict
    return let_in, fates, rejected
