"""Backups: a dump of everything Argus knows, proven by restoring it, and rotated.

    make_backup   1. one transaction fixes a snapshot, counts its rows and takes a fingerprint of the raw items
                  2. pg_dump writes that very snapshot, into a file beside, which is renamed when whole
                  3. `prove` restores it into a scratch database, where rows and fingerprint have to be the same
                  4. a row of `backups` says what came of it, also of a failure; then old files are rotated away

Dagster's schema is left out: its runs and events are no memory, and `argus up` makes it anew. Files carry mode 0600
and hold everything in clear text: keep the folder where you would keep the memory itself.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import psycopg
from psycopg import sql
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from argus_memory.db import Connection, Database, queries
from argus_memory.errors import ArgusError, Unreachable, UsageError
from argus_memory.rules.rotation import Kept, choose_kept

DUMP_SECONDS: Final = 3600.0
SUFFIX: Final = ".dump"
PREFIX: Final = "argus-"
STAMP: Final = "%Y%m%dT%H%M%SZ"

# Gives the address of an empty scratch database with pgvector, for as long as the block lasts.
Scratch = Callable[[], AbstractContextManager[str]]


@dataclass(frozen=True, slots=True)
class Facts:
    """What a dump holds, as counted in its own snapshot."""

    rows: Mapping[str, int]
    fingerprint: str
    revision: str


@dataclass(frozen=True, slots=True)
class Backup:
    """A backup that was made. `outcome` proven: restored and compared; `removed`: files rotated away after it."""

    path: str
    bytes: int
    sha256: str
    outcome: str
    rows: Mapping[str, int]
    seconds: float
    removed: tuple[str, ...]


def make_backup(
    db: Database,
    folder: Path,
    binaries: Path,
    *,
    clock: Callable[[], datetime],
    scratch: Scratch | None,
    kept: Kept,
) -> Backup:
    """Dump, prove (unless `scratch` is None), rotate. Raises Unreachable when any of it fails, with a row that says
    so; a dump that could not be restored is kept beside under the name it failed by."""
    started = clock()
    path = folder / f"{PREFIX}{started:{STAMP}}{SUFFIX}"
    try:
        _make_folder(folder)
        facts = _dump(db, path, binaries)
        digest = _sha256(path)
        if scratch is not None:
            try:
                prove(path, facts, binaries, scratch)
            except Unreachable:
                path.rename(path.with_suffix(".unproven"))
                raise
        _write_manifest(path, facts, digest, proven=scratch is not None)
    except (ArgusError, OSError) as error:
        reason = str(error)
        _record(db, started, clock(), "failed", path=str(path), error=reason)
        raise Unreachable(reason) if isinstance(error, OSError) else error from error
    outcome = "proven" if scratch is not None else "made"
    finished = clock()
    _record(
        db, started, finished, outcome, path=str(path), bytes=path.stat().st_size, sha256=digest,
        rows=Jsonb(dict(facts.rows)), revision=facts.revision, tried_at=finished if scratch else None,
    )  # fmt: skip
    removed = rotate(db, folder, kept, now=finished)
    seconds = (finished - started).total_seconds()
    return Backup(str(path), path.stat().st_size, digest, outcome, facts.rows, seconds, removed)


def prove(path: Path, facts: Facts, binaries: Path, scratch: Scratch) -> None:
    """Restore the dump into a scratch database and compare; raises Unreachable with the first difference."""
    with scratch() as dsn:
        restore_into(path, dsn, binaries)
        with psycopg.connect(dsn, row_factory=dict_row) as conn:
            found = _facts(conn)
    if found.fingerprint != facts.fingerprint:
        raise Unreachable(f"{path.name} restores other raw items than were dumped: check the disk, and back up again")
    for table, rows in facts.rows.items():
        if found.rows.get(table) != rows:
            raise Unreachable(
                f"{path.name} restores {found.rows.get(table, 0)} rows of {table} instead of {rows}: back up again"
            )


def restore_into(path: Path, dsn: str, binaries: Path) -> None:
    """pg_restore into an empty database, all or nothing; raises Unreachable with its reason."""
    command = [
        str(binaries / "pg_restore"), "--no-owner", "--no-privileges", "--exit-on-error", "--single-transaction",
        "--dbname", str(psycopg.conninfo.conninfo_to_dict(dsn)["dbname"]), str(path),
    ]  # fmt: skip
    _run(command, dsn, f"{path.name} could not be restored")


def read_manifest(path: Path) -> Mapping[str, Any]:
    """What is known of a dump; raises UsageError where it is no backup of ours or is damaged."""
    manifest = path.with_suffix(".json")
    if not path.is_file():
        raise UsageError(f"{path} is no file: `argus backup list` shows the backups there are")
    try:
        known: dict[str, Any] = json.loads(manifest.read_text("utf-8"))
        expected = known["sha256"]
    except (OSError, ValueError, KeyError):
        raise UsageError(f"{manifest.name} is not beside {path.name} or cannot be read: bring both files") from None
    if _sha256(path) != expected:
        raise UsageError(f"{path.name} is damaged, its checksum differs from {manifest.name}: use another backup")
    return known


def rotate(db: Database, folder: Path, kept: Kept, *, now: datetime) -> tuple[str, ...]:
    """Remove what no rule keeps; only files with a manifest of ours are ever touched."""
    made: dict[Path, datetime] = {}
    for path in folder.glob(f"{PREFIX}*{SUFFIX}"):
        try:
            at = datetime.strptime(path.stem.removeprefix(PREFIX), STAMP).replace(tzinfo=UTC)
        except ValueError:
            continue
        if path.with_suffix(".json").is_file():
            made[path] = at
    keep = choose_kept(made, kept)
    gone = sorted(path for path in made if path not in keep)
    for path in gone:
        path.unlink(missing_ok=True)
        path.with_suffix(".json").unlink(missing_ok=True)
    if gone:
        with db.transaction() as conn:
            conn.execute(queries("backups").mark_removed, {"now": now, "paths": [str(path) for path in gone]})
    return tuple(path.name for path in gone)


def list_backups(db: Database, *, limit: int = 30) -> list[dict[str, Any]]:
    """The newest first; `total` on each row counts all."""
    return db.fetch_all(queries("backups").list_backups, {"limit": limit})


def _dump(db: Database, path: Path, binaries: Path) -> Facts:
    part = path.with_suffix(".part")
    try:
        with psycopg.connect(db.dsn, row_factory=dict_row) as conn:
            conn.execute("set transaction isolation level repeatable read read only")
            row = conn.execute(queries("backups").export_snapshot).fetchone()
            assert row is not None
            facts = _facts(conn)
            command = [
                str(binaries / "pg_dump"), "--format=custom", "--no-owner", "--no-privileges",
                "--exclude-schema=dagster", "--exclude-extension=vector",
                f"--snapshot={row['snapshot']}", "--file", str(part),
            ]  # fmt: skip
            part.touch(mode=0o600)
            _run(command, db.dsn, "the database could not be dumped")
        with part.open("rb") as file:
            os.fsync(file.fileno())
        part.rename(path)
    except psycopg.OperationalError as error:
        raise Unreachable(f"the database cannot be reached ({_first_line(error)}); see `argus status`") from error
    finally:
        part.unlink(missing_ok=True)
    return facts


def _facts(conn: Connection) -> Facts:
    q = queries("backups")
    rows: dict[str, int] = {}
    for table in conn.execute(q.tables).fetchall():
        count = sql.SQL("select count(*) as n from {}").format(sql.Identifier(table["name"]))
        counted = conn.execute(count).fetchone()
        assert counted is not None
        rows[table["name"]] = counted["n"]
    print_of = conn.execute(q.fingerprint).fetchone()
    revision = conn.execute(q.revision).fetchone()
    assert print_of is not None
    assert revision is not None
    return Facts(rows, f"{print_of['items']}:{print_of['sum']}", revision["version_num"])


def _run(command: list[str], dsn: str, failed: str) -> None:
    """Run a program of Postgres; the password goes by the environment, never by the command line."""
    info = psycopg.conninfo.conninfo_to_dict(dsn)
    names = {"host": "PGHOST", "port": "PGPORT", "user": "PGUSER", "password": "PGPASSWORD", "dbname": "PGDATABASE",
             "sslmode": "PGSSLMODE", "sslrootcert": "PGSSLROOTCERT"}  # fmt: skip
    environment = {names[name]: str(value) for name, value in info.items() if name in names}
    environment |= {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "LC_ALL": "C", "PGCONNECT_TIMEOUT": "10"}
    try:
        done = subprocess.run(  # noqa: S603  our own command, no shell
            command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=DUMP_SECONDS, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise Unreachable(f"{failed} within {DUMP_SECONDS / 60:.0f} minutes") from error
    except OSError as error:
        raise Unreachable(f"{failed}: {command[0]} cannot be run ({error.strerror})") from error
    if done.returncode != 0:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines() or [f"exit code {done.returncode}"]
        telling = next((line for line in lines if "error" in line.lower()), lines[-1])
        raise Unreachable(f"{failed}: {telling}")


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise Unreachable(f"{folder} cannot be made ({error.strerror}): name another in ARGUS_BACKUPS") from error


def _write_manifest(path: Path, facts: Facts, digest: str, *, proven: bool) -> None:
    text = json.dumps({**asdict(facts), "sha256": digest, "bytes": path.stat().st_size, "proven": proven}, indent=1)
    manifest = path.with_suffix(".json")
    manifest.touch(mode=0o600)
    manifest.write_text(text + "\n", "utf-8")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _record(db: Database, started: datetime, finished: datetime, outcome: str, **known: Any) -> None:
    row = dict.fromkeys(("path", "bytes", "sha256", "rows", "revision", "tried_at", "error")) | known
    with db.transaction() as conn:
        conn.execute(
            queries("backups").insert_backup,
            {"started_at": started, "finished_at": finished, "outcome": outcome, **row},
        )


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
