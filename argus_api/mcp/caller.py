"""Who asks: an agent's name, as its program gives it in the handshake, or with each request since 2026-07-28."""

from __future__ import annotations

import getpass
from functools import cache
from typing import Any, Final

from mcp.server.mcpserver import Context

from argus_memory.records import WriteReceipt
from argus_memory.rules.storable import storable
from argus_memory.stages.acting import MACHINE
from argus_memory.upkeep.writing import Writer

NAME_MAX: Final = 60  # characters
NAMELESS: Final = "mcp"
SOURCE: Final = "mcp"
_DOORS: Final = frozenset({MACHINE, "api", "cli", "ui", "hub", "person", "user"})


def agent_of(ctx: Context[Any, Any]) -> str:
    """The client's name, on one line; a name that a person or Argus itself acts under is marked as an agent's."""
    params = ctx.session.client_params
    return clean_name(params.client_info.name if params is not None and params.client_info is not None else "")


def clean_name(given: str) -> str:
    """Printable, short, and nobody else's."""
    plain = "".join(c if c.isprintable() else " " for c in storable(given[:500]))
    name = " ".join(plain.split())[:NAME_MAX].strip()
    if not name:
        return NAMELESS
    return f"agent {name}" if name.casefold() in _taken() else name


@cache
def _taken() -> frozenset[str]:
    """Names that already mean somebody in the books."""
    try:
        return _DOORS | {getpass.getuser().casefold()}
    except (OSError, KeyError):  # a container's user without a name
        return _DOORS


def writer_of(ctx: Context[Any, Any], session: str | None, cwd: str | None) -> Writer:
    """An agent, whichever token it came with: no call over MCP is a person's."""
    return Writer(agent_of(ctx), "agent", SOURCE, session=session or None, cwd=cwd or None)


MEANING: Final = {
    "created": "a person said so; it is a note now and will be recalled",
    "reinforced": "it was on record; it is surer now",
    "queued": "it waits for a person; until then it is not recalled",
    "held": "nothing has changed yet: a person has to approve it",
    "changed": "done",
    "no-op": "nothing had to be done",
    "refused": "it was not taken",
}


def receipt_json(receipt: WriteReceipt) -> dict[str, Any]:
    """A receipt with ids as the other tools take them."""
    return {
        "outcome": receipt.outcome,
        "meaning": MEANING[receipt.outcome],
        "detail": receipt.detail,
        "note": f"note:{receipt.note_id}" if receipt.note_id is not None else None,
        "captured_as": f"turn:{receipt.raw_id}" if receipt.raw_id is not None else None,
        "waits_as": receipt.decision_id if receipt.outcome in ("queued", "held") else None,
        "disputes": [f"note:{id_}" for id_ in receipt.disputes],
    }
