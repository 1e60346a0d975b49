"""What every row of every table must be like. Some of it the database itself refuses, as long as nobody takes its
constraints away; the rest nobody else looks at."""

from __future__ import annotations

from argus_memory.records import CATEGORIES, KINDS
from argus_memory.watch.gx_rules import Among, Between, Filled, Matches, Never, Rule, Table, Unique

REASONS = ("size-cap", "time-gap", "topic-shift", "idle", "session-end", "next-session")
VERDICTS = ("duplicate", "refine", "supersede", "distinct")
UNIT_KINDS = ("episode", "item")
RUN_STATUSES = (
    "expected", "queued", "started", "late", "ok", "failed", "missed", "overrunning", "skipped-overlap", "paused",
)  # fmt: skip
DECISIONS = (
    "pin", "unpin", "exclude", "include", "forget", "restore", "correct", "redact", "approve", "reject", "confirm",
)  # fmt: skip
NOTE_EVENTS = (
    "created", "reinforced", "weakened", "reworded", "revised", "dated", "refined", "superseded", "merged", "held",
    "approved", "rejected", "auto-approved", "undone", "pinned", "unpinned", "excluded", "included", "forgotten",
    "restored", "corrected", "redacted", "confirmed", "exported", "shown", "moved", "redistilled", "removed",
)  # fmt: skip
OUTCOMES = ("ok", "failed", "timed-out", "skipped", "overrunning", "orphaned")
# A clock a minute ahead is ordinary between two machines.
FUTURE = "> {now} + interval '1 minute'"


def _ahead(*columns: str) -> Never:
    return Never(
        f"{' or '.join(columns)} lies in the future", " or ".join(f"{column} {FUTURE}" for column in columns)
    )


def _table(name: str, *rules: Rule, key: tuple[str, ...] = ("id",)) -> Table:
    return Table(name, rules, key)


