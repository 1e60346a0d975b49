"""What a dedup pass costs for each new note, at 1,000, 10,000 and 50,000 notes in the store.

    python -m benchmarks.dedup [--notes 1000 10000 50000] [--rounds 12] [--new 25]

A database for each size in one Postgres: invented notes (benchmarks/synthetic_store.py) that were all looked at
before. Every round gives each store the same new notes with their vectors, half of them near a note that stands (the
rules compare them, and log it) and half near none, and times the whole pass over them, without a model. The sizes
take turns within one run, so that a busy machine slows all of them. Twice: for notes of a project that holds many, and
of one that holds 20 notes at every size, whose neighbours lie thin in the store's index.

Reach: milliseconds for a new note at 50,000 within ± 30 % of those at 1,000.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import psycopg
from numpy.typing import NDArray
from psycopg.types.json import Jsonb

from argus_cli.embedded_postgres import EmbeddedPostgres
from argus_memory import migrate
from argus_memory.db import Database
from argus_memory.models.space_thresholds import MINILM
from argus_memory.settings import Settings, load_settings
from argus_memory.stages.dedup import dedup_pending
from argus_memory.stages.spaces import ensure_space
from benchmarks.machine import describe_machine
from benchmarks.recall_latency import DIM, PreparedEmbedder
from benchmarks.synthetic_store import Clusters, Vocabulary, fill, make_vocabulary

SMALL = 20  # notes of the small project
WARM_UP = 2  # rounds that are not counted
NEAR = 0.05  # noise of a vector that is near a standing one, beside its length of 1


@dataclass
class Store:
    """One size's database; `times` are milliseconds for a new note by project, a value a round."""

    size: int
    db: Database
    settings: Settings
    space: int
    random: np.random.Generator
    times: dict[str, list[float]] = field(default_factory=lambda: {"many": [], "few": []})


@contextmanager
def open_store(server: EmbeddedPostgres, folder: Path, size: int) -> Iterator[Store]:
    """A database of its own with `size` notes that were looked at; the first SMALL of them are the small project."""
    name = f"argus_{size}"
    with psycopg.connect(server.dsn("postgres", "postgres"), autocommit=True) as admin:
        admin.execute(f"create database {name} owner argus")
    with psycopg.connect(server.dsn("postgres", name), autocommit=True) as admin:
        admin.execute("create extension vector")
    dsn = server.dsn("argus", name)
    migrate.upgrade(dsn)
    settings = load_settings({"ARGUS_HOME": str(folder / "home"), "ARGUS_DATABASE_URL": dsn})
    with Database(dsn) as db:
        space = ensure_space(db, PreparedEmbedder(), now=datetime.now(UTC))
        with psycopg.connect(server.dsn("postgres", name)) as admin:
            fill(admin, space.id, DIM, size, 1000)
            admin.execute("set session_replication_role = replica")
            admin.execute("update embedding_spaces set thresholds = %s", (Jsonb(MINILM),))
            admin.execute("update distilled_notes set deduped_at = now(), role = 'user'")
            admin.execute("update distilled_notes set project = 'few' where id <= %s", (SMALL,))
            admin.execute("select setval(pg_get_serial_sequence('distilled_notes', 'id'), %s)", (size,))
            admin.execute("vacuum analyze")
        yield Store(size, db, settings, space.id, np.random.default_rng(29))


def add_notes(store: Store, vocabulary: Vocabulary, clusters: Clusters, project: str, count: int) -> None:
    """New notes of a project with their vectors: every second is near a note that stands there."""
    random = store.random
    texts = vocabulary.texts(random, count, 8, 40)
    vectors = clusters.draw(random, count)
    with store.db.transaction() as conn:
        standing = conn.execute(
            "select v.embedding::text as e from note_vectors v join distilled_notes n on n.id = v.note_id"
            " where n.project = %s and n.deleted_at is null order by n.id limit %s",
            (project, count),
        ).fetchall()
        for number, (text, vector) in enumerate(zip(texts, vectors, strict=True)):
            if number % 2:
                vector = _beside(standing[number % len(standing)]["e"], random)
            note = conn.execute(
                "insert into distilled_notes (uid, text_key, raw_id, title, content, category, importance, project,"
                " role, source_ref, said_at, model, valid_from)"
                " values (md5(%(text)s), md5(%(text)s), 1, 'new', %(text)s, 'fact', 0.5, %(project)s, 'user',"
                " %(text)s, now(), 'bench', now()) returning id",
                {"text": text, "project": project},
            ).fetchone()
            assert note
            conn.execute(
                "insert into note_vectors (space_id, note_id, dim, embedding) values (%s, %s, %s, %s::vector)",
                (store.space, note["id"], DIM, _text(vector)),
            )
            conn.execute("delete from embed_queue where target = 'note' and target_id = %s", (note["id"],))


def _beside(embedding: str, random: np.random.Generator) -> NDArray[np.float32]:
    near = np.asarray(embedding.strip("[]").split(","), dtype=np.float32)
    near = near + random.normal(size=DIM).astype(np.float32) * NEAR / np.sqrt(DIM)
    return np.asarray(near / np.linalg.norm(near), dtype=np.float32)


def _text(vector: NDArray[np.float32]) -> str:
    return "[" + ",".join(f"{value:.5f}" for value in vector) + "]"


def measure(stores: list[Store], rounds: int, count: int) -> None:
    vocabulary, clusters = make_vocabulary(), Clusters(DIM)
    for turn in range(rounds + WARM_UP):
        for project, name in (("p0", "many"), ("few", "few")):
            for store in stores if turn % 2 else reversed(stores):
                add_notes(store, vocabulary, clusters, project, count)
                started = time.perf_counter()
                report = dedup_pending(store.db, store.settings, now=datetime.now(UTC), limit=count)
                spent = (time.perf_counter() - started) * 1000 / count
                assert (report.notes, report.left) == (count, 0), report
                if turn >= WARM_UP:
                    store.times[name].append(spent)


def report(stores: list[Store]) -> None:
    for name, told in (("many", "a project of many notes"), ("few", f"a project of {SMALL} notes to begin with")):
        base = statistics.median(stores[0].times[name])
        for store in stores:
            times = sorted(store.times[name])
            median = statistics.median(times)
            print(f"{told}, {store.size} in the store: median {median:.2f} ms a note, least {times[0]:.2f},"
                  f" most {times[-1]:.2f}; {median / base:.2f} of that at {stores[0].size}")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--notes", type=int, nargs="+", default=[1000, 10_000, 50_000])
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--new", type=int, default=25, help="new notes a round")
    arguments = parser.parse_args()
    print(describe_machine())
    folder = Path(tempfile.mkdtemp(prefix="argus-bench-"))
    folder.chmod(0o755)
    server = EmbeddedPostgres(folder / "postgres")
    try:
        server.start()
        with ExitStack() as stack:
            stores = [stack.enter_context(open_store(server, folder, size)) for size in arguments.notes]
            measure(stores, arguments.rounds, arguments.new)
            report(stores)
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
