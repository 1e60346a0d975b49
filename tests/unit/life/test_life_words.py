"""What people read of recalls and of what was tried."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from argus_cli.before_you_try_command import as_text
from argus_cli.memory_command import shown_as_text
from argus_memory.records import Note
from argus_memory.rules.dead_ends import DEAD_END
from argus_memory.stages.before_you_try import Warnings
from argus_memory.upkeep.injections import Injections

DAY = datetime(2026, 5, 3, 10, 22, tzinfo=UTC)


def note(id_: int, content: str, **more: Any) -> Note:
    told = {"title": content, "category": "fact", "importance": 0.5, "confidence": 0.5, "project": "shop",
            "source_ref": content, "raw_id": 70 + id_, "said_at": DAY, "valid_from": DAY, "valid_to": None,
            "keywords": (), "tags": (), "context": "", "links": (), "episode_id": None, "model": "m",
            "model_real": "m", **more}  # fmt: skip
    return Note(id=id_, uid=f"u{id_}", content=content, **told)


def test_dead_ends_come_first_with_day_project_and_source() -> None:
    """A way that led nowhere stands before a procedure, with why, when, where and the item that says so."""
    steps = note(1, "Stop nginx, run certbot.", category="procedure")
    dead = note(2, "Tried NFS, it failed because the NAS is old.", tags=(DEAD_END,))
    lines = as_text(Warnings(9, (steps, dead), (2,))).splitlines()
    assert lines[0] == "dead end  note 2  (2026-05-03, shop)"
    assert "because the NAS is old" in lines[1]
    assert "item 72" in lines[2]
    assert lines[3].startswith("procedure  note 1")
    assert "nothing on record" in as_text(Warnings(9))


def test_each_recall_tells_what_was_used() -> None:
    """Used, not used and not judged are told apart, a recall without notes says why, and the next page is named."""
    asked = {"id": 5, "at": DAY, "project": "shop", "query": "Where is the key?", "outcome": "scored", "skipped": None}
    notes = [{"id": 1, "used": True, "content": "In the shed."}, {"id": 2, "used": False, "content": None}]
    begun = {**asked, "id": 4, "query": None, "outcome": None, "notes": [{"id": 1, "used": None, "content": "In it."}]}
    bare = {**asked, "id": 3, "notes": [], "outcome": None, "skipped": "nothing-on-record"}
    text = shown_as_text(Injections(({**asked, "notes": notes}, begun, bare), 3))
    assert "used       note 1  In the shed." in text
    assert "not used   note 2  (no longer live)" in text
    assert "a session began" in text
    assert "not judged note 1" in text
    assert "nothing shown: nothing-on-record" in text
    assert text.endswith("more: --before 3")
    assert shown_as_text(Injections((), None)) == "nothing was recalled yet"
