"""`argus doctor` as a client: tokens at the API, its clock, a capture found again, sessions known."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from argus_cli.doctor_client import check_round_trip, check_tokens
from argus_cli.doctor_transcripts import find_captured
from argus_memory.db import Database
from argus_memory.settings import Settings
from tests.memory_rows import add_turn


def test_tokens_and_clock_of_a_running_hub(served: Settings) -> None:
    """All three open the API, nothing is open without one, and the API's clock is this machine's."""
    findings = {finding.name: finding for finding in check_tokens(served, running=True)}
    assert (findings["tokens at the API"].status, findings["clock skew"].status) == ("ok", "ok"), findings


def test_a_token_the_hub_does_not_know_is_named(served: Settings) -> None:
    """Changed in the file after the hub had started, say."""
    changed = replace(served, mcp_token="another-token-than-the-hubs")
    finding = next(iter(check_tokens(changed, running=True)))
    assert finding.status == "failed"
    assert "ARGUS_MCP_TOKEN" in finding.detail
    assert "another-token" not in finding.detail


def test_an_address_where_nothing_answers_is_out_of_reach(settings: Settings) -> None:
    """Hooks look at ARGUS_API_URL: a wrong one is found here, however well the hub runs elsewhere."""
    (finding,) = check_tokens(replace(settings, api_url="http://127.0.0.1:9"), running=True)
    assert (finding.status, finding.away) == ("failed", True)
    (finding,) = check_round_trip(replace(settings, api_url="http://127.0.0.1:9"), running=True)
    assert (finding.status, finding.away) == ("failed", True)


def test_a_capture_is_found_again_and_stored_once_a_day(db: Database, served: Settings) -> None:
    """Two calls of the doctor, one row; neither is a sign that a person's captures arrive."""
    for _ in range(2):
        (finding,) = check_round_trip(served, running=True)
        assert finding.status == "ok", finding
    assert db.fetch_one("select count(*)::int as n from raw_items") == {"n": 1}


def test_sessions_of_which_something_was_captured(db: Database, dsn: str) -> None:
    """A turn, or one skipped on purpose; anything else is not known."""
    add_turn(db, "hello", datetime(2026, 3, 2, tzinfo=UTC), session="s1")
    with db.transaction() as conn:
        conn.execute(
            "insert into capture_outcomes (source, session, outcome, reason, count)"
            " values ('claude-code', 's2', 'skipped', 'poison', 1)"
        )
    assert find_captured(dsn, ["s1", "s2", "s3"]) == {"s1", "s2"}
