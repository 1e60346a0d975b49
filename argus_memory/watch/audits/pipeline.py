"""Does the pipeline do its part: do turns arrive, is what is distilled grounded, does anything wait for too long?"""

from __future__ import annotations

from datetime import timedelta

from argus_memory.db import queries
from argus_memory.rules.grounding import find_in_text
from argus_memory.stages.spaces import EMBED_ATTEMPTS
from argus_memory.watch.audits.questions import SHOWN, Asked, Audit, Finding, find
from argus_memory.watch.triggers import REQUIRED_TRIGGERS

UNEMBEDDED_AFTER = timedelta(minutes=60)  # a full queue of 20,000 turns takes half of it on two cores
LATE_AFTER = timedelta(hours=2)  # a unit that an hourly budget or a short outage holds up is not late yet
SILENT_AFTER = timedelta(hours=24)
STAGE_IDLE_AFTER = timedelta(minutes=30)  # sixty ticks of the sensor
PROMPT_PATIENCE = timedelta(hours=1)  # from a prompt that recall saw to a turn of its session
STAGES = ["segment", "distill", "embed", "dedup"]


def _ask_grounding(asked: Asked) -> Finding:
    """SQL sorts out the quotations that stand in their source letter by letter, the gate's rule judges the rest."""
    wrong: list[str] = []
    with asked.db.transaction() as conn, conn.cursor("suspect_notes") as cursor:
        cursor.execute(queries("audits").suspect_notes, {"now": asked.now})
        wrong = [row["id"] for row in cursor if find_in_text(row["source_ref"], row["body"]) is None]
    if not wrong:
        return Finding("ok")
    return Finding("failed", tuple(wrong[:SHOWN]), len(wrong), "the quotation is not in the raw item")


def _ask_captures(asked: Asked) -> Finding:
    row = asked.db.fetch_one(queries("audits").anything_captured)
    if row is None or not row["ever"]:
        return Finding("unknown", detail="nothing was ever captured, and no hook has reported yet")
    return find(queries("audits").silent_hosts, age=SILENT_AFTER)(asked)


def _ask_triggers(asked: Asked) -> Finding:
    there = {row["id"] for row in asked.db.fetch_all(queries("audits").triggers)}
    missing = sorted(REQUIRED_TRIGGERS - there)
    if not missing:
        return Finding("ok")
    return Finding("failed", tuple(missing), len(missing), "missing or switched off; run the migrations' statements")


def pipeline_audits() -> tuple[Audit, ...]:
    q = queries("audits")
    return (
        Audit("captures_arriving", "raw_items",
              "Do turns arrive from every machine whose hooks report?", "error", _ask_captures,
              "select * from hook_heartbeats order by at desc"),
        Audit("triggers_present", "raw_items",
              "Are all triggers in place that refuse changes and fill what search needs?", "error", _ask_triggers,
              "select tgrelid::regclass, tgname, tgenabled from pg_trigger where not tgisinternal order "
              "by 1, 2"),
        Audit("queue_complete", "turn_embeddings",
              "Is everything without a vector in the queue to get one?", "error", find(q.not_queued),
              "select * from embed_queue order by queued_at"),
        Audit("turns_embedded", "turn_embeddings",
              "Has every turn older than an hour its vector in the live space?", "warn",
              find(q.unembedded_turns, age=UNEMBEDDED_AFTER),
              "select * from embed_queue where target = 'turn' order by queued_at"),
        Audit("tails_closed", "episodes",
              "Are tails closed within two hours of being due?", "warn", find(q.late_tails, age=LATE_AFTER),
              "select session, count(*), max(said_at) from turns where episode_id is null group by 1 "
              "order by 3"),
        Audit("distill_state_complete", "episodes",
              "Has every closed episode, and every item that is no turn, its place in distill_state?", "error",
              find(q.units_without_state),
              "select * from episodes e where replaced_at is null and not exists (select from "
              "distill_state s where s.unit_kind = 'episode' and s.unit_id = e.id)"),
        Audit("units_distilled", "distilled_notes",
              "Is every unit distilled within two hours?", "warn", find(q.late_units, age=LATE_AFTER),
              "select * from distill_state where status = 'pending' order by queued_at"),
        Audit("none_parked", "distilled_notes",
              "Is no unit parked after failing on its content?", "warn", find(q.parked_units),
              "select * from distill_state where status = 'parked'"),
        Audit("notes_grounded", "distilled_notes",
              "Does every live note quote what its raw item says?", "error", _ask_grounding,
              "select n.id, n.source_ref, r.body from distilled_notes n join raw_items r on r.id = "
              "n.raw_id where n.deleted_at is null and strpos(r.body, n.source_ref) = 0"),
        Audit("notes_embedded", "note_embeddings",
              "Has every live note older than an hour its vector in the live space?", "warn",
              find(q.unembedded_notes, age=UNEMBEDDED_AFTER),
              "select * from embed_queue where target = 'note' order by queued_at"),
        Audit("stages_running", "distilled_notes",
              "Do the stages run while work is pending?", "error",
              find(q.idle_stages, age=STAGE_IDLE_AFTER, attempts=EMBED_ATTEMPTS),
              "select stage, max(finished_at) from stage_passes group by 1"),
        Audit("stages_succeeding", "distilled_notes",
              "Did each stage's latest pass succeed?", "warn", find(q.failing_stages, stages=STAGES),
              "select * from stage_passes where outcome = 'failed' order by finished_at desc limit 20"),
    )  # fmt: skip

