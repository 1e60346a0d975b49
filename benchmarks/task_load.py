"""What 200 tasks cost: loading them into Dagster, and having them while nothing is due.

    python -m benchmarks.task_load [--tasks 200] [--repeats 5]         reach: under 1 s more than none
    python -m benchmarks.task_load --idle [--tasks 200] [--seconds 60] reach: under 2 % of a core more than none

Loading is processor time in a process of its own, best of the repeats: config.ini read, the definitions built and all
jobs resolved, as a code server does; `snapshot` is what it sends to the webserver after that, once a load, and to the
daemon once a minute. A run's worker reads and builds, and resolves the job of tasks.

Idle starts two hubs on temporary homes, without and with the tasks (daily, at times that are not near, and some with
@every, all with checks), lets them settle and counts the processor time of every process, in both over the same span:
what else the machine does makes each second of theirs dearer, and that alike. At first Dagster writes a row for each
schedule, and later one an hour: nothing of that is in a span of minutes.
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
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from argus_cli.ports import find_free_port
from argus_cli.postgres_place import system_place
from benchmarks.idle import ROOT, count_runs, cpu_seconds, tree

SETTLE_SECONDS = 180.0  # a hub's first ticks, the first evaluation of every check, the first row of every schedule
LOAD_REACH = 1.0  # seconds
IDLE_REACH = 0.02  # of one core
EVERY_TENTH = 10  # so many tasks have @every instead of cron

LOAD = """
import json, time
import argus_assets.resources, argus_memory.tasks.runner, argus_memory.watch.dagster_side, argus_memory.watch.audits
import dagster as dg
from dagster._core.remote_representation.external_data import RepositorySnap
from argus_assets.defs.tasks import definitions, loading
times = [time.process_time()]
def lap(): times.append(time.process_time())
tasks = loading.load_task_list(); lap()
shared = dg.Definitions(
    resources={"memory": argus_assets.resources.MemoryResource()}, executor=dg.in_process_executor)
defs = dg.Definitions.merge(definitions.build_tasks(tasks), shared); lap()
repository = defs.get_repository_def(); repository.load_all_definitions(); lap()
RepositorySnap.from_def(repository); lap()
names = ("read", "build", "resolve", "snapshot")
print(json.dumps({n: b - a for n, a, b in zip(names, times, times[1:])} | {"tasks": len(tasks.tasks)}))
"""


def write_tasks(folder: Path, count: int, now: datetime) -> Path:
    """A config.ini of `count` tasks, none of them due within the next four hours unless it has @every."""
    folder.mkdir(parents=True, exist_ok=True)
    stanzas = []
    for number in range(count):
        name = f"task-{number}"
        (folder / name).mkdir(exist_ok=True)
        hour = (now.hour + 6 + number % 12) % 24
        schedule = "@every 20h" if number % EVERY_TENTH == 0 else f"{number % 60} {hour} * * *"
        stanzas.append(
            f"[{name}]\ndescription = The {number}th of them\nhandler = code\ncommand = sh run.sh {number}\n"
            f"schedule = {schedule}\ntimezone = UTC\n"
        )
    (folder / "config.ini").write_text("\n".join(stanzas))
    return folder


def load_once(folder: Path) -> dict[str, float]:
    environment = {**os.environ, "ARGUS_TASKS": str(folder)}
    done = subprocess.run([sys.executable, "-c", LOAD], cwd=ROOT, env=environment, capture_output=True, check=True)
    return {name: float(value) for name, value in json.loads(done.stdout).items()}


def measure_load(base: Path, count: int, repeats: int) -> bool:
    """Print the best of the repeats without and with the tasks; whether the reach is met."""
    now = datetime.now(UTC)
    folders = {number: write_tasks(base / str(number), number, now) for number in (0, count)}
    best: dict[int, dict[str, float]] = {}
    for _ in range(repeats):
        for number, folder in folders.items():
            seen = load_once(folder)
            best[number] = {name: min(value, best.get(number, seen)[name]) for name, value in seen.items()}
    print(f"{'processor seconds':<20}" + "".join(f"{f'{number} tasks':>12}" for number in best))
    for name in ("read", "build", "resolve", "snapshot"):
        print(f"{name:<20}" + "".join(f"{seen[name]:>12.3f}" for seen in best.values()))
    sums = {number: seen["read"] + seen["build"] + seen["resolve"] for number, seen in best.items()}
    added = sums[count] - sums[0]
    print(
        f"{count} tasks add {added:.2f} s to a load: {'met' if added < LOAD_REACH else 'MISSED'} ({LOAD_REACH:g} s)"
    )
    return added < LOAD_REACH


@contextmanager
def running_hub(base: Path, count: int) -> Iterator[Path]:
    """The home of a hub with `count` tasks; stopped and swept away at the end."""
    home = base / f"home-{count}"
    environment = {
        **os.environ,
        "ARGUS_HOME": str(home),
        "ARGUS_TASKS": str(write_tasks(base / str(count), count, datetime.now(UTC))),
        "ARGUS_API_PORT": str(find_free_port()),
        "ARGUS_DAGSTER_PORT": str(find_free_port()),
    }
    command = [sys.executable, "-m", "argus_cli.main"]
    try:
        subprocess.run([*command, "up", "--detach"], cwd=ROOT, env=environment, check=True)
        yield home
    finally:
        subprocess.run([*command, "down"], cwd=ROOT, env=environment, check=False)
        if os.geteuid() == 0:
            shutil.rmtree(system_place(home / "postgres"), ignore_errors=True)


def used_by(home: Path) -> dict[str, float]:
    """Each service's processor seconds so far."""
    return {name: cpu_seconds(processes) for name, processes in tree(home).items()}


