"""`argus doctor`, what stands around the hub: engines of agent tasks, the time zone, Telegram, the task list."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from argus_cli.findings import Finding
from argus_memory.settings import Settings

VERSION_SECONDS = 10.0  # Node takes a second to start
TELEGRAM_SECONDS = 5.0
BROKEN_SHOWN = 10


def check_engines(settings: Settings) -> Iterator[Finding]:
    """The versions of Claude Code and Codex. Neither has to be there: only agent tasks ask for them."""
    for name, command in (("claude", settings.claude), ("codex", settings.codex)):
        place = shutil.which(command)
        if place is None:
            needed = f"ARGUS_{name.upper()} names it otherwise; agent tasks go on to the next of ARGUS_ENGINES"
            yield Finding(name, "unknown", f"{command} is not found", needed)
            continue
        yield judge_version(name, place)


def judge_version(name: str, place: str) -> Finding:
    try:
        ran = subprocess.run(
            [place, "--version"], capture_output=True, timeout=VERSION_SECONDS, check=False, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Finding(name, "warn", f"{place} does not tell its version ({type(error).__name__})", "install it anew")
    said = (ran.stdout.decode("utf-8", "replace").strip().splitlines() or [""])[0][:80]
    if ran.returncode != 0 or not said:
        return Finding(name, "warn", f"{place} --version ends with exit code {ran.returncode}", "install it anew")
    return Finding(name, "ok", f"{said} ({place})")


def check_zone(settings: Settings) -> Iterator[Finding]:
    from argus_memory.tasks.config import machine_zone

    yield judge_zone(settings.timezone, machine_zone(), datetime.now(UTC))


def judge_zone(chosen: str | None, machine: str, now: datetime) -> Finding:
    """Tasks and digest by one zone, the machine by another, is the commonest cause of a run at a wrong hour."""
    if chosen is None:
        return Finding("zone", "ok", f"{machine}, this machine's: tasks that name none and the digest go by it")
    here, there = (now.astimezone(ZoneInfo(name)).utcoffset() for name in (machine, chosen))
    if here == there:
        return Finding("zone", "ok", f"{chosen} (ARGUS_TIMEZONE), as this machine's clock")
    told = f"tasks and digest go by {chosen} (ARGUS_TIMEZONE), this machine by {machine}: their hours differ"
    return Finding("zone", "warn", told, "set ARGUS_TIMEZONE or the machine's zone, unless it is meant so")


def check_telegram(settings: Settings) -> Iterator[Finding]:
    """Whether the bot answers, where there is a token."""
    if not settings.telegram_token:
        yield Finding("telegram", "unknown", "ARGUS_TELEGRAM_TOKEN is not set: messages are kept, none is sent")
        return
    from argus_memory.watch.telegram import TelegramDoor

    door = TelegramDoor(settings, read_seconds=TELEGRAM_SECONDS)
    try:
        answer = door.probe()
    finally:
        door.close()
    if answer.kind == "sent":
        chats = len(settings.telegram_chats)
        yield Finding(
            "telegram", "ok" if chats else "warn", f"the bot answers, {chats} chats", "set ARGUS_TELEGRAM_CHATS"
        )
    elif answer.kind == "key":
        yield Finding("telegram", "failed", f"refuses the token ({answer.error})", "set ARGUS_TELEGRAM_TOKEN right")
    else:
        told = f"does not answer as it should ({answer.error})"
        yield Finding("telegram", "failed", told, "look at the network and ARGUS_TELEGRAM_BASE_URL", away=True)


def check_tasks(settings: Settings) -> Iterator[Finding]:
    """Stanzas that cannot be used, each with its file, line and cure."""
    from argus_memory.tasks.config import default_zone_of, read_task_list

    found = read_task_list(settings.tasks_folder, default_zone=default_zone_of(settings))
    if not found.broken:
        count = len(found.tasks)
        yield Finding("tasks", "ok", f"{count} {'task' if count == 1 else 'tasks'} in {settings.tasks_folder}")
    for broken in found.broken[:BROKEN_SHOWN]:
        yield Finding(
            f"task {broken.name}", "failed", f"{broken.file.name}:{broken.line}: {broken.problem}", broken.cure
        )
    if len(found.broken) > BROKEN_SHOWN:
        more = f"{len(found.broken) - BROKEN_SHOWN} more cannot be used"
        yield Finding("tasks", "failed", more, "run `argus task check`")
