"""Let Dagster read its code location again, tasks/config.ini with it, while everything goes on; over GraphQL."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from argus_memory.errors import Unreachable
from argus_memory.settings import Settings
from argus_memory.watch.dagster_code import ask_code
from argus_memory.watch.dagster_launch import ask_dagster

ASK_SECONDS: Final = 10.0
RELOAD_SECONDS: Final = 120.0  # 1.6 s were seen; a cold disk and 200 tasks take longer

_RELOAD: Final = """
mutation ($name: String!) { reloadRepositoryLocation(repositoryLocationName: $name) { __typename
  ... on WorkspaceLocationEntry { name loadStatus locationOrLoadError { __typename
    ... on RepositoryLocation { repositories { jobs { name } } }
    ... on PythonError { message cause { message } } } }
  ... on ReloadNotSupported { message }
  ... on RepositoryLocationNotFound { message }
  ... on UnauthorizedError { message }
  ... on PythonError { message } } }
"""


@dataclass(frozen=True, slots=True)
class Reloaded:
    """What Dagster has after a reload: names of its jobs, and how long it took."""

    jobs: frozenset[str]
    seconds: float


def reload_code(settings: Settings) -> Reloaded:
    """Reload every code location of the hub's Dagster; raises Unreachable when it does not load."""
    begun = time.monotonic()
    state = ask_code(settings.dagster_url, seconds=ASK_SECONDS)
    names = sorted({*state.loaded, *state.loading, *(state.failed or {})})
    if not names:
        raise Unreachable(f"the Dagster at {settings.dagster_url} knows no code location; see `argus status`")
    jobs: set[str] = set()
    for name in names:
        answer = ask_dagster(settings.dagster_url, _RELOAD, {"name": name}, seconds=RELOAD_SECONDS)
        jobs |= _read_jobs(name, answer["reloadRepositoryLocation"])
    return Reloaded(frozenset(jobs), time.monotonic() - begun)


def _read_jobs(name: str, entry: Mapping[str, Any]) -> set[str]:
    place = entry.get("locationOrLoadError")
    if entry["__typename"] != "WorkspaceLocationEntry" or not place or place["__typename"] != "RepositoryLocation":
        error = place or entry
        told = (error.get("cause") or {}).get("message") or error.get("message") or error["__typename"]
        first = next((line.strip() for line in str(told).splitlines() if line.strip()), "no reason given")
        raise Unreachable(f"Dagster did not load the code location {name} again ({first[:240]}); see `argus status`")
    return {str(job["name"]) for repository in place["repositories"] for job in repository["jobs"]}
