"""A memory that is driven at random, and a plain model of what must be true of it whatever happens.

Facts come in pairs of wordings that state the same (tests/unit/decisions/pairs.py), so that the stub model can reword
them and the world still knows which fact a note states.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from argus_memory.db import Database
from argus_memory.errors import ArgusError
from argus_memory.models.llm_judge import Judged
from argus_memory.records import Candidate, Unit
from argus_memory.rules.dedup_judgement import Judgement, NoteView
from argus_memory.rules.same_text import fold
from argus_memory.settings import Settings
from argus_memory.stages.distill import Made
from tests.memory_rows import at
from tests.unit.decisions.pairs import REWORDED

FACTS: Final = tuple({one: (one, other) for one, other in reversed(REWORDED)}.values())[:24]
DAYS: Final = 4
MINUTES: Final = 60 * 24


class Crash(Exception):
    """The process died."""


class DyingDatabase(Database):
    """As Database, but the connection dies at the n-th statement of what comes next; None: it lives."""

    dies_at: int | None = None

    @contextmanager
    def transaction(self, *, wait: float | None = None) -> Iterator[Any]:
        with super().transaction(wait=wait) as connection:
            yield connection if self.dies_at is None else _Dying(connection, self)


class _Dying:
    def __init__(self, connection: Any, owner: DyingDatabase) -> None:
        self._connection, self._owner = connection, owner

    def execute(self, *words: Any, **more: Any) -> Any:
        assert self._owner.dies_at is not None
        self._owner.dies_at -= 1
        if self._owner.dies_at < 0:
            raise Crash
        return self._connection.execute(*words, **more)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)


def fact_of(text: str) -> int | None:
    """The number of the fact that a text states."""
    plain = fold(text.removeprefix("User: ").removeprefix("Assistant: "))
    return next((n for n, pair in enumerate(FACTS) if plain in {fold(wording) for wording in pair}), None)


@dataclass
class Stub:
    """Makes a note of each line; `mood` says how: as it stands, reworded, or with some dropped or invented."""

    chance: random.Random
    mood: str = "plain"

    def __call__(self, unit: Unit) -> Made:
        made = []
        for turn in unit.turns:
            for line in turn.text.splitlines():
                number = fact_of(line)
                words = line
                if self.mood == "reword" and number is not None:
                    words = self.chance.choice(FACTS[number])
                if self.mood == "drop" and self.chance.random() < 0.2:
                    continue
                made.append(Candidate(words[:80], words, line, importance=0.6, raw_id=turn.raw_id))
        if self.mood == "invent" and unit.turns:
            first = unit.turns[0]
            made.append(Candidate("Made up", "The moon is a cheese.", "nobody said this", raw_id=first.raw_id))
        return Made(made, "stub", None)


@dataclass
class World:
    """`gone`: facts of a project that a person took away; `raw`: what every raw item must still hold."""

    db: DyingDatabase
    settings: Settings
    chance: random.Random
    stub: Stub
    now: datetime = field(default_factory=lambda: at(MINUTES * (DAYS + 30)))
    gone: set[tuple[int, str | None]] = field(default_factory=set)
    raw: dict[int, str] = field(default_factory=dict)
    decisions: dict[int, tuple[str, str, str]] = field(default_factory=dict)
    redacted: list[str] = field(default_factory=list)
    log: list[str] = field(default_factory=list)
    done: dict[str, int] = field(default_factory=dict)
    sessions: int = 0

    def tick(self) -> datetime:
        """Time goes on, and now and then it goes back."""
        self.now += timedelta(minutes=self.chance.choice((1, 5, 30, -20)))
        return self.now

    def judge(self, note: NoteView, near: Any) -> Judged:
        """As a model that mostly knows, and sometimes takes different facts for one."""
        found = {}
        for place, other in enumerate(near):
            same = fact_of(note.content) is not None and fact_of(note.content) == fact_of(other.content)
            careless = self.chance.random() < 0.1
            verdict = self.chance.choice(("duplicate", "refine")) if same or careless else "distinct"
            if same and self.chance.random() < 0.1:
                verdict = "supersede"
            found[place] = Judgement(verdict, "stub")  # type: ignore[arg-type]
        return Judged(found, "stub")

    def live(self) -> list[dict[str, Any]]:
        return list(self.db.fetch_all("select * from distilled_notes where deleted_at is null order by id"))

    def any_note(self) -> dict[str, Any] | None:
        rows = self.db.fetch_all("select * from distilled_notes order by id")
        return dict(self.chance.choice(rows)) if rows else None

    def attempt(self, name: str, step: Callable[[], None]) -> None:
        """Run a step; what the house refuses is an answer, and a crash is followed by a restart."""
        self.log.append(name)
        dies = self.chance.random() < 0.12
        self.db.dies_at = self.chance.randint(0, 25) if dies else None
        try:
            step()
        except ArgusError:
            name += " (refused)"
        except Crash:
            name += " (crashed)"
        finally:
            self.db.dies_at = None
        self.done[name] = self.done.get(name, 0) + 1
