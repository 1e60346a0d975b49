"""before_you_try: what led nowhere before, asked for before a step."""

from __future__ import annotations

from typing import Annotated, Any

from mcp.server import MCPServer
from mcp.types import CallToolResult
from pydantic import Field

from argus_api.hub import Hub, utc_now
from argus_api.mcp.answers import give
from argus_api.mcp.verbs import READ, Session, verb
from argus_memory.rules.storable import storable
from argus_memory.stages import before_you_try as stage
from argus_memory.stages.before_you_try import LIMIT, LIMIT_MAX


def add_trying_tool(server: MCPServer[Any], hub: Hub) -> None:
    """Register the verb."""

    @verb(server, "before_you_try", "What led nowhere before", READ)
    def before_you_try(
        plan: Annotated[str, Field(description="What you are about to do, in a sentence", max_length=4000)],
        session: Session = None,
        limit: Annotated[int, Field(ge=1, le=LIMIT_MAX, description="Notes")] = LIMIT,
    ) -> CallToolResult:
        """Before a risky, costly or unfamiliar step: what was tried before and led nowhere, and procedures that
        worked, from all projects."""
        found = stage.before_you_try(
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
