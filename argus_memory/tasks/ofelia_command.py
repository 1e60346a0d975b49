"""What an Ofelia job starts, as one command: its own, or `docker` asked for the same. Pure."""

from __future__ import annotations

import shlex
from typing import Final

from argus_memory.tasks.config_values import ENV_NAME, OWN_NAMES
from argus_memory.tasks.gcfg import GcfgSection
from argus_memory.tasks.imported_jobs import Judged

SHELL_SIGNS: Final = set("|&;<>$`*?(){}")


def held_by_stanza(section: GcfgSection) -> list[str]:
    """Environment that goes through the stanza; for a container only what a stanza can name, see _docker_env."""
    pairs = section.all("environment")
    return pairs if section.kind == "job-local" else [pair for pair in pairs if _nameable(pair)]


def _nameable(pair: str) -> bool:
    name, separator, _ = pair.partition("=")
    return bool(separator and ENV_NAME.fullmatch(name)) and not name.startswith(OWN_NAMES)


def make_command(section: GcfgSection, judged: Judged) -> str | None:
    given = section.last("command") or ""
    try:
        words = shlex.split(given)
    except ValueError as error:
        judged.refuse(f"command: {str(error).lower()}")
        return None
    if SHELL_SIGNS & set(given) and shlex.join(words) != given:
        judged.say("Ofelia starts no shell: signs such as `|` and `$` are plain words of the command, and stay so")
    if section.kind == "job-local":
        if not words:
            judged.refuse("command is missing")
        return shlex.join(words) or None
    judged.say("needs the `docker` command where Argus runs")
    argv = _exec_argv(section, words, judged) if section.kind == "job-exec" else _run_argv(section, words, judged)
    return shlex.join(argv) if argv else None


def _exec_argv(section: GcfgSection, words: list[str], judged: Judged) -> list[str] | None:
    container = section.last("container")
    if not container or not words:
        judged.refuse(f"{'command' if container else 'container'} is missing")
        return None
    return ["docker", "exec", *_shared_flags(section), container, *words]


def _run_argv(section: GcfgSection, words: list[str], judged: Judged) -> list[str] | None:
    image, container = section.last("image"), section.last("container")
    if image and container:
        judged.doubt("has image and container: Ofelia starts the container that is there")
    if container:
        if words:
            judged.doubt("command: a container that is there starts what it was made with, as by Ofelia")
        return ["docker", "start", "--attach", container]
    if not image:
        judged.refuse("image or container is missing")
        return None
    argv = ["docker", "run"]
    argv += ["--rm"] if _true(section, "delete") else []
    argv += ["--pull", "always" if _true(section, "pull") else "never"]
    for key in ("network", "hostname"):
        if value := section.last(key):
            argv += [f"--{key}", value]
    for key in ("volume", "volumes-from"):
        for value in section.all(key):
            argv += [f"--{key}", value]
    if _true(section, "pull"):
        judged.say("pulls the image each time; unlike Ofelia it fails where the registry does not answer")
    return [*argv, *_shared_flags(section), image, *words]


def _shared_flags(section: GcfgSection) -> list[str]:
    flags = ["--user", section.last("user") or "root"]
    if (section.last("tty") or "false").lower() == "true":
        flags.append("--tty")
    for pair in section.all("environment"):
        flags += ["--env", pair.partition("=")[0] if _nameable(pair) else pair]
    return flags


def _true(section: GcfgSection, key: str) -> bool:
    """Ofelia's flags that are true unless said otherwise."""
    return (section.last(key) or "true").lower() not in ("false", "no", "off", "0")
