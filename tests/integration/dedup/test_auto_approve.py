"""The switch that approves what waited: only what nothing contests at that moment, told apart, and taken back."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from argus_cli.review_command import queue_as_text
from argus_memory.db import Database
from argus_memory.errors import Conflict
from argus_memory.settings import Settings
from argus_memory.stages.dedup import dedup_pending
from argus_memory.upkeep import decisions
from argus_memory.upkeep.auto_approve import AutoApproved, auto_approve
from argus_memory.upkeep.proposals import accept_proposal, list_proposals, reject_proposal, undo_auto
from argus_memory.upkeep.receiving import remember
from argus_memory.upkeep.review import ReviewReceipt, approve, list_held, reject, undo
from argus_memory.upkeep.review_queue import mark_looked, read_queue
from argus_memory.upkeep.writing import Writer
from tests.integration.dedup.test_chains import merge
from tests.integration.dedup.test_dedup import NOW, live, near_notes, row, saying
from tests.memory_rows import add_note, at

CLAUDE = Writer("claude", "agent", "mcp", session="s1")
WAIT = timedelta(days=3)
LATER = NOW + WAIT + timedelta(minutes=1)
FACT = "The attic is damp in winter."


@pytest.fixture
def switched(settings: Settings) -> Settings:
    return replace(settings, auto_approve=WAIT)


def held(db: Database, settings: Settings) -> tuple[int, int, int]:
    """A supersede that waits since NOW: (its id, older note, newer note)."""
    older, newer = near_notes(db, "The tank holds 200 l.", "The tank holds 300 l.", confidence=0.8)
    dedup_pending(db, settings, now=NOW, judge=saying("supersede"))
    (waiting,) = list_held(db)
    return waiting.id, older, newer


def proposed(db: Database, settings: Settings, text: str = FACT, now: datetime = NOW) -> int:
    receipt = remember(db, settings, text, CLAUDE, now=now, project="garden")
    assert receipt.outcome == "queued"
    assert receipt.decision_id
    return receipt.decision_id


def events(db: Database, note_id: int) -> list[tuple[str, str, datetime]]:
    rows = db.fetch_all(
        "select event, actor, at from note_events where note_id = %(id)s and event in"
        " ('held', 'approved', 'auto-approved', 'undone', 'superseded') order by id",
        {"id": note_id},
    )
    return [(one["event"], one["actor"], one["at"]) for one in rows]


def proposal(db: Database, id_: int) -> dict[str, object]:
    found = db.fetch_one(
        "select status, note_id, auto_at, decided_by from note_proposals where id = %(id)s", {"id": id_}
    )
    assert found
    return found


# --- what it does ---------------------------------------------------------------------------------------------


def test_it_is_off_unless_set(db: Database, settings: Settings) -> None:
    """Without ARGUS_AUTO_APPROVE nothing is approved, however long it waited."""
    _, *notes = held(db, settings)
    assert auto_approve(db, settings, now=NOW + timedelta(days=3650)) == AutoApproved()
    assert live(db) == notes


def test_what_waited_long_enough_is_let_through(db: Database, settings: Settings, switched: Settings) -> None:
    """Not a minute before; then the merge happens, with its time, its actor and an event of its own."""
    id_, older, newer = held(db, settings)
    assert auto_approve(db, switched, now=NOW + WAIT - timedelta(minutes=1)) == AutoApproved()
    assert auto_approve(db, switched, now=LATER) == AutoApproved(merges=1)
    assert live(db) == [newer]
    assert db.fetch_one("select status, decided_by, auto_at from dedup_log where id = %(id)s", {"id": id_}) == {
        "status": "approved", "decided_by": "auto-approve", "auto_at": LATER,
    }  # fmt: skip
    happened = events(db, older)
    assert ("auto-approved", "auto-approve", LATER) in happened
    assert "approved" not in [event for event, *_ in happened]


def test_a_proposal_is_let_through_as_a_doubtful_note(db: Database, settings: Settings, switched: Settings) -> None:
    """Nobody vouched for it: confidence 0.5, the event names the switch, and no decision of a person is written."""
    id_ = proposed(db, settings)
    assert auto_approve(db, switched, now=LATER) == AutoApproved(proposals=1)
    found = proposal(db, id_)
    assert (found["status"], found["decided_by"], found["auto_at"]) == ("auto-accepted", "auto-approve", LATER)
    note = row(db, found["note_id"])  # type: ignore[arg-type]
    assert (note["content"], note["confidence"]) == (FACT, pytest.approx(0.5))
    assert ("auto-approved", "auto-approve", LATER) in events(db, note["id"])
    assert db.fetch_all("select id from note_decisions") == []


# --- the second look ------------------------------------------------------------------------------------------


def pin(db: Database, older: int, newer: int) -> None:
    decisions.pin(db, older, "kim", now=NOW + timedelta(hours=1))


def confirm_newer(db: Database, older: int, newer: int) -> None:
    decisions.reconfirm(db, newer, "kim", now=NOW + timedelta(hours=1))


def agent_asks(db: Database, older: int, newer: int) -> None:
    decisions.forget(db, older, "claude", now=NOW + timedelta(hours=1), kind="agent")


def disputed_by_another(db: Database, older: int, newer: int) -> None:
    add_note(db, "The tank holds 450 l.", said_at=at(30))


def another_merge_waits(db: Database, older: int, newer: int) -> None:
    third = add_note(db, "The tank stands in the yard.", said_at=at(30))
    with db.transaction() as conn:
        conn.execute(
            "insert into dedup_log (note_id, other_id, verdict, model, status, reasoning, at)"
            " values (%s, %s, 'refine', 'test', 'pending', 'more', %s)",
            (third, newer, LATER - timedelta(days=1)),
        )


def forgotten(db: Database, older: int, newer: int) -> None:
    decisions.forget(db, older, "kim", now=NOW + timedelta(hours=1))


@pytest.mark.parametrize(
    "contest", [pin, confirm_newer, agent_asks, disputed_by_another, another_merge_waits, forgotten]
)
def test_a_contested_merge_stays(
    db: Database, settings: Settings, switched: Settings, contest: Callable[[Database, int, int], None]
) -> None:
    """Pinned, decided on, asked for, disputed, waiting twice or gone by then: it waits on for a person."""
    id_, older, newer = held(db, settings)
    contest(db, older, newer)
    before = live(db)
    assert auto_approve(db, switched, now=LATER) == AutoApproved(contested=1)
    assert live(db) == before
    assert id_ in [merge.id for merge in list_held(db)]


def test_a_proposal_that_disputes_by_now_stays(db: Database, settings: Settings, switched: Settings) -> None:
    """It disputed nothing when it came in, and is kept for a person when it does at that moment."""
    id_ = proposed(db, settings, "The router listens on port 9090.")
    remember(db, settings, "The router listens on port 8080.", Writer("kim"), now=at(60 * 24 * 31), project="garden")
    assert auto_approve(db, switched, now=LATER) == AutoApproved(contested=1)
    assert proposal(db, id_)["status"] == "pending"


def test_a_proposal_of_what_was_forgotten_stays(db: Database, settings: Settings, switched: Settings) -> None:
    """The switch brings nothing back that a person took away while it waited."""
    id_ = proposed(db, settings)
    note = add_note(db, FACT)
    decisions.forget(db, note, "kim", now=NOW + timedelta(hours=1))
    assert auto_approve(db, switched, now=LATER) == AutoApproved(contested=1)
    assert (proposal(db, id_)["status"], live(db)) == ("pending", [])


# --- taking it back -------------------------------------------------------------------------------------------


def test_undo_returns_a_merge_to_the_queue(db: Database, settings: Settings, switched: Settings) -> None:
    """Both notes stand as before, it waits for a person, and the switch leaves it alone from then on."""
    id_, older, newer = held(db, settings)
    before = [row(db, one) for one in (older, newer)]
    auto_approve(db, switched, now=LATER)
    receipt = undo(db, id_, "kim", now=LATER)
    assert (receipt.status, receipt.restored) == ("pending", (older,))
    unchanged = {"deduped_at"}
    for one in before:
        now = row(db, one["id"])
        assert {name: now[name] for name in now if name not in unchanged} == {
            name: one[name] for name in one if name not in unchanged
        }
    assert auto_approve(db, switched, now=LATER + timedelta(days=30)) == AutoApproved()
    (waiting,) = list_held(db)
    assert waiting.auto_at == LATER
    assert approve(db, id_, "kim", now=LATER).status == "approved"
    assert undo(db, id_, "kim", now=LATER).status == "undone"  # a person's own approval was the last word


def test_undo_returns_a_proposal_to_the_queue(db: Database, settings: Settings, switched: Settings) -> None:
    """Its note goes, it waits, the switch leaves it alone, and a person can still accept it."""
    id_ = proposed(db, settings)
    auto_approve(db, switched, now=LATER)
    made = proposal(db, id_)["note_id"]
    undo_auto(db, id_, "kim", now=LATER)
    assert live(db) == []
    assert [each["id"] for each in list_proposals(db)] == [id_]
    assert auto_approve(db, switched, now=LATER + timedelta(days=30)) == AutoApproved()
    assert ("undone", "kim", LATER) in events(db, made)  # type: ignore[arg-type]
    receipt = accept_proposal(db, id_, "kim", now=LATER)
    assert live(db) == [receipt.note_id]
    with pytest.raises(Conflict, match=f"accepted by kim: `argus note forget {receipt.note_id}`"):
        undo_auto(db, id_, "kim", now=LATER)


def test_undo_leaves_a_note_that_stood_before(db: Database, settings: Settings, switched: Settings) -> None:
    """A proposal whose fact was said by a person meanwhile made no note: none goes."""
    id_ = proposed(db, settings)
    stood = add_note(db, FACT)
    auto_approve(db, switched, now=LATER)
    assert proposal(db, id_)["note_id"] == stood
    undo_auto(db, id_, "kim", now=LATER)
    assert live(db) == [stood]


def test_what_was_overtaken_is_not_undone(db: Database, settings: Settings, switched: Settings) -> None:
    """A note that was forgotten, confirmed or given another's place since stays as it is; the sentence says why."""
    id_ = proposed(db, settings)
    auto_approve(db, switched, now=LATER)
    note = proposal(db, id_)["note_id"]
    assert isinstance(note, int)
    older = add_note(db, "Rain comes through the tiles.", said_at=at(1))
    merge(db, note, older, "refine")
    logged = db.fetch_one("select id from dedup_log")
    assert logged
    with pytest.raises(Conflict, match=f"took another's place since: `argus review undo {logged['id']}` first"):
        undo_auto(db, id_, "kim", now=LATER)
    undo(db, logged["id"], "kim", now=LATER)
    decisions.pin(db, note, "kim", now=LATER)
    with pytest.raises(Conflict, match=r"decided on since \(pin\)"):
        undo_auto(db, id_, "kim", now=LATER)
    decisions.unpin(db, note, "kim", now=LATER)
    decisions.forget(db, note, "kim", now=LATER)
    with pytest.raises(Conflict, match="was forgotten since, there is nothing left to undo"):
        undo_auto(db, id_, "kim", now=LATER)
    assert live(db) == [older]


