"""Do tasks and messages leave the trace they owe: are due runs decided, runs reported, alerts told, messages sent?"""

from __future__ import annotations

from datetime import timedelta

from argus_memory.db import queries
from argus_memory.settings import Settings
from argus_memory.watch.audits.questions import Asked, Audit, Finding, find

UNDECIDED_AFTER = timedelta(minutes=5)  # ten looks of the slower watchdog
STUCK_AFTER = timedelta(days=1)
SILENT_RUN_AFTER = timedelta(minutes=10)
UNSENT_AFTER = timedelta(hours=1)


def has_channel(settings: Settings) -> bool:
    """Whether messages can go anywhere at all."""
    return bool(settings.telegram_token or settings.webhook_url or settings.ntfy_url)


def _ask_messages(asked: Asked) -> Finding:
    if not has_channel(asked.settings):
        return Finding("unknown", detail="no channel is set up: messages are kept and shown, and sent nowhere")
    return find(queries("audits").unsent_messages, age=UNSENT_AFTER)(asked)


def watching_audits() -> tuple[Audit, ...]:
    q = queries("audits")
    return (
        Audit("due_decided", "task_runs",
              "Is it decided of every run that was due what became of it?", "error",
              find(q.undecided_runs, age=UNDECIDED_AFTER, stuck=STUCK_AFTER),
              "select * from expected_runs where status in ('expected', 'queued', 'started', 'late', 'overrunning')"
              " order by due_at"),
        Audit("runs_reported", "task_runs",
              "Has every run of a task ended in a report, or still shows a sign of life?", "error",
              find(q.unreported_runs, age=SILENT_RUN_AFTER),
              "select * from task_runs where finished_at is null order by started_at"),
        Audit("run_ids_resolve", "task_runs",
              "Do the due ledger and the reports of runs agree?", "error",
              find(q.lost_runs, age=UNDECIDED_AFTER),
              "select e.id, e.task, e.due_at, e.status, r.rid, r.outcome from expected_runs e"
              " left join task_runs r on r.id = e.task_run_id order by e.due_at desc limit 200"),
        Audit("messages_sent", "deliveries",
              "Is every message sent within an hour?", "warn", _ask_messages,
              "select * from deliveries where status <> 'sent' order by created_at"),
        Audit("alerts_told", "deliveries",
              "Has every alert its message, every end its recovery, and every message its alert and run?", "error",
              find(q.untold_alerts),
              "select a.id, a.kind, a.subject, d.key, d.status from alerts a"
              " left join deliveries d on d.alert_id = a.id order by a.id desc limit 200"),
        Audit("items_resolve", "task_items",
              "Do to-dos and the evidence that moved them name what exists, and agree on the status?", "error",
              find(q.lost_item_ids), "select * from task_events order by id desc limit 200"),
    )  # fmt: skip
