"""The triggers that memory depends on, as table.trigger. A test holds the list against a fresh database."""

from __future__ import annotations

from typing import Final

# Refuse changes: memory is only ever added to, marked or tombstoned.
_KEPT_TABLES: Final = (
    "episodes", "turns", "capture_outcomes", "redactions", "session_marks", "near_duplicates", "segment_checks",
    "episode_events", "distilled_notes", "gate_rejections", "distill_failures", "llm_calls", "stage_passes",
    "dedup_log", "injections", "task_schedules", "task_pauses", "task_runs", "expected_runs", "expected_run_events",
    "run_reports", "alerts", "deliveries", "delivery_attempts", "audit_results", "canary_runs", "backups",
    "engine_attempts", "task_items", "task_events",
    "note_decisions", "note_proposals", "note_events", "regenerations", "regeneration_units", "regeneration_notes",
    "injection_uses", "injection_checks", "memory_health", "project_moves",
    "project_changes", "forgotten_arrivals", "note_writes", "redaction_sweeps",
)  # fmt: skip
KEEPING: Final = frozenset(f"{table}.{table}_kept" for table in _KEPT_TABLES) | {
    "raw_items.raw_items_immutable",
    "raw_items.raw_items_no_truncate",
}
# Fill what search and the stages need, in the transaction of the row itself.
FILLING: Final = frozenset(
    {
        "raw_items.raw_items_captured",
        "distilled_notes.distilled_notes_terms",
        "distilled_notes.distilled_notes_written",
        "distilled_notes.distilled_notes_orphaned",
        "expected_runs.expected_runs_noted",
        "distilled_notes.distilled_notes_noted",
        "distilled_notes.distilled_notes_created",
        "injections.injections_noted",
        "dedup_log.dedup_log_noted",
        "note_decisions.note_decisions_worded",
        "note_proposals.note_proposals_noted",
    }
)
REQUIRED_TRIGGERS: Final = KEEPING | FILLING
