"""How long timeline, diff and history take over a year of memory, and what the triggers of history cost.

    python -m benchmarks.history [--items 100000] [--notes 20000] [--rounds 60]

Starts a Postgres of its own with invented notes over 365 days in 20 projects (benchmarks/synthetic_store.py), one in
five superseded by a later one, one in twenty corroborated, three showings a note. Reach: timeline and diff under 50 ms.

The triggers: the same dedup writes (a merge with its log row) and the same recalls with the triggers of history and
without them, in turns. Reach: a recall not slower by more than 5 %. A showing is one insert a recall; it is also
measured alone, because a whole recall varies by more than that.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import numpy as np
import psycopg

from argus_memory.db import Database
from argus_memory.rules.dedup_judgement import Plan
from argus_memory.stages.dedup_write import apply_plan
from argus_memory.stages.recall import recall_for_prompt
from argus_memory.stages.recall_ledger import Injection, record_injection
from argus_memory.stages.spaces import ensure_space
from argus_memory.stages.terms import refresh_terms
from argus_memory.upkeep.history import EVER, read_diff, read_history, read_timeline
from benchmarks.machine import describe_machine
from benchmarks.recall_latency import DIM, PROMPT_WORDS, PreparedEmbedder
from benchmarks.scratch_store import ScratchStore, scratch_store
from benchmarks.synthetic_store import Clusters, fill, make_vocabulary

LIFE = """
insert into projects (name, first_method) select 'p' || g, 'cwd' from generate_series(0, 19) g;
update distilled_notes set project = 'p' || id % 20, said_at = %(start)s + id * %(step)s, valid_from = %(start)s + id * %(step)s,
    created_at = %(start)s + id * %(step)s;
insert into note_events (note_id, uid, project, at, event, actor, detail)
select n.id, n.uid, n.project, n.created_at, 'created', 'argus', '{"model": "bench", "confidence": 0.5}'
from distilled_notes n order by n.id;
update distilled_notes o set deleted_at = n.created_at, deleted_reason = 'superseded', superseded_by = n.id,
    valid_to = n.valid_from
from distilled_notes n where o.id % 5 = 0 and n.id = o.id + 1;
insert into note_events (note_id, uid, project, at, event, other_id, actor, detail)
select n.id, n.uid, n.project, n.deleted_at, 'superseded', n.superseded_by, 'argus',
       jsonb_build_object('reason', 'superseded', 'valid_to', jsonb_build_object('before', null, 'after', n.valid_to))
from distilled_notes n where n.deleted_at is not null order by n.id;
insert into note_events (note_id, uid, project, at, event, actor, detail)
select n.id, n.uid, n.project, n.created_at + interval '3 days', 'reinforced', 'argus', '{"before": 0.5, "after": 0.6}'
from distilled_notes n where n.id % 20 = 1 order by n.id;
insert into note_events (note_id, uid, project, at, event, actor, detail)
select n.id, n.uid, n.project, n.created_at + g * interval '1 day', 'shown', 'argus', '{"injection": 1}'
from distilled_notes n cross join generate_series(1, 3) g order by n.id
"""

# Raw items that have their vectors: recall needs some, and building an index over all takes long.
SEARCHED_MAX = 20_000
MORE_ITEMS = """
insert into raw_items (id, source, kind, body, session, project, dedup_key, said_at, metadata)
overriding system value
select g, 'bench', 'turn', md5(g::text) || ' ' || md5((-g)::text), 'more' || g / 30, 'p' || g %% 20, 'more' || g,
       now() - g * interval '5 minutes', '{"role": "user"}' from generate_series(%s + 1, %s) g
