"""The tasks as a config.ini that stock Ofelia reads: only keys it knows, what else there is in comments. Pure.

`; argus: key = value` is read back by import_ofelia, so that the way there and back loses nothing.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from dataclasses import fields
from datetime import timedelta
from typing import Final

from argus_memory.records import TaskSpec
from argus_memory.rules.cron import parse_schedule
from argus_memory.tasks.config_env import references
from argus_memory.tasks.names import LIST_FILE

OWN_KEYS: Final = (
    "start_grace", "max_runtime", "channel", "retries", "failures_before_alert", "description", "timezone",
)  # fmt: skip
_DEFAULTS: Final = {each.name: each.default for each in fields(TaskSpec)}
_ESCAPES: Final = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t"})
_SHELL_SIGNS: Final = set("|&;<>$`*?(){}~#\n=")


def export_ofelia(tasks: Iterable[TaskSpec], *, zone: str) -> str:
    """One file; `zone` is the TZ of Ofelia's container, a task in another one says so in its schedule."""
    parts = [f"; Written by Argus from {LIST_FILE}. Set TZ={zone} for Ofelia."]
    for task in tasks:
        reason = why_not(task)
        parts.append(f"; [{task.name}] is left out: {reason}" if reason else _job(task, zone))
    return "\n\n".join(parts) + "\n"


def why_not(task: TaskSpec) -> str | None:
    """Why Ofelia cannot run this task; None where it can."""
    if task.handler != "code":
        return f"handler {task.handler} needs Argus"
    if task.command is None:
        return "it has no command here (mode = observe)"
    if task.schedule is None:
        return "it has no schedule"
    if not task.enabled:
        return "it is not enabled"
    if task.image is not None:
        return "its container is started by Argus"
    if _words(task.command) is None:
        return "its command needs a shell and quotes that Ofelia does not carry; put it into a script"
    if _schedule(task, task.timezone) is None:
        return "its days of the week go beyond 6, which Ofelia refuses"
    return None


def quote(value: str) -> str:
    """As gcfg reads it back, whatever is in it."""
    return f'"{value.translate(_ESCAPES)}"'


def write_span(span: timedelta) -> str:
    """`1h30m`: hours, minutes, seconds, as both Go and Argus read it."""
    seconds = int(span.total_seconds())
    parts = ((seconds // 3600, "h"), (seconds // 60 % 60, "m"), (seconds % 60, "s"))
    return "".join(f"{number}{unit}" for number, unit in parts if number)


def _job(task: TaskSpec, zone: str) -> str:
    assert task.command is not None
    lines = [
        f'[job-local "{task.name}"]',
        f"schedule = {_schedule(task, zone)}",
        f"command = {quote(_words(task.command) or '')}",
        f"dir = {quote(str(task.folder))}",
    ]
    lines += ["no-overlap = true"] if task.no_overlap else []
    for name, value in task.env.items():
        if references({name: value}):
            lines += [f"; Ofelia has no {name}: give it to its container", f"; argus: env.{name} = {value}"]
        else:
            lines.append(f"environment = {quote(f'{name}={value}')}")
    for key in OWN_KEYS:
        value = getattr(task, key)
        if value != _DEFAULTS[key] or key == "timezone":
            told = write_span(value) if isinstance(value, timedelta) else " ".join(str(value).split())
            lines.append(f"; argus: {key} = {told}")
    return "\n".join(lines)


def _words(command: str) -> str | None:
    """Ofelia splits words and starts no shell: plain words as they are, the rest as one quoted word of `sh -c`."""
    if not _SHELL_SIGNS & set(command) and "\\" not in command:
        try:
            shlex.split(command)
        except ValueError:
            return None
        return command
    if "'" in command or "\\" in command:
        return None
    return f"sh -c '{command}'"


def _schedule(task: TaskSpec, zone: str) -> str | None:
    """With seconds, which every Ofelia reads; None for a day of the week above 6 in a range."""
    assert task.schedule is not None
    schedule = parse_schedule(task.schedule)
    prefix = "" if task.timezone == zone else f"CRON_TZ={task.timezone} "
    if schedule.every is not None:
        return f"@every {write_span(schedule.every)}"
    assert schedule.cron is not None
    *others, days = schedule.cron.split()
    days = re.sub(r"(?<![\d/-])7(?![\d-])", "0", days)
    if re.search(r"7", days):
        return None
    return f"{prefix}0 {' '.join([*others, days])}"
