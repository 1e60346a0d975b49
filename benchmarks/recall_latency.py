"""How long a prompt recall takes at 10,000 and at 100,000 notes, beside the two bare queries it cannot do without.

    python -m benchmarks.recall_latency [--notes 10000 100000] [--rounds 100]

An invented store (benchmarks/synthetic_store.py): words by Zipf, vectors in clusters, as many turns as notes up to
30,000, so that both kinds are searched. The embedding of the prompt is not counted. Measured in turns, prompt by
prompt:

    recall           recall_for_prompt, whole: gates, both tracks over notes and turns, choice, text, ledger
    bare             for notes and for turns one keyword query (the rarest terms, ts_rank) and one vector query,
                     each with the live rows' conditions and the limit of 30
    bare, notes      the same for notes alone
    every word       the keyword query of notes over all the prompt's words

Reach: recall at most 2 × bare; p95 at 100,000 at most 3 × p95 at 10,000. Also printed: what the row budget costs, as
the share of the first ten by all words that a smaller budget still brings.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import numpy as np
import psycopg
from numpy.typing import NDArray

from argus_memory.db import Connection, Database
from argus_memory.models.embedders import Vector, Vectors
from argus_memory.rules.bm25 import ROW_BUDGET, pick_rarest, tsquery
from argus_memory.settings import Settings
from argus_memory.stages.recall import recall_for_prompt
from argus_memory.stages.recall_rank import QUICK, prepare
from argus_memory.stages.recall_tracks import Question, find_candidates
from argus_memory.stages.spaces import ensure_space
from argus_memory.stages.terms import find_terms, refresh_terms
from benchmarks.machine import describe_machine
from benchmarks.scratch_store import scratch_store
from benchmarks.synthetic_store import Clusters, fill, make_vocabulary

DIM = 384
TURNS_MAX = 30_000
PROMPT_WORDS = (6, 14)
BUDGETS = (200, 500, 1000, 2000, 5000)
LIVE = "n.deleted_at is null and n.valid_from <= now() and (n.valid_to is null or n.valid_to > now())"


class PreparedEmbedder:
    """Gives the vectors it was handed: the model's own time is not what is measured here."""

    model, dim, checksum = "bench", DIM, "bench"

    def __init__(self) -> None:
        self.vectors: dict[str, Vector] = {}

    def embed(self, texts: Sequence[str]) -> Vectors:
        random = np.random.default_rng(3)
        made = random.normal(size=(len(texts), DIM)).astype(np.float32)
        return np.asarray(made / np.linalg.norm(made, axis=1, keepdims=True))

    def embed_query(self, text: str) -> Vector:
        return self.vectors[text]


class Bare:
    """The bare queries of one prompt."""

    def __init__(self, conn: Connection, space: int, prompt: str, vector: Vector) -> None:
        self.conn = conn
        self.space = space
        self.params: dict[str, Any] = {"vector": vector}
        for kind in ("note", "turn"):
            corpus = find_terms(conn, kind, prompt)  # type: ignore[arg-type]
            self.params[f"{kind}_rare"] = tsquery(pick_rarest(corpus.terms))
            self.params[f"{kind}_all"] = tsquery(corpus.terms)

    def words(self, kind: str, terms: str) -> None:
        table, key, live = ("distilled_notes", "id", LIVE) if kind == "note" else ("turns", "raw_id", "true")
        self.conn.execute(
            f"select n.{key}, ts_rank(n.tsv, %({kind}_all)s::tsquery) as score from {table} n"
            f" where n.tsv @@ %({kind}_{terms})s::tsquery and {live} order by score desc limit {QUICK.candidates}",
            self.params,
        ).fetchall()

    def meaning(self, kind: str) -> None:
        key = f"{kind}_id" if kind == "note" else "raw_id"
        join = f"join distilled_notes n on n.id = v.note_id and {LIVE}" if kind == "note" else ""
        self.conn.execute(
            f"select v.{key}, v.embedding::vector({DIM}) <=> %(vector)s as distance from {kind}_vectors v {join}"
            f" where v.space_id = {self.space} order by v.embedding::vector({DIM}) <=> %(vector)s"
            f" limit {QUICK.candidates}",
            self.params,
        ).fetchall()


def milliseconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1000