# --- who looked -----------------------------------------------------------------------------------------------


def test_what_the_switch_did_is_counted_apart(db: Database, settings: Settings, switched: Settings) -> None:
    """Since a person last looked: what is new, and apart from it what was approved by itself; looking resets both."""
    first = read_queue(db).since
    assert (first.looked_at, first.auto_approved) == (None, 0)
    mark_looked(db, now=NOW - timedelta(minutes=1))
    id_, *_ = held(db, settings)
    fresh = proposed(db, settings, now=LATER)
    auto_approve(db, switched, now=LATER)
    queue = read_queue(db)
    assert (queue.since.new_merges, queue.since.new_proposals, queue.since.auto_approved) == (0, 1, 1)
    assert [(each["what"], each["id"], each["auto_at"]) for each in queue.since.auto] == [("merge", id_, LATER)]
    text = queue_as_text(queue)
    assert f"p{fresh}  claude proposes" in text
    assert "approved by itself meanwhile: 1" in text
    assert f"`argus review undo {id_}`" in text
    mark_looked(db, now=LATER + timedelta(minutes=1))
    after = read_queue(db).since
    assert (after.looked_at, after.auto_approved, after.new_proposals) == (LATER + timedelta(minutes=1), 0, 0)


def test_the_queue_names_what_is_disputed(db: Database, settings: Settings) -> None:
    """Merges and proposals name the note they dispute with its words, and say when it is gone."""
    id_, older, newer = held(db, settings)
    agents = proposed(db, settings, "The tank holds 999 l.")
    queue = read_queue(db)
    assert (queue.held[0].other_id, queue.held[0].other_gone) == (older, None)
    assert queue.proposals[0]["disputes"] in (older, newer)
    text = queue_as_text(queue)
    assert f"disputes note {older}  2026-03-02 (confidence 0.80)  The tank holds 200 l." in text
    for note in (older, newer):
        decisions.forget(db, note, "kim", now=LATER)
    queue = read_queue(db)
    assert (queue.held[0].note_gone, queue.held[0].other_gone) == ("forgotten", "forgotten")
    assert queue.proposals[0]["disputed_gone"] == "forgotten"
    text = queue_as_text(queue)
    assert f"note {older} was forgotten meanwhile: reject this" in text
    assert "(forgotten meanwhile)" in text
    with pytest.raises(Conflict, match="reject the merge"):
        approve(db, id_, "kim", now=LATER)
    assert reject(db, id_, "kim", now=LATER).status == "rejected"
    reject_proposal(db, agents, "kim", now=LATER)
    assert "pending=0" in queue_as_text(read_queue(db))


