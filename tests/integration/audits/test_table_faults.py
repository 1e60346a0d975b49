"""Columns that are not those of the migrations, and rows that make no sense: each is named by its table and key."""

from __future__ import annotations

import pytest

from argus_memory.db import Database
from argus_memory.settings import Settings
from argus_memory.watch.audits.columns import as_lines, describe, tables_by_asset
from argus_memory.watch.audits.table_values import VALUES
from argus_memory.watch.audits.tables import columns_table
from tests.integration.audits.conftest import Force
from tests.integration.audits.test_whole_faults import ask
from tests.memory_rows import add_note, add_turn, at

ASSETS = list(tables_by_asset())
HASH = "'0b3d7a52-1111-4c11-8888-0123456789ab'"
# One row or more that no rule allows, by table; each statement may be run on an empty table.
FAULTS: dict[str, str] = {
    "raw_items": "insert into raw_items (source, kind, body, dedup_key, said_at, captured_at, position) values"
    " ('x', 'gossip', '', 'k', '2026-03-03', '2026-03-02', -1)",
    "turns": "insert into turns (raw_id, source, session, role, said_at, position, chars, tsv, tsv_length, ordinal)"
    " values (1, 'x', 's', 'ghost', now(), 0, 0, '', -1, 3)",
    "capture_outcomes": "insert into capture_outcomes (source, outcome, count) values ('x', 'lost', 0)",
    "redactions": "insert into redactions (source, kind, count) values ('x', 'token', 0)",
    "near_duplicates": "insert into near_duplicates (raw_id, of_raw_id, similarity) values (1, 2, 1.5)",
    "document_fingerprints": "insert into document_fingerprints values (1, '{}', -1, '{}')",
    "session_marks": "insert into session_marks (session, source, mark, at) values ('s', 'x', 'nap', '2030-01-01')",
    "hook_heartbeats": "insert into hook_heartbeats (host, target, version, event, at, beats) values"
    " ('den', 'x', '1', 'Stop', '2030-01-01', 0)",
    "turn_vectors": "insert into turn_vectors values (1, 1, 3, '[1,0]')",
    "note_vectors": "insert into note_vectors values (1, 1, 3, '[1,0]')",
    "embed_queue": "insert into embed_queue values (1, 'joke', 1, now(), -1)",
    "embedding_spaces": "insert into embedding_spaces (model, dim, checksum, status, thresholds, calibration) values"
    " ('m', 0, 'c', 'odd', '{}', '{}')",
    "episodes": "insert into episodes (session, source, first_raw_id, last_raw_id, turn_count, block_count, started_at,"
    " ended_at, boundary_reason, content_key) values ('s', 'x', 1, 1, 0, 2, '2026-03-02', '2026-03-01', 'whim', 'k')",
    "segment_checks": "insert into segment_checks (session, reason, fired, status) values ('s', 'whim', true, 'odd')",
    "episode_events": "insert into episode_events (episode_id, event) values (1, 'burned')",
    "distill_state": "insert into distill_state (unit_kind, unit_id, status, said_at, attempts) values"
    " ('tale', 1, 'done', now(), -1)",
    "distilled_notes": "insert into distilled_notes (uid, raw_id, title, content, category, importance, confidence,"
    " source_ref, said_at, model, valid_from, tsv, tsv_length) values"
    " ('u', 1, '', '', 'rumour', 2, -1, '', '2030-01-01', 'm', now(), '', 0)",
    "gate_rejections": "insert into gate_rejections (unit_kind, unit_id, reason) values ('tale', 1, '')",
    "distill_failures": "insert into distill_failures (unit_kind, unit_id, class, detail, attempt, parked) values"
    " ('episode', 1, 'bored', 'x', -1, true)",
    "llm_calls": "insert into llm_calls (stage, model, milliseconds, cost_usd, outcome) values ('distill', 'm', -5, -1, 'odd')",
    "stage_passes": "insert into stage_passes (stage, started_at, finished_at, outcome, counts) values"
    " ('embed', '2026-03-02', '2026-03-01', 'failed', '{}')",
    "dedup_log": "insert into dedup_log (note_id, other_id, verdict, similarity, model, status, reasoning) values"
    " (1, 1, 'perhaps', 7, 'm', 'odd', 'x')",
    "projects": "insert into projects (name, first_method) values ('  ', 'cwd')",
    "project_keys": "insert into project_keys (key, project_id) values ('cwd:x', 999)",
    "injections": "insert into injections (prompt_mode, note_ids, characters, milliseconds) values (true, '{1}', 50000, -1)",
    "term_frequencies": "insert into term_frequencies values ('song', 'x', 0)",
    "term_statistics": "insert into term_statistics values ('turn', -1, -1, 0, now())",
    "tasks": "insert into tasks (name, first_seen_at, changed_at) values ('Bad Name', now(), now())",
    "task_schedules": "insert into task_schedules (task, schedule, timezone, start_grace, max_runtime, mode,"
    " failures_before_alert, from_at, until_at) values ('t', '@daily', 'UTC', '-1 min', '0', 'odd', 0, '2026-03-02', '2026-03-01')",
    "task_pauses": "insert into task_pauses (task, from_at, until_at, actor) values ('t', '2026-03-02', '2026-03-01', 'kim')",
    "task_runs": "insert into task_runs (rid, task, started_by, started_at, beat_at, finished_at, outcome, attempt) values"
    f" ({HASH}, 't', 'schedule', '2026-03-02', now(), '2026-03-01', 'odd', -1)",
    "expected_runs": "insert into expected_runs (task, due_at, start_by, max_runtime, schedule, timezone, mode, status,"
    " status_at, decided_by) values ('t', '2026-03-02', '2026-03-01', '1 h', '@daily', 'UTC', 'odd', 'odd', now(), 'x')",
    "expected_run_events": "insert into expected_run_events (expected_run_id, at, to_status, decided_by) values (1, now(), 'odd', 'x')",
    "run_reports": "insert into run_reports (received_at, source, body, verdict) values ('2030-01-01', 'api', '{}', 'odd')",
    "engine_attempts": "insert into engine_attempts (place, engine, started_at, finished_at, outcome) values"
    " (-1, 'api', '2026-03-02', '2026-03-01', 'odd')",
    "engine_states": "insert into engine_states (engine, at) values ('api', '2030-01-01')",
    "backups": "insert into backups (started_at, finished_at, outcome, bytes) values ('2026-03-02', '2026-03-01', 'odd', -1)",
    "alerts": "insert into alerts (kind, subject, severity, title, opened_at, closed_at, opened_by, reminders) values"
    " ('k', 's', 'odd', 't', '2026-03-02', '2026-03-01', 'x', -1)",
    "deliveries": "insert into deliveries (key, kind, channel, title, body, created_at, next_try_at, status, parts_sent, parts_total)"
    " values ('k', 'odd', 'main', 't', '', now(), now(), 'sent', 3, 2)",
    "delivery_attempts": "insert into delivery_attempts (delivery_id, at, part, outcome) values (1, now(), -1, 'odd')",
    "audit_results": "insert into audit_results (audit, asset, at, status, severity, total, offending) values"
    " ('a', 'b', now(), 'failed', 'error', 0, '[]')",
    "slo_measurements": "insert into slo_measurements (slo, at, threshold, status) values ('x', now(), 1, 'ok')",
    "canary_runs": "insert into canary_runs (marker, session, sent_at, recalled_at, outcome) values"
    " ('m', 's', '2026-03-02', '2026-03-01', 'ok')",
    "health_samples": "insert into health_samples (at, name, status) values (now(), 'disk', 'odd')",
    "watcher_beats": "insert into watcher_beats (watcher, at, since, host, pid) values ('w', '2030-01-01', '2030-01-02', 'den', 1)",
    "watcher_gaps": "insert into watcher_gaps (watcher, from_at, until_at) values ('w', '2026-03-02', '2026-03-01')",
    "task_items": "insert into task_items (uid, text, status, source_ref, said_at, noticed_at, status_at, model) values"
    " ('u', '', 'odd', '', now(), now(), now(), 'm')",
    "task_events": "insert into task_events (item_id, at, to_status, evidence, method, score) values (1, now(), 'open', 'rumour', 'odd', 5)",
    "regenerations": "insert into regenerations (mode, first_day, last_day, actor, model, started_at, loss_guard, status) values"
    " ('odd', '2026-03-02', '2026-03-01', 'a', 'm', now(), 0.3, 'odd')",
    "regeneration_units": "insert into regeneration_units (regeneration_id, unit_kind, unit_id, said_at, outcome, fingerprint,"
    " notes_before, candidates, rejected) values (1, 'odd', 1, now(), 'odd', '', 0, -1, 0)",
    "regeneration_notes": "insert into regeneration_notes (regeneration_id, unit_kind, unit_id, change) values (1, 'item', 1, 'odd')",
    "redaction_sweeps": "insert into redaction_sweeps (relation, xid, asked_at, swept_at) values"
    " ('r', '1', '2026-03-02', '2026-03-01')",
    "note_writes": "insert into note_writes (at, verb, outcome, actor, actor_kind) values (now(), 'odd', 'created', 'a', 'odd')",
    "note_decisions": "insert into note_decisions (at, decision, status, uid, text_key, content, category, actor, actor_kind)"
    " values ('2030-01-01', 'shrug', 'rejected', '', '', 'c', 'fact', '', 'ghost')",
    "note_proposals": "insert into note_proposals (at, raw_id, content, category, actor, status) values"
    " ('2030-01-01', 1, 'c', 'rumour', '', 'accepted')",
    "note_events": "insert into note_events (note_id, uid, at, event, actor) values (999, '', '2030-01-01', 'sung', '')",
    "withheld_turns": "insert into withheld_turns (raw_id, note_id, reason, at) values (1, 1, '', '2030-01-01')",
    "forgotten_arrivals": "insert into forgotten_arrivals (at, raw_items, notes, actor, restored_at) values"
    " ('2030-01-01', -1, -1, '', '2026-03-01')",
    "note_files": "insert into note_files (note_id, path, noticed_at) values (1, '', '2030-01-01')",
    "injection_uses": "insert into injection_uses values (1, 1, true, 7, 1, '2030-01-01')",
    "project_attributions": "insert into project_attributions values (1, null, 'classified', 1, 1, null, '2030-01-01', '')",
    "project_moves": "insert into project_moves (change_id, kind) values (1, 'turn')",
    "memory_health": "insert into memory_health (at, score, parts) values ('2030-01-01', 700, '{}')",
    "injection_checks": "insert into injection_checks values (1, '2030-01-01', 'odd', '{}')",
    "project_aliases": "insert into project_aliases values ('', 999, '2030-01-01', '')",
    "project_centroids": "insert into project_centroids values (1, 1, '{}', -1, 0, '2030-01-01')",
    "project_changes": "insert into project_changes (at, change, project, actor) values ('2030-01-01', 'painted', '', '')",
    "project_mismatches": "insert into project_mismatches values (1, 'a', 'a', 7, -1, '2030-01-01')",
    "task_item_reads": "insert into task_item_reads values ('notes', -1, now())",
}  # fmt: skip
WITHOUT_FAULT = {"store_settings"}  # its one rule is the primary key, which nothing lets by


