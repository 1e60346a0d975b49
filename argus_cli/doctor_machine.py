"""`argus doctor`, the part that needs no running hub: platform, versions, disk, clock, ports, files."""

from __future__ import annotations

import os
import shutil
import stat
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from argus_cli.findings import Finding
from argus_cli.home import PROJECT_ROOT, Home
from argus_cli.platform_check import check_platform
from argus_cli.ports import LOOPBACK, port_is_free
from argus_cli.postgres_place import POSTGRES_MAJOR, stored_folder, wheel_binaries
from argus_cli.tokens import TOKENS
from argus_memory.errors import Unreachable
from argus_memory.settings import Settings, read_env_file

# A set that must be of one release: pip takes dagster-postgres of 2021 without a word when nothing pins it.
DAGSTER_SET = ("dagster", "dagster-graphql", "dagster-pipes", "dagster-shared", "dagster-webserver")
NAMED = (*DAGSTER_SET, "dagster-postgres", "sqlalchemy", "psycopg", "litellm", "great-expectations", "pgvector")
LOW_DISK_BYTES = 2 * 1024**3  # a year of heavy use takes about as much
NO_DISK_BYTES = 200 * 1024**2
OLDEST_CLOCK = datetime(2026, 1, 1, tzinfo=UTC)  # before this code was written


def check_machine() -> Iterator[Finding]:
    try:
        check_platform()
    except Unreachable as error:
        yield Finding("platform", "failed", str(error), away=True)
    else:
        name = f"{os.uname().sysname} {os.uname().machine}, Python {sys.version.split()[0]}"
        yield Finding("platform", "ok", name)
    try:
        yield Finding("postgres wheel", "ok", f"PostgreSQL {POSTGRES_MAJOR}, {wheel_binaries()}")
    except Unreachable as error:
        yield Finding("postgres wheel", "failed", str(error), away=True)


def check_versions() -> Iterator[Finding]:
    """Installed versions against constraints.txt."""
    pins = read_pins((PROJECT_ROOT / "constraints.txt").read_text("utf-8"))
    wrong, seen = [], []
    for name in NAMED:
        try:
            installed = version(name)
        except PackageNotFoundError:
            wrong.append(f"{name} is missing")
            continue
        seen.append(f"{name} {installed}")
        if pins.get(name, installed) != installed:
            wrong.append(f"{name} is {installed}, pinned {pins[name]}")
    if wrong:
        cure = "run `.venv/bin/pip install -c constraints.txt -e .`"
        yield Finding("versions", "failed", "; ".join(wrong), cure)
    else:
        yield Finding("versions", "ok", ", ".join(seen))


def read_pins(text: str) -> dict[str, str]:
    """`name==version` lines, names in lower case with hyphens."""
    pins = {}
    for line in text.splitlines():
        name, separator, pinned = line.strip().partition("==")
        if separator and not name.startswith("#"):
            pins[name.lower().replace("_", "-")] = pinned
    return pins


def check_disk(settings: Settings) -> Iterator[Finding]:
    for name, folder in (("disk", settings.home), ("disk (cluster)", stored_folder(Home(settings.home).postgres))):
        existing = next(parent for parent in (folder, *folder.parents) if parent.exists())
        free = shutil.disk_usage(existing).free
        yield judge_disk(name, existing, free)


def judge_disk(name: str, folder: Path, free: int) -> Finding:
    status = "failed" if free < NO_DISK_BYTES else "warn" if free < LOW_DISK_BYTES else "ok"
    return Finding(name, status, f"{free / 1024**3:.1f} GiB free at {folder}", "make room, or move ARGUS_HOME")


def check_clock() -> Iterator[Finding]:
    now = datetime.now(UTC)
    zone = f"{time.tzname[0]}, {datetime.now().astimezone():UTC%z}"
    if now < OLDEST_CLOCK:
        yield Finding("clock", "failed", f"says {now:%Y-%m-%d %H:%M} UTC, which is past", "set the clock")
    else:
        yield Finding("clock", "ok", f"{now:%Y-%m-%d %H:%M} UTC, zone {zone}")


def check_ports(settings: Settings, running: bool) -> Iterator[Finding]:
    """Only asked while no hub runs: then they must be free."""
    if running:
        yield Finding("ports", "ok", f"{settings.api_port} and {settings.dagster_port} are this hub's")
        return
    for host, port, name in (
        (settings.api_host, settings.api_port, "ARGUS_API_PORT"),
        (LOOPBACK, settings.dagster_port, "ARGUS_DAGSTER_PORT"),
    ):
        if port_is_free(port, host):
            yield Finding(f"port {port}", "ok", f"free ({name})")
        else:
            yield Finding(f"port {port}", "failed", "in use by another program", f"stop it, or set {name}", away=True)


def check_files(settings: Settings) -> Iterator[Finding]:
    """Tokens present, and nothing secret readable by others."""
    home = Home(settings.home)
    if not settings.home.exists():
        yield Finding("home", "unknown", f"{settings.home} does not exist yet", "run `argus up`")
        return
    yield Finding("home", "ok", str(settings.home))
    known = {**read_env_file(settings.env_file), **os.environ}
    missing = [name for name in TOKENS if not known.get(name)]
    if missing:
        yield Finding("tokens", "warn", f"{', '.join(missing)} missing", "`argus up` makes them")
    else:
        yield Finding("tokens", "ok", f"all three, in {settings.env_file} or the environment")
    open_ones = [path for path in (settings.env_file, home.lock, home.state) if is_open_to_others(path)]
    if open_ones:
        names = " ".join(str(path) for path in open_ones)
        yield Finding("file modes", "failed", f"readable by others: {names}", f"chmod 600 {names}")
    else:
        yield Finding("file modes", "ok", "secrets are closed to other users")
    if settings.database_url:
        yield Finding("cluster", "ok", "external, ARGUS_DATABASE_URL")
        return
    folder = stored_folder(home.postgres)
    moved = "" if folder == home.postgres else " (the home cannot be entered by the database's system user)"
    exists = (folder / "data" / "PG_VERSION").exists()
    yield Finding("cluster", "ok" if exists else "unknown", f"{folder}{moved}" + ("" if exists else ", not made yet"))


def is_open_to_others(path: Path) -> bool:
    try:
        return bool(stat.S_IMODE(path.stat().st_mode) & 0o077)
    except FileNotFoundError:
        return False
