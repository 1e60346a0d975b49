"""Let Dagster read its code location again, tasks/config.ini with it, while everything goes on; over GraphQL."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Final

from argus_memory.errors import Unreachable
from argus_memory.settings import Settings
from argus_memory.watch.dagster_code import ask_code
from argus_memory.watch.dagster_launch import ask_dagster
from argus_memory.watch.dagster_tasks import find_tasks

ASK_SECONDS: Final = 10.0
RELOAD_SECONDS: Final = 120.0  # 1.6 s were seen; a cold disk and 200 tasks take longer

POLL_SECONDS: Final = 0.5

# Nothing is read from the entry: at the first reload it still held the repositories of before.
_RELOAD: Final = """
mutation ($name: String!) { reloadRepositoryLocation(repositoryLocationName: $name) { __typename
  ... on ReloadNotSupported { message }
  ... on RepositoryLocationNotFound { message }
  ... on UnauthorizedError { message }
  ... on PythonError { message } } }
"""


@dataclass(frozen=True, slots=True)
class Reloaded:
    """What Dagster has after a reload: names of the tasks it can run, and how long it took."""

    tasks: frozenset[str]
    seconds: float


def reload_code(settings: Settings) -> Reloaded:
    """Reload every code location of the hub's Dagster; raises Unreachable when it does not load."""
    begun = time.monotonic()
    state = ask_code(settings.dagster_url, seconds=ASK_SECONDS)
    names = sorted({*state.loaded, *state.loading, *(state.failed or {})})
    if not names:
        raise Unreachable(f"the Dagster at {settings.dagster_url} knows no code location; see `argus status`")
    for name in names:
        answer = ask_dagster(settings.dagster_url, _RELOAD, {"name": name}, seconds=RELOAD_SECONDS)
        entry = answer["reloadRepositoryLocation"]
        if entry["__typename"] != "WorkspaceLocationEntry":
            raise _not_loaded(name, str(entry.get("message") or entry["__typename"]))
    _wait_loaded(settings.dagster_url, begun + RELOAD_SECONDS)
    return Reloaded(find_tasks(settings.dagster_url, seconds=RELOAD_SECONDS), time.monotonic() - begun)


def _wait_loaded(url: str, end: float) -> None:
    """Until no location is loading any more; raises Unreachable with the error of one that does not load."""
    while True:
        state = ask_code(url, seconds=ASK_SECONDS)
        for name, error in (state.failed or {}).items():
            raise _not_loaded(name, error)
        if not state.loading:
            return
        if time.monotonic() > end:
            raise _not_loaded(", ".join(state.loading), f"still loading after {RELOAD_SECONDS:g} s")
        time.sleep(POLL_SECONDS)


def _not_loaded(name: str, error: str) -> Unreachable:
    first = next((line.strip() for line in error.splitlines() if line.strip()), "no reason given")
    return Unreachable(f"Dagster did not load the code location {name} again ({first[:240]}); see `argus status`")
