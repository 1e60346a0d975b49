"""The same raw items give the same episodes, whatever the order and the moments in which they arrive."""

from __future__ import annotations

import random
from datetime import timedelta
from typing import Any

import pytest

from argus_memory.db import Database
from argus_memory.settings import Settings
from argus_memory.stages.segment import find_due, segment_pending
from tests.memory_rows import add_space, add_turn, at

FAR = at(60 * 24 * 365)


def conversation(rng: random.Random, source: str) -> list[dict[str, Any]]:
    """Up to 70 turns in the order said: pauses around the gap, answers in pieces, prompts typed meanwhile."""
    turns: list[dict[str, Any]] = []
    minute = 0.0
    for number in range(rng.randint(5, 35)):
        minute += rng.choice([1, 1, 1, 2, 5, 29, 31, 90])
        turns.append({"role": "user", "minute": minute})
        for piece in range(rng.randint(0, 3)):
            minute += rng.choice([0.1, 0.1, 1, 20, 31])
            message_id = f"m{number}" if source == "claude-code" else None
            turns.append({"role": "assistant", "minute": minute, "message_id": message_id})
            if piece == 1 and rng.random() < 0.2:
                turns.append({"role": "user", "minute": minute + 0.05})
                minute += 0.1
    turns.sort(key=lambda turn: turn["minute"])
    for position, turn in enumerate(turns):
        turn["name"] = f"turn {position}"
        turn["position"] = position
    return turns


def arrive(db: Database, turns: list[dict[str, Any]], session: str, source: str) -> None:
    for turn in turns:
        add_turn(
            db,
            turn["name"],
            at(turn["minute"]),
            role=turn["role"],
            session=session,
            source=source,
            message_id=turn.get("message_id"),
            position=turn["position"],
        )


def spans(db: Database, session: str) -> list[list[str]]:
    """The session's live episodes as lists of the turns' names."""
    rows = db.fetch_all(
        """select array_agg(r.body order by t.ordinal) as names
           from episodes e join turns t on t.episode_id = e.id join raw_items r on r.id = t.raw_id
           where e.session = %(session)s and e.replaced_at is null
           group by e.id order by e.started_at, min(t.position)""",
        {"session": session},
    )
    return [row["names"] for row in rows]


@pytest.mark.parametrize("source", ["claude-code", "codex"])
@pytest.mark.parametrize("vectors", [False, True])
def test_arrival_does_not_matter(db: Database, settings: Settings, source: str, vectors: bool) -> None:
    """Random batches in random order, with passes at random moments between, end as one pass over all at once."""
    rng = random.Random(f"{source} {vectors}")
    if vectors:
        give_vectors(db)
    for case in range(12):
        turns = conversation(rng, source)
        arrive(db, turns, f"{case} at once", source)
        segment_pending(db, settings, now=FAR)
        expected = spans(db, f"{case} at once")
        assert [name for span in expected for name in span] == [turn["name"] for turn in turns]
        shuffled = turns[:]
        if case % 3:
            rng.shuffle(shuffled)
        while shuffled:
            size = rng.randint(1, 12)
            batch, shuffled = shuffled[:size], shuffled[size:]
            arrive(db, batch, f"{case} by and by", source)
            now = at(max(turn["minute"] for turn in batch)) + timedelta(minutes=rng.choice([0, 5, 40, 4000]))
            segment_pending(db, settings, now=now)
        segment_pending(db, settings, now=FAR)
        assert spans(db, f"{case} by and by") == expected
        assert find_due(db, settings, FAR) == []


def give_vectors(db: Database) -> None:
    """From now on every turn has its vector at once, made of its name, so that two sessions have the same ones."""
    space = add_space(db, topic_shift=0.5)
    with db.transaction() as conn:
        conn.execute(
            f"""create function planted_vector() returns trigger language plpgsql as $$
            begin
                insert into turn_vectors (space_id, raw_id, dim, embedding)
                select {space}, new.raw_id, 2,
                       case when hashtext(r.body) %% 3 = 0 then '[1,0]'::vector else '[0,1]'::vector end
                from raw_items r where r.id = new.raw_id;
                delete from embed_queue where target_id = new.raw_id;
                return null;
            end $$;
            create trigger planted_vector after insert on turns
                for each row execute function planted_vector()""".replace("%%", "%")
        )
        # The queue is filled after the turns: without vectors missing nothing waits.
        conn.execute("create rule no_queue as on insert to embed_queue do instead nothing")