def test_the_listing_is_that_of_the_migrations(db: Database) -> None:
    """tables.txt holds every table and column of a freshly migrated database, and each table once."""
    listed = [column for tables in tables_by_asset().values() for columns in tables.values() for column in columns]
    assert as_lines(listed) == as_lines(describe(db))
    assert len({column.table for column in listed}) == sum(len(tables) for tables in tables_by_asset().values())


def test_every_table_has_rules_and_a_fault() -> None:
    """No table is without rules for its values, and for each of them a fault is planted here."""
    tables = {table for tables in tables_by_asset().values() for table in tables}
    assert VALUES.keys() == tables
    assert FAULTS.keys() | WITHOUT_FAULT == tables
    assert all(table.rules for table in VALUES.values())


@pytest.mark.parametrize("asset", ASSETS)
def test_rows_that_make_no_sense(db: Database, settings: Settings, asset: str, unchecked: Force) -> None:
    """In each table of the asset the row that no rule allows is named, and each rule that it breaks counts."""
    tables = [table for table in tables_by_asset()[asset] if table in FAULTS]
    for table in tables:
        unchecked(table, FAULTS[table])
    finding = ask(db, settings, f"{asset}/values")
    assert finding.status == "failed"
    for table in tables:
        key = VALUES[table].key
        row = db.fetch_one(f"select concat_ws(':', {', '.join(key)}) as id from {table} order by 1 limit 1")
        assert row
        assert f"{table} {row['id']}" in finding.offending or table == "projects"
    assert finding.total >= len(finding.offending)


