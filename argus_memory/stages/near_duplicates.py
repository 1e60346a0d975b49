"""Documents captured again with hardly a change: stored, linked to the first (near_duplicates), not distilled twice.

Only a document that stands for itself has a row in document_fingerprints. So a page that drifts a little with each
fetch is compared with the version that was distilled, and distilled anew once it has drifted far enough.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from argus_memory.db import Connection, queries
from argus_memory.rules.shingles import NEAR, Fingerprint, fingerprint, similarity

q = queries("near_duplicates")


@dataclass(frozen=True, slots=True)
class Document:
    """A document that has just become a row."""

    raw_id: int
    project: str | None
    body: str


def link_near_duplicates(conn: Connection, documents: Iterable[Document], now: datetime) -> dict[int, int]:
    """Raw id → raw id of the earlier document, for those that nearly repeat one, in the caller's transaction.

    Documents are taken in the order given: a later one may repeat an earlier one of the same request.
    """
    prints = [(document, found) for document in documents if (found := fingerprint(document.body))]
    if not prints:
        return {}
    known = _Known(conn, prints)
    near: dict[int, int] = {}
    for document, own in prints:
        of_raw_id, share = known.nearest(document.project, own)
        if of_raw_id is None:
            params = {"raw_id": document.raw_id, "bands": list(own.bands), "signature": list(own.signature)}
            conn.execute(q.insert_fingerprint, {**params, "shingles": own.shingles})
            known.add(document.raw_id, document.project, own.bands, own.signature)
            continue
        link = {"raw_id": document.raw_id, "of_raw_id": of_raw_id, "similarity": share, "now": now}
        conn.execute(q.insert_near_duplicate, link)
        conn.execute(q.skip_distilling, link)
        near[document.raw_id] = of_raw_id
    return near


class _Known:
    """Documents that stand for themselves and share a band with one of the request, by project and band."""

    def __init__(self, conn: Connection, prints: list[tuple[Document, Fingerprint]]) -> None:
        self.signatures: dict[int, tuple[int, ...]] = {}
        self.by_band: defaultdict[tuple[str | None, int], list[int]] = defaultdict(list)
        bands = sorted({band for _, own in prints for band in own.bands})
        raw_ids = [document.raw_id for document, _ in prints]
        for row in conn.execute(q.find_candidates, {"bands": bands, "raw_ids": raw_ids}).fetchall():
            self.add(row["raw_id"], row["project"], row["bands"], row["signature"])

    def add(self, raw_id: int, project: str | None, bands: Iterable[int], signature: Iterable[int]) -> None:
        self.signatures[raw_id] = tuple(signature)
        for band in bands:
            self.by_band[project, band].append(raw_id)

    def nearest(self, project: str | None, own: Fingerprint) -> tuple[int | None, float]:
        """(raw id or None, similarity) of the nearest document at or above NEAR; of equals the earliest."""
        candidates = {raw_id for band in own.bands for raw_id in self.by_band.get((project, band), ())}
        scored = [(similarity(own.signature, self.signatures[raw_id]), -raw_id) for raw_id in candidates]
        share, negative = max(scored, default=(0.0, 0))
        return (-negative, share) if share >= NEAR else (None, share)
