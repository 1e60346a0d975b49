"""The AutoMemoryBench measurement on an invented case: what it calls forbidden, and that decisions keep it away."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from argus_memory.db import Database
from argus_memory.settings import Settings
from benchmarks.automemory import Bench, read_labels, score
from benchmarks.conversations import read_automemorybench
from benchmarks.scratch_store import ScratchStore

SAID = {
    "t1": "Remember that the bakery opens at 7 in the morning.",
    "t2": "Remember that the spare oven key hangs behind the flour shelf.",
    "t3": "Update this: the bakery now opens at 6 in the morning.",
    "t4": "Forget the spare oven key behind the flour shelf.",
    "t5": "Remember that rye dough rests for twelve hours.",
}
MEMORIES = {
    "old": ("superseded", "t1", None), "key": ("deleted", "t2", None), "new": ("active", "t3", "old"),
    "request": ("deleted", "t4", None), "rye": ("active", "t5", None),
}  # fmt: skip


@pytest.fixture
def shard(tmp_path: Path) -> Path:
    memories: list[dict[str, Any]] = [
        {"memory_id": id_, "status": status, "source_turn_ids": [turn], "update_of": update, "invalidates": [],
         "canonical_form": {"subject": id_}} for id_, (status, turn, update) in MEMORIES.items()
    ]  # fmt: skip
    query = {
        "prompt": "When does the bakery open, where is the oven key, and how long does rye dough rest?",
        "gold_memory_ids": ["new", "rye"], "forbidden_memory_ids": ["old"], "task_type": "answer",
    }  # fmt: skip
    turns = [{"turn_id": id_, "role": "user", "content": text} for id_, text in SAID.items()]
    session = {"session_id": "s1", "timestamp": "2026-03-02T09:00:00Z", "turns": turns}
    case = {"case_id": "bakery", "sessions": [session], "gold_memory_units": memories, "queries": [query]}
    path = tmp_path / "shard.json"
    path.write_text(json.dumps({"cases": [case]}))
    return path


def test_what_is_gone_is_told_by_the_labels(shard: Path) -> None:
    """Deleted and superseded turns are gone, the superseded one leads to its update, standing ones are neither."""
    labels = read_labels(shard)["bakery"]
    assert labels.gone == {"t1": "superseded", "t2": "deleted", "t4": "deleted"}
    assert labels.update == {"t1": "t3"}
    assert labels.shared == set()


def test_decisions_keep_what_is_gone_out_of_both_recalls(shard: Path, db: Database, settings: Settings) -> None:
    """Before, search brings all of it; after, nothing of it, and the gold no later than before."""
    conversations, labels = read_automemorybench(shard), read_labels(shard)
    bench = Bench(ScratchStore(db, settings, db.dsn), conversations, datetime(2026, 4, 1, tzinfo=UTC))
    bench.fill()
    asked = [(conversations[0].asked[0], labels["bakery"])]
    before = score(asked, bench.ask().search)
    bench.decide(labels)
    after = bench.ask()
    found, prompted = score(asked, after.search), score(asked, after.prompt)
    assert before[6] == 3
    assert (found[6], prompted[6]) == (0, 0)
    assert found[1] >= before[1] > 0