@pytest.mark.parametrize("asset", ASSETS)
def test_a_column_that_is_gone(db: Database, settings: Settings, asset: str) -> None:
    """A dropped column and one that nobody made are each named."""
    table = next(iter(tables_by_asset()[asset]))
    columns = tables_by_asset()[asset][table]
    gone = columns[-1].name
    with db.transaction() as conn:
        conn.execute(f"alter table {table} drop column {gone} cascade, add column surplus text")
    finding = ask(db, settings, f"{asset}/schema")
    assert finding.status == "failed"
    assert set(finding.offending) == {
        f"column {table}.{gone}:is missing",
        f"column {table}.surplus:is not of the migrations",
    }


def test_a_type_and_a_null_that_changed(db: Database, settings: Settings) -> None:
    """A column of another type, and one that may be null though it must not, are named with what they are."""
    with db.transaction() as conn:
        conn.execute(
            "alter table dedup_log alter column similarity type float8, alter column reasoning drop not null"
        )
    finding = ask(db, settings, "dedup_log/schema")
    assert finding.offending == (
        "column dedup_log.reasoning:may be null",
        "column dedup_log.similarity:is double precision, not real",
    )


def test_a_table_that_is_gone(db: Database, settings: Settings) -> None:
    """Without the table its schema names every column, and the values cannot be asked, which is a failure too."""
    with db.transaction() as conn:
        conn.execute("alter table dedup_log rename to dedup_log_gone")
    assert ask(db, settings, "dedup_log/schema").total == len(tables_by_asset()["dedup_log"]["dedup_log"])
    values = ask(db, settings, "dedup_log/values")
    assert values.status == "failed"
    assert "could not be asked" in values.detail


