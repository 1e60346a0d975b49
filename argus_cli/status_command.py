"""`argus status`: each service asked afresh; exit 0 all well, 1 degraded, 3 not running or the database is away."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from argus_cli.home import Home
from argus_cli.hub import stored_dsn
from argus_cli.probes import Probe, probe_postgres, probe_service, silent
from argus_cli.service_table import SERVICES, Addresses
from argus_memory.errors import ArgusError
from argus_memory.settings import Settings, load_settings

MARKS = {"ok": "ok", "warn": "WARN", "failed": "FAILED", "unknown": "?"}


@dataclass(frozen=True, slots=True)
class Line:
    """One service as it is now."""

    name: str
    probe: Probe
    pid: int | None = None
    restarts: int = 0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    return None


def run(arguments: argparse.Namespace) -> int:
    settings = load_settings()
    lines = ask(settings)
    code = exit_code({line.name: line.probe.status for line in lines})
    if arguments.json:
        print(json.dumps(as_json(settings, lines, code)))
    else:
        for line in lines:
            print(as_text(line))
    return code


def ask(settings: Settings) -> list[Line]:
    """The supervisor, Postgres and every row of the service table, probed now."""
    home = Home(settings.home)
    holder, state = home.holder(), home.read_state()
    if holder is None or not state:
        told = f"not running on {home.root}: `argus up` starts it"
        if holder is not None:
            told = f"process {holder} has the home, but is not up (yet)"
        return [Line("supervisor", silent(told), holder or None)]
    known: Mapping[str, Mapping[str, Any]] = state["services"]
    addresses = Addresses(**state["addresses"])
    lines = [Line("supervisor", Probe("ok", f"since {state['started_at']}"), holder)]
    try:
        dsn = stored_dsn(settings)
        database = probe_postgres(dsn)
    except ArgusError as error:
        dsn, database = "", silent(str(error))
    lines.append(_line("postgres", Probe(database.status, f"{database.detail} ({state['database']})"), known))
    for service in SERVICES:
        row = known.get(service.name)
        if row is None:
            probe = Probe("unknown", "not started yet")
        else:
            probe = probe_service(service, addresses, dsn)
        lines.append(_line(service.name, probe, known))
    return lines


def exit_code(statuses: Mapping[str, str]) -> int:
    """0 all ok; 3 without supervisor or database, since then nothing works; 1 for anything else."""
    if statuses.get("supervisor") != "ok" or statuses.get("postgres") == "failed":
        return 3
    return 0 if all(status == "ok" for status in statuses.values()) else 1


def as_json(settings: Settings, lines: list[Line], code: int) -> dict[str, Any]:
    services = {
        line.name: {
            "status": line.probe.status,
            "detail": line.probe.detail,
            "pid": line.pid,
            "restarts": line.restarts,
            **({"checks": line.probe.data["checks"]} if line.probe.data and "checks" in line.probe.data else {}),
        }
        for line in lines
    }
    return {
        "status": {0: "ok", 1: "degraded", 3: "down"}[code],
        "home": str(settings.home),
        "api_url": f"http://{settings.api_host}:{settings.api_port}",
        "dagster_url": f"http://127.0.0.1:{settings.dagster_port}",
        "services": services,
    }


def as_text(line: Line) -> str:
    again = f", restarted {line.restarts} times" if line.restarts > 1 else ""
    again = ", restarted once" if line.restarts == 1 else again
    text = f"{line.name:<10} {MARKS[line.probe.status]:<7} {line.probe.detail}{again}"
    checks: Mapping[str, Any] = (line.probe.data or {}).get("checks", {})
    wrong = [
        f"{'':<10}   {name}: {check.get('status')}, {check.get('detail', '')}"
        for name, check in checks.items()
        if check.get("status") not in ("ok", None)
    ]
    return "\n".join([text, *wrong])


def _line(name: str, probe: Probe, known: Mapping[str, Mapping[str, Any]]) -> Line:
    row = known.get(name, {})
    return Line(name, probe, row.get("pid"), int(row.get("restarts", 0)))
