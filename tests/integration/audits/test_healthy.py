"""A filled store in good order passes every audit, and each answer is kept."""

from __future__ import annotations

from argus_memory.db import Database
from argus_memory.settings import Settings
from argus_memory.watch.audits import AUDITS, run_audits
from argus_memory.watch.audits.columns import tables_by_asset
from tests.dagster_runs import WordEmbedder
from tests.integration.audits.healthy import NOW, fill

# Nothing to judge by: a past of two weeks is needed.
NO_PAST = {"rejection_rate", "poison_rate", "verdict_mix"}


def test_a_filled_store_in_order_passes_everything(db: Database, settings: Settings, embedder: WordEmbedder) -> None:
    """Every audit is ok over rows in every table, but those that need a longer past; nobody is told anything."""
    settings = fill(db, settings, embedder)
    counts = {
        table: db.fetch_one(f"select count(*)::int as n from {table}")
        for tables in tables_by_asset().values()
        for table in tables
    }
    empty = {table for table, row in counts.items() if row == {"n": 0}}
    assert empty <= {"document_fingerprints", "near_duplicates", "embed_queue"}
    answers = list(run_audits(db, settings, now=NOW, by="test"))
    assert len(answers) == len(AUDITS)
    assert all(each.kept for each in answers)
    assert {each.audit.key: each.finding for each in answers if each.finding.status == "failed"} == {}
    assert {each.audit.name for each in answers if each.finding.status == "unknown"} == NO_PAST
    alerts = db.fetch_all("select subject from alerts where kind = 'audit'")
    assert alerts == []