def test_only_some_rows_are_named_but_all_are_counted(db: Database, settings: Settings, unchecked: Force) -> None:
    """Of many rows that break a rule the first fifty are named, and the number is the whole number."""
    unchecked(
        "redactions", "insert into redactions (source, kind, count) select 'x', 'k', -1 from generate_series(1, 300)"
    )
    finding = ask(db, settings, "raw_items/values")
    assert (len(finding.offending), finding.total) == (50, 300)
    assert "count is at least 1" in finding.detail


def test_a_confidence_out_of_range_is_named(db: Database, settings: Settings, unchecked: Force) -> None:
    """A note whose confidence is above one is named by its id, and the one beside it is not."""
    raw = add_turn(db, "It rains.", at(0))
    fine, wrong = add_note(db, "It rains.", raw_id=raw), add_note(db, "It rains.", raw_id=raw)
    with db.transaction() as conn:
        conn.execute("update distilled_notes set created_at = said_at")
    unchecked("distilled_notes", "update distilled_notes set confidence = 1.5 where id = %s", wrong)
    finding = ask(db, settings, "distilled_notes/values")
    assert finding.offending == (f"distilled_notes {wrong}",)
    assert f"distilled_notes {fine}" not in finding.offending


def test_columns_are_compared_by_one_query() -> None:
    """The question about columns names each table once."""
    query = columns_table(tables_by_asset()["projects"]["projects"]).query
    assert query is not None
    assert "in ('projects')" in query
