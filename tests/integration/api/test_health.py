"""GET /healthz: each part asked, each fault seen, no memory shown."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest
from fastapi.testclient import TestClient

from argus_api import health_routes
from argus_api.app import create_app
from argus_memory import migrate
from argus_memory.db import Database
from argus_memory.settings import Settings, load_settings
from argus_memory.stages.passes import record_pass
from argus_memory.watch.audits import STAGES
from argus_memory.watch.health import WATCHED, check_code, check_health, find_head
from argus_memory.watch.health_judge import DAEMONS, Check
from tests.memory_rows import add_dialog, add_note, add_turn
from tests.stubs.dagster_server import DagsterServer

from .conftest import BASE, turn

BROKEN = "ImportError: postgresql://argus:secret-word@host"
NAMES = {"database", "migrations", "capture", *STAGES, "dagster", *WATCHED, "backups", "disk"}
NOW = datetime.now(UTC)


@pytest.fixture
def webserver() -> Iterator[DagsterServer]:
    with DagsterServer() as server:
        yield server


@pytest.fixture
def settings(settings: Settings, webserver: DagsterServer) -> Settings:
    """With a webserver that has the code."""
    return replace(settings, dagster_url=f"http://127.0.0.1:{webserver.port}")


def add_daemons(db: Database, age: timedelta, now: datetime = NOW) -> None:
    """Dagster's own table, as dagster-postgres makes it, with beats of that age."""
    with db.transaction() as conn:
        conn.execute("create schema if not exists dagster")
        conn.execute(
            "create table if not exists dagster.daemon_heartbeats"
            " (daemon_type varchar(255) unique not null, daemon_id varchar(255), timestamp timestamp, body text)"
        )
        for name in DAEMONS:
            conn.execute(
                "insert into dagster.daemon_heartbeats values (%s, 'd', %s, null)",
                (name, (now - age).replace(tzinfo=None)),
            )


def test_a_fresh_hub_is_ok_and_says_what_it_cannot_tell(client: TestClient, db: Database) -> None:
    """Nothing captured yet is unknown, not ok, and yet no fault: with Dagster beating the hub is well."""
    add_daemons(db, timedelta(seconds=5), datetime.now(UTC))
    del client.headers["authorization"]
    answer = client.get("/healthz")
    body = answer.json()
    assert (answer.status_code, body["status"]) == (200, "ok"), body
    assert set(body["checks"]) == NAMES
    assert body["checks"]["capture"]["status"] == "unknown"
    assert body["checks"]["segment"]["status"] == "unknown"
    assert body["checks"]["database"] == {"status": "ok", "detail": "answers", "since": None}
    assert body["checks"]["dagster"]["status"] == "ok"


def test_without_dagster_it_cannot_be_told(client: TestClient) -> None:
    """No table of heartbeats is unknown, and the hub degraded: never ok."""
    body = client.get("/healthz").json()
    assert (body["status"], body["checks"]["dagster"]["status"]) == ("degraded", "unknown")


def test_daemons_that_stopped_are_failed(db: Database, settings: Settings) -> None:
    """Beats of more than two minutes, and a daemon that never beat."""
    add_daemons(db, timedelta(minutes=3))
    check = check_health(db, settings, now=NOW)["dagster"]
    assert (check.status, check.since) == ("failed", NOW - timedelta(minutes=3))
    with db.transaction() as conn:
        conn.execute("delete from dagster.daemon_heartbeats where daemon_type = 'SENSOR'")
    assert "SENSOR" in check_health(db, settings, now=NOW)["dagster"].detail


def test_code_that_does_not_load_is_failed(client: TestClient, db: Database, webserver: DagsterServer) -> None:
    """Every daemon beats and nothing would run: failed, with the error's class and no word of its text."""
    add_daemons(db, timedelta(seconds=5), datetime.now(UTC))
    webserver.code_error = BROKEN
    answer = client.get("/healthz")
    check = answer.json()["checks"]["dagster"]
    assert (answer.json()["status"], check["status"]) == ("degraded", "failed")
    assert "argus does not load (ImportError)" in check["detail"]
    assert "secret-word" not in answer.text


