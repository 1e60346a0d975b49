"""A store as it is after some weeks: every table has rows, and all of them are in order."""

from __future__ import annotations

import uuid
from dataclasses import replace
from datetime import datetime, timedelta

from argus_memory.db import Database
from argus_memory.settings import Settings
from argus_memory.stages.recall import recall_for_prompt
from argus_memory.upkeep.process import STAGES, work_stage
from argus_memory.watch.alerts import Condition, clear_alert, raise_alert
from tests.dagster_runs import WordEmbedder
from tests.distill_rows import add_item
from tests.integration.audits.healthy_decisions import decide
from tests.memory_rows import add_turn, at

NOW = at(60 * 24)
WITH_CHANNEL = {"webhook_url": "http://127.0.0.1:1/hook"}


def fill(db: Database, settings: Settings, embedder: WordEmbedder) -> Settings:
    """Fill every table; returns the settings it is healthy with (a channel is set up)."""
    settings = replace(settings, **WITH_CHANNEL)
    _talk(db, settings, embedder)
    decide(db, now=at(165))
    _work(db)
    _watch(db, settings)
    return settings


def _talk(db: Database, settings: Settings, embedder: WordEmbedder) -> None:
    for number in range(4):
        add_turn(db, f"We decided to use Postgres number {number} for the garden.", at(number))
    add_turn(db, "We decided to use Postgres number 3 for the garden.", at(40), session="s2")
    add_item(db, "The pump of the greenhouse was replaced in spring.", kind="document")
    for stage in STAGES:
        work_stage(db, settings, stage, clock=lambda: at(90))
    recall_for_prompt(
        db, settings, embedder, prompt="Which Postgres did we decide to use for the garden?", now=at(100),
        session="s3", cwd="/home/kim/garden", host="den",
    )  # fmt: skip
    add_turn(db, "Which Postgres did we decide to use for the garden?", at(100), session="s3")
    for stage in STAGES:
        work_stage(db, settings, stage, clock=lambda: at(160))
    with db.transaction() as conn:
        conn.execute("update distilled_notes set created_at = said_at, deduped_at = coalesce(deduped_at, said_at)")
        conn.execute(
            "insert into project_keys (key, project_id) select 'cwd:/home/kim/garden', min(id) from projects"
        )
        conn.execute(
            "insert into session_marks (session, source, mark, at, host) values ('s3', 'claude-code', 'start', %s, 'den')",
            (at(99),),
        )
        conn.execute(
            "insert into hook_heartbeats (host, target, version, event, session, at, first_at)"
            " values ('den', 'claude-code', '1', 'Stop', 's3', %s, %s)",
            (at(101), at(0)),
        )
        conn.execute(
            "insert into capture_outcomes (at, source, session, outcome, count) values (%s, 'claude-code', 's3', 'duplicate', 2)",
            (at(101),),
        )
        conn.execute(
            "insert into redactions (raw_id, source, kind, count) select min(id), 'claude-code', 'token', 1 from raw_items"
        )
        conn.execute(
            "insert into gate_rejections (unit_kind, unit_id, reason, at) select 'episode', min(id), 'grounding', %s from episodes",
            (at(90),),
        )
        conn.execute(
            "insert into distill_failures (unit_kind, unit_id, class, detail, attempt) select 'episode', min(id), 'infra', 'away', 1 from episodes"
        )
        conn.execute(
            "insert into llm_calls (stage, unit_kind, unit_id, model, milliseconds, outcome) select 'distill', 'episode', min(id), 'm', 20, 'ok' from episodes"
        )


def add_task(db: Database, name: str = "backup", *, now: datetime = NOW) -> None:
    with db.transaction() as conn:
        conn.execute(
            "insert into tasks (name, handler, first_seen_at, changed_at) values (%s, 'code', %s, %s)",
            (name, now, now),
        )
        conn.execute(
            "insert into task_schedules (task, schedule, timezone, start_grace, max_runtime, mode, failures_before_alert, from_at)"
            " values (%s, '@hourly', 'UTC', '5 min', '1 h', 'run', 1, %s)",
            (name, now),
        )


def add_run(
    db: Database,
    *,
    due_at: datetime | None = None,
    outcome: str | None = "ok",
    started_at: datetime = NOW,
    ended: bool = True,
    task: str = "backup",
) -> str:
    """A run of a task, ended 30 s after its start; returns its rid."""
    rid = str(uuid.uuid4())
    finished = started_at + timedelta(seconds=30) if ended else None
    with db.transaction() as conn:
        conn.execute(
            "insert into task_runs (rid, task, handler, started_by, due_at, started_at, beat_at, finished_at, outcome)"
            " values (%s, %s, 'code', 'schedule', %s, %s, %s, %s, %s)",
            (rid, task, due_at, started_at, started_at, finished, outcome),
        )
    return rid


