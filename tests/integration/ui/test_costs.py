"""The page of costs: known and unknown kept apart, by day, stage and model."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from fastapi import FastAPI
from fastapi.testclient import TestClient

from argus_api.app import create_app
from argus_memory.db import Database
from argus_memory.settings import Settings
from argus_memory.upkeep.pages.costs import read_costs
from tests.integration.ui.conftest import client_of
from tests.ui_client import Browser, count_queries, words_of

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)


def add_call(db: Database, at: datetime, cost: float | None, *, stage: str = "distill", tokens: int | None = 100) -> None:
    db.fetch_all(
        """insert into llm_calls (at, stage, model, prompt_tokens, completion_tokens, cost_usd, milliseconds, outcome)
           values (%(at)s, %(stage)s, 'm', %(tokens)s, 10, %(cost)s, 5, 'ok') returning id""",
        {"at": at, "stage": stage, "tokens": tokens, "cost": cost},
    )


def test_unknown_cost_is_no_zero(db: Database) -> None:
    """Two known calls add up, an unknown one is counted beside them; where none is known the sum is unknown."""
    for cost in (0.5, 0.25, None):
        add_call(db, NOON, cost)
    add_call(db, NOON, None, stage="dedup", tokens=None)
    page = read_costs(db, 7, ZoneInfo("UTC"), "UTC", now=NOON)
    distill, dedup = page.stages
    assert (distill.calls, distill.usd, distill.unknown, distill.prompt_tokens) == (3, 0.75, 1, 300)
    assert (dedup.calls, dedup.usd, dedup.unknown) == (1, None, 1)
    assert (page.total.calls, page.total.usd, page.total.unknown) == (4, 0.75, 2)


def test_days_are_the_viewers(db: Database) -> None:
    """A call at 23:30 UTC belongs to the next day in Vienna; each day of the span is there, also without a call."""
    add_call(db, datetime(2026, 5, 3, 23, 30, tzinfo=UTC), 1.0)
    utc = dict(read_costs(db, 7, ZoneInfo("UTC"), "UTC", now=NOON).days)
    vienna = dict(read_costs(db, 7, ZoneInfo("Europe/Vienna"), "Europe/Vienna", now=NOON).days)
    assert len(utc) == len(vienna) == 7
    assert [day.day for day, one in utc.items() if one.calls] == [3]
    assert [day.day for day, one in vienna.items() if one.calls] == [4]


def test_what_is_older_than_the_span_is_left_out(db: Database) -> None:
    """Seven days are seven days."""
    add_call(db, NOON - timedelta(days=8), 1.0)
    page = read_costs(db, 7, ZoneInfo("UTC"), "UTC", now=NOON)
    assert (page.total.calls, page.total.usd) == (0, None)


def test_the_page_shows_both_and_filters_calls(reader: Browser) -> None:
    """Sums by stage and model, an engine's unknown cost, and the calls of one stage with a link to their run."""
    page = reader.page("/ui/costs?days=90")
    words = words_of(page)
    assert "haiku-4" in words
    assert "small:8b" in words
    assert "unknown" in words
    assert "task weather-note" in words
    assert "/runs/" in page
    only = words_of(reader.page("/ui/costs?days=90&stage=dedup&outcome=ok"))
    assert "calls" in only
    assert reader.get("/ui/costs?days=8").status_code == 422


def test_a_call_leads_to_its_trace(stranger: TestClient, settings: Settings, db: Database, app: FastAPI) -> None:
    """Where Langfuse is named and the call named a trace; else there is no link."""
    add_call(db, datetime.now(UTC), 0.1)
    db.fetch_all("update llm_calls set trace_id = 'abc123' returning id")
    plain = Browser.signed_in(stranger, settings).page("/ui/costs")
    assert "abc123" not in plain
    named = create_app(replace(settings, langfuse_url="http://traces.example/project/p1"))
    with named.state.hub.db:
        page = Browser.signed_in(client_of(named), settings).page("/ui/costs")
    assert 'href="http://traces.example/project/p1/trace/abc123"' in page


def test_an_empty_store_says_so(bare: Browser) -> None:
    """And what would bring calls."""
    assert "No model was asked in these days." in words_of(bare.page("/ui/costs"))


def test_the_queries_do_not_grow_with_the_rows(bare: Browser, reader: Browser) -> None:
    """As many for ninety calls as for none."""
    with count_queries() as few:
        bare.page("/ui/costs")
    with count_queries() as many:
        reader.page("/ui/costs?days=90")
    assert len(few) == len(many)
