"""How the hooks are: wired as this version would wire them, and when each last ran."""

from __future__ import annotations

import json
import os
import shlex
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from argus_cli.hooks_files import hooks_source, notify_file, settings_file
from argus_cli.hooks_notify import is_our_notify, notify_of
from argus_cli.hooks_record import read_document
from argus_cli.hooks_wiring import (
    CAPTURE_EVENTS,
    CODEX_LACKS,
    HOOK_FILES,
    RECALL_EVENTS,
    Target,
    is_http,
    ours_in,
    parse_document,
)
from argus_memory.errors import UsageError
from argus_memory.settings import Settings

State = Literal["wired", "stale", "duplicate", "missing", "off", "unreadable"]


@dataclass(slots=True)
class Status:
    """`state` is the worst thing found, `problems` all of them with what to do; `heartbeats` is by hook."""

    target: Target
    file: str
    state: State = "wired"
    entries: int = 0
    problems: list[str] = field(default_factory=list)
    heartbeats: dict[str, dict[str, Any]] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    def fault(self, state: State, problem: str) -> None:
        order: tuple[State, ...] = ("wired", "stale", "duplicate", "off", "missing", "unreadable")
        self.state = max(self.state, state, key=order.index)
        self.problems.append(problem)


def find_status(target: Target, settings: Settings) -> Status:
    status = Status(target, str(settings_file(target)))
    status.heartbeats = heartbeats(target, settings.home)
    again = f"run `argus hooks install --target {target}`"
    try:
        document = parse_document(read_document(settings_file(target)).text, status.file)
        notify = notify_of(read_document(notify_file()).text, str(notify_file())) if target == "codex" else None
    except UsageError as error:
        status.fault("unreadable", str(error))
        return status
    ours = ours_in(document)
    notify_words = notify if isinstance(notify, list) and is_our_notify(notify) else []
    status.entries = len(ours) + bool(notify_words)
    if not status.entries:
        status.fault("missing", f"not installed; {again}")
        return status
    if ours:
        judge_events(status, ours, again)
    if document.get("disableAllHooks") is True:
        status.fault("off", f"disableAllHooks in {status.file} switches every hook off; take it out")
    commands = {str(entry.get("command")) for _, entry in ours if not is_http(entry)}
    if notify_words:
        commands.add(shlex.join(map(str, notify_words)))
    judge_commands(status, commands, again)
    if target == "claude-code":
        judge_elsewhere(status)
    if not status.heartbeats:
        approve = ", or the hooks are not approved in /hooks" if target == "codex" and ours else ""
        status.problems.append(f"no hook has run yet: no session since the installation{approve}")
    return status


EVENTS_OF = {"capture_hook.py": CAPTURE_EVENTS, "recall_hook.py": RECALL_EVENTS}


def judge_events(status: Status, ours: list[tuple[str, dict[str, Any]]], again: str) -> None:
    """Each hook once at each of its events."""
    found = Counter(
        (event, name) for event, entry in ours for name in HOOK_FILES
        if name in str(entry) or (is_http(entry) and event in EVENTS_OF[name])
    )  # fmt: skip
    for name, events in EVENTS_OF.items():
        wanted = [event for event in events if not (status.target == "codex" and event in CODEX_LACKS)]
        lacking = [event for event in wanted if not found[event, name]]
        if lacking:
            status.fault("stale", f"{name} is not wired for {', '.join(lacking)}; {again}")
    twice = sorted({event for (event, _), count in found.items() if count > 1})
    if twice:
        status.fault("duplicate", f"a hook runs twice at {', '.join(twice)}; {again}")


def judge_commands(status: Status, commands: set[str], again: str) -> None:
    """The interpreter is there, and the files are this version's."""
    source = hooks_source()
    for command in sorted(commands):
        words = shlex.split(command)
        python = Path(words[0])
        if not (python.is_absolute() and os.access(python, os.X_OK)):
            status.fault("stale", f"{python} is not there any more; {again}")
        for word in words[1:]:
            place = Path(word)
            if place.name not in HOOK_FILES:
                continue
            if not place.exists():
                status.fault("stale", f"{place} is not there; {again}")
            elif place.read_bytes() != (source / place.name).read_bytes():
                status.fault("stale", f"{place} is of another version; {again}")
    status.problems = list(dict.fromkeys(status.problems))


def judge_elsewhere(status: Status) -> None:
    """The same hooks in another settings file run a second time at every event."""
    here = Path(status.file)
    folder = Path.cwd() / ".claude"
    others = (here.with_name("settings.local.json"), folder / "settings.json", folder / "settings.local.json")
    for path in others:
        if path.absolute() == here.absolute():
            continue
        try:
            entries = ours_in(parse_document(read_document(path).text, str(path)))
        except UsageError:
            continue
        if entries:
            status.fault("duplicate", f"the hooks stand in {path} too and run twice; take them out there")


def heartbeats(target: Target, home: Path) -> dict[str, dict[str, Any]]:
    """The last event of each hook, as it left it."""
    found: dict[str, dict[str, Any]] = {}
    for hook in ("capture", "recall"):
        try:
            beat = json.loads((home / "hook-heartbeat" / f"{target}-{hook}.json").read_bytes())
        except (OSError, ValueError):
            continue
        if isinstance(beat, dict):
            found[hook] = beat
    return found


def print_status(found: list[Status]) -> None:
    for status in found:
        print(f"{status.target}: {status.state} ({status.file})")
        for problem in status.problems:
            print(f"  {problem}")
        for hook, beat in status.heartbeats.items():
            print(f"  last {hook}: {beat.get('at')} {beat.get('event')}: {beat.get('outcome')}")