VALUES: dict[str, Table] = {
    table.name: table
    for table in (
        # --- raw_items
        _table("raw_items", Among("kind", KINDS), Matches("source", "^[a-z][a-z0-9-]+$"),
               Between("position", 0), Between("project_confidence", 0, 1),
               Never("an empty body", "body = ''"), _ahead("captured_at"),
               Never("said after it was captured", "said_at > captured_at + interval '1 second'")),
        _table("redaction_sweeps", Never("swept before it was asked for", "swept_at < asked_at")),
        _table("turns", Among("role", ("user", "assistant")), Between("chars", 1), Between("tsv_length", 0),
               Never("an episode without a place in it, or a place without one",
                     "(episode_id is null) <> (ordinal is null)"), key=("raw_id",)),
        _table("capture_outcomes", Among("outcome", ("duplicate", "skipped", "refused")), Between("count", 1)),
        _table("redactions", Between("count", 1)),
        _table("near_duplicates", Between("similarity", 0, 1),
               Never("of itself or of a later one", "of_raw_id >= raw_id"), key=("raw_id",)),
        _table("document_fingerprints", Between("shingles", 0), key=("raw_id",)),
        _table("session_marks", Among("mark", ("start", "end", "clear", "compact")), _ahead("at")),
        _table("hook_heartbeats", Between("beats", 1), _ahead("at"), key=("host", "target")),
        _table("store_settings", Unique("key"), key=("key",)),
        # --- vectors
        _table("turn_vectors", Never("a size that is not the vector's", "vector_dims(embedding) <> dim"),
               key=("space_id", "raw_id")),
        _table("note_vectors", Never("a size that is not the vector's", "vector_dims(embedding) <> dim"),
               key=("space_id", "note_id")),
        _table("embed_queue", Among("target", ("turn", "note")), Between("attempts", 0),
               key=("space_id", "target", "target_id")),
        _table("embedding_spaces", Among("status", ("building", "active", "retired")), Between("dim", 1)),
        # --- episodes
        _table("episodes", Between("turn_count", 1), Between("block_count", 1), Among("boundary_reason", REASONS),
               Never("ends before it starts", "ended_at < started_at"),
               Never("more prompts and answers than turns", "block_count > turn_count")),
        _table("segment_checks", Among("reason", REASONS),
               Among("status", ("ok", "unavailable", "too-few-turns", "too-short", "inside-answer"))),
        _table("episode_events", Among("event", ("closed", "reopened", "replaced"))),
        _table("distill_state", Among("status", ("pending", "done", "parked", "skipped")),
               Among("unit_kind", UNIT_KINDS), Between("attempts", 0), Between("content_failures", 0),
               Between("notes_created", 0), Between("notes_rejected", 0),
               Never("done without a time", "status = 'done' and distilled_at is null"),
               key=("unit_kind", "unit_id")),
        # --- notes
        _table("distilled_notes", Between("importance", 0, 1), Between("confidence", 0, 1),
               Among("category", CATEGORIES), Between("shown_count", 0), Filled("model"), Filled("uid"),
               Never("a title that is empty or longer than 80 characters", "length(title) not between 1 and 80"),
               Never("no content or no quotation", "content = '' or source_ref = ''"),
               Never("a place in the source that ends before it starts", "source_end < source_start"),
               _ahead("said_at", "created_at")),
        _table("gate_rejections", Among("unit_kind", UNIT_KINDS), Never("no reason", "reason = ''"), _ahead("at")),
        _table("distill_failures", Among("class", ("infra", "content", "configuration")), Between("attempt", 0),
               Never("parked though its content did not fail", "parked and class <> 'content'")),
        _table("llm_calls", Between("milliseconds", 0), Between("prompt_tokens", 0), Between("completion_tokens", 0),
               Between("cost_usd", 0), Among("outcome", ("ok", "infra", "content", "configuration"))),
        _table("stage_passes", Among("outcome", ("ok", "failed")),
               Never("ends before it starts", "finished_at < started_at"),
               Never("failed without an error", "outcome = 'failed' and error is null")),
        _table("dedup_log", Among("verdict", VERDICTS), Between("similarity", -1.0001, 1.0001),
               Between("confidence_before", 0, 1), Between("confidence_after", 0, 1),
               Among("status", ("applied", "pending", "approved", "rejected", "undone")),
               Never("a verdict on a note and itself", "note_id = other_id"),
               Never("decided without a time",
                     "status in ('approved', 'rejected', 'undone') and decided_at is null")),
        _table("projects", Unique("name"), Never("no name", "btrim(name) = ''")),
        _table("project_keys",
               Never("no such project", "not exists (select from projects p where p.id = project_id)"),
               key=("key",)),
        _table("regenerations", Among("mode", ("switch", "dry-run", "reconcile")), Between("loss", 0, 1),
               Among("status", ("running", "switched", "held", "shown", "failed", "abandoned", "dismissed")),
               Never("ends before it starts", "finished_at < started_at"),
               Never("ends before its first day", "last_day < first_day")),
        _table("regeneration_units", Among("unit_kind", (*UNIT_KINDS, "span")), Between("candidates", 0),
               Among("outcome", ("made", "failed", "passed-over")),
               key=("regeneration_id", "unit_kind", "unit_id")),
        _table("regeneration_notes",
               Never("neither an old note nor a new one", "old_text is null and new_text is null"),
               Among("change", ("added", "removed", "changed", "unchanged", "kept-by-decision",
                                "refused-by-decision"))),
        _table("note_writes", Among("verb", ("remember", "correct")), Among("actor_kind", ("person", "agent")),
               _ahead("at")),
        _table("note_decisions", Among("decision", DECISIONS), Among("actor_kind", ("person", "agent")),
               Among("status", ("in-force", "held", "rejected", "undone", "overtaken")), Filled("uid"),
               Filled("text_key"), Filled("actor"), _ahead("at"),
               Never("rejected or undone without a time", "status in ('rejected', 'undone') and decided_at is null")),
        _table("note_proposals", Among("status", ("pending", "accepted", "rejected", "auto-accepted")),
               Among("category", CATEGORIES), Filled("actor"), _ahead("at"),
               Never("decided without a time", "status <> 'pending' and decided_at is null")),
        _table("note_events", Among("event", NOTE_EVENTS), Filled("uid"), Filled("actor"),
               Never("no such note", "not exists (select from distilled_notes n where n.id = note_id)")),
        _table("withheld_turns", Filled("reason"), _ahead("at"), key=("raw_id",)),
        _table("forgotten_arrivals", Between("raw_items", 0), Between("notes", 0), Filled("actor"), _ahead("at"),
               Never("of nothing", "num_nonnulls(source, session, project, since) = 0"),
               Never("restored before it was forgotten", "restored_at < at")),
        _table("note_files", Filled("path"), _ahead("noticed_at"), key=("note_id", "path")),
        _table("project_aliases", Filled("alias"), Filled("actor"), _ahead("at"),
               Never("no such project", "not exists (select from projects p where p.id = project_id)"),
               key=("alias",)),
        _table("project_centroids", Between("turns", 0), Never("no sums", "cardinality(sums) = 0"),
               _ahead("rebuilt_at"), key=("project_id", "space_id")),
        _table("project_changes", Among("change", ("renamed", "merged", "alias", "assigned", "undone")),
               Filled("project"), Filled("actor"), _ahead("at")),
        _table("project_attributions", Among("method", ("classified", "unclear", "assigned", "kept")),
               Filled("actor"), _ahead("at"),
               Never("classified without a project", "method = 'classified' and project is null"),
               key=("episode_id",)),
        _table("project_moves", Never("neither a row nor a name", "num_nonnulls(row_id, name) = 0"),
               key=("change_id", "kind")),
        _table("project_mismatches", Between("similarity", -1.0001, 1.0001), Between("margin", 0, 2),
               Never("suggests what it has", "suggested = project"), _ahead("at"), key=("episode_id",)),
        # --- recall
        _table("injection_uses", Between("score", 0, 1), _ahead("at"), key=("injection_id", "note_id")),
        _table("memory_health", Between("score", 0, 100), _ahead("at")),
        _table("injection_checks", Among("outcome", ("scored", "no-answer")), _ahead("at"), key=("injection_id",)),
        _table("injections", Between("characters", 0, 10_000), Between("milliseconds", 0), _ahead("at"),
               Never("a note without its score", "cardinality(note_ids) <> cardinality(note_scores)"),
               Never("a turn without its score", "cardinality(turn_ids) <> cardinality(turn_scores)"),
               Never("skipped, and yet something was given", "skipped is not null and cardinality(note_ids) > 0"),
               Never("notes of a prompt without their rrf_scores",
                     "prompt_mode and cardinality(note_ids) <> cardinality(rrf_scores)")),
        _table("term_frequencies", Among("track", ("turn", "note")), Between("documents", 1), key=("track", "term")),
        _table("term_statistics", Between("documents", 0), Between("average_length", 0), key=("track",)),
        # --- tasks
        _table("tasks", Matches("name", "^[a-z][a-z0-9-]*$"),
               Never("usable without a handler", "problem is null and removed_at is null and handler is null"),
               key=("name",)),
        _table("task_schedules", Among("mode", ("run", "observe")), Between("failures_before_alert", 1),
               Never("ends before it begins", "until_at < from_at"),
               Never("no time to start or to run", "start_grace < interval '0' or max_runtime <= interval '0'")),
        _table("task_pauses", Never("ends before it begins", "until_at < from_at or ended_at < from_at")),
        _table("task_runs", Among("outcome", OUTCOMES), Between("attempt", 0), Between("retries_left", 0),
               Between("cost_usd", 0), Between("stdout_bytes", 0), Between("stderr_bytes", 0),
               Never("ended before it started", "finished_at < started_at"),
               Never("ended without an outcome", "finished_at is not null and outcome is null"),
               Never("an outcome, and no end", "finished_at is null and outcome <> 'overrunning'"),
               _ahead("started_at")),
        _table("expected_runs", Among("status", RUN_STATUSES), Among("mode", ("run", "observe")),
               Never("has to start before it is due", "start_by < due_at"), _ahead("due_at")),
        _table("expected_run_events", Among("to_status", RUN_STATUSES)),
        _table("run_reports", Among("verdict", (
            "started", "finished", "repeated", "unknown-task", "contradicts", "refused")), _ahead("received_at")),
        _table("engine_attempts", Between("cost_usd", 0), Between("place", 0), Between("turn", 0),
               Among("outcome", ("ok", "capped", "infra", "content", "timeout", "left-alone")),
               Never("ends before it starts", "finished_at < started_at")),
        _table("engine_states", _ahead("at"), key=("engine",)),
        _table("backups", Between("bytes", 0), Among("outcome", ("proven", "made", "failed")), _ahead("started_at"),
               Never("ends before it starts", "finished_at < started_at")),
        # --- alerts and messages
        _table("alerts", Among("severity", ("warn", "error")), Between("reminders", 0),
               Never("closed before it was opened", "closed_at < opened_at"),
               Never("closed by nobody", "closed_at is not null and closed_by is null")),
        _table("deliveries", Unique("key"), Among("status", ("pending", "sending", "sent", "folded", "gave-up")),
               Between("attempts", 0), Between("parts_sent", 0),
               Among("kind", ("alert", "recovery", "reminder", "digest", "deliver", "answer")),
               Never("sent without a time", "status = 'sent' and sent_at is null"),
               Never("more parts sent than there are", "parts_sent > parts_total")),
        _table("delivery_attempts", Between("part", 0), Between("seconds", 0),
               Among("outcome", ("sent", "retry", "plain-text", "main-chat", "refused", "unknown"))),
        # --- watching
        _table("audit_results", Among("status", ("ok", "failed", "unknown")), Between("total", 0),
               Never("failed without saying what", "status = 'failed' and total = 0 and detail is null")),
        _table("slo_measurements", Among("status", ("ok", "failed", "unknown")),
               Never("judged without a value", "status <> 'unknown' and value is null")),
        _table("canary_runs", Unique("marker"), Among("outcome", ("ok", "failed")),
               Never("recalled before it was sent", "recalled_at < sent_at"),
               Never("well, and yet never recalled", "outcome = 'ok' and recalled_at is null")),
        _table("health_samples", Among("status", ("ok", "warn", "failed", "unknown"))),
        _table("watcher_beats", _ahead("at"), Never("beat before it began", "at < since"), key=("watcher",)),
        _table("watcher_gaps", Never("ends before it begins", "until_at < from_at")),
        # --- to-dos
        _table("task_items", Unique("uid"), Never("no words", "text = '' or source_ref = ''"),
               Among("status", ("open", "claimed-done", "verified", "stale", "dropped"))),
        _table("task_events", Among("method", ("cue", "model", "person", "time")), Between("score", -1, 1),
               Among("evidence", ("note", "turn", "document", "run", "commit", "person", "time"))),
        _table("task_item_reads", Between("read_to", 0), key=("source",)),
    )
}  # fmt: skip
