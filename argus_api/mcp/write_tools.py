"""remember, correct, forget, pin: an agent's writes, under the house's rules for agents."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.types import CallToolResult
from pydantic import Field

from argus_api.hub import Hub, utc_now
from argus_api.mcp.answers import give
from argus_api.mcp.caller import agent_of, receipt_json, writer_of
from argus_api.mcp.read_tools import note_ref
from argus_api.mcp.verbs import ADDS, CHANGES, Folder, NoteId, Session, verb
from argus_memory.rules.storable import storable
from argus_memory.upkeep.decisions import Verb, decide
from argus_memory.upkeep.receiving import TEXT_MAX, correct, remember

Text = Annotated[str, Field(description=f"One fact that makes sense by itself, at most {TEXT_MAX:,} characters")]
Reason = Annotated[str | None, Field(description="Why, in a sentence; the person reads it", max_length=500)]
Uuid = Annotated[
    str | None, Field(description="A key of your own: the same key again writes nothing twice", max_length=200)
]
Category = Literal["preference", "person", "fact", "decision", "context", "procedure"]
Context_ = Context[Any, Any]


def add_write_tools(server: MCPServer[Any], hub: Hub) -> None:
    """Register the four verbs."""

    @verb(server, "remember", "Remember a fact", ADDS)
    def remember_fact(
        ctx: Context_,
        text: Text,
        category: Annotated[Category, Field(description="What kind of fact it is")] = "fact",
        project: Annotated[
            str | None, Field(description="The project it belongs to; `global` for all", max_length=200)
        ] = None,
        cwd: Folder = None,
        session: Session = None,
        uuid: Uuid = None,
    ) -> CallToolResult:
        """Keep a lasting fact, decision or preference. Use the person's own words where they said it: words of theirs
        become a note at once; your own conclusions wait for their approval. The receipt says which, and what is
        disputed."""
        receipt = remember(
            hub.db, hub.settings, storable(text), writer_of(ctx, _clean(session), _clean(cwd)), now=utc_now(),
            category=category, project=_clean(project), uuid=_clean(uuid),
        )  # fmt: skip
        return give(receipt_json(receipt))

    @verb(server, "correct", "Correct a note", CHANGES)
    def correct_note(
        ctx: Context_, note: NoteId, text: Text, reason: Reason = None, session: Session = None, uuid: Uuid = None
    ) -> CallToolResult:
        """Put right what a note says: `text` is the whole fact as it should read. The old words are kept as history.
        Of a note that a person said or that is sure, it waits for the person."""
        receipt = correct(
            hub.db, hub.settings, note_ref(note).id, storable(text), writer_of(ctx, _clean(session), None),
            now=utc_now(), reason=_clean(reason), uuid=_clean(uuid),
        )  # fmt: skip
        return give(receipt_json(receipt))

    @verb(server, "forget", "Forget a note", CHANGES)
    def forget_note(ctx: Context_, note: NoteId, reason: Reason = None) -> CallToolResult:
        """Take a note out of memory, so that it is not recalled and does not come back reworded. It is kept and a
        person can restore it. Of a note that a person said or that is sure, it waits for the person."""
        return _decide(ctx, "forget", note, reason)

    @verb(server, "pin", "Pin a note", CHANGES)
    def pin_note(
        ctx: Context_,
        note: NoteId,
        pinned: Annotated[bool, Field(description="false takes the pin away")] = True,
        reason: Reason = None,
    ) -> CallToolResult:
        """Ask that a note be kept from being merged, replaced or made anew. A pin is the person's to set: it waits
        for them."""
        return _decide(ctx, "pin" if pinned else "unpin", note, reason)

    def _decide(ctx: Context_, verb: Verb, note: str | int, reason: str | None) -> CallToolResult:
        receipt = decide(
            hub.db, verb, note_ref(note).id, agent_of(ctx), now=utc_now(), kind="agent", reason=_clean(reason)
        )
        return give(receipt_json(receipt))


def _clean(text: str | None) -> str | None:
    return storable(text) if text else None
