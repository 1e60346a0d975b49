"""What can happen to a memory, each as one step of a World."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta

from argus_memory.rules.decided import ActorKind
from argus_memory.stages.dedup import dedup_pending
from argus_memory.stages.distill import distill_pending
from argus_memory.upkeep import review
from argus_memory.upkeep.arrivals import Arrival, forget_arrival, restore_arrival
from argus_memory.upkeep.auto_approve import auto_approve
from argus_memory.upkeep.decisions import VERBS, decide
from argus_memory.upkeep.held import approve_decision, reject_decision
from argus_memory.upkeep.proposals import accept_proposal, reject_proposal, undo_auto
from argus_memory.upkeep.receiving import correct, remember
from argus_memory.upkeep.redacting import redact
from argus_memory.upkeep.regenerate_read import Days
from argus_memory.upkeep.regeneration import accept, dismiss, regenerate
from argus_memory.upkeep.writing import Writer
from tests.distill_rows import add_episode
from tests.integration.trust.world import DAYS, FACTS, MINUTES, World, fact_of
from tests.memory_rows import at


def capture(world: World) -> None:
    """An episode of one turn with some facts, in any of their wordings; what was said before may be said again."""
    world.sessions += 1
    facts = world.chance.sample(range(len(FACTS)), world.chance.randint(1, 4))
    text = "\n".join(world.chance.choice(FACTS[number]) for number in facts)
    if world.chance.random() < 0.1:
        text += f"\nThe code word is zx{world.sessions}qk today."
    start = MINUTES * world.chance.randrange(DAYS) + world.sessions % 600
    dies, world.db.dies_at = world.db.dies_at, None  # a row of the test's own making
    project = world.chance.choice(("garden", "shop"))
    _, raw_ids = add_episode(world.db, [("user", text)], start=start, session=f"w{world.sessions}", project=project)
    world.raw[raw_ids[0]] = text
    world.db.dies_at = dies


def distill(world: World) -> None:
    """As a run does, by extraction."""
    distill_pending(world.db, world.settings, now=world.tick())


def make_anew(world: World) -> None:
    """A day by a model that rewords, drops or invents; switched, only shown, or held and then decided."""
    world.stub.mood = world.chance.choice(("plain", "reword", "reword", "drop", "invent"))
    day = at(MINUTES * world.chance.randrange(DAYS)).date()
    mode = world.chance.choice(("switch", "switch", "dry-run", "reconcile"))
    done = regenerate(
        world.db, world.settings, Days(day, day), actor="walk", mode=mode, clock=lambda: world.now, maker=world.stub  # type: ignore[arg-type]
    )
    if done.status in ("held", "shown") and world.chance.random() < 0.5:
        if world.chance.random() < 0.7:
            accept(world.db, world.settings, done.id, "kim", clock=lambda: world.now)
        else:
            dismiss(world.db, done.id, "kim", now=world.now)


def dedup(world: World) -> None:
    with world.db.transaction() as conn:
        conn.execute("select 1")
    dedup_pending(world.db, world.settings, now=world.tick(), judge=world.judge)


def decide_any(world: World) -> None:
    """A person, or an agent, decides of any note."""
    note = world.any_note()
    if note is None:
        return
    verb = world.chance.choice((*VERBS, "forget", "forget"))
    kind: ActorKind = world.chance.choice(("person", "person", "agent"))
    receipt = decide(world.db, verb, note["id"], kind, now=world.tick(), kind=kind)
    if receipt.outcome == "changed" and (kind == "person" or verb != "forget"):
        _take(world, note, verb)  # what an agent may not touch stays, and says the same


def _take(world: World, note: dict[str, object], verb: str) -> None:
    """What a decision that took effect means for the fact."""
    number = fact_of(str(note["content"]))
    if number is None:
        return
    key = (number, note["project"])
    if verb == "forget":
        world.gone.add(key)  # type: ignore[arg-type]
    elif verb in ("restore", "include"):
        # What lets exactly this text back in is told apart from its rewordings by the house: the fact is free again.
        world.gone -= {each for each in world.gone if each[0] == number}


def review_any(world: World) -> None:
    """Approve, reject or undo whatever waits or was done."""
    rows = world.db.fetch_all("select id from dedup_log where verdict <> 'distinct' order by id")
    if rows:
        do = world.chance.choice((review.approve, review.reject, review.undo))
        do(world.db, world.chance.choice(rows)["id"], "kim", now=world.tick())


def settle_held(world: World) -> None:
    """What agents asked for and proposed."""
    held = world.db.fetch_all("select * from note_decisions where status = 'held' order by id")
    if held and world.chance.random() < 0.6:
        one = world.chance.choice(held)
        if world.chance.random() < 0.5:
            reject_decision(world.db, one["id"], "kim", now=world.tick())
            return
        approve_decision(world.db, one["id"], "kim", now=world.tick())
        if one["decision"] == "correct" and one["new_text"]:
            _take(world, {"content": one["new_text"], "project": one["project"]}, "restore")
            _take(world, dict(one), "forget")
        else:
            _take(world, dict(one), one["decision"])
        return
    waiting = world.db.fetch_all("select id, content, project from note_proposals where status <> 'rejected' order by id")
    if waiting:
        one = world.chance.choice(waiting)
        do = world.chance.choice((accept_proposal, reject_proposal, undo_auto))
        receipt = do(world.db, one["id"], "kim", now=world.tick())
        if do is accept_proposal:
            _take(world, dict(one), "restore")
        elif do is reject_proposal and receipt.decision_id:
            _take(world, dict(one), "forget")


def write(world: World) -> None:
    """Remember or correct, as a person or an agent."""
    text = world.chance.choice(world.chance.choice(FACTS))
    kind: ActorKind = world.chance.choice(("person", "agent"))
    writer = Writer("kim" if kind == "person" else "codex", kind, source="cli" if kind == "person" else "mcp")
    if world.chance.random() < 0.5:
        project = world.chance.choice(("garden", "shop"))
        receipt = remember(world.db, world.settings, text, writer, now=world.tick(), project=project)
        if receipt.outcome in ("created", "reinforced") and kind == "person":
            _take(world, {"content": text, "project": project}, "restore")
        return
    note = world.any_note()
    if note is None:
        return
    receipt = correct(world.db, world.settings, note["id"], text, writer, now=world.tick())
    if receipt.outcome == "changed":
        if kind == "person":
            _take(world, note, "forget")
        _take(world, {"content": text, "project": note["project"]}, "restore")


def arrive(world: World) -> None:
    """A whole session is forgotten, or one that was is brought back."""
    rows = world.db.fetch_all("select id from forgotten_arrivals where restored_at is null order by id")
    if rows and world.chance.random() < 0.5:
        one = world.chance.choice(rows)["id"]
        notes = world.db.fetch_all(
            "select content, project from note_decisions where arrival = %(id)s::text", {"id": one}
        )
        restore_arrival(world.db, one, "kim", now=world.tick())
        for note in notes:
            _take(world, dict(note), "restore")
        return
    session = f"w{world.chance.randint(1, max(1, world.sessions))}"
    live = world.db.fetch_all(
        "select n.content, n.project from distilled_notes n join raw_items r on r.id = n.raw_id"
        " where r.session = %(s)s and n.deleted_at is null", {"s": session},
    )  # fmt: skip
    forget_arrival(world.db, Arrival(session=session), "kim", now=world.tick())
    for note in live:
        _take(world, dict(note), "forget")


def take_out(world: World) -> None:
    """A code word is redacted wherever it stands; without one, nothing is."""
    row = world.db.fetch_one("select id, body from raw_items where body ~ 'zx[0-9]+qk' order by random() limit 1")
    if row is None:
        return
    word = next(part for part in row["body"].split() if part.startswith("zx"))
    redact(world.db, raw_id=row["id"], text=word, reason="test", actor="kim", now=world.tick())
    world.redacted.append(word)
    world.raw = {id_: body.replace(word, "[redacted:request]") for id_, body in world.raw.items()}


def let_through(world: World) -> None:
    """The switch approves what waited."""
    from dataclasses import replace

    waiting = world.db.fetch_all("select content, project from note_proposals where status = 'pending'")
    settings = replace(world.settings, auto_approve=timedelta(minutes=30))
    done = auto_approve(world.db, settings, now=world.tick())
    if done.proposals:
        for one in waiting:
            number = fact_of(one["content"])
            assert number is None or (number, one["project"]) not in world.gone or not _made(world, one)


def _made(world: World, one: Mapping[str, object]) -> bool:
    row = world.db.fetch_one(
        "select status from note_proposals where content = %(content)s and project is not distinct from %(project)s"
        " order by id desc limit 1", one,  # type: ignore[arg-type]
    )  # fmt: skip
    return row is not None and row["status"] == "auto-accepted"


STEPS: tuple[tuple[Callable[[World], None], int], ...] = (
    (capture, 6), (distill, 5), (make_anew, 6), (dedup, 5), (decide_any, 10), (review_any, 5), (settle_held, 4),
    (write, 6), (arrive, 2), (take_out, 1), (let_through, 1),
)  # fmt: skip
