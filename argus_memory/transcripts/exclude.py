"""Folders a person keeps out of memory: ARGUS_EXCLUDE and `.argus-ignore`. Python 3.8; carried by the hook.

The same rule is asked in the hook before anything leaves the machine, by the importer, and by the server (which
knows the globs, and the files only of its own machine).
"""

from __future__ import annotations

import os
from fnmatch import fnmatchcase

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Iterable

IGNORE_FILE = ".argus-ignore"


def excluded(cwd: str | None, globs: Iterable[str]) -> bool:
    """Whether the folder, or one it lies in, is matched by a glob or holds an `.argus-ignore` file.

    A glob with a slash is matched with whole paths (`~` is the home; `*` also crosses slashes, so it keeps out
    rather too much); one without is matched with the name of each folder on the way.
    """
    if not cwd:
        return False
    paths = {cwd, os.path.realpath(cwd)} if os.path.isdir(cwd) else {cwd}
    folders = [folder for path in paths for folder in folders_above(path)]
    patterns = [plain_glob(glob) for glob in globs if glob.strip()]
    for folder in folders:
        name = folder.rsplit("/", 1)[-1]
        for pattern in patterns:
            if fnmatchcase(folder if "/" in pattern else name, pattern):
                return True
    return any(os.path.exists(folder + "/" + IGNORE_FILE) for folder in folders)


def folders_above(path: str) -> list[str]:
    """The folder and all it lies in, with forward slashes, without the root."""
    parts = path.replace("\\", "/").rstrip("/").split("/")
    return ["/".join(parts[: count + 1]) for count in range(len(parts)) if parts[count]]


def plain_glob(glob: str) -> str:
    """The glob with its home filled in and without a last `/`, `/*` or `/**`: a folder stands for what is in it."""
    pattern = os.path.expanduser(glob.strip()).replace("\\", "/")
    for ending in ("/**", "/*", "/"):
        if pattern.endswith(ending) and len(pattern) > len(ending):
            pattern = pattern[: -len(ending)]
    return pattern
