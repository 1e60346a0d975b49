"""Days of a garden diary, distilled by a stub that makes one note of each line of a turn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

import pytest

from argus_memory.db import Database
from argus_memory.records import Candidate, Unit
from argus_memory.settings import Settings
from argus_memory.stages.distill import Made
from argus_memory.upkeep.regenerate_read import Days
from argus_memory.upkeep.regeneration import Mode, Regeneration, regenerate
from tests.distill_rows import add_episode
from tests.memory_rows import at

DAY = 60 * 24
FACTS = (
    "I prefer tabs in Python files.",
    "The pump runs at 12 bar.",
    "Mara owns the greenhouse budget.",
    "We decided to use Postgres for the sensors.",
)
Rule = Callable[[str], str | None]


@dataclass
class StubModel:
    """Each line of a turn becomes a note with the words `says` gives it, None: no note. `more` are made besides."""

    says: Rule = lambda line: line
    more: Mapping[str, str] = field(default_factory=dict)
    name: str = "stub-1"
    before: Callable[[Unit], None] = lambda _unit: None

    def __call__(self, unit: Unit) -> Made:
        self.before(unit)
        made = []
        for turn in unit.turns:
            for line in turn.text.splitlines():
                if (words := self.says(line)) is not None:
                    made.append(self._note(words, line, turn.raw_id))
                if line in self.more:
                    made.append(self._note(self.more[line], line, turn.raw_id))
        return Made(made, self.name, None)

    @staticmethod
    def _note(words: str, line: str, raw_id: int) -> Candidate:
        return Candidate(words[:80], words, line, importance=0.6, raw_id=raw_id)


@dataclass
class Diary:
    """Two days; `units` are their episodes, each holds FACTS in one turn of the user."""

    db: Database
    settings: Settings
    model: StubModel
    units: list[int]
    now: datetime

    def regenerate(self, mode: Mode = "switch", *, settings: Settings | None = None, last: int = 0) -> Regeneration:
        days = Days(at(0).date(), at(DAY * last).date())
        return regenerate(
            self.db, settings or self.settings, days, actor="test", mode=mode, clock=lambda: self.now, maker=self.model
        )

    def notes(self) -> dict[str, int]:
        """Standing notes of the first day: text → id."""
        rows = self.db.fetch_all(
            "select id, content from distilled_notes where deleted_at is null and episode_id = %(unit)s",
            {"unit": self.units[0]},
        )
        return {row["content"]: row["id"] for row in rows}

    def set(self, note_id: int, **values: object) -> None:
        with self.db.transaction() as conn:
            for name, value in values.items():
                conn.execute(f"update distilled_notes set {name} = %s where id = %s", (value, note_id))


@pytest.fixture
def diary(db: Database, settings: Settings) -> Diary:
    """Both days as the stub first made them."""
    units = [add_episode(db, [("user", "\n".join(FACTS))], start=DAY * day)[0] for day in range(2)]
    with db.transaction() as conn:
        conn.execute("update distill_state set status = 'done', distilled_at = said_at")
    made = Diary(db, settings, StubModel(), units, at(DAY * 5))
    first = made.regenerate(last=1)
    assert (first.status, first.counts["did_added"]) == ("switched", 2 * len(FACTS))
    return made
