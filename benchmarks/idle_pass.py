"""What a pass with nothing pending takes, at 1,000, 10,000 and 100,000 raw items (reach: flat).

    python -m benchmarks.idle_pass [--items 1000 10000 100000] [--repeats 40]

Starts a Postgres of its own with a database for each size: invented turns captured with all triggers, their
sessions closed by the real stage, and 20 live tails, as a working day has them. Nothing is vacuumed by hand. The
sizes are measured in turns within one run, so that a busy machine slows all of them: the question for due tails, a
whole segment pass and a whole dedup pass (with their rows in stage_passes), the sensor's question, and a bare round
trip beside them.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg

from argus_cli.embedded_postgres import EmbeddedPostgres
from argus_memory import migrate
from argus_memory.db import Database
from argus_memory.settings import Settings, load_settings
from argus_memory.stages.dedup import dedup_pending
from argus_memory.stages.segment import find_due, segment_pending
from argus_memory.watch.pending import find_pending

TURNS_A_SESSION = 40
LIVE_TAILS = 20
NOW = datetime.now(UTC)

INSERT = """
insert into raw_items (source, kind, body, session, project, dedup_key, said_at, position, metadata)
select 'bench', 'turn', 'turn ' || n || ' about the pump of bed ' || n %% 97 || ' and its valve ' || n %% 13,
       %(name)s || n / %(size)s, 'p' || n / %(size)s %% 20, md5(%(name)s || n),
       %(start)s::timestamptz + n * interval '1 minute', n,
       jsonb_build_object('role', case when n %% 2 = 0 then 'user' else 'assistant' end)
from generate_series(%(first)s::int, %(last)s::int - 1) as n
"""


def capture(db: Database, name: str, first: int, last: int, size: int, start: datetime) -> None:
    """Turns `first` up to `last`, `size` a session, a minute apart."""
    with db.transaction() as conn:
        params = {"name": name, "first": first, "last": last, "size": size, "start": start}
        conn.execute(INSERT, params)


def questions(db: Database, settings: Settings) -> dict[str, Callable[[], object]]:
    return {
        "round trip": lambda: db.fetch_one("select 1 as one"),
        "due tails": lambda: find_due(db, settings, NOW),
        "segment pass": lambda: segment_pending(db, settings, now=NOW),
        "dedup pass": lambda: dedup_pending(db, settings, now=NOW),
        "sensor question": lambda: find_pending(db, settings, NOW, raw_id=top_id(db)),
    }


def fill(db: Database, settings: Settings, items: int) -> float:
    """Capture and close; returns turns closed a second. The episodes count as distilled: nothing is to wait."""
    for tail in range(LIVE_TAILS):
        capture(db, f"live{tail}-", 0, 10, 10, NOW - timedelta(minutes=11))
    capture(db, "old-", 0, items, TURNS_A_SESSION, NOW - timedelta(days=400))
    began = time.perf_counter()
    while segment_pending(db, settings, now=NOW, limit=500).left:
        pass
    speed = items / (time.perf_counter() - began)
    with db.transaction() as conn:
        conn.execute("update distill_state set status = 'done'")
    return speed


def run(stores: dict[int, Database], settings: Settings, repeats: int) -> None:
    for items, db in stores.items():
        print(f"{items:>9,} raw items: closed at {fill(db, settings, items):,.0f} turns a second")
    asked = {items: questions(db, settings) for items, db in stores.items()}
    times: dict[tuple[str, int], list[float]] = {}
    for _ in range(repeats + 1):  # the first round warms up
        for items, each in asked.items():
            for name, question in each.items():
                started = time.perf_counter()
                question()
                times.setdefault((name, items), []).append((time.perf_counter() - started) * 1000)
    print(f"{'median / p95 in ms':<20}" + "".join(f"{items:>18,}" for items in stores) + f"{'last : first':>16}")
    for name in next(iter(asked.values())):
        medians = [statistics.median(times[name, items][1:]) for items in stores]
        tails = [sorted(times[name, items][1:])[int(0.95 * (repeats - 1))] for items in stores]
        cells = "".join(f"{f'{median:.1f} / {tail:.1f}':>18}" for median, tail in zip(medians, tails, strict=True))
        print(f"{name:<20}{cells}{medians[-1] / medians[0]:>16.2f}")


def top_id(db: Database) -> int:
    row = db.fetch_one("select coalesce(max(id), 0)::bigint as id from raw_items")
    return int(row["id"]) if row else 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--repeats", type=int, default=40)
    arguments = parser.parse_args()
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="argus-bench-"))
        Path(folder).chmod(0o755)  # as root the server runs as a system user
        server = stack.enter_context(EmbeddedPostgres(Path(folder) / "postgres"))
        stores = {}
        for items in sorted(arguments.items):
            name = f"items_{items}"
            with psycopg.connect(server.dsn("postgres", "postgres"), autocommit=True) as admin:
                admin.execute(f"create database {name} owner argus")
            with psycopg.connect(server.dsn("postgres", name), autocommit=True) as admin:
                admin.execute("create extension vector")
            migrate.upgrade(server.dsn("argus", name))
            stores[items] = stack.enter_context(Database(server.dsn("argus", name)))
        run(stores, load_settings({"ARGUS_HOME": folder}), arguments.repeats)


if __name__ == "__main__":
    main()
