"""Tasks in Dagster, over the webserver's GraphQL: which of them it can run, and starting one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from argus_memory.settings import Settings
from argus_memory.tasks.names import ASSET_GROUP, TASKS_JOB, asset_key
from argus_memory.watch.dagster_launch import REQUEST_SECONDS, ask_dagster, launch_job

_TASKS: Final = """
query { repositoriesOrError { __typename
  ... on RepositoryConnection { nodes { assetNodes { assetKey { path } jobNames } } }
  ... on PythonError { message } } }
"""


def find_tasks(url: str, *, seconds: float = REQUEST_SECONDS) -> frozenset[str]:
    """Names of the tasks that the Dagster there can run; raises Unreachable where there is none."""
    nodes = ask_dagster(url, _TASKS, {}, seconds=seconds)["repositoriesOrError"].get("nodes", [])
    assets = [(asset["assetKey"]["path"], asset["jobNames"]) for node in nodes for asset in node["assetNodes"]]
    return frozenset(str(path[-1]) for path, jobs in assets if path[0] == ASSET_GROUP and TASKS_JOB in jobs)


def launch_task(settings: Settings, name: str, *, tags: Mapping[str, str] | None = None) -> str:
    """Queue a run of the task and return its id; raises Unreachable as launch_job does."""
    return launch_job(settings, TASKS_JOB, tags=tags, assets=[asset_key(name)])
