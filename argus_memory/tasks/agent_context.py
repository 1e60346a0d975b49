"""What every agent is told about itself: the four files of tasks/context/, the same for each engine."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from argus_memory.errors import UsageError

FILES: Final = ("SOUL.md", "rulebook.md", "USER.md", "GOALS.md")  # in the order they are read
FILE_MAX: Final = 64 * 1024  # characters; they are in every prompt
_COMMENT: Final = re.compile(r"<!--.*?-->", re.DOTALL)


def read_context(folder: Path) -> str:
    """The files as one text, each under its name; `<!-- … -->` is for the person who fills them in and is left out.

    Raises UsageError where one is missing or unreadable: no agent runs without its rules.
    """
    parts = []
    for name in FILES:
        try:
            text = (folder / name).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
            raise UsageError(
                f"{folder / name} cannot be read ({why}): every agent prompt holds it, so put it back"
            ) from None
        if len(text) > FILE_MAX:
            raise UsageError(f"{folder / name} has {len(text):,} characters, at most {FILE_MAX:,} fit every prompt")
        text = _COMMENT.sub("", text).strip()
        parts.append(f'<file name="{name}">\n{text or "Nothing is written here yet."}\n</file>')
    return "\n\n".join(parts)


def system_prompt(context: str, task: str) -> str:
    """The context, and where the agent is."""
    return (
        f"{context}\n\nYou run as the task `{task}` of Argus. Nobody is there to answer a question: what would need"
        " one, you leave undone and report. Your last message is the result; it is kept as it is."
    )