# --- bad input ------------------------------------------------------------------------------------------------


def test_two_people_approve_the_same_at_once(db: Database, settings: Settings) -> None:
    """One of them does; the other is told who was first, and the merge happened once."""
    id_, older, newer = held(db, settings)
    start, done, refused = threading.Barrier(2), list[ReviewReceipt](), list[Conflict]()

    def decide(name: str) -> None:
        start.wait(timeout=10)
        try:
            done.append(approve(db, id_, name, now=LATER))
        except Conflict as conflict:
            refused.append(conflict)

    people = [threading.Thread(target=decide, args=(name,)) for name in ("kim", "robin")]
    for person in people:
        person.start()
    for person in people:
        person.join(timeout=30)
    assert (len(done), len(refused)) == (1, 1)
    assert f"cannot approve merge {id_}: it was approved by" in str(refused[0])
    assert live(db) == [newer]
    assert [event for event, *_ in events(db, older)].count("approved") == 1


def test_the_switch_and_a_person_do_not_both_decide(db: Database, settings: Settings, switched: Settings) -> None:
    """What a person rejected is not approved by the switch, and a person cannot approve what it approved."""
    id_, *notes = held(db, settings)
    reject(db, id_, "kim", now=NOW)
    assert auto_approve(db, switched, now=LATER) == AutoApproved()
    assert live(db) == notes
    undo(db, id_, "kim", now=NOW)
    auto_approve(db, switched, now=LATER)
    with pytest.raises(Conflict, match="it was approved by auto-approve"):
        approve(db, id_, "kim", now=LATER)
