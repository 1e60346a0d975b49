"""Embed: turns before segmentation, notes after distillation → turn_vectors, note_vectors. Trace: a stage_passes row.

1. Make sure the configured model has its space (spaces.py).
2. Take what waits in embed_queue, newest first, in batches of 64, one transaction a batch.
3. A batch whose text a model refuses is halved until the offending item stands alone; its attempts are counted.
4. A model that is down ends the pass: reported, nothing is lost, nothing is counted against an item.
5. A space that was being built goes live when nothing waits for it any more.

While a new model's space is being built, the live one is kept up to date with its own model, where that answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, Literal

from argus_memory.db import Connection, Database, queries
from argus_memory.errors import ContentFailure, ModelFailure, NotFound
from argus_memory.models.embedders import MAX_CHARS, Embedder, Vectors, note_text, turn_text
from argus_memory.settings import EMBED_BATCH, Settings
from argus_memory.stages.passes import describe_error, stage_pass
from argus_memory.stages.spaces import (
    EMBED_ATTEMPTS,
    Space,
    activate_if_complete,
    count_waiting,
    ensure_space,
    find_active_space,
    find_space_embedder,
)
from argus_memory.stages.terms import refresh_terms_if_grown

Target = Literal["turn", "note"]
TARGETS: tuple[Target, ...] = ("turn", "note")
ITEMS_A_PASS = 20_000


@dataclass(slots=True)
class EmbedReport:
    """Counts of one pass. `failed`: attempts counted against items; `parked`: items past EMBED_ATTEMPTS; `waiting`:
    what is left; `error` and `failure` (infra, content, configuration): why the pass ended early; `space_id` None:
    the model could not even be asked for its scale."""

    model: str
    space_id: int | None
    turns_embedded: int = 0
    notes_embedded: int = 0
    failed: int = 0
    parked: int = 0
    waiting: int = 0
    went_live: bool = False
    error: str | None = None
    failure: str | None = None

    @property
    def counts(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if name != "error"}


@dataclass(slots=True)
class _Batch:
    """What one transaction works on: claimed ids with their texts; `dead` are notes tombstoned meanwhile."""

    ids: list[int] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    dead: list[int] = field(default_factory=list)


def embed_pending(
    db: Database,
    settings: Settings,
    embedder: Embedder,
    *,
    now: datetime,
    target: Target | None = None,
    limit: int = ITEMS_A_PASS,
) -> EmbedReport:
    """One pass over turns, notes or both, at most `limit` of each. A model's failure is reported, not raised."""
    with stage_pass(db, "embed") as trace:
        try:
            space = ensure_space(db, embedder, now=now)
        except ModelFailure as failure:
            trace.error = describe_error(failure)
            report = EmbedReport(embedder.model, None, error=trace.error, failure=failure.kind)
            trace.counts.update(report.counts)
            return report
        report = EmbedReport(embedder.model, space.id)
        targets = TARGETS if target is None else (target,)
        _work(db, space, embedder, targets, limit, report)
        if report.error is None:
            report.went_live = activate_if_complete(db, space, now=now)
        _keep_live_space(db, settings, space, embedder, targets, limit)
        with db.transaction() as conn:
            report.waiting, report.parked = count_waiting(conn, space.id)
        refresh_terms_if_grown(db, now=now)
        trace.counts.update(report.counts)
        trace.error = report.error
    return report


def _keep_live_space(
    db: Database, settings: Settings, space: Space, configured: Embedder, targets: Sequence[Target], limit: int
) -> None:
    """Serve the live space's own queue while another one is being built; its model may be gone, which is no fault."""
    with db.transaction() as conn:
        live = find_active_space(conn)
    if live is None or live.id == space.id:
        return
    embedder = find_space_embedder(db, settings, live, configured)
    if embedder is not None:
        _work(db, live, embedder, targets, limit, EmbedReport(live.model, live.id))


def _work(
    db: Database, space: Space, embedder: Embedder, targets: Sequence[Target], limit: int, report: EmbedReport
) -> None:
    try:
        for target in targets:
            for ids in _waiting(db, space, target, limit):
                done = _embed_batch(db, space, embedder, target, ids, report)
                if target == "turn":
                    report.turns_embedded += done
                else:
                    report.notes_embedded += done
    except ModelFailure as failure:
        report.error, report.failure = describe_error(failure), failure.kind


def _waiting(db: Database, space: Space, target: Target, limit: int) -> Iterator[list[int]]:
    query = queries("embed").waiting_turns if target == "turn" else queries("embed").waiting_notes
    rows = db.fetch_all(query, {"space": space.id, "attempts": EMBED_ATTEMPTS, "limit": limit})
    ids = [int(row["id"]) for row in rows]
    return (ids[start : start + EMBED_BATCH] for start in range(0, len(ids), EMBED_BATCH))


def _embed_batch(
    db: Database, space: Space, embedder: Embedder, target: Target, ids: list[int], report: EmbedReport
) -> int:
    """One transaction: claim, embed, write, take from the queue. Returns how many vectors were written.

    A ContentFailure halves the batch; of a single item it is counted. Other failures are raised with nothing changed.
    """
    try:
        with db.transaction() as conn:
            batch = _claim(conn, space, target, ids)
            if batch.texts:
                _write(conn, space, target, batch.ids, embedder.embed(batch.texts))
            done = batch.ids + batch.dead
            conn.execute(queries("embed").unqueue, {"space": space.id, "target": target, "ids": done})
            return len(batch.ids)
    except ContentFailure as failure:
        if len(ids) > 1:
            middle = len(ids) // 2
            halves = (ids[:middle], ids[middle:])
            return sum(_embed_batch(db, space, embedder, target, half, report) for half in halves)
        params = {"space": space.id, "target": target, "ids": ids, "error": describe_error(failure)}
        with db.transaction() as conn:
            conn.execute(queries("embed").count_attempt, params)
        report.failed += 1
        return 0


def _claim(conn: Connection, space: Space, target: Target, ids: list[int]) -> _Batch:
    params = {"space": space.id, "ids": ids, "chars": MAX_CHARS}
    batch = _Batch()
    if target == "turn":
        for row in conn.execute(queries("embed").claim_turns, params):
            batch.ids.append(row["id"])
            batch.texts.append(turn_text(row["body"], row["role"], row["speaker"]))
        return batch
    for row in conn.execute(queries("embed").claim_notes, params):
        if row["dead"]:
            batch.dead.append(row["id"])
        else:
            batch.ids.append(row["id"])
            batch.texts.append(note_text(row["title"], row["content"]))
    return batch


def _write(conn: Connection, space: Space, target: Target, ids: Sequence[int], vectors: Vectors) -> None:
    query = queries("embed").insert_turn_vector if target == "turn" else queries("embed").insert_note_vector
    rows = [
        {"space": space.id, "id": id_, "dim": space.dim, "embedding": vector}
        for id_, vector in zip(ids, vectors, strict=True)
    ]
    with conn.cursor() as cursor:
        cursor.executemany(query, rows)


def retry_embedding(db: Database, target: str, id_: int) -> None:
    """Five more tries for a note or turn that could not be embedded; raises NotFound when it is not parked."""
    params = {"target": target, "id": id_, "attempts": EMBED_ATTEMPTS}
    if db.fetch_one(queries("embed").retry_embedding, params) is None:
        raise NotFound(f"{target} {id_} is not parked; `argus status` counts what could not be embedded")
