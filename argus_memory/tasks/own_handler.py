"""What our own handlers share: the stanza they were started for, the way to the database, messages to the runner."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from argus_memory.errors import Unreachable, UsageError
from argus_memory.records import TaskSpec
from argus_memory.settings import Settings
from argus_memory.tasks.spec_json import read_spec

Tell = Callable[[Mapping[str, Any]], None]


def open_messages(env: Mapping[str, str] = os.environ) -> Tell:
    """A function that writes one message; without the variable (started by hand) it writes none."""
    path = env.get("ARGUS_TASK_MESSAGES")

    def tell(message: Mapping[str, Any]) -> None:
        if path:
            with Path(path).open("a", encoding="utf-8") as file:
                file.write(json.dumps(message, ensure_ascii=True, default=str) + "\n")

    return tell


def find_dsn(settings: Settings) -> str:
    """The setting's, else what `argus dsn` says: a code task is not given the database's address."""
    if settings.database_url:
        return settings.database_url
    command = Path(sys.executable).parent / "argus"
    try:
        found = subprocess.run(  # noqa: S603 — our own command
            [command, "dsn"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unreachable(f"the database's address is not known, and `argus dsn` did not tell it: {error}") from None
    if found.returncode or not found.stdout.strip():
        said = found.stderr.strip() or "`argus dsn` said nothing"
        raise Unreachable(f"the database's address is not known: {said}")
    return found.stdout.strip()


def find_spec(env: Mapping[str, str]) -> TaskSpec:
    path = env.get("ARGUS_TASK_SPEC")
    if not path:
        raise UsageError("ARGUS_TASK_SPEC is not set: this program is started by Argus's runner, as `argus task run`")
    try:
        return read_spec(Path(path))
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise UsageError(f"{path}: is no stanza of a task ({error})") from None
