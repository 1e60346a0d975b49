"""A crontab → a verdict and a stanza for each job. Pure; docs/tasks.md tells a person the differences.

Cron's own habits that are kept: variables hold for the lines below them, `%` is a line end and what follows the first
one is standard input, the working folder is HOME, SHELL may be another one.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from argus_memory.option_values import parse_zone
from argus_memory.rules.cron import ALIASES
from argus_memory.tasks.imported_jobs import (
    NO_LIMIT,
    NOT_TAKEN_OVER,
    Imported,
    ImportedJob,
    Judged,
    check_schedule,
    split_env,
    with_own_names,
)

_VARIABLE: Final = re.compile(r"""\s*(["']?)([A-Za-z_]\w*)\1\s*=\s*(.*?)\s*""")
_WORD: Final = re.compile(r"\s*(\S+)\s*(.*)", re.DOTALL)
_RESTRICTED_STEP: Final = re.compile(r"\*/\d+")
SHELLS: Final = ("/bin/sh", "/usr/bin/sh", "sh")
OWN_OF_CRON: Final = ("CRON_TZ", "MAILTO", "MAILFROM", "SHELL", "HOME", "LOGNAME", "USER", "RANDOM_DELAY")
# Words before the one that says what a command does.
NOT_THE_DEED: Final = ("cd", "test", "[", "[[")  # what stands before `&&`
STARTERS: Final = frozenset(
    ("sudo", "env", "nice", "ionice", "nohup", "time", "timeout", "flock", "exec", "chronic", "sh", "bash", "dash",
     "zsh", "python", "python3", "perl", "ruby", "php", "node", "test", "cd")
)  # fmt: skip


@dataclass(slots=True)
class _Reader:
    """What holds at the line that is read."""

    zone: str
    system: bool
    user: str
    env: dict[str, str] = field(default_factory=dict)
    comment: str = ""
    jobs: list[ImportedJob] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def import_crontab(text: str, *, zone: str, user: str, system: bool = False, taken: Iterable[str] = ()) -> Imported:
    """Judge every line.

    zone: that of cron's machine; system: the form of /etc/crontab, with a user before the command; user: who Argus
    runs as; taken: names of tasks that are there.
    """
    reader = _Reader(zone, system, user)
    for number, line in enumerate(text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n"), 1):
        _read_line(reader, number, line.strip())
    if reader.env.get("MAILTO"):
        reader.notes.append(f"MAILTO: {NOT_TAKEN_OVER}")
    if reader.jobs:
        reader.notes.append(
            f"times are read in {zone}; in a spring gap cron runs a job after it, as Argus does; in a repeated hour"
            " cron runs it the first time, Argus the second"
        )
        if "PATH" not in reader.env:
            reader.notes.append("no PATH is set: cron has /usr/bin:/bin, a task that of Argus, its Python first")
    return Imported(tuple(with_own_names(reader.jobs, taken)), tuple(reader.notes))


def _read_line(reader: _Reader, number: int, line: str) -> None:
    if not line:
        reader.comment = ""
        return
    if line.startswith("#"):
        reader.comment = line.lstrip("# ")
        return
    if match := _VARIABLE.fullmatch(line):
        _set_variable(reader, match[2], match[3])
        return
    reader.jobs.append(_judge_line(reader, number, line))
    reader.comment = ""


def _set_variable(reader: _Reader, name: str, value: str) -> None:
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "'\"":
        value = value[1:-1]
    reader.env[name] = value


def _judge_line(reader: _Reader, number: int, line: str) -> ImportedJob:
    judged = Judged()
    when, rest = _split_schedule(line)
    schedule = _convert_schedule(when, judged)
    if reader.system:
        match = _WORD.fullmatch(rest)
        owner, rest = (match[1], match[2]) if match else ("", "")
        if owner != reader.user:
            judged.doubt(f"runs as {owner or 'nobody named'} there, a task runs as {reader.user} like Argus itself")
    command = _command(reader, rest, judged)
    values: dict[str, str] = {}
    if judged.verdict != "not supported" and schedule is not None and command is not None:
        if reader.comment:
            values["description"] = reader.comment
        values |= {
            "command": command,
            "folder": reader.env.get("HOME") or "~",
            "schedule": schedule,
            "timezone": _zone(reader, judged),
            "no_overlap": "false",
            "max_runtime": NO_LIMIT,
        }
        judged.say(f"cron sets no limit and lets runs overlap; here max_runtime = {NO_LIMIT}, no_overlap = false")
        held = {name: value for name, value in reader.env.items() if name not in OWN_OF_CRON}
        values |= split_env((f"{name}={value}" for name, value in held.items()), judged)
    if judged.verdict == "not supported":
        values = {}
    return ImportedJob(_name(rest, number), line, number, judged.verdict, tuple(judged.reasons), values)


def _split_schedule(line: str) -> tuple[list[str], str]:
    """The schedule's words, and what is left of the line as it stands."""
    words: list[str] = []
    rest = line
    while rest and len(words) < (1 if line.startswith("@") else 5):
        match = _WORD.fullmatch(rest)
        if match is None:
            break
        words.append(match[1])
        rest = match[2]
    return words, rest


def _convert_schedule(words: list[str], judged: Judged) -> str | None:
    if words[0].startswith("@"):
        word = words[0].lower()
        if word == "@reboot":
            judged.refuse("@reboot: Argus starts nothing at boot; schedule it, and let it wait for what it needs")
        elif word not in ALIASES:
            judged.refuse(f"schedule: `{words[0]}` is unknown")
        return word if word in ALIASES else None
    if any("~" in word for word in words):
        judged.refuse("schedule: `~` asks for a time at random, an expectation needs a fixed one")
        return None
    if len(words) == 5 and _either_is_a_step(words[2], words[4]):
        judged.doubt("day of month and day of week, one of them a step: cron wants both to match, Argus either")
    return check_schedule(" ".join(words), judged)


def _either_is_a_step(month_day: str, week_day: str) -> bool:
    return "*" not in (month_day, week_day) and any(_RESTRICTED_STEP.match(word) for word in (month_day, week_day))


def _zone(reader: _Reader, judged: Judged) -> str:
    """CRON_TZ, where cron knows it. TZ is the command's affair: which crons let it move the times differs."""
    if "TZ" in reader.env and "CRON_TZ" not in reader.env:
        judged.doubt("TZ is set: most crons give it to the command alone, some use it for the times too")
    if "CRON_TZ" in reader.env:
        try:
            return parse_zone(reader.env["CRON_TZ"])
        except ValueError as error:
            judged.doubt(f"CRON_TZ: {error}")
    return reader.zone


def _command(reader: _Reader, rest: str, judged: Judged) -> str | None:
    if not rest:
        judged.refuse("command is missing")
        return None
    parts = [part.replace("\\%", "%") for part in re.split(r"(?<!\\)%", rest)]
    command = parts[0].strip()
    if not command:
        judged.refuse("command is missing")
        return None
    shell = reader.env.get("SHELL", "")
    if shell and shell not in SHELLS:
        command = f"{shell} -c {shlex.quote(command)}"
        judged.say(f"started by {shell}, as SHELL says")
    if len(parts) > 1:
        lines = " ".join(shlex.quote(part) for part in parts[1:])
        command = f"printf '%s\\n' {lines} | {{ {command}; }}"
        judged.say("what follows the first `%` is its standard input, each further `%` a line end")
    return command


def _name(command: str, number: int) -> str:
    """The word that says what the command does: `cd /x && /opt/app/backup.sh -q` is `backup`."""
    for part in re.split(r"&&|\|\||;|\|", command):
        words = part.split()
        if words and words[0] in NOT_THE_DEED:
            continue
        for word in words:
            base = word.strip("\"'(){}").rpartition("/")[2]
            if base and base not in STARTERS and base[0].isalpha() and "=" not in base:
                return base.partition(".")[0] or base
    return f"line-{number}"
