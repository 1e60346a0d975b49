"""A stanza as read → TaskSpec, or BrokenTask with what is wrong and what to do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Final

from argus_memory.records import BrokenTask, TaskSpec
from argus_memory.rules.masking import mask_text
from argus_memory.tasks.config_lines import Entry, Flaw, Section, shorten
from argus_memory.tasks.config_values import DEFAULT_KEYS, ENV_PREFIX, KEYS, Key, find_near, parse_env_name
from argus_memory.tasks.names import NAME_RULE, is_task_name

ALSO_SHOWN: Final = 3  # further flaws of a stanza that are told
PATH_SHOWN: Final = 150  # characters
PROMPT_FILE: Final = "file:"
_SPEC_FIELDS: Final = {f.name for f in fields(TaskSpec)}


@dataclass(frozen=True, slots=True)
class Defaults:
    """What [defaults] says, and which of its keys are broken, each at its line."""

    values: dict[str, Any] = field(default_factory=dict)
    env: dict[str, str] = field(default_factory=dict)
    broken: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class _Read:
    """Parsed values with the lines they stand at; flaws in the order found."""

    values: dict[str, Any] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    env: dict[str, str] = field(default_factory=dict)
    flaws: list[Flaw] = field(default_factory=list)


def read_defaults(section: Section) -> tuple[Defaults, list[Flaw]]:
    """[defaults]: a bad key is a flaw of the file; the others count."""
    read = _read_entries(section.entries, DEFAULT_KEYS)
    broken = {key: line for key, line in read.lines.items() if key not in read.values}
    return Defaults(read.values, read.env, broken), [*section.flaws, *read.flaws]


def read_stanza(section: Section, defaults: Defaults, folder: Path, file: Path, zone: str) -> TaskSpec | BrokenTask:
    """Judge one stanza. `folder` holds the tasks' folders; `zone` is for a stanza without one."""
    read = _read_entries(section.entries, tuple(KEYS))
    flaws = sorted([*_check_name(section), *section.flaws, *read.flaws], key=lambda flaw: flaw.line)
    place = _find_place(section.name, read.values.get("folder"), folder)
    flaws += _check_parts(section, read, defaults, place)
    if flaws:
        return as_broken(section.name, file, flaws)
    values = {"timezone": zone, **defaults.values, **read.values}
    values["handler"] = values.get("handler", "code")
    return TaskSpec(
        **{key: value for key, value in values.items() if key in _SPEC_FIELDS - {"folder"}},
        name=section.name,
        folder=place,
        file=file,
        line=section.line,
        env={**defaults.env, **read.env},
    )


def as_broken(name: str, file: Path, flaws: Iterable[Flaw]) -> BrokenTask:
    """The first flaw, and the next few behind its cure. A line may hold a secret; a sentence about it goes far."""
    first, *others = flaws
    also = "".join(f"; line {flaw.line}: {flaw.problem}" for flaw in others[:ALSO_SHOWN])
    if len(others) > ALSO_SHOWN:
        also += f"; and {len(others) - ALSO_SHOWN} more"
    return BrokenTask(name, file, first.line, mask_text(first.problem)[0], mask_text(first.cure + also)[0])


def _read_entries(entries: Iterable[Entry], known: tuple[str, ...]) -> _Read:
    read = _Read()
    for entry in entries:
        key = entry.key.lower()
        if key.startswith(ENV_PREFIX):
            _read_env(read, entry)
            continue
        if key not in known:
            read.flaws.append(_unknown_key(entry, known))
        elif key in read.lines:
            problem = f"`{key}` stands twice, first at line {read.lines[key]}"
            read.flaws.append(Flaw(entry.line, problem, "keep one of the two"))
        else:
            read.lines[key] = entry.line
            _read_value(read, key, KEYS[key], entry)
    return read


def _read_value(read: _Read, key: str, rule: Key, entry: Entry) -> None:
    try:
        if not entry.value:
            raise ValueError("it is empty")
        read.values[key] = rule.parse(entry.value)
    except (ValueError, OverflowError) as error:
        cure = f"write {rule.accepted}"
        if rule.parse is not str and (" ;" in entry.value or " #" in entry.value):
            cure += " (a comment needs a line of its own)"
        read.flaws.append(Flaw(entry.line, f"`{key}`: {_sentence(error)}", cure))


