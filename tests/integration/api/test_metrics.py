"""/metrics: what Prometheus reads, parsed by its own parser."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from fastapi.testclient import TestClient
from prometheus_client.parser import text_string_to_metric_families

from argus_memory.db import Database
from argus_memory.settings import Settings
from argus_memory.watch.metrics import KEPT, NAMES_MAX, Metrics
from tests.filled_store import fill
from tests.integration.api.conftest import turn
from tests.ui_client import count_queries

NOW = datetime.now(UTC)


def scrape(client: TestClient) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """(name, labels) → value, of everything told."""
    answer = client.get("/metrics")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain")
    families = text_string_to_metric_families(answer.text)
    return {(s.name, tuple(sorted(s.labels.items()))): s.value for family in families for s in family.samples}


def value(db: Database, settings: Settings, name: str, *labels: str, now: datetime = NOW) -> float | None:
    found = next(metric for metric in Metrics(db, settings).read(now) if metric.name == name)
    return dict(found.samples).get(labels)


def test_a_filled_store_is_told_in_numbers(client: TestClient, db: Database, settings: Settings) -> None:
    """Captures, passes, queues, gate, recalls, deliveries, checks, calls, tasks: each with its labels."""
    fill(db, replace(settings, tasks=settings.home / "tasks"), datetime.now(UTC))
    told = scrape(client)
    names = {name for name, _ in told}
    assert {
        "argus_captures_total", "argus_stage_passes_total", "argus_stage_seconds_total", "argus_queue_parked",
        "argus_gate_outcomes_total", "argus_recalls_total", "argus_recall_latency_seconds", "argus_deliveries",
        "argus_check", "argus_watcher_beat_age_seconds", "argus_model_calls_total", "argus_model_cost_usd_total",
        "argus_model_cost_unknown_total", "argus_task_runs_total", "argus_notes", "argus_alerts_open", "argus_build_info",
    } <= names  # fmt: skip
    assert told["argus_database_up", ()] == 1
    assert told["argus_queue_parked", (("stage", "distill"),)] == 1
    assert told["argus_deliveries", (("status", "pending"),)] == 1
    assert told["argus_check", (("check", "tasks"), ("status", "warn"))] == 1
    assert told["argus_check", (("check", "tasks"), ("status", "ok"))] == 0
    assert told["argus_task_runs_total", (("outcome", "failed"), ("task", "weather-note"))] == 1


def test_unknown_is_absent(client: TestClient, db: Database) -> None:
    """In an empty store there is no latency, no cost and no age, rather than zeros."""
    names = {name for name, _ in scrape(client)}
    assert "argus_database_up" in names
    assert not names & {"argus_recall_latency_seconds", "argus_model_cost_usd_total", "argus_queue_age_seconds", "argus_slo"}


def test_cost_that_is_not_known_is_counted_apart(db: Database, settings: Settings) -> None:
    """Two known costs add up, the third call only counts as unknown."""
    for cost in (0.5, 0.25, None):
        db.fetch_all(
            "insert into llm_calls (stage, model, cost_usd, milliseconds, outcome) values ('distill', 'm', %(c)s, 1, 'ok')"
            " returning id",
            {"c": cost},
        )
    assert value(db, settings, "argus_model_cost_usd", "distill", "m", "ok") == 0.75
    assert value(db, settings, "argus_model_cost_unknown", "distill", "m", "ok") == 1


def test_a_duplicate_is_counted_by_its_outcome(client: TestClient, db: Database, settings: Settings) -> None:
    """The same turn twice: one capture, one duplicate."""
    for _ in range(2):
        client.post("/capture", json=turn("Tomatoes want water in the morning."))
    told = scrape(client)
    assert told["argus_captures_total", (("kind", "turn"), ("source", "claude-code"))] == 1
    assert told["argus_capture_outcomes_total", (("outcome", "duplicate"), ("reason", ""))] == 1


def test_the_tables_are_read_once_in_a_while(db: Database, settings: Settings) -> None:
    """Two scrapes in a row see one reading; after KEPT it is read anew."""
    metrics = Metrics(db, settings)
    before = metrics.read(NOW)
    db.fetch_all("insert into projects (name, first_method) values ('garden', 'cwd') returning id")
    assert metrics.read(NOW + timedelta(seconds=1)) is before
    assert metrics.read(NOW + KEPT) is not before


def test_the_number_of_reads_does_not_grow(db: Database, settings: Settings) -> None:
    """An empty store and a filled one are read by as many statements."""
    with count_queries() as few:
        Metrics(db, settings).read(NOW)
    fill(db, replace(settings, tasks=settings.home / "tasks"), NOW)
    with count_queries() as many:
        Metrics(db, settings).read(NOW)
    assert len(many) == len(few) > 10


def test_sources_without_end_are_one_label_in_the_end(client: TestClient) -> None:
    """Whoever captures names the source: beyond NAMES_MAX they are counted together, and none is lost."""
    client.post("/capture", json={"items": [
        turn(f"Turn {n} of its own source.") | {"source": f"tool-{n}", "session": f"s{n}"} for n in range(NAMES_MAX + 20)
    ]})  # fmt: skip
    found = {labels: number for (name, labels), number in scrape(client).items() if name == "argus_captures_total"}
    assert len(found) == NAMES_MAX + 1
    assert found[(("kind", "turn"), ("source", "other"))] == 20
    assert sum(found.values()) == NAMES_MAX + 20


def test_without_a_database_it_says_so(settings: Settings) -> None:
    """One number, 0, and no error."""
    with Database("postgresql://nobody@127.0.0.1:1/none") as away:
        found = Metrics(away, settings).read(NOW)
    assert [(metric.name, list(metric.samples)) for metric in found] == [("argus_database_up", [((), 0)])]


def test_it_holds_nothing_of_what_was_said(client: TestClient) -> None:
    """Bodies, projects and sessions are no labels; and a stranger reads nothing."""
    client.post("/capture", json=turn("Quittenbaum has the spare key.", session="s-secret"))
    text = client.get("/metrics").text
    assert "Quittenbaum" not in text
    assert "garden" not in text
    assert client.get("/metrics", headers={"authorization": "Bearer wrong"}).status_code == 401
