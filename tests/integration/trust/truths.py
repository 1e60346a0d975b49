"""What must be true of a World's memory at any moment."""

from __future__ import annotations

from typing import Any

from argus_memory.rules.decided import Asked
from argus_memory.stages.decided import find_fates
from tests.integration.trust.world import World, fact_of

_FINAL = {"overtaken", "undone", "rejected"}


def check(world: World, *, whole: bool = False) -> None:
    """Every truth; `whole`: also that redacted words are nowhere, which looks at each column of the database."""
    no_decision_is_lost(world)
    nothing_removed_is_back(world)
    raw_items_stand(world)
    notes_are_grounded(world)
    history_explains_the_notes(world)
    turns_are_withheld_for_what_was_taken_away(world)
    pinned_notes_went_by_a_person(world)
    if whole:
        redacted_words_are_nowhere(world)


def no_decision_is_lost(world: World) -> None:
    """Each row that was there is there, says the same, and one that ended stays ended."""
    rows = world.db.fetch_all("select id, decision, uid, status, actor_kind from note_decisions order by id")
    now = {row["id"]: (row["decision"], row["uid"], row["status"]) for row in rows}
    for id_, (decision, uid, status) in world.decisions.items():
        assert id_ in now, f"decision {id_} is gone"
        # A redaction changes the words of a decision and so its uid; it never changes what was decided.
        assert now[id_][0] == decision
        assert status not in _FINAL or now[id_][2] == status, f"decision {id_}: {status} became {now[id_][2]}"
        assert uid == now[id_][1] or world.redacted
    world.decisions = now


def nothing_removed_is_back(world: World) -> None:
    """No live note states what is out by the house's own rule, nor a fact that the model knows to be gone."""
    live = world.live()
    asked = [Asked(note["uid"], note["text_key"], note["content"], note["project"]) for note in live]
    with world.db.transaction() as conn:
        fates = find_fates(conn, asked)
    for note, fate in zip(live, fates, strict=True):
        if "[redacted" in note["content"]:
            continue  # two facts without their words look like one
        # What an agent decided binds what is made later; a note that it may not touch stays until a person decides.
        assert fate.out is None or _by_agent(world, fate.out.id), f"{fate.out}: {_story(world, note)}"
        number = fact_of(note["content"])
        assert (number, note["project"]) not in world.gone, _story(world, note)


def _story(world: World, note: dict[str, Any]) -> str:
    """What was decided of the fact, and what happened to the note that is back."""
    decisions = world.db.fetch_all("select id, decision, status, actor_kind, note_id, content, project, reason, arrival, uid from note_decisions order by id")
    about = [tuple(row.values()) for row in decisions if fact_of(row["content"]) == fact_of(note["content"])]
    events = world.db.fetch_all(
        "select event, actor, detail from note_events where note_id = %(id)s and event <> 'shown' order by id", note
    )
    told = [(row["event"], row["actor"], row["detail"]) for row in events]
    return f"note {note['id']} {note['content']!r} of {note['project']} is back: {about}; {told}"


def _by_agent(world: World, decision: int) -> bool:
    row = world.db.fetch_one("select actor_kind from note_decisions where id = %(id)s", {"id": decision})
    return row == {"actor_kind": "agent"}


def raw_items_stand(world: World) -> None:
    """Every raw item that the walk captured holds the words it was captured with, redactions apart."""
    rows = world.db.fetch_all("select id, body from raw_items where session like 'w%%'", {})
    assert {row["id"]: row["body"] for row in rows} == world.raw


def notes_are_grounded(world: World) -> None:
    """Each live note's quotation stands in its raw item."""
    rows = world.db.fetch_all(
        "select n.id, n.source_ref from distilled_notes n join raw_items r on r.id = n.raw_id"
        " where n.deleted_at is null and position(n.source_ref in r.body) = 0"
    )
    assert rows == []


def history_explains_the_notes(world: World) -> None:
    """Replaying a note's events gives its present standing, its pins and its confidence."""
    events: dict[int, list[dict[str, Any]]] = {}
    for row in world.db.fetch_all("select * from note_events where event <> 'shown' order by id"):
        events.setdefault(row["note_id"], []).append(row)
    for note in world.db.fetch_all("select * from distilled_notes"):
        told = events[note["id"]]
        assert told[0]["event"] == "created"
        reason, pinned, excluded, sure = None, None, None, None
        for one in told:
            detail = one["detail"]
            reason = detail.get("reason", None if "was" in detail else reason)
            pinned = {"pinned": True, "unpinned": False}.get(one["event"], pinned)
            excluded = {"excluded": True, "included": False}.get(one["event"], excluded)
            if one["event"] in ("reinforced", "weakened"):
                sure = detail["after"]
        assert reason == note["deleted_reason"], (note["id"], told)
        for said, column in ((pinned, "pinned_at"), (excluded, "excluded_at")):
            assert said is None or said == (note[column] is not None), (note["id"], column)
        assert sure is None or abs(sure - note["confidence"]) < 1e-5, note["id"]


def turns_are_withheld_for_what_was_taken_away(world: World) -> None:
    """Every item that a taken-away note stands for; and besides those only items that say the same again."""
    expected = world.db.fetch_all(
        "select distinct i as raw_id, n.id as note_id from distilled_notes n, argus_items_of(n.id) i"
        " where argus_withheld_for(n) is not null"
    )
    found = world.db.fetch_all(
        "select w.raw_id, w.note_id, n.content, r.body, argus_withheld_for(n) is not null as away"
        " from withheld_turns w join distilled_notes n on n.id = w.note_id join raw_items r on r.id = w.raw_id"
    )
    pairs = {(row["raw_id"], row["note_id"]) for row in found}
    due = {(row["raw_id"], row["note_id"]) for row in expected}
    assert due <= pairs, due - pairs
    for row in found:
        if (row["raw_id"], row["note_id"]) not in due:
            said = {fact_of(line) for line in row["body"].splitlines()}
            assert row["away"], _story(world, {**row, "id": row["note_id"], "project": row["raw_id"]})
            assert fact_of(row["content"]) in said, row


def pinned_notes_went_by_a_person(world: World) -> None:
    """A note that is pinned was taken away by nobody, or by somebody who is not the machine."""
    rows = world.db.fetch_all(
        "select n.id, n.deleted_reason, e.actor from distilled_notes n join lateral ("
        " select actor from note_events e where e.note_id = n.id and e.detail ? 'reason' order by e.id desc limit 1"
        ") e on true where n.pinned_at is not null and n.deleted_at is not null and e.actor in ('argus', 'auto-approve')"
    )
    assert [row for row in rows if row["deleted_reason"] not in ("forgotten", "rejected", "corrected")] == []


def redacted_words_are_nowhere(world: World) -> None:
    """In no text or JSON column of any table."""
    columns = world.db.fetch_all(
        "select c.table_name as t, c.column_name as c from information_schema.columns c"
        " join information_schema.tables t on t.table_schema = c.table_schema and t.table_name = c.table_name"
        " where c.table_schema = 'public' and t.table_type = 'BASE TABLE'"
        " and c.data_type in ('text', 'jsonb', 'ARRAY', 'tsvector')"
    )
    for word in world.redacted:
        for one in columns:
            row = world.db.fetch_one(
                f"select count(*)::int as n from {one['t']} where {one['c']}::text like %(word)s",
                {"word": f"%{word}%"},
            )
            assert row == {"n": 0}, (word, one)
