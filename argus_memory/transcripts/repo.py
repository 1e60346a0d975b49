"""The repository a folder belongs to, read from git's own files. Python 3.8; no subprocess; carried by the hook."""

from __future__ import annotations

import os

from argus_memory.transcripts.common import strip_credentials

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

GIT_FILE_BYTES = 256 * 1024


def resolve_repo(cwd: str) -> dict[str, Any] | None:
    """{"remote": address or None, "common_dir": absolute path} of the repository around `cwd`, and "commit", the one
    that is checked out, where there is one.

    Worktrees of one repository share their common folder. None where the folder is not on this machine (a parent
    that is could be another repository) or in none.
    """
    if not cwd or not os.path.isabs(cwd) or not os.path.isdir(cwd):
        return None
    git_dir = find_git_dir(os.path.realpath(cwd))
    if git_dir is None:
        return None
    common = read_git_file(os.path.join(git_dir, "commondir")).strip()  # in a worktree's folder only
    common_dir = os.path.realpath(os.path.join(git_dir, common)) if common else os.path.realpath(git_dir)
    remote = remote_in(read_git_file(os.path.join(common_dir, "config")))
    commit = find_commit(git_dir, common_dir)
    return {"remote": remote, "common_dir": common_dir, **({"commit": commit} if commit else {})}


def find_commit(git_dir: str, common_dir: str) -> str | None:
    """The commit that is checked out, as 40 or 64 hex digits; None in a repository without one."""
    head = read_git_file(os.path.join(git_dir, "HEAD")).strip()
    ref = head[len("ref:") :].strip() if head.startswith("ref:") else ""
    if ref:
        head = read_git_file(os.path.join(common_dir, *ref.split("/"))).strip()
    if ref and not head:
        lines = read_git_file(os.path.join(common_dir, "packed-refs")).splitlines()
        head = next((line.split(" ", 1)[0] for line in lines if line.endswith(" " + ref)), "")
    return head if len(head) in (40, 64) and all(digit in "0123456789abcdef" for digit in head) else None


def find_git_dir(folder: str) -> str | None:
    """The `.git` folder of the nearest parent, or the one a `.git` file there names (worktrees, submodules)."""
    while True:
        path = os.path.join(folder, ".git")
        if os.path.isfile(os.path.join(path, "HEAD")):
            return path
        if os.path.isfile(path):
            text = read_git_file(path).strip()
            named = os.path.join(folder, text[len("gitdir:") :].strip()) if text.startswith("gitdir:") else ""
            return named if named and os.path.isdir(named) else None
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent


def read_git_file(path: str) -> str:
    """A small file's text, "" where there is none to be read."""
    try:
        with open(path, "rb") as file:
            return file.read(GIT_FILE_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""


def remote_in(config: str) -> str | None:
    """The address of `origin`, else of the first remote, in the text of a git config; credentials taken out."""
    found: dict[str, str] = {}
    section = ""
    for line in config.splitlines():
        line = line.strip()
        if line.startswith("["):
            section = line.partition("]")[0][1:]
        elif section.startswith("remote ") and "=" in line:
            key, _, value = line.partition("=")
            if key.strip().lower() == "url":
                name = section[len("remote ") :].strip().strip('"')
                found.setdefault(name, value.strip().strip('"'))
    address = found.get("origin") or next(iter(found.values()), None)
    return strip_credentials(address) if address else None
