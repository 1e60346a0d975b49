"""before_you_try: what led nowhere before, asked for before a step."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Protocol

from mcp.server import MCPServer
from mcp.types import CallToolResult
from pydantic import Field

from argus_api.hub import Hub, utc_now
from argus_api.mcp.answers import give
from argus_api.mcp.verbs import READ, Session, verb
from argus_memory.db import Database
from argus_memory.models.embedders import Embedder
from argus_memory.records import Note
from argus_memory.rules.storable import storable
from argus_memory.settings import Settings


class Warned(Protocol):
    """What is on record about a plan; `dead_ends` are ids among `notes`."""

    @property
    def notes(self) -> Sequence[Note]: ...
    @property
    def dead_ends(self) -> Sequence[int]: ...
    @property
    def text(self) -> str: ...
    @property
    def degraded(self) -> str | None: ...


class BeforeYouTry(Protocol):
    """The stage's function: procedures and dead ends about a plan, best first."""

    def __call__(
        self,
        db: Database,
        settings: Settings,
        embedder: Embedder,
        *,
        plan: str,
        now: datetime,
        session: str | None = None,
        limit: int = ...,
    ) -> Warned: ...


def add_trying_tool(server: MCPServer[Any], hub: Hub, trying: BeforeYouTry) -> None:
    """Register the verb."""

    @verb(server, "before_you_try", "What led nowhere before", READ)
    def before_you_try(
        plan: Annotated[str, Field(description="What you are about to do, in a sentence", max_length=4000)],
        session: Session = None,
        limit: Annotated[int, Field(ge=1, le=30, description="Notes")] = 8,
    ) -> CallToolResult:
        """Before a risky, costly or unfamiliar step: what was tried before and led nowhere, and procedures that
        worked, from all projects."""
        found = trying(
            hub.db, hub.settings, hub.embedder, plan=storable(plan), now=utc_now(),
            session=storable(session) if session else None, limit=limit,
        )  # fmt: skip
        dead = set(found.dead_ends)
        return give(
            {
                "text": found.text or None,
                "dead_ends": [f"note:{note.id}" for note in found.notes if note.id in dead],
                "procedures": [f"note:{note.id}" for note in found.notes if note.id not in dead],
                "note": found.degraded,
                "found": None if found.notes else "nothing is on record about it",
            }
        )
