"""A job of another scheduler as Argus would have it: the verdict, its reasons, and the stanza."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from argus_memory.records import TaskMode
from argus_memory.rules.cron import parse_schedule
from argus_memory.tasks.config_values import ENV_NAME, ENV_PREFIX, OWN_NAMES
from argus_memory.tasks.list_file import render_stanza
from argus_memory.tasks.names import make_name

Verdict = Literal["runs as", "not supported", "ambiguous"]
NOT_TAKEN_OVER: Final = "not taken over; every run is kept in task_runs, failures are alerts"
NO_LIMIT: Final = "1d"  # for jobs that had none: Argus always has one
PARTS_OF_GO_SPAN: Final = re.compile(r"([0-9]+(?:\.[0-9]+)?)(h|m|s)")
SECONDS_OF: Final = {"h": 3600, "m": 60, "s": 1}


@dataclass(frozen=True, slots=True)
class ImportedJob:
    """`values` is the stanza without its mode, empty where the verdict is `not supported`; `line` is the source's."""

    name: str
    source: str
    line: int
    verdict: Verdict
    reasons: tuple[str, ...] = ()
    values: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Imported:
    """All jobs of a file in order, and what is to be said of the file as a whole."""

    jobs: tuple[ImportedJob, ...]
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class Judged:
    """Collects reasons while a job is looked at; the worst verdict wins."""

    verdict: Verdict = "runs as"
    reasons: list[str] = field(default_factory=list)

    def say(self, reason: str) -> None:
        self.reasons.append(reason)

    def doubt(self, reason: str) -> None:
        self.reasons.append(reason)
        if self.verdict == "runs as":
            self.verdict = "ambiguous"

    def refuse(self, reason: str) -> None:
        self.reasons.append(reason)
        self.verdict = "not supported"


@dataclass(frozen=True, slots=True)
class Converted:
    """A schedule in Argus's words; None: it cannot be had."""

    schedule: str | None
    zone: str | None = None


def check_schedule(schedule: str, judged: Judged) -> str | None:
    """The schedule where Argus can read it, else None with the reason noted."""
    try:
        parse_schedule(schedule)
    except (ValueError, OverflowError) as error:
        judged.refuse(f"schedule: {' '.join(str(error).split())}")
        return None
    return schedule


def convert_span(text: str) -> str | None:
    """Go's `1h30m` or `1.5h` in Argus's form; None below a second, or for another form."""
    parts = PARTS_OF_GO_SPAN.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        return None
    seconds = sum(float(number) * SECONDS_OF[unit] for number, unit in parts)
    if seconds < 1 or seconds != int(seconds) or seconds > 366 * 86400:
        return None
    left = int(seconds)
    words = ""
    for unit in ("h", "m", "s"):
        count, left = divmod(left, SECONDS_OF[unit])
        words += f"{count}{unit}" if count else ""
    return words


def split_env(pairs: Iterable[str], judged: Judged) -> dict[str, str]:
    """`NAME=value` pairs as `env.NAME` keys; what a stanza cannot hold is a doubt."""
    values: dict[str, str] = {}
    for pair in pairs:
        name, separator, value = pair.partition("=")
        if not separator or not ENV_NAME.fullmatch(name):
            judged.doubt(f"environment `{name[:40]}` is no NAME=value, left out")
        elif name.startswith(OWN_NAMES):
            judged.doubt(f"environment {name} is set by Argus itself, left out")
        else:
            if "${" in value:
                judged.doubt(f"environment {name}: Argus replaces ${{…}} by variables of the hub")
            values[f"{ENV_PREFIX}{name}"] = value
    return values


def with_own_names(jobs: Iterable[ImportedJob], taken: Iterable[str]) -> list[ImportedJob]:
    """Names that differ from each other; a job whose name is a task's already is left alone, so that a second import
    of the same file adds nothing."""
    known = set(taken)
    used: set[str] = set()
    named = []
    for job in jobs:
        name, number = make_name(job.name, "job"), 2
        while name in used:
            name, number = f"{make_name(job.name, 'job')}-{number}", number + 1
        used.add(name)
        if name in known and job.values:
            reason = f"[{name}] is in config.ini already, left alone"
            job = replace(job, verdict="not supported", reasons=(reason,), values={})
        named.append(replace(job, name=name))
    return named


def stanza_of(job: ImportedJob, mode: TaskMode, origin: str) -> str:
    """The stanza's text; a doubtful one is switched off and says why, for a person to decide."""
    values = {**job.values, "mode": mode}
    comments: Sequence[str] = [f"From {origin}, line {job.line}.", *job.reasons]
    if job.verdict == "ambiguous":
        comments = [*comments, "Switched off: decide, then take `enabled = false` out."]
        values["enabled"] = "false"
    return render_stanza(job.name, values, comments)
