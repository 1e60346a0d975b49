"""Is what is stored whole: do all ids lead somewhere, are notes and vectors consistent, has every recall its row?"""

from __future__ import annotations

from datetime import timedelta

from argus_memory.db import queries
from argus_memory.watch.audits.pipeline import LATE_AFTER, PROMPT_PATIENCE, SILENT_AFTER
from argus_memory.watch.audits.questions import Audit, find
from argus_memory.watch.audits.tables import expect
from argus_memory.watch.gx_rules import Never, Table, Unique

KNOWN_HOST = timedelta(days=14)  # a machine whose recall hook was heard of in this time is expected to go on
HEALTH_SPAN = timedelta(days=7)
HEALTH_FALL = 15.0  # of 100
LEDGER_SPAN = timedelta(hours=24)
SESSION_PATIENCE = timedelta(minutes=10)

# Dedup looks at a note once it has its vector; until then a repeat may stand beside its first. What a person parted
# again stays apart, and the same words of two speakers are two facts.
LIVE_UIDS = Table(
    "distilled_notes",
    (Unique("identity"),),
    query=f"""
        select n.id, concat_ws(' of ', n.uid, coalesce(n.role, 'nobody')) as identity
        from distilled_notes n
        where {{live_note}}
          and (n.deduped_at is not null or n.created_at < {{now}} - interval '{LATE_AFTER.seconds} s')
          and not exists (
              select from dedup_log l
              where n.id in (l.note_id, l.other_id)
                and (l.status in ('undone', 'rejected', 'pending') or l.verdict = 'distinct'))
    """,
)
VALIDITY = Table(
    "distilled_notes",
    (
        Never("valid_to lies before valid_from", "valid_to < valid_from"),
        Never("deleted without a reason, or a reason without being deleted",
              "(deleted_at is null) <> (deleted_reason is null)"),
        Never("merged away without naming the note that stays",
              "deleted_reason in ('duplicate', 'refined', 'superseded') and superseded_by is null"),
        Never("superseded without an end of its validity", "deleted_reason = 'superseded' and valid_to is null"),
        Never("stands in for itself", "superseded_by = id"),
        Never("live, and yet superseded by another", "deleted_at is null and superseded_by is not null"),
    ),
)  # fmt: skip
# The newest merge says what confidence the note that stays has. One that was parted again is restored, not computed.
CONFIDENCE = Table(
    "distilled_notes",
    (Never("its confidence is not what its last merge gave it", "abs(confidence - given) > 0.0001"),),
    query="""
        select n.id, n.confidence, last.confidence_after as given
        from distilled_notes n
        join lateral (
            select l.confidence_after, l.status
            from dedup_log l
            where l.confidence_after is not null
              and (l.verdict = 'duplicate' and l.other_id = n.id or l.verdict = 'refine' and l.note_id = n.id)
            order by coalesce(l.decided_at, l.at) desc, l.id desc
            limit 1
        ) last on last.status in ('applied', 'approved')
        where n.deleted_at is null
          and not exists (
              select from dedup_log u where u.status = 'undone' and n.id in (u.note_id, u.other_id))
    """,
)
UNIT_LENGTH = "abs(vector_norm(embedding) - 1) > 0.01 or vector_norm(embedding) = 'NaN'"
TURN_VECTORS = Table(
    "turn_vectors",
    (Never("not of unit length", UNIT_LENGTH),),
    key=("raw_id",),
    query="select v.raw_id, v.embedding from turn_vectors v"
    " join embedding_spaces s on s.id = v.space_id and s.status = 'active'",
)
NOTE_VECTORS = Table(
    "note_vectors",
    (Never("not of unit length", UNIT_LENGTH),),
    key=("note_id",),
    query="select v.note_id, v.embedding from note_vectors v"
    " join embedding_spaces s on s.id = v.space_id and s.status = 'active'",
)


