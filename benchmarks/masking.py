"""What masking costs: a turn of 1 kB (reach: 0.1 ms), and a megabyte made to be hard (reach: under 1 s).

    python -m benchmarks.masking [--rounds 2000]

CPU time, the median of batches, so that other work on the machine counts little. `detect-secrets` reads the same
turns line by line with all its detectors: the ratio is why it is only the tests' oracle.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections.abc import Callable

from detect_secrets.core.scan import scan_line
from detect_secrets.settings import default_settings

from argus_memory.rules.masking import mask_text, mask_tree
from benchmarks.machine import describe_machine

BATCHES = 20
PROSE = (
    "the invoice export rounds down because every third line of the report is read twice and we moved it to the new"
    " service with a queue in front so that a restart loses nothing while the pump waits for its seal"
)
CODE = """def close_tail(db: Database, session: str, *, now: datetime, limit: int = 20) -> SegmentReport:
    key = (session, now.date())
    with db.transaction() as conn:
        rows = conn.execute(q.tail, {"session": session, "limit": limit}).fetchall()
        if len(rows) < 4: return SegmentReport(checked=len(rows), closed=0)
"""
METADATA = {
    "role": "user", "uuid": "0b1f6f0e-1111-4222-8333-444455556666", "host": "larch", "position": 48213,
    "original_timestamp": "2026-11-30T10:00:00.000Z", "version": "2.0.1", "tokens": 812,
    "repo": {"remote": "git@git.example:kim/garden.git", "common_dir": "/home/kim/garden/.git"},
}  # fmt: skip
# Each repeats a beginning that some rule has to look at and give up.
HARD = (
    "=", "a:", "?token=", "password='", "password is ", "cookie: a=b;", "authorization: bearer ", "://", "http://a:b",
    "postgres://x:y", "eyJa.", "AP", "SK-", "MT", "<private>", "-----BEGIN PRIVATE KEY-----\n",
)  # fmt: skip


def turns() -> dict[str, str]:
    """Name → a turn of about 1,000 characters."""
    chance = random.Random(7)
    words = PROSE.split()
    prose = " ".join(chance.choice(words) for _ in range(220))[:1000]
    secret = "export DEPLOY_TOKEN=q8Wd2Lx7Vn4Zk9Rb"
    return {"prose": prose, "code": (CODE * 4)[:1000], "prose with one secret": f"{prose[:960]}\n{secret}"}


def milliseconds(work: Callable[[], object], rounds: int) -> float:
    """CPU time of one call: the median of batches."""
    size = max(1, rounds // BATCHES)
    taken = []
    for _ in range(BATCHES):
        began = time.process_time()
        for _ in range(size):
            work()
        taken.append((time.process_time() - began) / size * 1000)
    return statistics.median(taken)


def oracle(text: str) -> None:
    for line in text.splitlines():
        list(scan_line(line))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rounds", type=int, default=2000, help="calls for each kind of turn")
    rounds = options.parse_args().rounds
    print(describe_machine())
    for name, text in turns().items():
        own = milliseconds(lambda text=text: mask_text(text), rounds)  # type: ignore[misc]
        with default_settings():
            other = milliseconds(lambda text=text: oracle(text), rounds // 50)  # type: ignore[misc]
        print(f"{name:22} {own:7.3f} ms   detect-secrets {other:7.2f} ms   ratio 1 : {other / own:.0f}")
    # A new uuid each time, as in real items: what was seen to be harmless is remembered.
    numbers = iter(range(10**9))
    metadata = milliseconds(lambda: mask_tree({**METADATA, "uuid": f"0b1f6f0e-{next(numbers):012}"}), rounds)
    print(f"{'metadata of a hook':22} {metadata:7.3f} ms")
    for part in HARD:
        text = part * (1_000_000 // len(part))
        began = time.process_time()
        mask_text(text)
        print(f"1 MB of {part!r:32} {time.process_time() - began:6.2f} s")


if __name__ == "__main__":
    main()
