"""Capture over HTTP beside bare Postgres, in one run (reach: one capture 3 ×, a thousand at once 4 ×).

    python -m benchmarks.capture [--rounds 200] [--bulk 15] [--json]

Starts a Postgres of its own (fsync on) and the API as `argus up` starts it. The two sides of each figure take turns,
so that a busy machine slows both; medians. Rows are turns of about 1 kB with a hook's metadata.

    one capture    POST /capture on a kept connection, and on a new one each time as a hook has it, beside INSERT and
                   commit of the same row into raw_items itself: the same indexes and triggers
    bulk           1,000 items a request beside the same rows by executemany and commit, into raw_items itself, and
                   into a copy of it with the same indexes and without triggers
"""

from __future__ import annotations

import argparse
import hashlib
import http.client
import json
import os
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg

from argus_cli.embedded_postgres import EmbeddedPostgres
from argus_memory import migrate
from benchmarks.machine import describe_machine

TOKEN = "a-token-for-the-benchmark"
BULK = 1000
TEXT = (
    "the invoice export rounds down because every third line of the report is read twice and we moved it to the new"
    " service with a queue in front so that a restart loses nothing while the pump waits for its seal"
)
WORDS = TEXT.split()
COLUMNS = (
    "source", "kind", "body", "cwd", "session", "project", "project_method", "project_confidence", "metadata",
    "dedup_key", "identity_key", "position", "said_at",
)  # fmt: skip


class Turns:
    """Invented turns, no two alike."""

    def __init__(self) -> None:
        self.chance = random.Random(7)
        self.count = 0

    def item(self) -> dict[str, Any]:
        self.count += 1
        body = " ".join(self.chance.choice(WORDS) for _ in range(190))
        metadata = {
            "role": "assistant" if self.count % 2 else "user",
            "host": "laptop",
            "repo": {"remote": "git@github.com:kim/export.git", "common_dir": "/home/kim/export/.git"},
            "original_timestamp": f"2026-11-{1 + self.count % 28:02}T10:{self.count % 60:02}:00.000Z",
            "uuid": f"{self.chance.getrandbits(128):032x}",
            "message_id": f"msg_{self.count}",
            "position": self.count * 1500,
            "version": "2.1.240",
            "branch": "main",
        }
        return {
            "source": "claude-code", "kind": "turn", "body": f"{self.count}: {body}", "session": f"s{self.count // 40}",
            "cwd": "/home/kim/export", "metadata": metadata,
        }  # fmt: skip


def row_of(item: dict[str, Any]) -> tuple[Any, ...]:
    """The row capture would write for such an item, ready made."""
    key = hashlib.md5(item["body"].encode()).hexdigest()
    metadata = item["metadata"]
    return (
        item["source"], item["kind"], item["body"], item["cwd"], item["session"], "export", "repo", 0.95,
        json.dumps(metadata), key, f"uuid:{metadata['uuid']}", metadata["position"], metadata["original_timestamp"],
    )  # fmt: skip


def insert_into(table: str) -> str:
    return f"insert into {table} ({', '.join(COLUMNS)}) values ({', '.join(['%s'] * len(COLUMNS))})"