def expect_run(db: Database, due_at: datetime, status: str, *, rid: str | None = None, task: str = "backup") -> int:
    """A row of the due ledger; returns its id."""
    row = db.fetch_one(
        """insert into expected_runs (task, due_at, start_by, max_runtime, schedule, timezone, mode, status, status_at,
                                      decided_by, task_run_id)
           values (%(task)s, %(due)s, %(due)s + interval '5 min', '1 h', '@hourly', 'UTC', 'run', %(status)s, %(due)s,
                   'watchdog', (select id from task_runs where rid = %(rid)s)) returning id""",
        {"task": task, "due": due_at, "status": status, "rid": rid},
    )
    assert row
    return int(row["id"])


def _work(db: Database) -> None:
    add_task(db, now=at(0))
    done = add_run(db, due_at=at(60), started_at=at(60))
    expect_run(db, at(60), "ok", rid=done)
    expect_run(db, at(120), "missed")
    expect_run(db, at(60 * 24), "expected")
    add_run(db, started_at=NOW - timedelta(minutes=1), outcome=None, ended=False)
    with db.transaction() as conn:
        conn.execute(
            "insert into task_pauses (task, from_at, until_at, actor) values ('backup', %s, %s, 'kim')",
            (at(1), at(2)),
        )
        conn.execute(
            "insert into run_reports (received_at, task, source, body, verdict) values (%s, 'x', 'api', '{}', 'unknown-task')",
            (at(60),),
        )
        conn.execute(
            "insert into engine_attempts (rid, task, place, engine, started_at, finished_at, outcome)"
            " values (%s, 'backup', 0, 'claude', %s, %s, 'ok')",
            (done, at(60), at(61)),
        )
        conn.execute(
            "insert into backups (started_at, finished_at, outcome, bytes) values (%s, %s, 'proven', 9)",
            (at(1), at(2)),
        )
        conn.execute("insert into engine_states (engine, at) values ('claude', %s)", (at(61),))
        item = conn.execute(
            "insert into task_items (uid, text, status, note_id, source_ref, said_at, noticed_at, status_at, model)"
            " select 'u', 'renew the certificate', 'open', min(id), 'must renew', %s, %s, %s, 'cue'"
            " from distilled_notes returning id",
            (at(1), at(90), at(90)),
        ).fetchone()
        assert item
        conn.execute(
            "insert into task_events (item_id, at, to_status, evidence, evidence_id, method)"
            " select %s, %s, 'open', 'note', min(id)::text, 'cue' from distilled_notes",
            (item["id"], at(90)),
        )
        conn.execute("insert into task_item_reads (source, read_to, at) values ('extra', 4, %s)", (at(90),))


def _watch(db: Database, settings: Settings) -> None:
    condition = Condition("task-failed", "task:backup", "The task backup failed")
    with db.transaction() as conn:
        raise_alert(conn, settings, condition, now=at(60), by="watchdog")
        clear_alert(conn, settings, "task-failed", "task:backup", now=at(70), by="watchdog")
        conn.execute(
            "update deliveries set status = 'sent', sent_at = %s, parts_sent = 1, parts_total = 1", (at(71),)
        )
        conn.execute(
            "insert into delivery_attempts (delivery_id, at, part, outcome) select id, %s, 0, 'sent' from deliveries",
            (at(71),),
        )
        conn.execute(
            "insert into audit_results (audit, asset, at, status, severity, total, offending)"
            " values ('schema', 'raw_items', %s, 'ok', 'error', 0, '[]')",
            (at(60),),
        )
        conn.execute(
            "insert into slo_measurements (slo, at, value, threshold, status) values ('capture-rate', %s, 1, 0.98, 'ok')",
            (at(60),),
        )
        conn.execute(
            "insert into canary_runs (marker, session, sent_at, captured_at, recalled_at, outcome)"
            " values ('bcdf', 'argus-canary-bcdf', %s, %s, %s, 'ok')",
            (at(60), at(60), at(60)),
        )
        conn.execute("insert into health_samples (at, name, status) values (%s, 'disk', 'ok')", (at(60),))
        conn.execute(
            "insert into watcher_beats (watcher, at, since, host, pid) values ('watchdog', %s, %s, 'den', 7)",
            (at(60), at(0)),
        )
        conn.execute(
            "insert into watcher_gaps (watcher, from_at, until_at) values ('watchdog', %s, %s)", (at(1), at(5))
        )


def add_verdicts(db: Database, at_: datetime, note: int, other: int, **verdicts: int) -> None:
    with db.transaction() as conn:
        for verdict, pairs in verdicts.items():
            conn.execute(
                "insert into dedup_log (note_id, other_id, verdict, model, status, reasoning, at)"
                " select %s, %s, %s, 'rules', 'pending', 'test', %s from generate_series(1, %s)",
                (note, other, verdict, at_, pairs),
            )


def add_rejections(db: Database, at_: datetime, reason: str, count: int) -> None:
    with db.transaction() as conn:
        conn.execute(
            "insert into gate_rejections (unit_kind, unit_id, reason, at)"
            " select 'episode', 1, %s, %s from generate_series(1, %s)",
            (reason, at_, count),
        )
