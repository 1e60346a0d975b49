"""`argus bench NAME …`: a figure of benchmarks/README.md, measured again on this machine."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys

from argus_cli.home import PROJECT_ROOT
from argus_memory.errors import UsageError

BENCHMARKS = {  # name → (module, what it measures)
    "retrieval": ("retrieval", "share of a benchmark's evidence that search brings: --format FORMAT PATH"),
    "automemory": ("automemory", "what was deleted or superseded and is recalled, before and after decisions: PATH"),
    "latency": ("recall_latency", "prompt recall at 10,000 and 100,000 notes beside the bare queries"),
    "capture": ("capture", "capture over HTTP beside bare INSERTs"),
    "hook": ("hook", "a hook's whole process beside a bare interpreter"),
    "hook-http": ("hook_http", "a prompt's hooks as processes and as one call over HTTP"),
    "mcp": ("mcp", "a search by agents beside the HTTP call, and tools/list"),
    "pages": ("pages", "server time, bytes and first paint of every page on a large store"),
    "parse": ("parse", "reading transcripts beside decoding their lines"),
    "idle": ("idle", "processor and memory of a hub that does nothing"),
    "idle-pass": ("idle_pass", "passes with nothing pending, in small and large stores"),
    "decisions": ("decisions", "asking for what was decided: of a unit's facts, and of the turns a recall reads"),
    "history": ("history", "timeline, diff and history over a year of memory, and what their triggers cost"),
    "no-show": ("no_show", "a watchdog's pass over 200 tasks with a year of ledger, and when it alarms"),
    "alerts": ("alerts", "from a failure's row in the outbox to a loopback Telegram"),
    "regenerate": ("regenerate", "one day of a year of memory made anew, without model time"),
    "distiller": ("distiller.run", "precision and recall of the extractive distiller on a labelled set"),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    width = max(map(len, BENCHMARKS))
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = "benchmarks:\n" + "\n".join(
        f"  {name:<{width}}  {about}" for name, (_, about) in BENCHMARKS.items()
    )
    parser.add_argument("name", metavar="NAME", help="one of those below; `argus bench NAME --help` tells more")
    parser.add_argument("rest", nargs=argparse.REMAINDER, metavar="…", help="handed to the benchmark as they are")


def run(arguments: argparse.Namespace) -> int:
    """The benchmark's own exit code; raises UsageError for an unknown name."""
    if arguments.name not in BENCHMARKS:
        raise UsageError(f"no benchmark is called {arguments.name!r}: it is one of {', '.join(BENCHMARKS)}")
    module = f"benchmarks.{BENCHMARKS[arguments.name][0]}"
    # The benchmarks are not installed: they stand beside the code, and their figures belong to that state of it.
    path = os.pathsep.join(part for part in (str(PROJECT_ROOT), os.environ.get("PYTHONPATH", "")) if part)
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments.rest], env={**os.environ, "PYTHONPATH": path}, check=False
    )
    return done.returncode
