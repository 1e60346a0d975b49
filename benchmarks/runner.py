"""What the runner costs: from a task's last breath to its alert in the outbox, a start, and a flood of output.

    python -m benchmarks.runner [--repeats 30] [--megabytes 1024]

Starts a Postgres of its own. A failing task prints the time right before it ends; the figure runs from there until
run_task has committed the row, the alert and the delivery and returned (reach: under 5 s). The start is a whole run of
`true` beside a bare `sh -c true`. The flood is `yes` through a run beside the same into a pipe that Python drains, with
the guard's largest memory (VmHWM).
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import psutil
import psycopg

from argus_cli.embedded_postgres import EmbeddedPostgres
from argus_memory import migrate
from argus_memory.db import Database
from argus_memory.records import RunResult, TaskSpec
from argus_memory.settings import load_settings
from argus_memory.tasks.runner import run_task
from benchmarks.machine import describe_machine

Run = Callable[[str], RunResult]


def measure_failures(run: Run, db: Database, repeats: int) -> None:
    delays = []
    for number in range(repeats):
        result = run("date +%s.%N; exit 3")
        delays.append(time.time() - float(result.stdout_tail))
        found = db.fetch_one("select count(*) as n from deliveries where kind = 'alert'")
        assert found is not None
        assert found["n"] == number + 1, "each failure told once"
        run("true")  # clears the alert, so that the next failure tells again
    show("task's exit to deliveries row", delays)


def measure_starts(run: Run, repeats: int) -> None:
    whole, bare = [], []
    for _ in range(repeats):
        began = time.perf_counter()
        run("true")
        whole.append(time.perf_counter() - began)
        began = time.perf_counter()
        subprocess.run(["sh", "-c", "true"], check=True)
        bare.append(time.perf_counter() - began)
    show("a whole run of `true`", whole)
    show("bare `sh -c true`", bare)


def measure_flood(run: Run, megabytes: int) -> None:
    command = f"yes 0123456789abcde | head -c {megabytes}M"
    peak = [0]
    done = threading.Event()

    def watch() -> None:
        while not done.wait(0.05):
            for child in psutil.Process().children():
                try:
                    if "argus_memory.tasks.guard" in " ".join(child.cmdline()):
                        peak[0] = max(peak[0], read_peak(child.pid))
                except (psutil.Error, OSError):
                    continue

    watcher = threading.Thread(target=watch)
    watcher.start()
    began = time.perf_counter()
    result = run(command)
    seconds = time.perf_counter() - began
    done.set()
    watcher.join()
    assert (result.outcome, result.stdout_bytes) == ("ok", megabytes * 2**20)
    began = time.perf_counter()
    with subprocess.Popen(["sh", "-c", command], stdout=subprocess.PIPE, bufsize=0) as bare:
        assert bare.stdout
        while bare.stdout.read(65536):
            pass
    drained = time.perf_counter() - began
    print(f"{megabytes} MB of output: {seconds:.2f} s, drained bare {drained:.2f} s, ratio {seconds / drained:.2f},"
          f" guard at most {peak[0] / 1024:.0f} MB, tail {len(result.stdout_tail):,} characters")  # fmt: skip


def read_peak(pid: int) -> int:
    """kB of the largest resident size so far."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


def show(name: str, seconds: list[float]) -> None:
    ordered = sorted(seconds)
    median, p95 = statistics.median(ordered), ordered[int(0.95 * (len(ordered) - 1))]
    print(f"{name:<32}median {median * 1000:6.0f} ms, p95 {p95 * 1000:6.0f} ms, max {ordered[-1] * 1000:6.0f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=30)
    parser.add_argument("--megabytes", type=int, default=1024)
    arguments = parser.parse_args()
    print(describe_machine())
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="argus-bench-")))
        folder.chmod(0o755)  # as root the server runs as a system user
        server = stack.enter_context(EmbeddedPostgres(folder / "postgres"))
        with psycopg.connect(server.dsn("postgres", "postgres"), autocommit=True) as admin:
            admin.execute("create database runner owner argus")
        with psycopg.connect(server.dsn("postgres", "runner"), autocommit=True) as admin:
            admin.execute("create extension vector")
        migrate.upgrade(server.dsn("argus", "runner"))
        db = stack.enter_context(Database(server.dsn("argus", "runner")))
        settings = load_settings({"ARGUS_HOME": str(folder / "home")})
        spec = TaskSpec("bench", "code", folder, folder / "config.ini", 1, max_runtime=timedelta(minutes=30))

        def run(command: str) -> RunResult:
            return run_task(db, settings, replace(spec, command=command), started_by="person")

        run("true")  # warms up
        measure_failures(run, db, arguments.repeats)
        measure_starts(run, arguments.repeats)
        measure_flood(run, arguments.megabytes)


if __name__ == "__main__":
    main()
