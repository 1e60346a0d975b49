"""What Prometheus is told: counts of the tables, read at most every KEPT seconds whoever asks how often.

Only counts, times and names of our own (stages, tasks, models): no word of what is remembered. What is unknown is
left out, never 0. Totals are of the tables and fall where housekeeping clears old rows; Prometheus takes that for a
restart.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Literal, LiteralString

from psycopg.rows import DictRow

from argus_memory.db import Database, queries
from argus_memory.errors import Unreachable
from argus_memory.settings import Settings
from argus_memory.stages.spaces import EMBED_ATTEMPTS
from argus_memory.watch.pending import due_params, with_due_tails

KEPT: Final = timedelta(seconds=10)
RECENT: Final = timedelta(hours=1)  # of the recall quantiles
SAMPLED: Final = timedelta(hours=3)  # health is sampled hourly, service levels with the audits
STATUSES: Final = ("ok", "warn", "failed", "unknown")
QUANTILES: Final = ("0.5", "0.95", "0.99")
NAMES_MAX: Final = 40  # of sources and of models: whoever captures names the first, providers the second
REST: Final = "other"


@dataclass(frozen=True, slots=True)
class Metric:
    """`name` without the `_total` of a counter; `samples`: label values in the order of `labels`, and the number."""

    name: str
    kind: Literal["counter", "gauge"]
    about: str
    labels: tuple[str, ...]
    samples: Sequence[tuple[tuple[str, ...], float]]


class Metrics:
    """The reads behind `/metrics`, kept for a moment."""

    def __init__(self, db: Database, settings: Settings) -> None:
        self._db = db
        self._settings = settings
        self._lock = threading.Lock()
        self._read: tuple[datetime, list[Metric]] | None = None

    def read(self, now: datetime) -> list[Metric]:
        """Without a database only that there is none."""
        with self._lock:
            if self._read is None or not timedelta() <= now - self._read[0] < KEPT:
                self._read = (now, self._collect(now))
            return self._read[1]

    def _collect(self, now: datetime) -> list[Metric]:
        try:
            with self._db.transaction() as conn:
                params: dict[str, Any] = {"now": now, "since": now - RECENT}

                def ask(query: LiteralString, **more: Any) -> list[DictRow]:
                    return conn.execute(query, {**params, **more}).fetchall()

                found = [*_pipeline(ask), *_watch(ask, now), *_models_and_tasks(ask)]
                due = {**due_params(self._settings, now), "attempts": EMBED_ATTEMPTS}
                found += _queues(conn.execute(with_due_tails(queries("health").waiting), due).fetchall(), now)
        except Unreachable:
            return [_up(0)]
        return [_up(1), *found]


Ask = Callable[..., list[DictRow]]
Rows = Iterable[Mapping[str, Any]]


def _up(value: float) -> Metric:
    return Metric("argus_database_up", "gauge", "whether the database answered this scrape", (), [((), value)])


def _counter(name: str, about: str, labels: tuple[str, ...], rows: Rows, column: str = "n") -> Metric:
    return Metric(name, "counter", about, labels, _samples(labels, rows, column))


def _gauge(name: str, about: str, labels: tuple[str, ...], rows: Rows, column: str = "n") -> Metric:
    return Metric(name, "gauge", about, labels, _samples(labels, rows, column))


def _samples(labels: Sequence[str], rows: Rows, column: str) -> list[tuple[tuple[str, ...], float]]:
    """Of rows whose number is known; times as seconds since 1970."""
    found = []
    for row in rows:
        value = row[column]
        if value is not None:
            number = value.timestamp() if isinstance(value, datetime) else float(value)
            found.append((tuple(str(row[label]) for label in labels), number))
    return found


def fold(rows: Sequence[Mapping[str, Any]], label: str, most: int = NAMES_MAX) -> list[dict[str, Any]]:
    """Rows whose `label` has at most `most` values and REST: the names with the greatest `n` keep theirs.

    Rows that come to have the same words in all their labels are added up; a number that is known in none stays None.
    """
    sizes: Counter[str] = Counter()
    for row in rows:
        sizes[str(row[label])] += row["n"]
    kept = set(sorted(sizes, key=lambda name: (-sizes[name], name))[:most])
    found: dict[tuple[str, ...], dict[str, Any]] = {}
    for row in rows:
        named = {**row, label: str(row[label]) if str(row[label]) in kept else REST}
        key = tuple(value for _, value in sorted(named.items()) if isinstance(value, str))
        before = found.setdefault(key, named)
        if before is not named:
            for name, value in named.items():
                if value is not None and not isinstance(value, str):
                    before[name] = value + (before[name] or 0)
    return list(found.values())


def _pipeline(ask: Ask) -> list[Metric]:
    q = queries("metrics")
    passes, recalls = ask(q.passes), ask(q.recalls)
    by, quantiles = ("stage", "outcome"), [
        {"mode": row["mode"], "quantile": name, "n": value / 1000.0}
        for row in ask(q.recall_quantiles)
        for name, value in zip(QUANTILES, row["values"], strict=True)
    ]
    how = ("mode", "outcome")
    return [
        _counter("argus_captures", "raw items stored", ("source", "kind"),
                 fold(ask(q.captures), "source")),
        _counter("argus_capture_outcomes", "captures that made no row: duplicates, skips and refusals by reason",
                 ("outcome", "reason"), ask(q.capture_outcomes)),
        _counter("argus_stage_passes", "passes of each stage", by, passes),
        _counter("argus_stage_seconds", "time spent in passes", by, passes, "seconds"),
        _gauge("argus_stage_last_pass_timestamp_seconds", "when such a pass last ended", by, passes, "last_at"),
        _counter("argus_gate_outcomes", "candidates the write-gate let through or refused", ("outcome", "reason"),
                 ask(q.gate)),
        _gauge("argus_notes", "notes by state", ("state",), ask(q.notes)),
        _counter("argus_recalls", "recalls: shown, or why nothing was", how, recalls),
        _counter("argus_recall_seconds", "time spent in recalls", how, recalls, "seconds"),
        _gauge("argus_recall_latency_seconds", "latency of the last hour's recalls", ("mode", "quantile"), quantiles),
    ]  # fmt: skip


def _queues(rows: Sequence[DictRow], now: datetime) -> list[Metric]:
    waiting = [{**row, "age": _age(row["since"], now)} for row in rows if row["waiting"] and row["since"]]
    return [
        _gauge("argus_queue_waiting", "what waits before each stage", ("stage",), rows, "waiting"),
        _gauge("argus_queue_age_seconds", "since when the oldest could have been done", ("stage",), waiting, "age"),
        _gauge("argus_queue_parked", "tried too often, waits for a person", ("stage",), rows, "parked"),
    ]


def _watch(ask: Ask, now: datetime) -> list[Metric]:
    q = queries("metrics")
    deliveries, since = ask(q.deliveries), now - SAMPLED
    oldest = [row["oldest"] for row in deliveries if row["oldest"]]
    checks = [
        {"check": row["name"], "status": status, "n": row["status"] == status}
        for row in ask(q.checks, since=since)
        for status in STATUSES
    ]
    beats = [{**row, "age": _age(row["at"], now)} for row in ask(q.beats)]
    slos = [{**row, "met": row["status"] == "ok"} for row in ask(q.slos, since=since) if row["value"] is not None]
    waits = [{"age": _age(min(oldest), now)}] if oldest else []
    return [
        _gauge("argus_deliveries", "messages of the outbox by state", ("status",), deliveries),
        _gauge("argus_delivery_oldest_seconds", "age of the oldest message that waits", (), waits, "age"),
        _gauge("argus_alerts_open", "open alerts", ("kind", "severity"), ask(q.alerts)),
        _gauge("argus_check", "health checks; 1 for the status it has", ("check", "status"), checks),
        _gauge("argus_watcher_beat_age_seconds", "since a watchdog's last sign of life", ("watcher",), beats, "age"),
        _gauge("argus_slo", "service levels as last measured", ("slo",), slos, "value"),
        _gauge("argus_slo_met", "whether a level is as asked", ("slo",), slos, "met"),
    ]


def _models_and_tasks(ask: Ask) -> list[Metric]:
    q = queries("metrics")
    calls = fold(ask(q.calls), "model")
    by = ("stage", "model", "outcome")
    return [
        _counter("argus_model_calls", "calls of models", by, calls),
        _counter("argus_model_prompt_tokens", "tokens sent, where known", by, calls, "prompt"),
        _counter("argus_model_completion_tokens", "tokens received, where known", by, calls, "completion"),
        _counter("argus_model_cost_usd", "cost, where known", by, calls, "usd"),
        _counter("argus_model_cost_unknown", "calls whose cost is not known", by, calls, "unknown"),
        _counter("argus_task_runs", "runs of tasks", ("task", "outcome"), ask(q.task_runs)),
        _counter("argus_task_no_shows", "runs that were due and did not happen", ("task",), ask(q.no_shows)),
    ]


def _age(since: datetime, now: datetime) -> float:
    return max(0.0, (now - since).total_seconds())
