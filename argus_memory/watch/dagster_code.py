"""Does Dagster have Argus's code, and do its sensors and schedules run? Asked of the webserver, judged by a rule.

A code location that does not load leaves every process alive, every heartbeat young, and nothing ever runs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from argus_memory.errors import Unreachable
from argus_memory.watch.dagster_launch import ask_dagster

REASON_MAX = 240  # characters of an error that are shown

_WORKSPACE = """
query { workspaceOrError { __typename
  ... on Workspace { locationEntries { name loadStatus locationOrLoadError { __typename
    ... on RepositoryLocation { repositories {
      sensors { name sensorState { status } }
      schedules { name scheduleState { status } } } }
    ... on PythonError { message cause { message } } } } }
  ... on PythonError { message } } }
"""


@dataclass(frozen=True, slots=True)
class CodeState:
    """What the webserver says of its code locations, by name.

    `failed`: location → the first line of its error; `stopped`: sensors and schedules that do not run.
    """

    loaded: tuple[str, ...] = ()
    loading: tuple[str, ...] = ()
    failed: Mapping[str, str] | None = None
    stopped: tuple[str, ...] = ()


def ask_code(url: str, *, seconds: float) -> CodeState:
    """Ask the webserver at `url`; raises Unreachable when it does not answer as Dagster within `seconds`."""
    try:
        return read_workspace(ask_dagster(url, _WORKSPACE, {}, seconds=seconds))
    except (KeyError, TypeError) as error:
        raise Unreachable(f"the Dagster at {url} answers in another form than expected ({error!r})") from error


def read_workspace(data: Mapping[str, Any]) -> CodeState:
    """The GraphQL answer's `data` as a CodeState; raises KeyError or TypeError on another form."""
    workspace = data["workspaceOrError"]
    if workspace["__typename"] != "Workspace":
        return CodeState(failed={"workspace": _first_line(workspace)})
    loaded: list[str] = []
    loading: list[str] = []
    failed: dict[str, str] = {}
    stopped: list[str] = []
    for entry in workspace["locationEntries"]:
        place = entry["locationOrLoadError"]
        if place is not None and place["__typename"] != "RepositoryLocation":
            failed[entry["name"]] = _first_line(place)
        elif place is None or entry["loadStatus"] != "LOADED":
            loading.append(entry["name"])
        else:
            loaded.append(entry["name"])
            for repository in place["repositories"]:
                stopped += [row["name"] for row in repository["sensors"] if _stands(row["sensorState"])]
                stopped += [row["name"] for row in repository["schedules"] if _stands(row["scheduleState"])]
    return CodeState(tuple(loaded), tuple(loading), failed, tuple(sorted(stopped)))


def judge_code(state: CodeState, *, errors: bool = True) -> tuple[Literal["ok", "warn", "failed"], str]:
    """One verdict with its words. `errors=False` names an error by its class alone: its text may say anything."""
    if state.failed:
        told = [
            f"{name} does not load ({text if errors else _class_of(text)})" for name, text in state.failed.items()
        ]
        return "failed", f"no run can start, code location {', '.join(told)}"
    if not state.loaded and not state.loading:
        return "failed", "no run can start, no code location is known"
    if state.loading:
        return "warn", f"code location {', '.join(state.loading)} is still loading"
    if state.stopped:
        return "warn", f"stopped, start again in the Dagster UI: {', '.join(state.stopped)}"
    return "ok", f"code location {', '.join(state.loaded)} loaded"


def _stands(state: Mapping[str, Any]) -> bool:
    return str(state["status"]) != "RUNNING"


def _first_line(error: Mapping[str, Any]) -> str:
    """The cause, where one is told (`ImportError: no module …`), else the error itself."""
    told = (error.get("cause") or {}).get("message") or error.get("message") or error.get("__typename")
    lines = [line.strip() for line in str(told).splitlines() if line.strip()]
    line = lines[0] if lines else "no reason given"
    return line if len(line) <= REASON_MAX else line[: REASON_MAX - 1] + "…"


def _class_of(text: str) -> str:
    found = re.match(r"(?:\w+\.)*(\w+)(?=:)", text)
    return found[1] if found else "an error"