@contextmanager
def api(dsn: str, home: Path) -> Iterator[int]:
    """The API in a process of its own; yields its port."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environment = {
        **os.environ, "ARGUS_HOME": str(home), "ARGUS_DATABASE_URL": dsn, "ARGUS_CAPTURE_TOKEN": TOKEN,
        "ARGUS_API_PORT": str(port),
    }  # fmt: skip
    command = [
        "-m", "uvicorn", "argus_api.app:create_app", "--factory", "--host", "127.0.0.1", "--port", str(port),
        "--no-access-log", "--no-server-header", "--log-level", "warning",
    ]  # fmt: skip
    home.mkdir(exist_ok=True)
    with (home / "api.log").open("wb") as log:  # a line a request
        process = subprocess.Popen([sys.executable, *command], env=environment, stderr=log)
    try:
        for _ in range(600):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        else:
            raise SystemExit(f"the API did not start within a minute: {(home / 'api.log').read_text()[-2000:]}")
        yield port
    finally:
        process.terminate()
        process.wait(20)


class Sides:
    """Everything that is timed."""

    def __init__(self, dsn: str, port: int) -> None:
        self.turns = Turns()
        self.port = port
        self.kept = http.client.HTTPConnection("127.0.0.1", port)
        self.bare = psycopg.connect(dsn)
        self.bare.execute("create table bare_items (like raw_items including all)")
        self.bare.commit()

    def post(self, link: http.client.HTTPConnection, body: bytes, count: int) -> None:
        headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
        link.request("POST", "/capture", body, headers)
        answer = link.getresponse()
        text = answer.read()
        assert answer.status == 201, (answer.status, text[:300])
        assert text.count(b'"duplicate":false') == count

    def one_over_http(self) -> Callable[[], None]:
        body = json.dumps(self.turns.item()).encode()
        return lambda: self.post(self.kept, body, 1)

    def one_over_a_new_connection(self) -> Callable[[], None]:
        body = json.dumps(self.turns.item()).encode()

        def work() -> None:
            link = http.client.HTTPConnection("127.0.0.1", self.port)
            self.post(link, body, 1)
            link.close()

        return work

    def one_bare(self) -> Callable[[], None]:
        row = row_of(self.turns.item())

        def work() -> None:
            self.bare.execute(insert_into("raw_items"), row)
            self.bare.commit()

        return work

    def many_over_http(self) -> Callable[[], None]:
        body = json.dumps({"items": [self.turns.item() for _ in range(BULK)]}).encode()
        return lambda: self.post(self.kept, body, BULK)

    def many_bare(self, table: str) -> Callable[[], None]:
        rows = [row_of(self.turns.item()) for _ in range(BULK)]

        def work() -> None:
            with self.bare.cursor() as cursor:
                cursor.executemany(insert_into(table), rows)
            self.bare.commit()

        return work


def median_ms(kinds: dict[str, Callable[[], Callable[[], None]]], rounds: int, warm: int) -> dict[str, float]:
    """Median milliseconds of each; all of them once a round, after some rounds that do not count."""
    times: dict[str, list[float]] = {name: [] for name in kinds}
    for number in range(warm + rounds):
        for name, prepare in kinds.items():
            work = prepare()
            began = time.perf_counter()
            work()
            if number >= warm:
                times[name].append((time.perf_counter() - began) * 1000)
    return {name: statistics.median(found) for name, found in times.items()}


def measure(dsn: str, port: int, rounds: int, bulk: int) -> dict[str, float]:
    sides = Sides(dsn, port)
    one = median_ms(
        {
            "one: bare insert and commit": sides.one_bare,
            "one: over HTTP": sides.one_over_http,
            "one: over HTTP, new connection": sides.one_over_a_new_connection,
        },
        rounds,
        20,
    )
    many = median_ms(
        {
            "1,000: bare executemany": lambda: sides.many_bare("raw_items"),
            "1,000: bare, without triggers": lambda: sides.many_bare("bare_items"),
            "1,000: over HTTP": sides.many_over_http,
        },
        bulk,
        2,
    )
    sides.bare.close()
    sides.kept.close()
    bare = one["one: bare insert and commit"]
    over = many["1,000: over HTTP"]
    return {
        **one,
        **many,
        "one: ratio": one["one: over HTTP"] / bare,
        "one, new connection: ratio": one["one: over HTTP, new connection"] / bare,
        "1,000: ratio": over / many["1,000: bare executemany"],
        "1,000, bare without triggers: ratio": over / many["1,000: bare, without triggers"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--bulk", type=int, default=15)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    machine = describe_machine()
    with tempfile.TemporaryDirectory(prefix="argus-bench-") as folder:
        Path(folder).chmod(0o755)  # as root the server runs as a system user, which must be able to walk in
        server = EmbeddedPostgres(Path(folder) / "postgres")
        try:
            server.start()
            migrate.upgrade(server.dsn())
            with api(server.dsn(), Path(folder) / "home") as port:
                figures = measure(server.dsn(), port, arguments.rounds, arguments.bulk)
        finally:
            server.stop()
    if arguments.json:
        print(json.dumps(figures))
        return
    print(f"{machine}; medians of {arguments.rounds} and {arguments.bulk}")
    for name, value in figures.items():
        print(f"{name:38} {value:8.2f}{'' if name.endswith('ratio') else ' ms'}")


if __name__ == "__main__":
    main()
