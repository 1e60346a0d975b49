"""Items as hooks and importers send them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


def item(
    body: str,
    *,
    kind: str = "turn",
    source: str = "claude-code",
    session: str | None = "s1",
    cwd: str | None = "/home/kim/garden",
    project: str | None = None,
    **metadata: Any,
) -> dict[str, Any]:
    """One captured item; what is None is left out."""
    given = {
        "source": source, "kind": kind, "body": body, "session": session, "cwd": cwd, "project": project,
        "metadata": metadata,
    }  # fmt: skip
    return {key: value for key, value in given.items() if value is not None}


def turn(body: str, *, role: str = "user", at: Any = "2026-11-30T10:00:00.000Z", **more: Any) -> dict[str, Any]:
    """A turn with a role and a time."""
    return item(body, role=role, original_timestamp=at, **more)


def page(words: str, paragraphs: int = 12) -> str:
    """A document of some kilobytes without a number in it."""
    names = ["alder", "birch", "cedar", "damson", "elder", "fig", "gorse", "hazel", "ivy", "yew", "larch", "maple"]
    return "\n".join(
        f"The {name} by the {names[-index]} gate is {words}, and nobody waters the {names[index // 2]} before spring."
        for index, name in enumerate(names[:paragraphs])
    )
