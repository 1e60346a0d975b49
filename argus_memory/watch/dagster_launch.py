"""Start a Dagster job and wait for it, over the webserver's GraphQL; standard library, no dagster.

The webserver has no authentication; it is asked at ARGUS_DAGSTER_URL, on the loopback or between containers.
Everything here raises Unreachable when it does not answer or does not know the job, with the sentence for a person.
"""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from argus_memory.errors import Unreachable
from argus_memory.settings import Settings

REQUEST_SECONDS = 30.0  # a launch asks the code server, which may be loading
POLL_SECONDS = 0.5
AT_WORK = ("QUEUED", "NOT_STARTED", "STARTING", "STARTED", "CANCELING")

_FIND_JOB = """
query { repositoriesOrError { __typename
  ... on RepositoryConnection { nodes { name location { name } jobs { name } } }
  ... on PythonError { message } } }
"""
_LAUNCH = """
mutation ($params: ExecutionParams!) { launchRun(executionParams: $params) { __typename
  ... on LaunchRunSuccess { run { runId } }
  ... on RunConfigValidationInvalid { errors { message } }
  ... on PipelineNotFoundError { message }
  ... on InvalidSubsetError { message }
  ... on UnauthorizedError { message }
  ... on PythonError { message } } }
"""
_STATUS = """
query ($run: ID!) { runOrError(runId: $run) { __typename
  ... on Run { status }
  ... on RunNotFoundError { message }
  ... on PythonError { message } } }
"""
_AT_WORK = """
query ($filter: RunsFilter!) { runsOrError(filter: $filter, limit: 20) { __typename
  ... on Runs { results { runId } }
  ... on PythonError { message } } }
"""


@dataclass(frozen=True, slots=True)
class JobPlace:
    """Where the webserver has a job."""

    location: str
    repository: str
    job: str


def run_url(settings: Settings, run_id: str) -> str:
    """The page of a run in the Dagster UI, as a browser on this machine reaches it: a container asks elsewhere."""
    return f"http://127.0.0.1:{settings.dagster_port}/runs/{run_id}"


def launch_job(
    settings: Settings,
    job: str,
    *,
    run_config: Mapping[str, Any] | None = None,
    tags: Mapping[str, str] | None = None,
    steps: Sequence[str] = (),
    assets: Sequence[Sequence[str]] = (),
) -> str:
    """Queue one run of `job`, or of these steps or assets (parts of a key) of it alone, and return its id."""
    place = find_job(settings, job)
    params = {
        "selector": {
            "repositoryLocationName": place.location,
            "repositoryName": place.repository,
            "jobName": job,
            **({"solidSelection": list(steps)} if steps else {}),
            **({"assetSelection": [{"path": list(key)} for key in assets]} if assets else {}),
        },
        "runConfigData": dict(run_config or {}),
        "executionMetadata": {"tags": [{"key": key, "value": value} for key, value in (tags or {}).items()]},
    }
    answer = _ask(settings, _LAUNCH, {"params": params})["launchRun"]
    if answer["__typename"] != "LaunchRunSuccess":
        raise Unreachable(f"Dagster did not start {job}: {_reason(answer)}")
    return str(answer["run"]["runId"])


def find_job(settings: Settings, job: str) -> JobPlace:
    """The location and repository that hold `job`."""
    answer = _ask(settings, _FIND_JOB, {})["repositoriesOrError"]
    for node in answer.get("nodes", []):
        if any(each["name"] == job for each in node["jobs"]):
            return JobPlace(node["location"]["name"], node["name"], job)
    raise Unreachable(
        f"the Dagster at {settings.dagster_url} does not know the job {job}"
        " (another program's, or its code does not load): see `argus status`"
    )


def run_status(settings: Settings, run_id: str) -> str:
    """Dagster's word for the run's state: QUEUED, STARTED, SUCCESS, FAILURE, CANCELED, …"""
    answer = _ask(settings, _STATUS, {"run": run_id})["runOrError"]
    if answer["__typename"] != "Run":
        raise Unreachable(f"Dagster does not know run {run_id}: {_reason(answer)}")
    return str(answer["status"])


def runs_at_work(settings: Settings, job: str) -> list[str]:
    """Ids of the job's runs that are queued or running."""
    answer = _ask(settings, _AT_WORK, {"filter": {"pipelineName": job, "statuses": list(AT_WORK)}})["runsOrError"]
    return [str(run["runId"]) for run in answer.get("results", [])]


def wait_run(
    settings: Settings,
    run_id: str,
    *,
    timeout_seconds: float | None = None,
    on_status: Callable[[str], None] | None = None,
    poll_seconds: float = POLL_SECONDS,
) -> str:
    """Wait until the run has ended and return its last state; `on_status` hears of every change.

    Raises Unreachable when the time is over (the run goes on) or the webserver is gone.
    """
    end = None if timeout_seconds is None else time.monotonic() + timeout_seconds
    known = ""
    while True:
        status = run_status(settings, run_id)
        if status != known:
            known = status
            if on_status:
                on_status(status)
        if status not in AT_WORK:
            return status
        if end is not None and time.monotonic() >= end:
            raise Unreachable(
                f"run {run_id} is still {status.lower()} after {timeout_seconds:g} s; it goes on:"
                f" {run_url(settings, run_id)}"
            )
        time.sleep(poll_seconds)


def _ask(settings: Settings, query: str, variables: Mapping[str, Any]) -> dict[str, Any]:
    return ask_dagster(settings.dagster_url, query, variables, seconds=REQUEST_SECONDS)


def ask_dagster(url: str, query: str, variables: Mapping[str, Any], *, seconds: float) -> dict[str, Any]:
    """The `data` of one GraphQL answer; raises Unreachable where there is none within `seconds`."""
    address = f"{url}/graphql"
    request = urllib.request.Request(  # noqa: S310  an address of our own making
        address,
        json.dumps({"query": query, "variables": variables}).encode(),
        {"Content-Type": "application/json"},
    )
    # Without proxies: the address is this machine's or its containers' own.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=seconds) as response:
            answer = json.loads(response.read())
    except urllib.error.HTTPError as error:
        raise Unreachable(f"Dagster at {address} answers HTTP {error.code}; see `argus status`") from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", error)
        raise Unreachable(f"Dagster cannot be reached at {address} ({reason}); see `argus status`") from error
    if not isinstance(answer, dict) or not isinstance(answer.get("data"), dict):
        raise Unreachable(f"what answers at {address} is no Dagster of this version: {_reason(answer)}")
    return dict(answer["data"])


def _reason(answer: object) -> str:
    """The first error in an answer, on one line."""
    if isinstance(answer, Mapping):
        errors = answer.get("errors") or []
        text = answer.get("message") or (errors[0].get("message") if errors else None) or answer.get("__typename")
        return " ".join(str(text).split())[:300]
    return type(answer).__name__
