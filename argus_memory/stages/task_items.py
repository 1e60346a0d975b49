"""To-dos: new notes and syntheses → `task_items`; what is said, noted or run afterwards → `task_events`.

1. Notes and syntheses since the last pass are read for to-dos: by a model where one distills, else by cue; a
   person's own turns by the cues of what is put off alone, since not every turn becomes a note. A to-do whose
   quotation does not stand in its text is refused, as the write-gate refuses a note.
2. A new to-do is held against what was said in its project since: notes are made later than turns are read.
3. Turns, notes and runs since the last pass are read for signs that an open to-do is done, or is not
   (rules/task_evidence.py). Every step of a status is a `task_events` row with its source.
4. What nobody spoke of for long becomes stale.

Each source is read up to an id that is kept in `task_item_reads`; a pass that dies reads the same rows again, which
changes nothing: an item is one row by its uid, and a decided status is left only by a rule that says so.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Final, LiteralString

from argus_memory.db import Connection, Database, queries
from argus_memory.errors import ContentFailure, ModelFailure
from argus_memory.models import llm_to_dos
from argus_memory.rules.grounding import find_in_text
from argus_memory.rules.task_evidence import Evidence, Move, Sign, Status, decide_move, find_sign, is_stale
from argus_memory.rules.task_items import ToDo, find_to_dos, task_item_uid
from argus_memory.rules.task_words import content_words
from argus_memory.settings import Settings
from argus_memory.stages.model_door import open_door
from argus_memory.stages.passes import describe_error, stage_pass

BATCH: Final = 500  # rows of each source a pass
TEXTS_A_CALL: Final = 12  # of the model
LATER_TURNS: Final = 200  # that are looked at for a new item
CUE: Final = "cue"

Find = Callable[[Sequence[tuple[str, datetime]]], tuple[list[list[ToDo]], str]]


@dataclass(frozen=True, slots=True)
class TaskItemReport:
    """Counts of one pass. `texts` were read for to-dos, `signs_read` for evidence; `more`: a source has more rows;
    `stopped` says why the model's part ended early."""

    texts: int = 0
    noticed: int = 0
    repeated: int = 0
    refused: int = 0
    signs_read: int = 0
    claimed: int = 0
    verified: int = 0
    reopened: int = 0
    stale: int = 0
    more: bool = False
    busy: bool = False
    stopped: str | None = None


@dataclass(slots=True)
class _Item:
    id: int
    text: str
    project: str | None
    status: Status
    said_at: datetime
    due_on: date | None
    last_sign_at: datetime
    claimed_by: list[str]


def notice_task_items(
    db: Database, settings: Settings, *, now: datetime, limit: int = BATCH, find: Find | None = None,
    run_id: str | None = None,
) -> TaskItemReport:  # fmt: skip
    """One pass over at most `limit` new rows of each source; `find` stands in for the model.

    A model's failure is reported, not raised: what it should have read is read by the next pass.
    """
    if find is None and settings.distill_model:
        door = open_door(db, settings, run_id=run_id)
        find = lambda texts: llm_to_dos.find_to_dos(door, texts, settings.distill_model)  # noqa: E731
    with stage_pass(db, "task_items", run_id=run_id) as trace, db.transaction() as guard:
        claimed = guard.execute(queries("task_items").claim_pass).fetchone()
        if claimed is None or not claimed["claimed"]:
            report = TaskItemReport(busy=True)
        else:
            report = _Pass(db, now, limit, find).run()
        trace.counts.update({name: getattr(report, name) for name in report.__slots__})
        trace.error = report.stopped
    return report