def _read_env(read: _Read, entry: Entry) -> None:
    try:
        name = parse_env_name(entry.key[len(ENV_PREFIX) :])
        if name in read.env:
            raise ValueError(f"{name} stands twice")
    except ValueError as error:
        read.flaws.append(Flaw(entry.line, f"`{shorten(entry.key)}`: {_sentence(error)}", "write `env.NAME = value`"))
    else:
        read.env[name] = entry.value


def _unknown_key(entry: Entry, known: tuple[str, ...]) -> Flaw:
    near = find_near(entry.key[:80], known)
    if entry.key.lower() == "env":
        cure = "write `env.NAME = value`, a line for each variable"
    elif near:
        cure = f"write `{near}`"
    else:
        cure = "take it out; the keys are " + ", ".join(known)
    return Flaw(entry.line, f"unknown key `{shorten(entry.key)}`", cure)


def _find_place(name: str, words: str | None, folder: Path) -> Path:
    """The task's folder: the one named, else its own below `folder`; that one itself where the name is no name."""
    words = words or (name if is_task_name(name) else ".")
    try:
        return folder / Path(words).expanduser()
    except RuntimeError:  # ~somebody, whom this machine does not know
        return folder / words


def _is_there(path: Path, *, as_folder: bool) -> bool:
    try:
        return path.is_dir() if as_folder else path.is_file()
    except OSError:  # a name longer than a file system takes, a folder that may not be entered
        return False


def _check_name(section: Section) -> Iterator[Flaw]:
    if not is_task_name(section.name):
        yield Flaw(section.line, f"`{shorten(section.name)}` is no task's name", f"use {NAME_RULE}")


def _check_parts(section: Section, read: _Read, defaults: Defaults, place: Path) -> Iterator[Flaw]:
    """What a stanza needs as a whole: its handler's keys and no other's, a folder, a zone that can be relied on."""
    if "handler" in read.lines and "handler" not in read.values:
        return
    handler = read.values.get("handler", "code")
    for key, line in read.lines.items():
        if (owners := KEYS[key].handlers) and handler not in owners:
            yield Flaw(line, f"`{key}` belongs to handler {' or '.join(owners)}, this one is {handler}",
                       f"take it out or write `handler = {owners[0]}`")
    if "timezone" in defaults.broken and "timezone" not in read.lines and "schedule" in read.lines:
        yield Flaw(section.line, "its zone is the one of [defaults], which cannot be used",
                   f"mend line {defaults.broken['timezone']}")
    if read.values.get("mode") == "observe":
        if "schedule" not in read.lines:
            yield Flaw(section.line, "`mode = observe` without a schedule expects nothing", "add `schedule = …`")
        return
    needed = "command" if handler == "code" else "prompt"
    if needed not in read.lines:
        yield Flaw(section.line, f"`{needed}` is missing", f"add `{needed} = …`: {KEYS[needed].accepted}")
    if not _is_there(place, as_folder=True):
        yield Flaw(read.lines.get("folder", section.line), f"the folder {_end_of(place)} is missing",
                   "make it, or name another with `folder = …`")
    elif "prompt" in read.values:
        yield from _check_prompt(read.values["prompt"], read.lines["prompt"], place)


def _check_prompt(prompt: str, line: int, place: Path) -> Iterator[Flaw]:
    if not prompt.startswith(PROMPT_FILE):
        return
    file = place / prompt.removeprefix(PROMPT_FILE).strip()
    if not file.resolve().is_relative_to(place.resolve()):
        yield Flaw(line, f"`prompt`: {_end_of(file)} is outside the task's folder", "put the file into it")
    elif not _is_there(file, as_folder=False):
        yield Flaw(line, f"`prompt`: the file {_end_of(file)} is missing", "make it or name another")


def _end_of(path: Path) -> str:
    """A path's end says most."""
    words = " ".join(str(path).split())
    return words if len(words) <= PATH_SHOWN else f"…{words[1 - PATH_SHOWN:]}"


def _sentence(error: Exception) -> str:
    return " ".join(str(error).split())
