"""`argus doctor`, the part that asks a running hub: database, migrations, role, API, and one capture found again."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote, urlsplit

from argus_cli.findings import Finding
from argus_cli.hub import stored_dsn
from argus_cli.probes import probe_http
from argus_memory.errors import ArgusError
from argus_memory.settings import Settings

CANARY_SOURCE = "argus"  # stages leave this source and project alone: it is captured and searched, never distilled
CANARY_PROJECT = "argus-canary"
SECONDS = 15.0


def check_database(settings: Settings) -> Iterator[Finding]:
    """Extension, role, migrations and the clock, over the address every service uses."""
    import psycopg

    from argus_memory.migrate import current_revision, head_revision

    try:
        dsn = stored_dsn(settings)
    except ArgusError as error:
        yield Finding("database", "unknown", str(error))
        return
    try:
        with psycopg.connect(dsn, connect_timeout=5) as connection:
            row = connection.execute(
                "select current_setting('server_version'), current_user, r.rolsuper, current_setting('fsync'),"
                " (select extversion from pg_extension where extname = 'vector'), clock_timestamp()"
                " from pg_roles r where r.rolname = current_user"
            ).fetchone()
    except psycopg.Error as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        yield Finding("database", "unknown", f"does not answer ({reason})", "run `argus up`")
        return
    assert row is not None
    server, user, superuser, fsync, vector, there = row
    yield Finding("database", "ok", f"PostgreSQL {server}")
    yield judge_role(user, superuser)
    yield judge_fsync(fsync)
    yield judge_vector(vector)
    yield judge_skew((datetime.now(UTC) - there).total_seconds())
    yield judge_revision(current_revision(dsn), head_revision())


def judge_role(user: str, superuser: bool) -> Finding:
    cure = "give ARGUS_DATABASE_URL a role made with NOSUPERUSER that owns its database"
    kind = "a superuser, which Argus has no use for" if superuser else "no superuser"
    return Finding("role", "warn" if superuser else "ok", f"{user}, {kind}", cure)


def judge_fsync(value: str) -> Finding:
    return Finding("fsync", "ok" if value == "on" else "failed", value, "set fsync = on: a power loss costs rows")


def judge_vector(value: str | None) -> Finding:
    if value is None:
        return Finding("pgvector", "failed", "missing", "run `create extension vector` as an administrator")
    return Finding("pgvector", "ok", value)


def judge_skew(seconds: float) -> Finding:
    status = "ok" if abs(seconds) < 5 else "warn"
    return Finding("clock skew", status, f"{abs(seconds):.1f} s to the database", "let both keep time by NTP")


def judge_revision(current: str | None, head: str) -> Finding:
    if current == head:
        return Finding("migrations", "ok", f"at {head}")
    return Finding("migrations", "failed", f"at {current or 'nothing'}, this code wants {head}", "run `argus up`")


def check_health(settings: Settings, running: bool) -> Iterator[Finding]:
    if not running:
        yield Finding("api", "unknown", "no hub runs", "run `argus up`")
        return
    probe = probe_http(settings.api_host, settings.api_port, "/healthz")
    yield Finding("api", probe.status, probe.detail, "see logs/api.log")
    checks: dict[str, Any] = dict((probe.data or {}).get("checks", {}))
    for name, check in checks.items():
        yield Finding(f"  {name}", str(check.get("status", "unknown")), str(check.get("detail", "")))


def check_round_trip(settings: Settings, running: bool) -> Iterator[Finding]:
    """A turn marked as a canary goes in by /capture and is found by /search: the way every turn takes."""
    if not running:
        yield Finding("capture → search", "unknown", "no hub runs", "run `argus up`")
        return
    token = settings.capture_token
    if token is None:
        yield Finding("capture → search", "failed", "ARGUS_CAPTURE_TOKEN is missing", "`argus up` makes it")
        return
    word = canary_word(datetime.now(UTC))
    status, receipt = call(settings, token, "POST", "/capture", canary(word))
    if status not in (200, 201) or receipt.get("id") is None:
        yield Finding("capture → search", "failed", f"/capture answers HTTP {status}: {brief(receipt)}")
        return
    path = f"/search?q={quote(word)}&project={CANARY_PROJECT}&type=turn&limit=5"
    status, answer = call(settings, token, "GET", path)
    found = [hit.get("raw_id") for hit in answer.get("results", [])]
    if status == 200 and receipt["id"] in found:
        again = " (of today, stored before)" if receipt.get("duplicate") else ""
        yield Finding("capture → search", "ok", f"raw item {receipt['id']}{again} found again")
    else:
        yield Finding("capture → search", "failed", f"raw item {receipt['id']} not found (HTTP {status}, {found})")


def canary_word(now: datetime) -> str:
    """One word a day: raw items are never deleted, so a doctor that runs each minute must not add one each time."""
    return f"canary{now:%Y%m%d}"


def canary(word: str) -> dict[str, Any]:
    return {
        "source": CANARY_SOURCE,
        "kind": "turn",
        "body": f"{word} sent by argus doctor to see whether a captured turn is found again",
        "session": CANARY_PROJECT,
        "project": CANARY_PROJECT,
        "metadata": {"role": "user"},
    }


def call(
    settings: Settings, token: str, method: str, path: str, body: dict[str, Any] | None = None
) -> tuple[int, dict[str, Any]]:
    """One request to this machine's API; the answer's JSON, or {} where it is none."""
    address = urlsplit(f"http://{settings.api_host}:{settings.api_port}")
    connection = http.client.HTTPConnection(address.hostname or "127.0.0.1", address.port, timeout=SECONDS)
    try:
        connection.request(
            method,
            path,
            None if body is None else json.dumps(body),
            {"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
        )
        response = connection.getresponse()
        text = response.read()
    finally:
        connection.close()
    try:
        answer = json.loads(text)
    except ValueError:
        return response.status, {}
    return response.status, answer if isinstance(answer, dict) else {}


def brief(answer: dict[str, Any]) -> str:
    error = answer.get("error")
    return str(error.get("message", error)) if isinstance(error, dict) else json.dumps(answer)[:200]
