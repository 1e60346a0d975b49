"""The three tokens, made at the first start and kept in `$ARGUS_HOME/env` (mode 0600)."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from pathlib import Path

from argus_cli.private_file import write_private
from argus_memory.settings import read_env_file

TOKENS = ("ARGUS_CAPTURE_TOKEN", "ARGUS_MCP_TOKEN", "ARGUS_ADMIN_TOKEN")
HEAD = "# Argus's settings, KEY=VALUE; docs/options.md lists them. The environment wins over this file.\n"


def add_missing(text: str, known: Mapping[str, str], make: Callable[[], str]) -> tuple[str, list[str]]:
    """The env file's text with a line for each token not in `known`, and the names of those lines."""
    missing = [name for name in TOKENS if not known.get(name)]
    if not missing:
        return text, []
    if text and not text.endswith("\n"):
        text += "\n"
    return (text or HEAD) + "".join(f"{name}={make()}\n" for name in missing), missing


def ensure_tokens(env_file: Path, environment: Mapping[str, str]) -> list[str]:
    """Write what is missing; returns the names made. A token the environment gives is not made."""
    text = env_file.read_text("utf-8") if env_file.exists() else ""
    known = {**read_env_file(env_file), **{name: value for name, value in environment.items() if value}}
    text, made = add_missing(text, known, lambda: secrets.token_urlsafe(32))
    if made:
        write_private(env_file, text)
    elif env_file.exists() and env_file.stat().st_mode & 0o077:
        env_file.chmod(0o600)
    return made
