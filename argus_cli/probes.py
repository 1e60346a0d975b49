"""Asking a service whether it works. Each probe answers in a few seconds, never raises, and says what it saw."""

from __future__ import annotations

import http.client
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from argus_cli.dagster_url import DAGSTER_SCHEMA
from argus_cli.ports import port_answers, reach_host
from argus_cli.service_table import Addresses, Health, Service
from argus_memory.errors import Unreachable
from argus_memory.watch.dagster_code import ask_code, judge_code

HTTP_SECONDS = 5.0
HEARTBEAT_MAX_SECONDS = 120.0  # daemons beat every 30 s; Dagster itself tolerates 1,800 s, which is too late
WATCHED_DAEMONS = ("SENSOR", "SCHEDULER", "QUEUED_RUN_COORDINATOR")


@dataclass(frozen=True, slots=True)
class Probe:
    """`status` is ok, warn, failed or unknown; `detail` is for people; `data` the answer's JSON, if any.

    `answered` asks less than `status`: an API that says "down" because the database is away does live, and
    starting it again would cure nothing. None: it cannot be told.
    """

    status: str
    detail: str
    data: Mapping[str, Any] | None = None
    answered: bool | None = True


def silent(detail: str) -> Probe:
    return Probe("failed", detail, answered=False)


def probe_service(service: Service, addresses: Addresses, dsn: str) -> Probe:
    """Ask one service of the table in its own way."""
    if service.health is Health.HEARTBEAT:
        return probe_heartbeats(dsn)
    host, port = addresses.fill(service.host), int(addresses.fill(service.port))
    if service.health is Health.PORT:
        answers = port_answers(port, host)
        return Probe("ok", f"port {port}") if answers else silent(f"nothing answers on port {port}")
    if service.health is Health.DAGSTER:
        return probe_dagster(host, port, service.path)
    return probe_http(host, port, service.path)


def probe_dagster(host: str, port: int, path: str) -> Probe:
    """The webserver, and whether it has the code: one that does not load is a failure no restart would cure."""
    probe = probe_http(host, port, path)
    if probe.status != "ok":
        return probe
    try:
        state = ask_code(f"http://{reach_host(host)}:{port}", seconds=HTTP_SECONDS)
    except Unreachable as error:
        return Probe("warn", f"{probe.detail}, but not whether the code is loaded ({error})")
    status, detail = judge_code(state)
    return probe if status == "ok" else Probe(status, f"{probe.detail}: {detail}")


def probe_http(host: str, port: int, path: str) -> Probe:
    """GET; 200 is ok; a JSON answer's own `status` decides, so that a degraded API is a warning."""
    connection = http.client.HTTPConnection(reach_host(host), port, timeout=HTTP_SECONDS)
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        body = response.read(1_000_000)
    except (OSError, http.client.HTTPException) as error:
        return silent(f"no answer from http://{host}:{port}{path} ({type(error).__name__})")
    finally:
        connection.close()
    return judge_answer(response.status, body, f"http://{host}:{port}")


def judge_answer(status: int, body: bytes, address: str) -> Probe:
    """What an HTTP answer says about its service: code first, then the body's `status` word."""
    data: Mapping[str, Any] | None = None
    if body[:1] == b"{":
        try:
            data = json.loads(body)
        except ValueError:
            data = None
    word = data.get("status") if data else None
    if word in ("degraded", "down"):
        # It answers, so the process works; what is wrong stands in its own checks.
        return Probe("warn" if word == "degraded" else "failed", f"{address} says {word}", data)
    if status == 200:
        return Probe("ok", address, data)
    return Probe("failed", f"{address} answers HTTP {status}", data)


def probe_heartbeats(dsn: str) -> Probe:
    """The daemons' rows: every watched daemon has beaten within HEARTBEAT_MAX_SECONDS."""
    import psycopg

    try:
        with psycopg.connect(dsn, connect_timeout=5) as connection:
            rows = connection.execute(
                "select daemon_type, extract(epoch from (now() at time zone 'utc') - timestamp)::float8"
                f" from {DAGSTER_SCHEMA}.daemon_heartbeats"
            ).fetchall()
    except psycopg.Error as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        return Probe("unknown", f"heartbeats cannot be read ({reason})", answered=None)
    return judge_heartbeats({str(kind): float(age) for kind, age in rows})


def judge_heartbeats(ages: Mapping[str, float]) -> Probe:
    """Seconds since each daemon's last beat → one verdict."""
    missing = [kind for kind in WATCHED_DAEMONS if kind not in ages]
    if missing:
        return silent(f"no heartbeat yet of {', '.join(missing)}")
    oldest = max(WATCHED_DAEMONS, key=lambda kind: ages[kind])
    if ages[oldest] > HEARTBEAT_MAX_SECONDS:
        return silent(f"{oldest} has not beaten for {ages[oldest]:.0f} s")
    return Probe("ok", f"last heartbeat {ages[oldest]:.0f} s ago", {"oldest_seconds": ages[oldest]})


def probe_postgres(dsn: str) -> Probe:
    """A login and the version."""
    import psycopg

    try:
        with psycopg.connect(dsn, connect_timeout=5) as connection:
            row = connection.execute("show server_version").fetchone()
            host = f"{connection.info.host}:{connection.info.port}/{connection.info.dbname}"
    except psycopg.Error as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        return silent(reason)
    return Probe("ok", f"PostgreSQL {str(row[0]).split()[0] if row else '?'} at {host}")