@contextmanager
def counted(times: dict[str, list[float]], name: str):  # type: ignore[no-untyped-def]
    started = time.perf_counter()
    yield
    times.setdefault(name, []).append((time.perf_counter() - started) * 1000)


def measure(db: Database, settings: Settings, notes: int, rounds: int) -> dict[str, NDArray[np.float64]]:
    """Milliseconds by name, one value a prompt, the first ten prompts left out."""
    random = np.random.default_rng(77)
    prompts = make_vocabulary().texts(random, rounds + 10, *PROMPT_WORDS)
    vectors = Clusters(DIM).draw(random, len(prompts))
    embedder = PreparedEmbedder()
    embedder.vectors = dict(zip(prompts, vectors, strict=True))
    space = ensure_space(db, embedder, now=datetime.now(UTC))
    times: dict[str, list[float]] = {}
    for number, (prompt, vector) in enumerate(zip(prompts, vectors, strict=True)):
        with db.transaction() as conn:
            prepare(conn, QUICK)
            bare = Bare(conn, space.id, prompt, vector)
            with counted(times, "bare, notes"):
                bare.words("note", "rare")
                bare.meaning("note")
            with counted(times, "bare, turns"):
                bare.words("turn", "rare")
                bare.meaning("turn")
            with counted(times, "every word"):
                bare.words("note", "all")
        with counted(times, "recall"):
            recall_for_prompt(
                db, settings, embedder, prompt=prompt, project="p3", session=f"s{number}", now=datetime.now(UTC)
            )
    found = {name: np.array(values[10:]) for name, values in times.items()}
    found["bare"] = found["bare, notes"] + found["bare, turns"]
    return found


def budget_cost(db: Database, rounds: int) -> dict[int, float]:
    """The share of the first ten notes by BM25 over every row with any of the words that each budget brings."""
    prompts = make_vocabulary().texts(np.random.default_rng(5), rounds, *PROMPT_WORDS)
    kept: dict[int, list[float]] = {budget: [] for budget in BUDGETS}
    for prompt in prompts:
        question = Question(prompt, datetime.now(UTC))
        with db.transaction() as conn:
            best = set(find_candidates(conn, "note", question, 10, budget=10**9).lexical)
            for budget in BUDGETS:
                found = set(find_candidates(conn, "note", question, 10, budget=budget).lexical)
                kept[budget].append(len(best & found) / max(len(best), 1))
    return {budget: float(np.mean(shares)) for budget, shares in kept.items()}


def print_times(notes: int, turns: int, times: dict[str, NDArray[np.float64]]) -> None:
    print(f"\n{notes} notes, {turns} turns, {len(times['recall'])} prompts")
    for name in ("recall", "bare", "bare, notes", "bare, turns", "every word"):
        p50, p95 = np.percentile(times[name], [50, 95])
        print(f"  {name:14} p50 {p50:7.1f} ms   p95 {p95:7.1f} ms")
    for p in (50, 95):
        ratio = np.percentile(times["recall"], p) / np.percentile(times["bare"], p)
        print(f"  recall / bare  p{p} {ratio:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--notes", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--rounds", type=int, default=100)
    options = parser.parse_args()
    print(describe_machine())
    p95 = []
    for notes in options.notes:
        turns = min(notes, TURNS_MAX)
        with scratch_store() as store:
            space = ensure_space(store.db, PreparedEmbedder(), now=datetime.now(UTC))
            with psycopg.connect(store.superuser_dsn.rsplit("/", 1)[0] + "/argus") as admin:
                fill(admin, space.id, DIM, notes, turns)
            refresh_terms(store.db, now=datetime.now(UTC))
            times = measure(store.db, store.settings, notes, options.rounds)
            print_times(notes, turns, times)
            p95.append(float(np.percentile(times["recall"], 95)))
            print("  budget of rows → share of the first ten by all words that it brings")
            for budget, share in budget_cost(store.db, min(options.rounds, 40)).items():
                print(f"    {budget:6}{' *' if budget == ROW_BUDGET else '  '} {share:.3f}")
    if len(p95) > 1:
        print(f"\np95 at {options.notes[-1]} / p95 at {options.notes[0]}: {p95[-1] / p95[0]:.2f}")


if __name__ == "__main__":
    main()
