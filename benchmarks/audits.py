"""What one run of all audits takes, and how much memory, over a store of 20,000 notes (reach: 15 s).

    python -m benchmarks.audits [--notes 20000] [--turns 100000] [--repeats 2]

Starts a Postgres of its own with invented notes and turns in one space, and asks all audits as `audit_memory` does,
first with Great Expectations not yet imported. Every note quotes its turn, one in twenty with other white space, which
the rule has to find. Processor time of this process stands beside the wall clock, because machines are busy.
"""

from __future__ import annotations

import argparse
import resource
import time
from datetime import UTC, datetime

import psycopg

from argus_memory.watch.audits import AUDITS, run_audits
from benchmarks.machine import describe_machine
from benchmarks.scratch_store import ScratchStore, scratch_store
from benchmarks.synthetic_store import fill

DIM = 384
SHOWN = 8  # the slowest audits
QUOTE = """
update distilled_notes n
set source_ref = case when n.id % 20 = 0 then replace(left(r.body, 60), ' ', '  ') else left(r.body, 60) end
from raw_items r where r.id = n.raw_id
"""


def make_space(store: ScratchStore) -> int:
    row = store.db.fetch_one(
        "insert into embedding_spaces (model, dim, checksum, status, thresholds, calibration)"
        f" values ('bench', {DIM}, 'c', 'active', '{{}}', '{{}}') returning id"
    )
    assert row
    return int(row["id"])


def ask_all(store: ScratchStore, label: str) -> None:
    times: dict[str, float] = {}
    began = last = time.perf_counter()
    processor = time.process_time()
    statuses: dict[str, int] = {}
    for each in run_audits(store.db, store.settings, now=datetime.now(UTC), by="benchmark"):
        now = time.perf_counter()
        times[each.audit.key], last = now - last, now
        statuses[each.finding.status] = statuses.get(each.finding.status, 0) + 1
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    counts = ", ".join(f"{count} {status}" for status, count in sorted(statuses.items()))
    processor = time.process_time() - processor
    print(f"{label}: {last - began:.1f} s, {processor:.1f} s of processor, for {len(AUDITS)} audits ({counts}); process at most {memory:.0f} MB")
    slowest = sorted(times.items(), key=lambda item: -item[1])[:SHOWN]
    print("   " + ", ".join(f"{name} {seconds:.2f}" for name, seconds in slowest))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--notes", type=int, default=20_000)
    parser.add_argument("--turns", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=2)
    arguments = parser.parse_args()
    print(describe_machine())
    with scratch_store() as store:
        with psycopg.connect(store.superuser_dsn) as admin:
            fill(admin, make_space(store), DIM, arguments.notes, arguments.turns)
        with store.db.transaction() as conn:
            conn.execute(QUOTE)
        print(f"{arguments.notes:,} notes, {arguments.turns:,} turns")
        # Great Expectations is imported in the first, as in a run of its own.
        for number in range(arguments.repeats):
            ask_all(store, "with the import" if number == 0 else "again in the same process")


if __name__ == "__main__":
    main()
