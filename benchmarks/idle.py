"""What a hub costs while nobody uses it: CPU and memory of its whole process tree.

    python benchmarks/idle.py [--seconds 60] [--home DIR]

Starts a hub of its own on a temporary home with free ports (or measures the one that runs on --home), lets it
settle, then counts CPU seconds over the span. Memory is USS, what would be freed if the process ended, and PSS,
which shares out common pages. Targets: under 6 % of one core, under 750 MB.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil
import psycopg

from argus_cli.hub import stored_dsn
from argus_cli.ports import find_free_port
from argus_cli.postgres_place import system_place
from argus_memory.settings import load_settings

ROOT = Path(__file__).resolve().parent.parent
SETTLE_SECONDS = 45.0  # the first ticks of sensors and daemons
CORE_TARGET = 0.06
MEMORY_TARGET = 750


def tree(home: Path) -> dict[str, list[psutil.Process]]:
    """The hub's processes by service; the supervisor and its guard stand as `supervisor`."""
    state = json.loads((home / "run" / "state.json").read_text())
    found: dict[str, list[psutil.Process]] = {"supervisor": [psutil.Process(state["pid"])]}
    found["supervisor"].append(psutil.Process(state["guard_pid"]))
    for name, row in state["services"].items():
        if row["pid"]:
            root = psutil.Process(row["pid"])
            found[name] = [root, *root.children(recursive=True)]
    return found


def cpu_seconds(processes: list[psutil.Process]) -> float:
    """User and system time so far; children that ended in between are in their parents' count."""
    total = 0.0
    for process in processes:
        try:
            times = process.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += times.user + times.system + times.children_user + times.children_system
    return total


def memory(processes: list[psutil.Process], kind: str) -> float:
    """Megabytes."""
    return sum(getattr(process.memory_full_info(), kind) for process in processes if process.is_running()) / 1e6


def count_runs(home: Path) -> int:
    """Dagster runs so far: an hourly audit in the span (2 CPU seconds) is not idleness, and is said."""
    dsn = stored_dsn(load_settings({"ARGUS_HOME": str(home)}))
    with psycopg.connect(dsn) as connection:
        row = connection.execute("select count(*) from dagster.runs").fetchone()
    return int(row[0]) if row else 0


def measure(home: Path, seconds: float) -> int:
    """Print the table; returns 0 when both targets are met."""
    runs = count_runs(home)
    before = {name: cpu_seconds(processes) for name, processes in tree(home).items()}
    time.sleep(seconds)
    found = tree(home)
    print(f"{'':<12}{'processes':>10}{'CPU %':>8}{'USS MB':>9}{'PSS MB':>9}")
    sums = [0.0, 0.0, 0.0]
    for name, processes in found.items():
        used = (cpu_seconds(processes) - before.get(name, 0.0)) / seconds
        uss, pss = memory(processes, "uss"), memory(processes, "pss")
        for index, value in enumerate((used, uss, pss)):
            sums[index] += value
        print(f"{name:<12}{len(processes):>10}{used:>8.2%}{uss:>9.0f}{pss:>9.0f}")
    print(f"{'all':<12}{sum(map(len, found.values())):>10}{sums[0]:>8.2%}{sums[1]:>9.0f}{sums[2]:>9.0f}")
    print(
        f"targets     CPU under {CORE_TARGET:.0%} of one core: {'met' if sums[0] < CORE_TARGET else 'MISSED'};"
        f" PSS under {MEMORY_TARGET} MB: {'met' if sums[2] < MEMORY_TARGET else 'MISSED'}"
    )
    machine = f"{platform.platform()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    print(f"runs        {count_runs(home) - runs} in this span")
    print(f"machine     {machine}; load {os.getloadavg()[0]:.1f}; over {seconds:.0f} s")
    return 0 if sums[0] < CORE_TARGET and sums[2] < MEMORY_TARGET else 1


def main() -> int:
    parser = argparse.ArgumentParser(description="CPU and memory of an idle hub")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--home", type=Path, help="a running hub's home; without it one is started")
    arguments = parser.parse_args()
    if arguments.home:
        return measure(arguments.home, arguments.seconds)
    folder = Path(tempfile.mkdtemp(prefix="argus-idle-"))
    folder.chmod(0o755)
    environment = {
        **os.environ,
        "ARGUS_HOME": str(folder / "home"),
        "ARGUS_API_PORT": str(find_free_port()),
        "ARGUS_DAGSTER_PORT": str(find_free_port()),
    }
    command = [sys.executable, "-m", "argus_cli.main"]
    try:
        subprocess.run([*command, "up", "--detach"], cwd=ROOT, env=environment, check=True)
        time.sleep(SETTLE_SECONDS)
        return measure(folder / "home", arguments.seconds)
    finally:
        subprocess.run([*command, "down"], cwd=ROOT, env=environment, check=False)
        shutil.rmtree(folder, ignore_errors=True)
        if os.geteuid() == 0:
            shutil.rmtree(system_place(folder / "home" / "postgres"), ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
