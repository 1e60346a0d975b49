"""The canary through a real API, hook and database, and what is told when it is lost."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from argus_memory.db import Database
from argus_memory.records import CANARY_PROJECT
from argus_memory.settings import Settings
from argus_memory.stages.recall import recall_for_prompt
from argus_memory.stages.search import search
from argus_memory.watch.canary import is_due, run_canary
from argus_memory.watch.health import check_health
from argus_memory.watch.pending import find_pending
from tests.word_embedder import WordEmbedder


def rows(db: Database, query: Any) -> list[Any]:
    return [tuple(row.values()) for row in db.fetch_all(query)]


def test_a_canary_comes_through_and_leaves_no_trace_for_a_person(db: Database, served: Settings) -> None:
    """Hook, capture, recall and search: found at every step, in its project, and in nobody's memory or counts."""
    result = run_canary(db, served, by="test")
    assert (result.ok, result.step, result.detail) == (True, None, None)
    assert rows(db, "select project, source, kind, body ~ 'canary' from raw_items") == [
        (CANARY_PROJECT, "claude-code", "turn", True)
    ]
    assert rows(
        db, "select outcome, captured_at is not null as c, recalled_at >= captured_at as r from canary_runs"
    ) == [("ok", True, True)]
    assert rows(db, "select * from hook_heartbeats") == []
    assert rows(db, "select * from session_marks") == []
    assert rows(db, "select name from projects") == [("global",)]
    assert rows(db, "select * from embed_queue") == []
    assert rows(db, "select count(*) from alerts") == [(0,)]
    now = datetime.now(UTC)
    embedder = WordEmbedder()
    found = recall_for_prompt(db, served, embedder, prompt=f"Where did the bird called {result.marker} go?", now=now)
    assert (found.turns, found.notes) == ((), ())
    assert list(search(db, served, embedder, q=result.marker, now=now)) == []
    work = find_pending(db, served, now + timedelta(hours=3))
    assert (work.tails_due, work.tails_open, work.captured, work.turns_queued) == (0, 0, {}, 0)
    assert work.unspaced_since is None
    checks = check_health(db, served, now=now)
    assert (checks["canary"].status, checks["capture"].status) == ("ok", "unknown")


def test_a_canary_that_is_lost_is_told_once_and_its_return_too(db: Database, served: Settings) -> None:
    """A hub that cannot be reached loses it at the capture; one alert, and the recovery with the next one."""
    away = replace(served, api_url="http://127.0.0.1:9")
    for _ in range(2):
        lost = run_canary(db, away, by="test", patience=0)
        assert (lost.ok, lost.step) == (False, "capture")
        assert "server unreachable" in (lost.detail or "")
    assert rows(db, "select kind, subject, evidence ->> 'step' from alerts") == [("canary", "canary", "capture")]
    assert check_health(db, served, now=datetime.now(UTC))["canary"].status == "failed"
    assert run_canary(db, served, by="test").ok
    assert rows(db, "select kind from deliveries order by id") == [("alert",), ("recovery",)]


def test_a_wrong_token_and_a_broken_hook_are_named_by_their_step(
    db: Database, served: Settings, tmp_path: Path
) -> None:
    """What the API refuses is lost at the capture with the hook's own words; a hook that breaks, at the hook."""
    lost = run_canary(db, replace(served, capture_token="not-the-token-of-the-hub"), by="test", patience=0)
    assert lost.step == "capture"
    assert "refused the capture token" in (lost.detail or "")
    broken = tmp_path / "hook.py"
    broken.write_text("raise SystemExit(7)")
    lost = run_canary(db, served, by="test", hook=broken, patience=0)
    assert (lost.step, lost.detail) == ("hook", "it ended with exit code 7")
    assert run_canary(db, replace(served, capture_token=None), by="test").step == "hook"


def test_it_goes_out_at_its_pace_and_sooner_after_a_loss(db: Database, settings: Settings) -> None:
    """The first at once, the next after ARGUS_CANARY_EVERY, after a loss within five minutes."""
    now = datetime(2026, 3, 1, 12, tzinfo=UTC)
    assert is_due(db, settings, now)
    with db.transaction() as conn:
        conn.execute(
            "insert into canary_runs (marker, session, sent_at, outcome) values ('m', 's', %s, 'ok')", (now,)
        )
    assert not is_due(db, settings, now + settings.canary_every - timedelta(seconds=1))
    assert is_due(db, settings, now + settings.canary_every)
    with db.transaction() as conn:
        conn.execute("update canary_runs set outcome = 'failed'")
    assert is_due(db, settings, now + timedelta(minutes=5))
    assert not is_due(db, settings, now + timedelta(minutes=4))
