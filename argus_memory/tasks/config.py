"""tasks/config.ini → TaskList. Every stanza stands alone: a broken one is told with line and cure, the others load.

config_lines.py splits the bytes, config_values.py knows the keys, config_stanza.py judges a stanza. docs/tasks.md
tells a person the same.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from argus_memory.option_values import parse_zone
from argus_memory.records import BrokenTask, TaskList, TaskSpec
from argus_memory.settings import Settings
from argus_memory.tasks.config_lines import Flaw, Section, read_lines
from argus_memory.tasks.config_stanza import Defaults, as_broken, read_defaults, read_stanza
from argus_memory.tasks.names import LIST_FILE, is_task_name, make_name

DEFAULTS: Final = "defaults"
LOCALTIME: Final = Path("/etc/localtime")


def read_task_list(folder: Path, *, default_zone: str) -> TaskList:
    """What `folder`/config.ini says; never raises. No file is a fault: a list that went away looks like no tasks.

    A broken stanza has a name that can be an asset's and differs from every other's, also where its own cannot;
    what is wrong with no one stanza is broken under the name `config.ini`.
    """
    file = folder / LIST_FILE
    try:
        data = file.read_bytes()
    except FileNotFoundError:
        cure = "put it back; an empty file is a list without tasks, and `argus task new` makes one"
        return TaskList((), (BrokenTask(LIST_FILE, file, 1, "it is not there", cure),))
    except OSError as error:
        reason = error.strerror or type(error).__name__
        return TaskList((), (BrokenTask(LIST_FILE, file, 1, f"it cannot be read ({reason})", "let Argus read it"),))
    return parse_task_list(data, file, default_zone=default_zone)


def parse_task_list(data: bytes, file: Path, *, default_zone: str) -> TaskList:
    """The same from the file's bytes; only the tasks' folders are looked at on disk."""
    lines = read_lines(data)
    stanzas = _by_name(lines.sections)
    defaults, flaws = Defaults(), list(lines.flaws)
    for number, section in enumerate(stanzas.pop(DEFAULTS, [])):
        if number:
            flaws.append(Flaw(section.line, "[defaults] stands twice", "keep one; the first counts"))
        else:
            defaults, found = read_defaults(section)
            flaws += found
    tasks: list[TaskSpec] = []
    broken: list[BrokenTask] = []
    for name, sections in stanzas.items():
        if len(sections) > 1:
            broken.append(as_broken(name, file, [_doubled(sections)]))
            continue
        judged = read_stanza(sections[0], defaults, file.parent, file, default_zone)
        if isinstance(judged, TaskSpec):
            tasks.append(judged)
        else:
            broken.append(judged)
    whole = (as_broken(LIST_FILE, file, flaws),) if flaws else ()
    return TaskList(tuple(tasks), (*whole, *_with_names(broken, stanzas)))


def _by_name(sections: Iterable[Section]) -> dict[str, list[Section]]:
    stanzas: dict[str, list[Section]] = {}
    for section in sections:
        stanzas.setdefault(section.name, []).append(section)
    return stanzas


def _doubled(sections: list[Section]) -> Flaw:
    """Neither counts: which of the two is meant only a person knows."""
    lines = ", ".join(str(section.line) for section in sections[:5]) + (", …" if len(sections) > 5 else "")
    return Flaw(sections[1].line, f"[{sections[0].name[:60]}] stands {len(sections)} times, at lines {lines}",
                "keep one, or give each its own name")


def _with_names(broken: Iterable[BrokenTask], stanzas: Iterable[str]) -> Iterator[BrokenTask]:
    """A name for each that can be an asset's and is no other's."""
    taken = {name for name in stanzas if is_task_name(name)}
    for each in broken:
        name = each.name
        if not is_task_name(name):
            name = make_name(name, "stanza")
            if name in taken:
                name = f"{name[:40].rstrip('-')}-line-{each.line}"
            taken.add(name)
        yield replace(each, name=name)


def default_zone_of(settings: Settings) -> str:
    """The zone of tasks that name none: ARGUS_TIMEZONE, else this machine's, else UTC."""
    return settings.timezone or machine_zone()


def machine_zone() -> str:
    """TZ, else where /etc/localtime points, else /etc/timezone; UTC where none of them names a zone."""
    candidates = [os.environ.get("TZ", "").lstrip(":")]
    try:
        candidates.append(str(LOCALTIME.readlink()).partition("zoneinfo/")[2])
    except OSError:
        candidates.append("")
    try:
        candidates.append(Path("/etc/timezone").read_text("ascii").strip())
    except (OSError, UnicodeDecodeError):
        candidates.append("")
    for name in candidates:
        try:
            if name:
                return parse_zone(name)
        except ValueError:
            continue
    return "UTC"
