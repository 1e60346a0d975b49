"""From a failure to a telephone: an alert's row in the outbox to a loopback Telegram (reach: 10 s).

    python -m benchmarks.alerts [--rounds 20] [--json]

Starts a Postgres of its own (fsync on), a stand-in for the Bot API in a process of its own and the API as `argus up`
starts it. Each round raises an alert as the runner does when a task has failed (one transaction: alert and message) at a
random moment of the sender's pace, and waits until the stand-in has the message. The first round pays for the import
of the Telegram library and is shown apart.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from argus_memory.watch.alerts import Condition, raise_alert
from benchmarks.capture import api
from benchmarks.machine import describe_machine
from benchmarks.scratch_store import ScratchStore, scratch_store

REACH_SECONDS = 10.0
WAIT_SECONDS = 60.0
TOKEN = "123456789:stand-in-token-of-the-tests-000000"  # the stand-in's own


@contextmanager
def telegram() -> Iterator[str]:
    """The stand-in; yields its address."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.stubs.telegram_server"],
        stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parent.parent,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait(10)


def arrived(url: str) -> list[dict[str, Any]]:
    with urllib.request.urlopen(f"{url}/arrived", timeout=10) as reply:
        return [one for one in json.load(reply) if one["accepted"]]


def one_round(store: ScratchStore, url: str, number: int) -> tuple[float, float]:
    """(seconds until the row is committed, until the message has arrived)."""
    began = time.monotonic()
    with store.db.transaction() as conn:
        failed = Condition("task-failed", f"task:bench-{number}", f"bench-{number} failed: exit code 1")
        raise_alert(conn, store.settings, failed, now=datetime.now(UTC), by="runner")
    committed = time.monotonic() - began
    while len(arrived(url)) <= number:
        if time.monotonic() - began > WAIT_SECONDS:
            raise SystemExit(f"round {number}: no message within {WAIT_SECONDS:.0f} s")
        time.sleep(0.02)
    return committed, time.monotonic() - began


def measure(rounds: int) -> list[tuple[float, float]]:
    chance = random.Random(3)
    with telegram() as url, scratch_store() as store:
        os.environ.update(
            ARGUS_TELEGRAM_TOKEN=TOKEN, ARGUS_TELEGRAM_BASE_URL=url, ARGUS_TELEGRAM_CHATS="main=100"
        )
        store.settings.home.mkdir(parents=True, exist_ok=True)
        with api(store.settings.database_url or "", store.settings.home):
            seen = []
            for number in range(rounds):
                time.sleep(chance.uniform(1, 3))
                seen.append(one_round(store, url, number))
            return seen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    machine = describe_machine()
    seen = measure(max(2, arguments.rounds))
    first, rest = seen[0][1], [end for _, end in seen[1:]]
    shown = {
        "machine": machine,
        "rounds": len(seen),
        "row_ms_median": statistics.median(row for row, _ in seen) * 1000,
        "first_s": first,
        "median_s": statistics.median(rest),
        "max_s": max(rest),
        "reach_s": REACH_SECONDS,
        "reached": max(first, *rest) < REACH_SECONDS,
    }
    if arguments.json:
        print(json.dumps(shown))
        return
    print(machine)
    print(f"failure → row in the outbox: median {shown['row_ms_median']:.1f} ms")
    print(f"failure → loopback Telegram: first {first:.2f} s, then median {shown['median_s']:.2f} s, at most {max(rest):.2f} s")
    print(f"reach {REACH_SECONDS:.0f} s: {'yes' if shown['reached'] else 'MISSED'}")


if __name__ == "__main__":
    main()