"""


def live_a_year(admin: psycopg.Connection, notes: int, now: datetime) -> None:
    """Times, events and supersessions, written with triggers off."""
    admin.execute("set session_replication_role = replica")
    step, start = timedelta(days=365) / notes, now - timedelta(days=365)
    for statement in LIFE.split(";"):
        text = statement.replace("%(start)s", f"'{start.isoformat()}'::timestamptz")
        admin.execute(text.replace("%(step)s", f"interval '{step.total_seconds()} seconds'").replace("%%", "%"))
    admin.execute("set session_replication_role = origin")
    admin.execute("vacuum analyze")


def measure(name: str, work: Callable[[int], object], rounds: int) -> float:
    """Prints and returns the 95th percentile, in milliseconds; the first two rounds warm up."""
    times = []
    for number in range(rounds + 2):
        began = time.perf_counter()
        work(number)
        times.append((time.perf_counter() - began) * 1000)
    p50, p95 = np.percentile(times[2:], [50, 95])
    print(f"  {name:<46} p50 {p50:7.2f} ms   p95 {p95:7.2f} ms")
    return float(p95)


def ask(store: ScratchStore, notes: int, rounds: int, now: datetime) -> None:
    words = make_vocabulary().words
    month, quarter = now - timedelta(days=30), now - timedelta(days=90)
    ever = {"since": EVER, "until": now}
    db = store.db
    measure("timeline of a project, newest 100", lambda n: read_timeline(db, project=f"p{n % 20}", **ever), rounds)
    measure("timeline of all, a month", lambda n: read_timeline(db, since=month, until=now), rounds)
    kinds = ["superseded"]
    measure("timeline of a project, superseded", lambda n: read_timeline(db, project=f"p{n % 20}", events=kinds, **ever), rounds)
    measure("history of a note", lambda n: read_history(db, 1 + n * 97 % notes, now=now), rounds)
    for rank in (30, 300, 3000):
        found = [read_diff(db, words[rank + n], since=quarter, until=now) for n in range(5)]
        lines = sum(len(f.added) + len(f.changed) + len(f.passed) + len(f.removed) + len(f.corroborated) for f in found) // 5
        left = sum(each.left_off for each in found) // 5
        label = f"diff since a quarter, {lines} lines" + (f", {left} left off" if left else "")
        measure(label, lambda n, rank=rank: read_diff(db, words[rank + n % 40], since=quarter, until=now), rounds)
    measure("diff since a year, word of rank 300", lambda n: read_diff(db, words[300 + n % 40], since=EVER, until=now), rounds)


def compare(store: ScratchStore, admin: psycopg.Connection, notes: int, rounds: int, now: datetime) -> None:
    """The triggers' costs: writes and recalls with and without them, in turns."""
    random = np.random.default_rng(7)
    prompts = make_vocabulary().texts(random, 2 * rounds, *PROMPT_WORDS)
    embedder = PreparedEmbedder()
    embedder.vectors = dict(zip(prompts, Clusters(DIM).draw(random, len(prompts)), strict=True))
    times: dict[tuple[str, bool], list[float]] = {}
    live = [row["id"] for row in store.db.fetch_all("select id from distilled_notes where deleted_at is null order by id limit 9000")]
    for number in range(2 * rounds):
        on = number % 2 == 0
        for table, trigger in (("distilled_notes", "noted"), ("dedup_log", "noted"), ("injections", "noted")):
            admin.execute(f"alter table {table} {'enable' if on else 'disable'} trigger {table}_{trigger}")
        took = lambda name, began, on=on: times.setdefault((name, on), []).append((time.perf_counter() - began) * 1000)  # noqa: E731
        began = time.perf_counter()
        recall_for_prompt(
            store.db, store.settings, embedder, prompt=prompts[number], project="p3", session=f"s{number}", now=now
        )
        took("a recall", began)
        with store.db.transaction() as conn:
            began = time.perf_counter()
            record_injection(conn, Injection(True, now, note_ids=live[number * 8 : number * 8 + 8], note_scores=[1.0] * 8))
            took("its row with 8 notes", began)
        pair = live[-2 * number - 2 :][:2]
        began = time.perf_counter()
        merge(store.db, pair, now)
        took("a merge with its row", began)
    for table in ("distilled_notes", "dedup_log", "injections"):
        admin.execute(f"alter table {table} enable trigger {table}_noted")
    for name in ("a recall", "its row with 8 notes", "a merge with its row"):
        on, off = (np.array(times[name, which][3:]) for which in (True, False))
        print(f"  {name:<22} with {np.median(on):7.2f} ms, without {np.median(off):7.2f} ms (medians): {np.median(on) - np.median(off):+.2f} ms,"
              f" {np.median(on) / np.median(off) - 1:+.1%}")  # fmt: skip


def merge(db: Database, pair: list[int], now: datetime) -> None:
    plan = Plan(
        verdict="duplicate", note_id=pair[1], other_id=pair[0], gone=pair[1], stays=pair[0], confidence=(0.5, 0.6),
        valid_to=None, valid_to_before=None, status="applied", reasoning="the same",
    )  # fmt: skip
    with db.transaction() as conn:
        conn.execute("select id from distilled_notes where id = any(%s) for update", (pair,))
        apply_plan(conn, plan, now)
        conn.execute(
            "insert into dedup_log (note_id, other_id, verdict, model, status, reasoning)"
            " values (%s, %s, 'duplicate', 'bench', 'applied', 'the same')",
            (pair[1], pair[0]),
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--notes", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=60)
    options = parser.parse_args()
    print(describe_machine())
    now = datetime.now(UTC)
    with scratch_store() as store:
        space = ensure_space(store.db, PreparedEmbedder(), now=now)
        with psycopg.connect(store.superuser_dsn.rsplit("/", 1)[0] + "/argus") as admin:
            searched = min(options.items, SEARCHED_MAX)
            fill(admin, space.id, DIM, options.notes, searched)
            admin.execute("set session_replication_role = replica")
            admin.execute(MORE_ITEMS, (searched, options.items))
            live_a_year(admin, options.notes, now)
            refresh_terms(store.db, now=now)
            print(f"{options.items:,} raw items, {options.notes:,} notes over 365 days")
            ask(store, options.notes, options.rounds, now)
            compare(store, admin, options.notes, options.rounds, now)


if __name__ == "__main__":
    main()
