"""`argus doctor`, the part that asks a running hub: database, migrations, role, clocks, and /healthz."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from argus_cli.findings import Finding
from argus_cli.hub import stored_dsn
from argus_cli.probes import probe_http
from argus_memory.errors import ArgusError
from argus_memory.settings import Settings

SKEW_HINT_SECONDS, SKEW_MAX_SECONDS = 5.0, 120.0


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
    yield judge_skew((datetime.now(UTC) - there).total_seconds(), "the database")
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


def judge_skew(seconds: float, other: str) -> Finding:
    """Turns are put in order by their times, so clocks that are minutes apart mix up conversations."""
    status = "ok" if abs(seconds) < SKEW_HINT_SECONDS else "warn" if abs(seconds) < SKEW_MAX_SECONDS else "failed"
    return Finding("clock skew", status, f"{abs(seconds):.1f} s to {other}", "let both keep time by NTP")


def judge_revision(current: str | None, head: str) -> Finding:
    if current == head:
        return Finding("migrations", "ok", f"at {head}")
    return Finding("migrations", "failed", f"at {current or 'nothing'}, this code wants {head}", "run `argus up`")


def check_health(settings: Settings, running: bool) -> Iterator[Finding]:
    if not running:
        yield Finding("api", "unknown", "no hub runs", "run `argus up`")
        return
    probe = probe_http(settings.api_host, settings.api_port, "/healthz")
    yield Finding("api", probe.status, probe.detail, "see logs/api.log", away=probe.answered is False)
    checks: dict[str, Any] = dict((probe.data or {}).get("checks", {}))
    for name, check in checks.items():
        yield Finding(f"  {name}", str(check.get("status", "unknown")), str(check.get("detail", "")))
