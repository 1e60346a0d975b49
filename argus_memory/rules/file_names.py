"""Files that a text names. Pure: whether they exist is another question."""

from __future__ import annotations

import re
from typing import Final

FILES_MAX: Final = 8  # of one text
_EXTENSIONS: Final = (
    "py|pyi|ts|tsx|js|jsx|mjs|go|rs|java|kt|rb|php|c|h|cc|cpp|hpp|cs|swift|sql|sh|bash|ps1|ya?ml|toml|json|ini|cfg|conf"
    "|env|md|rst|txt|html|css|scss|vue|svelte|tf|proto|gradle|xml|lock"
)
_FILE: Final = re.compile(
    rf"(?<![\w@:/.-])((?:[\w.~-]*/)*[\w.+-]*\w\.(?:{_EXTENSIONS})|(?:[\w.-]+/)*(?:Dockerfile|Makefile|Justfile|Procfile))"
    r"(?![\w/-])(?!\.\w)"
)


def find_files(text: str) -> tuple[str, ...]:
    """Paths as they are written, each once, in order; addresses, versions and hosts are none."""
    found = dict.fromkeys(match.removeprefix("./") for match in _FILE.findall(text))
    return tuple(found)[:FILES_MAX]


def within(path: str, root: str) -> str | None:
    """The path below a repository's folder; None where it lies outside it, or leaves it."""
    if path.startswith("/"):
        if not path.startswith(root.rstrip("/") + "/"):
            return None
        path = path[len(root.rstrip("/")) + 1 :]
    parts = path.split("/")
    return None if ".." in parts or path.startswith("~") or not path else path
