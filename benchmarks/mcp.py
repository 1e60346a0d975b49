"""What MCP adds to the HTTP call, and how long `tools/list` takes, in one run against a running API.

    python -m benchmarks.mcp [--notes 20000] [--turns 30000] [--rounds 100]

An invented store (benchmarks/synthetic_store.py), the API as a process of its own, the embedded embedder: each query
is embedded by both, since they call the same function. Asked in turn, query by query, over connections that stay
open, so that a busy machine slows all: GET /search, the same search by MCP of 2026-07-28, and by MCP with a handshake.
The order changes with each round.

Reach: `tools/list` at most 20 ms, and the search by MCP at most 10 ms over GET /search (medians).
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import psycopg

from argus_cli.ports import find_free_port
from argus_memory.stages.spaces import ensure_space, open_embedder
from argus_memory.stages.terms import refresh_terms
from benchmarks.machine import describe_machine
from benchmarks.scratch_store import ScratchStore, scratch_store
from benchmarks.synthetic_store import fill, make_vocabulary

TOKEN = "mcp-token-of-the-benchmark"
CAPTURE_TOKEN = "capture-token-of-the-benchmark"
NEW, OLD = "2026-07-28", "2025-06-18"
ACCEPT = {"Accept": "application/json, text/event-stream"}
CLIENT = {"name": "benchmark", "version": "1"}
LIMIT = 10


class Calls:
    """The same questions by each way, over connections that stay open."""

    def __init__(self, url: str) -> None:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        self.http = httpx.Client(base_url=url, headers=headers, timeout=60, trust_env=False)
        self.new = httpx.Client(base_url=url, headers=headers | ACCEPT, timeout=60, trust_env=False)
        self.old = httpx.Client(base_url=url, headers=headers | ACCEPT, timeout=60, trust_env=False)
        params = {"protocolVersion": OLD, "capabilities": {}, "clientInfo": CLIENT}
        began = time.perf_counter()
        opened = self.old.post("/mcp", json=_message("initialize", params))
        self.first_ms = (time.perf_counter() - began) * 1000
        self.old.headers.update({"Mcp-Session-Id": opened.headers["mcp-session-id"], "MCP-Protocol-Version": OLD})
        self.old.post("/mcp", json={"jsonrpc": "2.0", "method": "notifications/initialized"})

    def search_http(self, query: str) -> int:
        answer = self.http.get("/search", params={"q": query, "limit": LIMIT + 1})
        return len(answer.raise_for_status().json()["results"])

    def search_new(self, query: str) -> int:
        return _hits(self._new("tools/call", {"name": "search", "arguments": {"query": query, "limit": LIMIT}}))

    def search_old(self, query: str) -> int:
        return _hits(self._old("tools/call", {"name": "search", "arguments": {"query": query, "limit": LIMIT}}))

    def list_new(self) -> int:
        return len(self._new("tools/list", {})["tools"])

    def list_old(self) -> int:
        return len(self._old("tools/list", {})["tools"])

    def _new(self, method: str, params: dict[str, Any]) -> Any:
        meta = {
            "io.modelcontextprotocol/protocolVersion": NEW,
            "io.modelcontextprotocol/clientInfo": CLIENT,
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        headers = {"MCP-Protocol-Version": NEW, "Mcp-Method": method}
        if "name" in params:
            headers["Mcp-Name"] = params["name"]
        answer = self.new.post("/mcp", json=_message(method, {**params, "_meta": meta}), headers=headers)
        return answer.raise_for_status().json()["result"]

    def _old(self, method: str, params: dict[str, Any]) -> Any:
        return self.old.post("/mcp", json=_message(method, params)).raise_for_status().json()["result"]


def _message(method: str, params: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def _hits(result: Any) -> int:
    return len(json.loads(result["content"][0]["text"])["hits"])


@contextmanager
def api_of(store: ScratchStore) -> Iterator[str]:
    """The API as `argus up` starts it, on the store."""
    port = find_free_port()
    assert store.settings.database_url is not None
    environment = {
        **{key: value for key, value in os.environ.items() if not key.startswith("ARGUS_")},
        "ARGUS_HOME": str(store.settings.home), "ARGUS_DATABASE_URL": store.settings.database_url,
        "ARGUS_API_PORT": str(port), "ARGUS_MCP_TOKEN": TOKEN, "ARGUS_CAPTURE_TOKEN": CAPTURE_TOKEN,
        "ARGUS_ADMIN_TOKEN": "admin-token-of-the-benchmark",
    }  # fmt: skip
    process = subprocess.Popen(
        [sys.executable, "-m", "uvicorn", "argus_api.app:create_app", "--factory", "--port", str(port),
         "--no-access-log", "--log-level", "warning"],
        env=environment, stderr=subprocess.DEVNULL, cwd=Path(__file__).resolve().parents[1],
    )  # fmt: skip
    url = f"http://127.0.0.1:{port}"
    try:
        for _ in range(600):
            try:
                if httpx.get(f"{url}/healthz", timeout=10, trust_env=False).status_code < 500:
                    break
            except httpx.TransportError:
                time.sleep(0.1)
        yield url
    finally:
        process.terminate()
        process.wait(15)


def measure(calls: Calls, queries: list[str]) -> dict[str, list[float]]:
    """Milliseconds by way, one a query; the first ten are left out."""
    ways: list[tuple[str, Callable[[str], int]]] = [
        ("GET /search", calls.search_http),
        ("search, MCP 2026-07-28", calls.search_new),
        ("search, MCP with handshake", calls.search_old),
        ("tools/list, MCP 2026-07-28", lambda _: calls.list_new()),
        ("tools/list, MCP with handshake", lambda _: calls.list_old()),
    ]
    times: dict[str, list[float]] = {name: [] for name, _ in ways}
    for number, query in enumerate(queries):
        turn = number % len(ways)
        for name, work in ways[turn:] + ways[:turn]:
            began = time.perf_counter()
            work(query)
            times[name].append((time.perf_counter() - began) * 1000)
    return {name: values[10:] for name, values in times.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--notes", type=int, default=20_000)
    parser.add_argument("--turns", type=int, default=30_000)
    parser.add_argument("--rounds", type=int, default=100)
    arguments = parser.parse_args()
    print(describe_machine())
    queries = make_vocabulary().texts(np.random.default_rng(5), arguments.rounds + 10, 3, 7)
    with scratch_store() as store:
        embedder = open_embedder(store.db, store.settings)
        space = ensure_space(store.db, embedder, now=datetime.now(UTC))
        with psycopg.connect(store.superuser_dsn) as admin:
            fill(admin, space.id, embedder.dim, arguments.notes, arguments.turns)
        refresh_terms(store.db, now=datetime.now(UTC))
        with api_of(store) as url:
            calls = Calls(url)
            times = measure(calls, queries)
    print(f"{arguments.notes:,} notes, {arguments.turns:,} turns; first MCP request (imports the SDK) {calls.first_ms:.0f} ms")
    base = statistics.median(times["GET /search"])
    for name, values in times.items():
        middle, late = statistics.median(values), float(np.percentile(values, 95))
        beside = f", {middle - base:+.1f} ms and {middle / base:.2f} of GET /search" if name.startswith("search") else ""
        print(f"{name:32} median {middle:6.1f} ms, p95 {late:6.1f} ms{beside}")


if __name__ == "__main__":
    main()
