"""Which project something belongs to, as far as it can be told without the registry.

A `Place` is what a capture or a recall says: a project named outright, a repository, a folder. It yields keys, the
surest first, that the registry looks up, and short names for a project that is new:

    name:<project>                      named outright
    remote:<host>/<path>                the repository's address: ssh and https of one repository are one key
    dir:<machine>:<path>                its common folder: worktrees share it
    cwd:<last part of the folder>       nothing better is known
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from argus_memory.records import CANARY_PROJECT, GLOBAL_PROJECT

NAME_MAX: Final = 200  # characters
KEY_MAX: Final = 500  # characters, four bytes each at most: an index row holds 2,700 bytes
CONFIDENCE: Final = {"explicit": 1.0, "repo": 0.95, "cwd": 0.6, "none": 0.0}
NEVER_BY_ITSELF: Final = frozenset({GLOBAL_PROJECT, CANARY_PROJECT})

# Hosts that answer ssh under a second name, for networks that close port 22.
_SAME_HOST: Final = {
    "ssh.github.com": "github.com",
    "altssh.gitlab.com": "gitlab.com",
    "altssh.bitbucket.org": "bitbucket.org",
    "ssh.dev.azure.com": "dev.azure.com",
}
_SCP: Final = re.compile(r"(?:[^@/\s]+@)?(\[[0-9a-fA-F:]+\]|[^:/\s@\\]{2,}):(?!//)(.+)")
_DRIVE: Final = re.compile(r"[A-Za-z]:[\\/]")


@dataclass(frozen=True, slots=True)
class Place:
    """`remote` as `host/path`, `common` a folder on `host`, `folder` where the work happens; "" where unknown."""

    explicit: str = ""
    remote: str = ""
    common: str = ""
    folder: str = ""
    host: str = ""

    @property
    def method(self) -> str:
        if self.explicit:
            return "explicit"
        if self.remote or self.common:
            return "repo"
        return "cwd" if self.names else "none"

    @property
    def keys(self) -> tuple[str, ...]:
        """What the registry is asked, the surest key first."""
        if self.explicit:
            return (f"name:{self.explicit}",)
        found: list[str] = []
        if self.remote:
            found.append(f"remote:{self.remote.lower()}")
        if self.common:
            found.append(f"dir:{self.host}:{self.common}")
        if not found and self.names:
            found.append(f"cwd:{self.names[0]}")
        return tuple(key if len(key) <= KEY_MAX else f"{key[:KEY_MAX]}#{_digest(key)}" for key in found)

    @property
    def names(self) -> tuple[str, ...]:
        """Names for a new project, the shortest first: `api`, then `owner/api`, then the whole address."""
        if self.explicit:
            return (self.explicit,)
        path = self.remote or self.common or self.folder
        parts = [part for part in path.split("/") if part]
        if parts and self.remote:
            parts[-1] = parts[-1].removesuffix(".git") or parts[-1]
        tails = ["/".join(parts[-count:])[-NAME_MAX:] for count in range(1, len(parts) + 1)]
        return tuple(name for name in tails if name not in NEVER_BY_ITSELF)


def place_of(explicit: str | None, repo: Any, cwd: str | None, host: str | None) -> Place:
    """The place a capture or a recall names. `repo`: {"remote", "common_dir"}, or an address or folder as a string.

    What is no string is taken as absent; a remote that is a folder counts as one of the machine `host`.
    """
    remote, common = "", ""
    if isinstance(repo, dict):
        remote, common = _text(repo.get("remote")), _text(repo.get("common_dir"))
    elif isinstance(repo, str):
        remote = repo
    address = normal_remote(remote)
    if not address and (local := _absolute(remote)):
        common = local  # clones of one folder are one project, as clones of one address are
    named = _text(explicit).strip()[:NAME_MAX]
    return Place(named, address, _repository(_absolute(common)), _folder(_text(cwd)), _text(host))


def normal_remote(remote: str) -> str:
    """`host/path` without scheme, user, port and `.git`, one form for ssh and https; "" for a folder."""
    text = remote.strip()
    if not text or text.startswith("file:") or _DRIVE.match(text):
        return ""
    if "://" in text:
        try:
            parts = urlsplit(text)
            host, port = (parts.hostname or "").rstrip("."), parts.port
        except ValueError:
            return ""
        path = unquote(parts.path)
        if port and parts.scheme in ("http", "https") and port not in (80, 443):
            host = f"{host}:{port}"
    elif found := _SCP.fullmatch(text):
        host, path = found[1].lower(), found[2]
    else:
        return ""
    path = "/".join(part for part in path.replace("\\", "/").split("/") if part).removesuffix(".git").rstrip("/")
    host = _SAME_HOST.get(host, host)
    if host == "dev.azure.com":
        path = path.removeprefix("v3/").replace("/_git/", "/")
    return f"{host}/{path}" if host and path else ""


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _folder(path: str) -> str:
    """Forward slashes, none at the end."""
    return path.strip().replace("\\", "/").rstrip("/")


def _absolute(path: str) -> str:
    """The folder, "" where it is not named from the root: a relative one means nothing elsewhere."""
    local = path.strip().removeprefix("file://")
    return _folder(local) if local.startswith("/") or _DRIVE.match(local) else ""


def _repository(common: str) -> str:
    """The folder a repository is known by: the one that holds `.git`, or the bare one without its suffix."""
    return common.removesuffix("/.git").removesuffix(".git")