def test_a_stopped_sensor_and_a_silent_webserver_are_not_ok(
    db: Database, settings: Settings, webserver: DagsterServer
) -> None:
    """Switched off is a warning with its name; a webserver that cannot be asked leaves it unknown."""
    add_daemons(db, timedelta(seconds=5))
    webserver.stopped = ["pending_memory"]
    check = check_health(db, settings, now=NOW)["dagster"]
    assert (check.status, "pending_memory" in check.detail) == ("warn", True)
    away = replace(settings, dagster_url="http://127.0.0.1:9")
    assert check_health(db, away, now=NOW)["dagster"].status == "unknown"


def test_the_webserver_is_asked_once_in_half_a_minute(webserver: DagsterServer) -> None:
    """What is well is believed for 30 s and no longer; what is not well is asked anew after 5 s."""
    times = [0.0]

    def ask(at: float) -> str:
        times[0] = at
        return check_code(f"http://127.0.0.1:{webserver.port}", clock=lambda: 1e6 + times[0]).status

    assert ask(0) == "ok"
    webserver.code_error = BROKEN
    assert (ask(29.9), webserver.asked) == ("ok", 1)
    assert ask(30) == "failed"
    webserver.code_error = None
    assert (ask(34.9), ask(35), webserver.asked) == ("failed", "ok", 3)


def test_no_memory_is_shown(client: TestClient, db: Database) -> None:
    """Neither texts nor projects nor machines nor errors of models stand in the answer."""
    client.post("/capture", json={
        "items": [turn("The secret garden.", host="laptop-of-kim")],
        "hook": {"host": "laptop-of-kim", "target": "claude-code", "version": "1", "event": "Stop", "session": "s1"},
    })  # fmt: skip
    add_note(db, "The secret garden.")
    with db.transaction() as conn:
        record_pass(conn, "distill", NOW, NOW, "failed", {}, "ContentFailure: it said 'garden'")
    text = client.get("/healthz").text
    assert "garden" not in text
    assert "laptop" not in text
    assert "the last pass failed" in text


def test_captures_arriving_are_ok(client: TestClient) -> None:
    """A row a moment ago."""
    client.post("/capture", json=turn("The pump."))
    check = client.get("/healthz").json()["checks"]["capture"]
    assert (check["status"], check["detail"]) == ("ok", "last capture just now")


def test_hooks_that_report_while_no_turns_arrive_are_failed(db: Database, settings: Settings) -> None:
    """A machine whose sessions go on, though none of its turns comes: one check, failed."""
    add_turn(db, "Long ago.", NOW - timedelta(days=3))
    with db.transaction() as conn:
        conn.execute(
            "insert into hook_heartbeats (host, target, version, event, session, at)"
            " values ('laptop', 'claude-code', '1', 'Stop', 's9', %s)",
            (NOW,),
        )
    check = check_health(db, settings, now=NOW)["capture"]
    assert check.status == "failed"
    assert "1 machine reports" in check.detail


def test_a_tail_nobody_closes_is_failed(db: Database, settings: Settings) -> None:
    """Due for hours, and no pass of the stage: failed since it was due."""
    add_dialog(db, 2)
    with db.transaction() as conn:
        last = conn.execute("select max(captured_at) as at from raw_items").fetchone()
    assert last is not None
    now = last["at"] + timedelta(hours=3)
    check = check_health(db, settings, now=now)["segment"]
    assert (check.status, check.since) == ("failed", last["at"] + settings.idle_close)
    with db.transaction() as conn:
        record_pass(conn, "segment", now, now - timedelta(minutes=1), "ok", {})
    assert check_health(db, settings, now=now)["segment"].status == "warn"


def test_parked_units_and_held_merges_are_told(db: Database, settings: Settings) -> None:
    """Parked is a warning; a merge that waits for a person is only mentioned."""
    old, new = add_note(db, "The seal is 12 mm."), add_note(db, "The seal is 14 mm.")
    with db.transaction() as conn:
        conn.execute(
            "insert into distill_state (unit_kind, unit_id, status, said_at) values ('item', 1, 'parked', now())"
        )
        conn.execute(
            "insert into dedup_log (note_id, other_id, verdict, model, status, reasoning)"
            " values (%s, %s, 'supersede', 't', 'pending', 'x')",
            (new, old),
        )
        record_pass(conn, "dedup", NOW, NOW, "ok", {})
    checks = check_health(db, settings, now=NOW)
    assert (checks["distill"].status, "1 parked" in checks["distill"].detail) == ("warn", True)
    assert (checks["dedup"].status, "1 held for review" in checks["dedup"].detail) == ("ok", True)