def measure_idle(base: Path, count: int, seconds: float) -> bool:
    """Print each service's share without and with the tasks; whether the reach is met."""
    with running_hub(base, 0) as without, running_hub(base, count) as with_tasks:
        homes = {0: without, count: with_tasks}
        time.sleep(SETTLE_SECONDS)
        runs = {number: count_runs(home) for number, home in homes.items()}
        before = {number: used_by(home) for number, home in homes.items()}
        time.sleep(seconds)
        after = {number: used_by(home) for number, home in homes.items()}
        told = ", ".join(f"{number} tasks {count_runs(home) - runs[number]}" for number, home in homes.items())
    shares = {
        number: {name: (used - before[number].get(name, 0.0)) / seconds for name, used in seen.items()}
        for number, seen in after.items()
    }
    print(f"runs in the span: {told}")
    print(f"{'share of a core':<20}" + "".join(f"{f'{number} tasks':>12}" for number in shares))
    for name in shares[count]:
        print(f"{name:<20}" + "".join(f"{share.get(name, 0.0):>12.2%}" for share in shares.values()))
    print(f"{'all':<20}" + "".join(f"{sum(share.values()):>12.2%}" for share in shares.values()))
    added = sum(shares[count].values()) - sum(shares[0].values())
    print(f"{count} tasks add {added:.2%} of a core: {'met' if added < IDLE_REACH else 'MISSED'} ({IDLE_REACH:.0%})")
    return added < IDLE_REACH


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--idle", action="store_true")
    parser.add_argument("--seconds", type=float, default=60.0)
    arguments = parser.parse_args()
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    with tempfile.TemporaryDirectory(prefix="argus-bench-") as folder:
        base = Path(folder)
        base.chmod(0o755)  # as root the server runs as a system user
        if arguments.idle:
            met = measure_idle(base, arguments.tasks, arguments.seconds)
        else:
            met = measure_load(base, arguments.tasks, arguments.repeats)
    print(f"machine     {machine}; load {os.getloadavg()[0]:.1f}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
