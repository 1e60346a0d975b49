"""What a task is started with: its command line, its environment, its order for the guard. Pure but for `which`."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import Any

from argus_memory.records import TaskSpec
from argus_memory.rules.masking_names import names_secret
from argus_memory.settings import CODE_FOLDER, OPTIONS, Settings
from argus_memory.tasks.config_env import ALLOWED, SECRET_MIN

ALLOWED_STARTS: tuple[str, ...] = ("LC_",)
ALLOWED_ENDS = ("_proxy", "_PROXY")
# The engines of agent tasks know their account and their folder by these.
AGENT_STARTS = ("ANTHROPIC_", "CLAUDE_", "OPENAI_", "CODEX_", "XDG_")
DOCKER_STARTS = ("DOCKER_",)
# Settings our own handlers need; the admin and capture tokens are not among them.
OWN_SETTINGS = frozenset({
    "ARGUS_DATABASE_URL", "ARGUS_LLM_BASE_URL", "ARGUS_LLM_API_KEY", "ARGUS_LLM_TIMEOUT", "ARGUS_LLM_CONTEXT",
    "ARGUS_LLM_CALLS_PER_HOUR", "ARGUS_LLM_TOKENS_PER_HOUR", "ARGUS_ASK_MODEL", "ARGUS_AGENT_MODEL",
    "ARGUS_DISTILL_MODEL", "ARGUS_JUDGE_MODEL", "ARGUS_EMBED_MODEL", "ARGUS_EMBED_DIM", "ARGUS_ENGINES",
    "ARGUS_CLAUDE", "ARGUS_CODEX", "ARGUS_RUNTIME_CALLS_PER_HOUR", "ARGUS_TASKS", "ARGUS_TIMEZONE", "ARGUS_EXCLUDE",
    "ARGUS_DAGSTER_URL", "ARGUS_BACKUPS", "ARGUS_ALERT_CHANNEL", "ARGUS_DIGEST_AT",
})  # fmt: skip
OWN_HANDLERS = {"llm": "argus_memory.tasks.llm_main", "agent": "argus_memory.tasks.agent_main"}
CONTAINER_FOLDER = "/task"
CONTAINER_RUN = "/run/argus-task"


@dataclass(frozen=True, slots=True)
class RunPlace:
    """The files of one run, below $ARGUS_HOME/run/tasks."""

    root: Path
    rid: str

    @property
    def folder(self) -> Path:
        return self.root / self.rid

    @property
    def spool(self) -> Path:
        """The guard's report of the end."""
        return self.root / f"{self.rid}.json"

    @property
    def lock(self) -> Path:
        """Held by the guard while it lives."""
        return self.folder / "guard.lock"

    @property
    def messages(self) -> Path:
        return self.folder / "messages.jsonl"

    @property
    def spec(self) -> Path:
        return self.folder / "spec.json"


class CannotStart(Exception):
    """The task cannot even be tried; the message is the run's reason."""


def place_of(settings: Settings, rid: str) -> RunPlace:
    return RunPlace(settings.home / "run" / "tasks", rid)


def make_argv(spec: TaskSpec, env: Mapping[str, str], place: RunPlace, names: list[str]) -> list[str]:
    """The command line of the first process; raises CannotStart with a sentence.

    names: variables that a container gets; their values travel in the environment, not on the command line.
    """
    if spec.handler in OWN_HANDLERS:
        return [sys.executable, "-P", "-m", OWN_HANDLERS[spec.handler]]
    if not spec.command:
        raise CannotStart("its stanza has no command")
    if "\0" in spec.command:
        raise CannotStart("its command holds a NUL character")
    if not spec.image:
        return ["sh", "-c", spec.command]
    docker = find_docker(env, spec.image)
    given = [part for name in names for part in ("-e", name)]
    return [
        docker, "run", "--rm", "--name", container_name(place.rid), "-v", f"{spec.folder}:{CONTAINER_FOLDER}",
        "-v", f"{place.folder}:{CONTAINER_RUN}", "-w", CONTAINER_FOLDER, *given, spec.image, "sh", "-c", spec.command,
    ]  # fmt: skip


def make_kill_argv(spec: TaskSpec, env: Mapping[str, str], place: RunPlace) -> list[str] | None:
    """What ends a container, whose processes are not below the guard; None without one."""
    return [find_docker(env, spec.image), "kill", container_name(place.rid)] if spec.image else None


def find_docker(env: Mapping[str, str], image: str) -> str:
    docker = shutil.which("docker", path=env.get("PATH"))
    if docker is None:
        raise CannotStart(
            f"its image {image} needs docker, which is not on the PATH: install it, or take `image` out of the stanza"
        )
    return docker


def container_name(rid: str) -> str:
    return f"argus-{rid}"


def make_env(
    settings: Settings,
    spec: TaskSpec,
    place: RunPlace,
    *,
    due_at: datetime | None,
    attempt: int,
    extra_env: Mapping[str, str],
    parent: Mapping[str, str] = os.environ,
) -> tuple[dict[str, str], list[str]]:
    """(the environment of the first process, the names of it that a container gets)."""
    base = {name: value for name, value in parent.items() if _is_allowed(name, spec)}
    base["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), base.get("PATH") or os.defpath])
    run_folder = CONTAINER_RUN if spec.image else str(place.folder)
    given = {
        **spec.env,
        "ARGUS_TASK": spec.name,
        "ARGUS_TASK_RID": place.rid,
        "ARGUS_TASK_DUE_AT": due_at.astimezone(UTC).isoformat(timespec="seconds") if due_at else "",
        "ARGUS_TASK_ATTEMPT": str(attempt),
        "ARGUS_TASK_MESSAGES": f"{run_folder}/{place.messages.name}",
        "ARGUS_TASK_SPEC": f"{run_folder}/{place.spec.name}",
        "ARGUS_API_URL": settings.api_url,
        "ARGUS_SESSION": f"task/{spec.name}",
        **({"ARGUS_MCP_TOKEN": settings.mcp_token} if settings.mcp_token else {}),
        **extra_env,
    }
    names = list(given)
    given["ARGUS_HOME"] = str(settings.home)
    if spec.handler in OWN_HANDLERS or spec.hub_settings:
        given |= own_settings(settings)
    if spec.handler in OWN_HANDLERS:
        given["PYTHONPATH"] = str(CODE_FOLDER)
    return {**base, **given}, names


def own_settings(settings: Settings) -> dict[str, str]:
    """The settings of our own handlers as variables, in the form they are read in."""
    return {
        option.name: text
        for option in OPTIONS
        if option.name in OWN_SETTINGS and (text := _as_text(getattr(settings, option.field)))
    }


def own_secrets(settings: Settings, spec: TaskSpec | None) -> tuple[str, ...]:
    """What is masked wherever it stands in a task's output: this installation's secrets and the stanza's."""
    known = [getattr(settings, option.field) for option in OPTIONS if option.secret]
    if spec is not None:
        known += [value for name, value in spec.env.items() if names_secret(name)]
    return tuple(value for value in known if isinstance(value, str) and len(value) >= SECRET_MIN)


def _is_allowed(name: str, spec: TaskSpec) -> bool:
    starts = ALLOWED_STARTS
    if spec.handler == "agent":
        starts += AGENT_STARTS
    if spec.image:
        starts += DOCKER_STARTS
    return name in ALLOWED or name.startswith(starts) or name.endswith(ALLOWED_ENDS)


def _as_text(value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, tuple):
        return ",".join(value)
    if isinstance(value, timedelta):
        return f"{int(value.total_seconds())}s"
    if isinstance(value, time):
        return f"{value:%H:%M}"
    return str(value)