def test_another_revision_is_down(db: Database, settings: Settings, client: TestClient) -> None:
    """A schema that is not this version's: 503, and the way out."""
    with db.transaction() as conn:
        conn.execute("update alembic_version set version_num = '0001_guards'")
    answer = client.get("/healthz")
    assert (answer.status_code, answer.json()["status"]) == (503, "down")
    assert "argus up" in answer.json()["checks"]["migrations"]["detail"]


def test_the_head_is_alembics() -> None:
    """The newest file's name is the newest revision, so that Alembic need not be loaded to know it."""
    assert find_head() == migrate.head_revision()


def test_an_empty_database_is_down(empty_dsn: str, settings: Settings) -> None:
    """Nothing migrated: down, and a capture says what to do."""
    with Database(empty_dsn) as empty:
        checks = check_health(empty, settings, now=NOW)
    assert checks["migrations"].status == "failed"


def test_without_database_it_is_down_within_seconds(tmp_path: Path) -> None:
    """503 before the supervisor gives up asking; every part that needs it unknown; captures answer 503 too."""
    settings = load_settings(
        {
            "ARGUS_HOME": str(tmp_path),
            "ARGUS_DATABASE_URL": "postgresql://argus:secret-word@127.0.0.1:9/argus",
            "ARGUS_CAPTURE_TOKEN": "capture-token-for-tests",
        }
    )
    with TestClient(create_app(settings), base_url=BASE, raise_server_exceptions=False) as client:
        started = datetime.now(UTC)
        answer = client.get("/healthz")
        assert datetime.now(UTC) - started < timedelta(seconds=5)
        assert (answer.status_code, answer.json()["status"]) == (503, "down")
        checks = answer.json()["checks"]
        assert checks["database"]["status"] == "failed"
        assert checks["capture"]["status"] == "unknown"
        assert "secret-word" not in answer.text


def test_a_database_that_hangs_is_down_and_not_waited_for(quiet: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """A question without an answer ends after its patience, and the next one too, however many hang."""
    release = threading.Event()

    def hang(*_: object, **__: object) -> dict[str, Check]:
        release.wait(20)
        return {}

    monkeypatch.setattr(health_routes, "check_health", hang)
    monkeypatch.setattr(health_routes, "PATIENCE_SECONDS", 0.1)
    try:
        for _ in range(health_routes.THREADS + 1):
            answer = quiet.get("/healthz")
            assert (answer.status_code, answer.json()["status"]) == (503, "down")
            assert "no answer within" in answer.json()["checks"]["database"]["detail"]
    finally:
        release.set()


def test_a_database_that_stops_in_the_middle_keeps_nothing_half(
    client: TestClient, db: Database, dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The connection is cut between the rows and their audit: 503, no row; the next try stores it once."""
    import argus_memory.stages.capture as stage

    write_audit = stage._write_audit

    def cut(conn: psycopg.Connection, *more: object) -> None:
        with psycopg.connect(dsn, autocommit=True) as other:
            other.execute("select pg_terminate_backend(%s)", (conn.info.backend_pid,))
        write_audit(conn, *more)  # type: ignore[arg-type]
        conn.execute("select 1")

    monkeypatch.setattr(stage, "_write_audit", cut)
    answer = client.post("/capture", json={"items": [turn("One."), turn("Two.")]})
    assert answer.status_code == 503
    assert answer.json()["error"]["message"]
    assert db.fetch_one("select count(*)::int as n from raw_items") == {"n": 0}
    monkeypatch.setattr(stage, "_write_audit", write_audit)
    assert client.post("/capture", json={"items": [turn("One."), turn("Two.")]}).status_code == 201
    assert db.fetch_one("select count(*)::int as n from raw_items") == {"n": 2}
