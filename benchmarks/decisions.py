"""What asking for decisions costs: `python -m benchmarks.decisions [--decisions 2000]`.

On a fresh store with that many forgotten facts in one project: the lookup for one unit's facts as distill asks it,
and the withheld turns as recall leaves them out. Prints milliseconds, median and 95th of a hundred.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

import psycopg

from argus_cli.embedded_postgres import EmbeddedPostgres
from argus_memory import migrate
from argus_memory.db import Connection, Database
from argus_memory.rules.decided import Asked
from argus_memory.rules.uid import note_uid, text_key
from argus_memory.stages.decided import find_fates, find_forgotten_items

TIMES = 100
FACTS = 5  # of a unit
WORDS = [f"{a}{b}{c}" for a in ("bo", "ka", "re", "mi", "tu", "sel", "vor", "ni") for b in "bdfgklmnprst"
         for c in ("ar", "en", "ol", "ud", "ix", "am")]  # fmt: skip
WEIGHTS = [1 / (rank + 10) for rank in range(len(WORDS))]  # some words are common, most are rare


def sentence(random: Random) -> str:
    one, two, three, four, five = random.choices(WORDS, WEIGHTS, k=5)
    return f"The {one} of {two} {three} in the {four} {five}."


def fill(db: Database, count: int, random: Random) -> None:
    """Forgotten facts of one project, without notes, and as many withheld turns among four times as many."""
    rows = [(text, text_key(text), note_uid("fact", text, "garden")) for text in (sentence(random) for _ in range(count))]
    with db.transaction() as conn:
        conn.cursor().executemany(
            "insert into note_decisions (at, decision, uid, text_key, content, category, project, actor, actor_kind)"
            " values (now(), 'forget', %s, %s, %s, 'fact', 'garden', 'bench', 'person')",
            [(uid, key, text) for text, key, uid in rows],
        )
        conn.execute(
            "insert into raw_items (source, kind, body, session, project, dedup_key, said_at, metadata)"
            " select 'bench', 'turn', 'turn ' || n, 's' || n / 50, 'garden', 'b' || n, now(), '{\"role\": \"user\"}'"
            " from generate_series(1, %s) n",
            (4 * count,),
        )
        conn.execute(
            "insert into withheld_turns (raw_id, arrival, reason, at)"
            " select id, '1', 'forgotten', now() from raw_items where id % 4 = 0"
        )
    with psycopg.connect(db.dsn, autocommit=True) as admin:
        admin.execute("vacuum analyze")


def measure(name: str, conn: Connection, ask: Callable[[], object]) -> None:
    for _ in range(10):
        ask()
    spent = []
    for _ in range(TIMES):
        start = time.perf_counter()
        ask()
        spent.append((time.perf_counter() - start) * 1000)
    spent.sort()
    print(f"{name}: median {statistics.median(spent):.2f} ms, 95th {spent[int(TIMES * 0.95)]:.2f} ms")


def run(db: Database, count: int) -> None:
    random = Random(7)
    fill(db, count, random)
    said = [sentence(random) for _ in range(FACTS * TIMES * 2)]
    facts = [Asked(note_uid("fact", text, "garden"), text_key(text), text, "garden") for text in said]

    def unit() -> list[Asked]:
        return random.sample(facts, FACTS)

    with db.transaction() as conn:
        measure(f"distill, {FACTS} facts of a unit against {count} forgotten", conn, lambda: find_fates(conn, unit()))
        ids = list(range(1, 41))
        measure("distill, its turns among forgotten arrivals", conn, lambda: find_forgotten_items(conn, ids))
        turns = "select n.raw_id from turns n where n.raw_id = any(%(ids)s)"
        shown = f"{turns} and not exists (select from withheld_turns w where w.raw_id = n.raw_id)"
        # A recall reads some hundred turns: candidates of both tracks and those around them.
        many = random.sample(range(1, 4 * count), min(300, count))
        measure("recall, 300 turns without decisions", conn, lambda: conn.execute(turns, {"ids": many}).fetchall())
        measure("recall, 300 turns, withheld left out", conn, lambda: conn.execute(shown, {"ids": many}).fetchall())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--decisions", type=int, default=2000)
    count = parser.parse_args().decisions
    folder = Path(tempfile.mkdtemp(prefix="argus-bench-"))
    folder.chmod(0o755)
    server = EmbeddedPostgres(folder / "postgres", fsync=False)
    try:
        server.start()
        migrate.upgrade(server.dsn())
        with Database(server.dsn()) as db:
            run(db, count)
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
