"""A prompt's hooks as processes and as one call over HTTP, in turn, against one running API.

    python -m benchmarks.hook_http [--notes 5000] [--rounds 40]

As processes: recall and capture are started together, as Claude Code starts them, and the later end counts. Over HTTP:
one POST does the work of both. The same prompts, each in a session of its own; medians. The store is invented
(benchmarks/synthetic_store.py), the API a process of its own with the embedded embedder.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import httpx
import numpy as np
import psycopg

from argus_memory.stages.spaces import ensure_space, open_embedder
from argus_memory.stages.terms import refresh_terms
from benchmarks.machine import describe_machine
from benchmarks.mcp import CAPTURE_TOKEN, api_of
from benchmarks.scratch_store import scratch_store
from benchmarks.synthetic_store import fill, make_vocabulary

HOOKS = Path(__file__).resolve().parent.parent / "argus_api" / "hooks"
WARM = 5


def as_processes(url: str, home: Path, event: dict[str, str]) -> float:
    """Milliseconds until both have ended."""
    environment = {
        "HOME": str(home), "PATH": os.environ["PATH"], "ARGUS_HOME": str(home), "ARGUS_API_URL": url,
        "ARGUS_CAPTURE_TOKEN": CAPTURE_TOKEN,
    }  # fmt: skip
    data = json.dumps(event).encode()
    began = time.perf_counter()
    started = [
        subprocess.Popen(
            [sys.executable, "-I", "-S", str(HOOKS / f"{name}.py"), "--target", "claude-code"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment,
        )
        for name in ("recall_hook", "capture_hook")
    ]  # fmt: skip
    for process in started:
        process.communicate(data)
    return (time.perf_counter() - began) * 1000


def over_http(client: httpx.Client, event: dict[str, str]) -> float:
    began = time.perf_counter()
    client.post("/hooks/UserPromptSubmit", json=event).raise_for_status()
    return (time.perf_counter() - began) * 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--notes", type=int, default=5_000)
    parser.add_argument("--rounds", type=int, default=40)
    options = parser.parse_args()
    print(describe_machine())
    prompts = make_vocabulary().texts(np.random.default_rng(9), options.rounds + WARM, 8, 20)
    times: dict[str, list[float]] = {"processes": [], "http": [], "recall alone": []}
    with scratch_store() as store:
        embedder = open_embedder(store.db, store.settings)
        space = ensure_space(store.db, embedder, now=datetime.now(UTC))
        with psycopg.connect(store.superuser_dsn) as admin:
            fill(admin, space.id, embedder.dim, options.notes, 2 * options.notes)
        refresh_terms(store.db, now=datetime.now(UTC))
        home = store.settings.home / "person"
        home.mkdir(parents=True)
        with api_of(store) as url, httpx.Client(
            base_url=url, headers={"Authorization": f"Bearer {CAPTURE_TOKEN}"}, timeout=30, trust_env=False
        ) as client:
            for number, prompt in enumerate(prompts):
                event = {"hook_event_name": "UserPromptSubmit", "prompt": prompt, "cwd": "/home/kim/p3"}
                times["processes"].append(as_processes(url, home, {**event, "session_id": f"c{number}"}))
                times["http"].append(over_http(client, {**event, "session_id": f"h{number}"}))
                began = time.perf_counter()
                client.post("/recall/notes", json={"prompt": prompt, "session": f"r{number}", "cwd": "/home/kim/p3"})
                times["recall alone"].append((time.perf_counter() - began) * 1000)
    for name, values in times.items():
        kept = values[WARM:]
        print(f"{name:14} median {statistics.median(kept):6.1f} ms, p95 {float(np.percentile(kept, 95)):6.1f} ms")
    ratio = statistics.median(times["http"][WARM:]) / statistics.median(times["processes"][WARM:])
    print(f"http ÷ processes: {ratio:.2f}")


if __name__ == "__main__":
    main()
