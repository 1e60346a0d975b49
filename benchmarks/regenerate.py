"""One day of a year of memory regenerated without model time (reach: under 2 s).

    python -m benchmarks.regenerate [--items 100000] [--notes 20000] [--repeats 5]

A store of its own with benchmarks/year.py. The stand-in for a model answers at once: it makes each unit's notes again
from their sources, a tenth of them reworded and a tenth left out, as a new model would. Measured from the call to the
committed switch, each time another day; the dry run of the same size beside it, and the extractive distiller's own.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from datetime import date, timedelta

import psycopg

from argus_memory.records import Candidate, Unit
from argus_memory.stages.distill import Made
from argus_memory.upkeep.regenerate_make import Maker
from argus_memory.upkeep.regenerate_read import Days
from argus_memory.upkeep.regeneration import Mode, regenerate
from benchmarks.scratch_store import ScratchStore, scratch_store
from benchmarks.year import ITEMS, NOTES, fill_year


def stand_in(unit: Unit) -> Made:
    """A note of each decision: of ten, one reworded and one left out."""
    made = []
    for turn in unit.turns:
        number = turn.raw_id // 5 % 10
        if turn.text.startswith("We decided") and number != 0:
            said = f"{turn.role.capitalize()}: {turn.text}"
            said = said.replace("We decided to use", "decided on") if number == 1 else said
            made.append(Candidate(said[:80], said, turn.text, "decision", 0.7, raw_id=turn.raw_id, source_start=0))
    return Made(made, "stand-in", None)


def measure(store: ScratchStore, days: list[date], mode: Mode, maker: Maker | None) -> tuple[list[float], str]:
    took, told = [], ""
    for day in days:
        began = time.perf_counter()
        done = regenerate(store.db, store.settings, Days(day, day), actor="benchmark", mode=mode, maker=maker)
        took.append(time.perf_counter() - began)
        told = f"{done.status}, {dict(done.counts)}"
    return took, told


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=ITEMS)
    parser.add_argument("--notes", type=int, default=NOTES)
    parser.add_argument("--repeats", type=int, default=5)
    asked = parser.parse_args()
    with scratch_store() as store:
        began = time.perf_counter()
        with psycopg.connect(store.superuser_dsn) as admin:
            year = fill_year(admin, items=asked.items, notes=asked.notes)
        print(f"{year.items:,} raw items and {year.notes:,} notes in {time.perf_counter() - began:.0f} s;"
              f" load {os.getloadavg()[0]:.1f}")  # fmt: skip
        middle = (year.first + (year.last - year.first) / 2).date()
        days = [middle + timedelta(days=n) for n in range(asked.repeats)]
        later = [day + timedelta(days=30) for day in days]
        for name, those, mode, maker in (
            ("switch", days, "switch", stand_in),
            ("dry run", later, "dry-run", stand_in),
            ("switch by the extractive distiller", later, "switch", None),
        ):
            took, told = measure(store, those, mode, maker)  # type: ignore[arg-type]
            print(f"{name}: median {statistics.median(took):.2f} s, most {max(took):.2f} s ({told})")


if __name__ == "__main__":
    main()
