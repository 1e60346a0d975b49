"""How a function becomes a verb of the server."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Final, TypeVar

from mcp.server import MCPServer
from mcp.types import ToolAnnotations
from pydantic import Field

READ: Final = ToolAnnotations(read_only_hint=True, open_world_hint=False)
ADDS: Final = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)
# Nothing is deleted: what is forgotten or corrected is kept, and a person can bring it back.
CHANGES: Final = ToolAnnotations(
    read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False
)
# What a task does is its owner's to say: it may reach anything.
RUNS: Final = ToolAnnotations(
    read_only_hint=False, destructive_hint=True, idempotent_hint=False, open_world_hint=True
)

Project = Annotated[
    str | None, Field(description="A project's name as Argus shows it; leave out for all", max_length=200)
]
Cursor = Annotated[str | None, Field(description="`next` of the answer before, for the rest", max_length=2000)]
NoteId = Annotated[str | int, Field(description="The note's id: note:12, or 12")]
Session = Annotated[str | None, Field(description="Your session's id, if you know it", max_length=500)]
Folder = Annotated[
    str | None, Field(description="Your working folder, when you do not know the project", max_length=4096)
]


F = TypeVar("F", bound=Callable[..., Any])


def verb(
    server: MCPServer[Any], name: str, title: str, annotations: ToolAnnotations
) -> Callable[[F], F]:
    """Register the function under `name`; its docstring, on one line, is what agents read."""

    def register(fn: F) -> F:
        description = " ".join((fn.__doc__ or "").split())
        server.add_tool(
            fn, name=name, title=title, description=description, annotations=annotations, structured_output=False
        )
        return fn

    return register