def whole_audits() -> tuple[Audit, ...]:
    q = queries("audits")
    return (
        Audit("turns_traced", "raw_items",
              "Has every captured turn its row in turns, so that search can find it?", "error",
              find(q.untraced_turns),
              "select id, captured_at from raw_items r where kind = 'turn'"
              " and not exists (select from turns t where t.raw_id = r.id)"),
        Audit("sessions_captured", "raw_items",
              "Do turns arrive from every session whose prompts recall was asked about?", "error",
              find(q.uncaptured_sessions, age=SILENT_AFTER, patience=PROMPT_PATIENCE),
              "select session, host, max(at) from injections where prompt_mode group by 1, 2 order by 3 desc"),
        Audit("episodes_whole", "episodes",
              "Has every episode its turns, and no turn an episode that was replaced?", "error",
              find(q.broken_episodes),
              "select e.id, e.turn_count, count(t.raw_id) from episodes e left join turns t on t.episode_id = e.id"
              " where e.replaced_at is null group by 1 having count(t.raw_id) <> e.turn_count"),
        Audit("units_resolve", "episodes",
              "Does every row of distill_state stand for an episode or item that exists?", "error",
              find(q.lost_units), "select * from distill_state order by queued_at desc"),
        Audit("uids_unique", "distilled_notes",
              "Does every live note that was deduplicated stand once?", "error", expect(LIVE_UIDS),
              "select uid, role, count(*), array_agg(id) from distilled_notes where deleted_at is null"
              " group by 1, 2 having count(*) > 1"),
        Audit("validity_consistent", "distilled_notes",
              "Do validity, tombstones and stand-ins of the notes agree?", "error", expect(VALIDITY),
              "select id, valid_from, valid_to, deleted_at, deleted_reason, superseded_by from distilled_notes"
              " where valid_to < valid_from or (deleted_at is null) <> (deleted_reason is null)"),
        Audit("confidence_consistent", "distilled_notes",
              "Has every live note the confidence its last merge gave it?", "error", expect(CONFIDENCE),
              "select * from dedup_log where confidence_after is not null order by id desc"),
        Audit("note_ids_resolve", "distilled_notes",
              "Do links, rejections, failures and model calls name notes and units that exist?", "error",
              find(q.lost_note_ids), "select id, links from distilled_notes where links <> '{}'"),
        Audit("turn_vectors_unit", "turn_embeddings",
              "Are the vectors of turns in the live space of unit length?", "error", expect(TURN_VECTORS),
              "select v.raw_id, vector_norm(v.embedding) from turn_vectors v join embedding_spaces s"
              " on s.id = v.space_id and s.status = 'active' where abs(vector_norm(v.embedding) - 1) > 0.01"),
        Audit("turn_vectors_resolve", "turn_embeddings",
              "Do queue and vectors of turns name turns that exist?", "error", find(q.lost_turn_targets),
              "select * from embed_queue where target = 'turn'"),
        Audit("note_vectors_unit", "note_embeddings",
              "Are the vectors of notes in the live space of unit length?", "error", expect(NOTE_VECTORS),
              "select v.note_id, vector_norm(v.embedding) from note_vectors v join embedding_spaces s"
              " on s.id = v.space_id and s.status = 'active' where abs(vector_norm(v.embedding) - 1) > 0.01"),
        Audit("note_vectors_resolve", "note_embeddings",
              "Does the queue of notes name notes that exist?", "error", find(q.lost_note_targets),
              "select * from embed_queue where target = 'note'"),
        Audit("health_holds", "memory_health",
              "Has the memory's health not fallen far below the week before?", "warn",
              find(q.fallen_health, span=HEALTH_SPAN, fall=HEALTH_FALL),
              "select at, score, parts from memory_health where project is null order by at desc limit 14"),
        Audit("ledger_complete", "injections",
              "Is every showing of a note in the recall ledger, and no row of it missing?", "error",
              find(q.lost_showings, span=LEDGER_SPAN, patience=SESSION_PATIENCE),
              "select id, at, session, note_ids from injections order by id desc limit 200"),
        Audit("sessions_recalled", "injections",
              "Has every session that started on a machine with the recall hook a row in the ledger?", "warn",
              find(q.unrecalled_sessions, age=SILENT_AFTER, patience=SESSION_PATIENCE, known=KNOWN_HOST),
              "select host, max(at), count(*) from injections group by 1 order by 2 desc"),
        Audit("injected_ids_resolve", "injections",
              "Does the recall ledger name notes and turns that exist?", "error", find(q.lost_injected_ids),
              "select id, note_ids, turn_ids from injections order by id desc limit 200"),
        Audit("verdicts_match", "dedup_log",
              "Did every verdict that counts happen to the notes it names?", "error", find(q.unapplied_verdicts),
              "select * from dedup_log where status in ('applied', 'approved') and verdict <> 'distinct'"),
    )  # fmt: skip
