"""`argus task new`: a folder from a template and a stanza, both or neither."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from argus_memory.errors import ArgusError, Conflict, Unreachable, UsageError
from argus_memory.records import Handler
from argus_memory.rules.cron import parse_schedule
from argus_memory.tasks.list_file import append_stanzas, names_in, render_stanza
from argus_memory.tasks.names import LIST_FILE, NAME_RULE, is_task_name

TEMPLATES: Final = Path(__file__).with_name("templates")
RESERVED: Final = ("defaults", "context")  # a section, and the folder of what every agent is told
VALUES: Final = {
    "code_python": {"handler": "code", "command": "python run.py"},
    "code_bash": {"handler": "code", "command": "sh run.sh"},
    "llm": {"handler": "llm", "prompt": "file:prompt.md", "max_runtime": "10m"},
    "agent": {"handler": "agent", "prompt": "file:prompt.md", "max_runtime": "30m", "max_turns": "30"},
}


@dataclass(frozen=True, slots=True)
class NewTask:
    """What was made."""

    name: str
    folder: Path
    files: tuple[str, ...]
    stanza: str


def make_task(
    folder: Path, name: str, handler: Handler, *, schedule: str | None, shell: bool, description: str | None
) -> NewTask:
    """Make `folder`/name and its stanza.

    Raises UsageError for a name, schedule or choice that cannot be, Conflict where the name is taken, Unreachable
    where the place cannot be written.
    """
    if not is_task_name(name) or name in RESERVED:
        raise UsageError(f"`{name}` cannot be a task's name; use {NAME_RULE}, and not {' or '.join(RESERVED)}")
    if shell and handler != "code":
        raise UsageError(f"--shell belongs to --handler code, not to {handler}")
    schedule = _check_schedule(schedule)
    kind = ("code_bash" if shell else "code_python") if handler == "code" else handler
    values = {**({"description": " ".join(description.split())} if description else {}), **VALUES[kind]}
    if schedule:
        values["schedule"] = schedule
    comments = () if schedule else ("Without `schedule = …` a person starts it: argus task run " + name,)
    stanza = render_stanza(name, values, comments)
    if name in names_in(folder):
        raise Conflict(f"{LIST_FILE} has a stanza [{name}] already; choose another name")
    target = folder / name
    _copy_template(TEMPLATES / kind, target)
    try:
        append_stanzas(folder, {name: stanza})
    except ArgusError:
        shutil.rmtree(target)
        raise
    return NewTask(name, target, tuple(sorted(path.name for path in target.iterdir())), stanza)


def _check_schedule(schedule: str | None) -> str | None:
    if schedule is None:
        return None
    try:
        parse_schedule(schedule)
    except (ValueError, OverflowError) as error:
        raise UsageError(f"--schedule: {error}") from None
    return " ".join(schedule.split())


def _copy_template(source: Path, target: Path) -> None:
    """Made beside and moved there, so that a folder is either whole or absent."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.exists():
            raise Conflict(f"the folder {target} is there already; choose another name")
        beside = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}-"))
        try:
            for file in source.iterdir():
                if file.is_file():
                    (beside / file.name).write_bytes(file.read_bytes())
            beside.chmod(0o755)
            beside.rename(target)
        except BaseException:
            shutil.rmtree(beside, ignore_errors=True)
            raise
    except OSError as error:
        raise Unreachable(f"{target} cannot be made ({error.strerror}); look at the modes above it") from error