class _Pass:
    """One pass's counts, and the items that are not settled, by the words they hold."""

    def __init__(self, db: Database, now: datetime, limit: int, find: Find | None) -> None:
        self.db, self.now, self.limit, self.find = db, now, limit, find
        self.q = queries("task_items")
        self.counts: Counter[str] = Counter()
        self.more = False
        self.stopped: str | None = None
        self.read_to: dict[str, int] = {row["source"]: row["read_to"] for row in db.fetch_all(self.q.read_to)}
        self.items: dict[int, _Item] = {}
        self.by_word: dict[str, set[int]] = defaultdict(set)
        for row in db.fetch_all(self.q.unsettled_items):
            self._know(_Item(**row))

    def run(self) -> TaskItemReport:
        notes = self._rows("notes", self.q.new_notes)
        syntheses = self._rows("syntheses", self.q.new_syntheses)
        self._notice("notes", notes)
        self._notice("syntheses", syntheses)
        turns = self._rows("turns", self.q.new_turns)
        self._notice_said([row for row in turns if row["role"] == "user"])
        self._read_signs("turns", "turn", turns)
        self._read_signs("note signs", "note", self._rows("note signs", self.q.new_notes))
        self._read_signs("runs", "run", self._rows("runs", self.q.new_runs))
        self._age()
        counts: dict[str, Any] = dict(self.counts)
        return TaskItemReport(more=self.more, stopped=self.stopped, **counts)

    def _know(self, item: _Item) -> None:
        self.items[item.id] = item
        for word in content_words(item.text):
            self.by_word[word].add(item.id)

    def _rows(self, source: str, query: LiteralString) -> list[dict[str, Any]]:
        params = {"read_to": self.read_to.get(source, 0), "limit": self.limit, "now": self.now}
        rows = self.db.fetch_all(query, params)
        self.more = self.more or len(rows) >= self.limit
        return rows

    def _notice(self, source: str, rows: Sequence[Mapping[str, Any]]) -> None:
        size = TEXTS_A_CALL if self.find else max(1, len(rows))
        for start in range(0, len(rows), size):
            batch = rows[start : start + size]
            try:
                found, model = self._find(batch)
            except ModelFailure as failure:
                self.stopped = describe_error(failure)
                return
            with self.db.transaction() as conn:
                pairs = zip(batch, found, strict=True)
                new = [item for row, to_dos in pairs for item in self._keep(conn, row, to_dos, model)]
                self._move_on(conn, source, batch)
            self.counts["texts"] += len(batch)
            for item in new:
                self._look_back(item)

    def _notice_said(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Without moving on: the same rows are read for signs after it."""
        with self.db.transaction() as conn:
            for row in rows:
                to_dos = find_to_dos(row["text"], row["said_at"], speaker="user", own_words=True)
                self._keep(conn, row, to_dos, CUE)

    def _find(self, rows: Sequence[Mapping[str, Any]]) -> tuple[list[list[ToDo]], str]:
        if self.find is not None:
            try:
                return self.find([(row["text"], row["said_at"]) for row in rows])
            except ContentFailure:  # an answer that is of no use: the cues read these texts
                pass
        return [find_to_dos(row["text"], row["said_at"], speaker=row.get("role")) for row in rows], CUE

    def _keep(
        self, conn: Connection, row: Mapping[str, Any], to_dos: Iterable[ToDo], model: str
    ) -> list[_Item]:
        kept: list[_Item] = []
        for to_do in to_dos:
            if find_in_text(to_do.quote, row["text"]) is None:
                self.counts["refused"] += 1
                continue
            uid = task_item_uid(to_do.what, row["project"])
            made = conn.execute(
                self.q.insert_item,
                {
                    "uid": uid, "text": to_do.what, "project": row["project"], "due_on": to_do.due_on,
                    "note_id": row["id"] if "source_ref" in row else None, "raw_id": row.get("raw_id", row["id"]),
                    "source_ref": row.get("source_ref", to_do.quote), "said_at": row["said_at"], "now": self.now,
                    "model": model,
                },
            ).fetchone()  # fmt: skip
            if made is None:
                self.counts["repeated"] += 1
                continue
            said_at = row["said_at"]
            item = _Item(made["id"], to_do.what, row["project"], "open", said_at, to_do.due_on, said_at, [])
            evidence = "note" if "source_ref" in row else "turn" if "role" in row else "document"
            self._record(conn, item, None, "open", evidence, row, to_do.quote, model, said_at)
            self.counts["noticed"] += 1
            self._know(item)
            kept.append(item)
        return kept

    def _look_back(self, item: _Item) -> None:
        rows = self.db.fetch_all(
            self.q.later_turns,
            {
                "said_at": item.said_at, "project": item.project, "text": item.text, "limit": LATER_TURNS,
                "read_to": self.read_to.get("turns", 0),
            },
        )  # fmt: skip
        with self.db.transaction() as conn:
            for row in rows:
                self._hold_against(conn, item, row, "turn")

    def _read_signs(self, source: str, evidence: Evidence, rows: Sequence[Mapping[str, Any]]) -> None:
        if not rows:
            return
        with self.db.transaction() as conn:
            for row in rows:
                self.counts["signs_read"] += 1
                if row.get("outcome", "ok") != "ok":
                    continue  # a run that failed proves nothing
                for item in self._candidates(row):
                    self._hold_against(conn, item, row, evidence)
            self._move_on(conn, source, rows)

    def _candidates(self, row: Mapping[str, Any]) -> list[_Item]:
        ids = {item_id for word in content_words(row["text"]) for item_id in self.by_word.get(word, ())}
        items = [self.items[item_id] for item_id in sorted(ids)]
        # A run belongs to no project; anything said speaks of its own project alone.
        return [
            item
            for item in items
            if item.said_at < row["said_at"] and ("project" not in row or row["project"] == item.project)
        ]

    def _hold_against(self, conn: Connection, item: _Item, row: Mapping[str, Any], evidence: Evidence) -> None:
        sign = find_sign(item.text, row["text"])
        if sign is None:
            return
        move = decide_move(item.status, sign, evidence, source=row["source"], claimed_by=item.claimed_by)
        if move is not None:
            self._make(conn, item, move, sign, evidence, row)

    def _make(
        self, conn: Connection, item: _Item, move: Move, sign: Sign, evidence: Evidence, row: Mapping[str, Any]
    ) -> None:
        kind: Evidence = "commit" if sign.commit else evidence
        shown = {**row, "id": sign.commit or row["id"]}
        for step in move.to:
            changed = conn.execute(
                self.q.move_item, {"id": item.id, "from": item.status, "to": step, "at": row["said_at"]}
            ).fetchone()
            if changed is None:
                return
            self._record(conn, item, item.status, step, kind, shown, sign.quote, CUE, row["said_at"], sign.score)
            item.status, item.last_sign_at = step, row["said_at"]
            if step == "claimed-done":
                item.claimed_by.append(row["source"])
            self.counts[{"claimed-done": "claimed", "open": "reopened"}.get(step, step)] += 1

    def _age(self) -> None:
        late = [i for i in self.items.values() if is_stale(i.status, i.last_sign_at, i.due_on, self.now)]
        with self.db.transaction() as conn:
            for item in late:
                moved = {"id": item.id, "from": item.status, "to": "stale", "at": self.now}
                if conn.execute(self.q.move_item, moved).fetchone():
                    self._record(conn, item, item.status, "stale", "time", {}, None, "time", self.now)
                    self.counts["stale"] += 1

    def _record(
        self, conn: Connection, item: _Item, before: str | None, after: str, evidence: str, row: Mapping[str, Any],
        quote: str | None, how: str, at: datetime, score: float | None = None,
    ) -> None:  # fmt: skip
        conn.execute(
            self.q.insert_event,
            {
                "id": item.id,
                "at": at,
                "from": before,
                "to": after,
                "evidence": evidence,
                "evidence_id": str(row["id"]) if row else None,
                "source": row.get("source"),
                "quote": quote,
                "method": how if how in (CUE, "time") else "model",
                "score": score,
            },
        )

    def _move_on(self, conn: Connection, source: str, rows: Sequence[Mapping[str, Any]]) -> None:
        read_to = rows[-1]["id"]
        conn.execute(self.q.set_read_to, {"source": source, "read_to": read_to, "now": self.now})
        self.read_to[source] = read_to
