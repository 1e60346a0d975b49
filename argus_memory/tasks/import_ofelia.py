"""An Ofelia config.ini → a verdict and a stanza for each job. Pure; docs/tasks.md tells a person the differences.

Jobs in containers become the `docker` command that does what Ofelia asked the engine for. Ofelia starts commands
without a shell, so words keep their quoting here.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from argus_memory.option_values import parse_zone
from argus_memory.tasks.config_values import ENV_PREFIX, KEYS
from argus_memory.tasks.gcfg import GcfgSection, read_gcfg
from argus_memory.tasks.imported_jobs import (
    NO_LIMIT,
    NOT_TAKEN_OVER,
    Converted,
    Imported,
    ImportedJob,
    Judged,
    check_schedule,
    convert_span,
    split_env,
    with_own_names,
)
from argus_memory.tasks.ofelia_command import held_by_stanza, make_command

REPORTING: Final = (
    "slack-webhook", "slack-only-on-error", "save-folder", "save-only-on-error", "smtp-host", "smtp-port",
    "smtp-user", "smtp-password", "smtp-tls-skip-verify", "email-to", "email-from", "mail-only-on-error",
)  # fmt: skip
COMMON: Final = ("schedule", "command", "no-overlap", *REPORTING)
KNOWN: Final = {
    "job-run": (
        "image", "container", "user", "network", "hostname", "delete", "pull", "tty", "volume", "volumes-from",
        "environment",
    ),
    "job-exec": ("container", "user", "tty", "environment"),
    "job-local": ("dir", "environment"),
}  # fmt: skip
DESCRIPTORS: Final = ("@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly")


def import_ofelia(text: str, *, zone: str, taken: Iterable[str] = ()) -> Imported:
    """Judge every job. `zone` is that of Ofelia's container, which the file does not say; `taken`: names of tasks."""
    sections, problems = read_gcfg(text)
    notes = [f"{problem} (Ofelia does not start with it)" for problem in problems]
    jobs = []
    for section in sections:
        if section.kind == "global":
            notes += _judge_global(section)
        else:
            jobs.append(_judge_job(section, zone))
    if jobs:
        notes.append(
            f"times are read in {zone}: Ofelia uses its container's TZ; in a spring gap Ofelia skips a job, Argus"
            " runs it after the gap"
        )
    return Imported(tuple(with_own_names(jobs, taken)), tuple(notes))


def _judge_global(section: GcfgSection) -> list[str]:
    notes = [f"{problem} (Ofelia does not start with it)" for problem in section.problems]
    known = [key for key, _ in section.keys if key in REPORTING]
    if known:
        notes.append(f"[global] {', '.join(known)}: {NOT_TAKEN_OVER}")
    notes += [f"[global] `{key}` is unknown, Ofelia stops at it" for key, _ in section.keys if key not in REPORTING]
    return notes


def _judge_job(section: GcfgSection, zone: str) -> ImportedJob:
    judged = Judged()
    name = section.name if section.name is not None else "?"
    values: dict[str, str] = {}
    source = f'[{section.kind} "{name}"]'
    for problem in section.problems:
        judged.refuse(f"{problem} (Ofelia does not start with it)")
    if section.kind == "job-service-run":
        judged.refuse("a service of a swarm: Argus starts no services")
    elif section.kind not in KNOWN:
        judged.refuse(f"`{section.kind}` is no kind of job that Ofelia knows")
    elif section.name is None:
        judged.refuse("it has no name, Ofelia stops at it")
    else:
        _check_keys(section, judged)
        command = make_command(section, judged)
        when = convert_schedule(section.last("schedule"), judged)
        if command is not None and when.schedule is not None:
            values = _values(section, command, when, zone, judged)
    if judged.verdict == "not supported":
        values = {}
    return ImportedJob(name, source, section.line, judged.verdict, tuple(judged.reasons), values)


def _check_keys(section: GcfgSection, judged: Judged) -> None:
    reporting = [key for key, _ in section.keys if key in REPORTING]
    if reporting:
        judged.say(f"{', '.join(reporting)}: {NOT_TAKEN_OVER}")
    for key, _ in section.keys:
        if key in (*COMMON, *KNOWN[section.kind]):
            continue
        if key in KEYS:
            section.own.setdefault(key, section.last(key) or "")
            judged.say(f"`{key}` is a key of Argus: Ofelia stops at it")
        else:
            judged.doubt(f"`{key}` is unknown: Ofelia stops at it, so this job may never have run")


def _values(section: GcfgSection, command: str, when: Converted, zone: str, judged: Judged) -> dict[str, str]:
    assert when.schedule is not None
    values = {"command": command, "schedule": when.schedule, "timezone": when.zone or zone}
    overlap = (section.last("no-overlap") or "false").lower()
    values["no_overlap"] = "true" if overlap in ("true", "yes", "on", "1") else "false"
    values["max_runtime"] = NO_LIMIT
    if section.kind == "job-run":
        judged.say("ended after a day, as by Ofelia")
    else:
        judged.say(f"Ofelia sets no limit; here max_runtime = {NO_LIMIT}")
    if section.kind == "job-local" and (folder := section.last("dir")):
        values["folder"] = folder
    values |= split_env(held_by_stanza(section), judged)
    for key, value in section.own.items():
        if key in KEYS or key.startswith(ENV_PREFIX):
            values[key] = value
        else:
            judged.doubt(f"`{key}` is a key neither of Ofelia nor of Argus, left out")
    return values


def convert_schedule(text: str | None, judged: Judged) -> Converted:
    """Ofelia's schedule (robfig/cron) in Argus's form."""
    if not text or not text.split():
        judged.refuse("schedule is missing")
        return Converted(None)
    words, zone = text.split(), None
    if words[0].startswith(("TZ=", "CRON_TZ=")):
        try:
            zone = parse_zone(words.pop(0).partition("=")[2])
        except ValueError as error:
            judged.refuse(f"schedule: {error}")
            return Converted(None)
    if words and words[0].startswith("@"):
        return Converted(_convert_word(words, judged), zone)
    words = ["*" if word == "?" else word for word in words]
    if len(words) == 5:
        judged.doubt("five fields: Ofelia 0.4 reads minutes first, as here; 0.3 wants seconds before them")
    elif len(words) == 6:
        if words[0] not in ("0", "00"):
            judged.refuse(f"seconds are `{words[0]}`: Argus starts tasks on the minute")
            return Converted(None)
        words = words[1:]
    if len(words) == 5 and "7" in words[4].replace("-", ",").split(","):
        judged.doubt("day of week 7: Ofelia refuses it, so this job never ran there; here it is Sunday")
    return Converted(check_schedule(" ".join(words), judged), zone)


def _convert_word(words: list[str], judged: Judged) -> str | None:
    if words[0] == "@every" and len(words) == 2:
        span = convert_span(words[1])
        if span is None:
            judged.refuse(f"schedule: `{' '.join(words)}` is no span of whole seconds")
            return None
        judged.say("@every counts from the clock here (multiples since 1970), from its own start in Ofelia")
        return check_schedule(f"@every {span}", judged)
    if len(words) == 1 and words[0] in DESCRIPTORS:
        return words[0]
    judged.refuse(f"schedule: `{' '.join(words)}` is known neither to Ofelia nor to Argus")
    return None
