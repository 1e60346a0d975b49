"""Impact: injections and the answers that followed them → `injection_uses`, one row a note that was shown.

The answer is what the assistant said in that session after the injection and before the person's next turn. It is
looked at once it is whole: when another turn of the person follows, or when nothing was added for some minutes. An
injection whose session never answers is written down as that. Being recalled or used never changes a note.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from argus_memory.db import Connection, Database, queries
from argus_memory.rules.impact import ANSWER_CHARS, use_score, was_used
from argus_memory.stages.passes import stage_pass

A_PASS: Final = 200  # injections
WHOLE_AFTER: Final = timedelta(minutes=5)  # of silence
GIVEN_UP: Final = timedelta(days=2)  # without any answer
LOOKED_BACK: Final = timedelta(days=7)
CLOCKS: Final = timedelta(seconds=10)  # by which a turn's own clock may lie before the injection's
TURNS: Final = 80  # after an injection that are read


@dataclass(frozen=True, slots=True)
class ImpactReport:
    """Counts of one pass: injections scored, given up, still waiting; notes judged, and used among them."""

    scored: int = 0
    no_answer: int = 0
    waiting: int = 0
    judged: int = 0
    used: int = 0
    more: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """`ids`: raw items of its turns; `prompt`: the person's turn before it, "" where it was not captured."""

    text: str
    ids: tuple[int, ...]
    prompt: str


def check_impact(
    db: Database, *, now: datetime, limit: int = A_PASS, run_id: str | None = None
) -> ImpactReport:
    """One pass over at most `limit` injections; each is one transaction."""
    counts = {"scored": 0, "no_answer": 0, "waiting": 0, "judged": 0, "used": 0}
    with stage_pass(db, "impact", run_id=run_id) as trace:
        span = {"since": now - LOOKED_BACK, "until": now - CLOCKS, "limit": limit}
        rows = db.fetch_all(queries("impact").unchecked, span)
        for row in rows:
            with db.transaction() as conn:
                for name, count in _check(conn, row, now).items():
                    counts[name] += count
        done = counts["scored"] + counts["no_answer"]
        report = ImpactReport(**counts, more=len(rows) == limit and done > 0)
        trace.counts.update(asdict(report))
    return report


def find_answer(turns: Sequence[Mapping[str, Any]], *, shown_at: datetime, now: datetime) -> Answer | None:
    """The first answer after an injection, among a session's turns from CLOCKS before it on, in order; None while
    there is none, or it may go on."""
    prompt, spoken = "", []
    for turn in turns[_begin(turns, shown_at) :]:
        if turn["role"] == "assistant":
            spoken.append(turn)
        elif spoken:
            break
        else:
            prompt = turn["body"]
    else:
        if not spoken or spoken[-1]["said_at"] > now - WHOLE_AFTER:
            return None
    text = "\n".join(turn["body"] for turn in spoken)
    return Answer(text, tuple(turn["raw_id"] for turn in spoken), prompt)


def _begin(turns: Sequence[Mapping[str, Any]], shown_at: datetime) -> int:
    """The index of the prompt that was recalled for: the person's turn nearest to the injection, whatever the two
    clocks say. Without one within CLOCKS, as at the start of a session, that of the first turn said after it.

    What the assistant said just before somebody typed on belongs to the prompt before.
    """
    away = {
        index: abs(turn["said_at"] - shown_at)
        for index, turn in enumerate(turns)
        if turn["role"] != "assistant" and abs(turn["said_at"] - shown_at) <= CLOCKS
    }
    if away:
        return min(away, key=lambda index: away[index])
    return next((index for index, turn in enumerate(turns) if turn["said_at"] >= shown_at), len(turns))


def _check(conn: Connection, row: Mapping[str, Any], now: datetime) -> dict[str, int]:
    q = queries("impact")
    params = {"session": row["session"], "at": row["at"] - CLOCKS, "limit": TURNS, "chars": ANSWER_CHARS}
    answer = find_answer(conn.execute(q.turns_after, params).fetchall(), shown_at=row["at"], now=now)
    check = {"injection_id": row["id"], "now": now}
    if answer is None:
        if row["at"] > now - GIVEN_UP:
            return {"waiting": 1}
        conn.execute(q.insert_check, {**check, "outcome": "no-answer", "answer_ids": []})
        return {"no_answer": 1}
    ids = list(answer.ids)
    if conn.execute(q.insert_check, {**check, "outcome": "scored", "answer_ids": ids}).fetchone() is None:
        return {}
    notes = conn.execute(q.note_texts, {"ids": row["note_ids"]}).fetchall()
    used = 0
    for note in notes:
        score = use_score(note["content"], row["query"] or answer.prompt, answer.text)
        used += was_used(score)
        use = {"note_id": note["id"], "used": was_used(score), "score": score, "turn_raw_id": ids[-1]}
        conn.execute(q.insert_use, {**check, **use})
    return {"scored": 1, "judged": len(notes), "used": used}
