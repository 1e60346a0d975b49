"""A job is started and waited for over GraphQL."""

from __future__ import annotations

from dataclasses import replace

import pytest

from argus_memory.errors import Unreachable
from argus_memory.settings import Settings, load_settings
from argus_memory.watch.dagster_launch import launch_job, run_url, runs_at_work, wait_run
from tests.stubs.dagster_server import DagsterServer


def settings_for(server: DagsterServer) -> Settings:
    return load_settings({"ARGUS_HOME": "/nowhere", "ARGUS_DAGSTER_PORT": str(server.port)})


def test_another_address_is_asked_and_the_page_is_the_published_one() -> None:
    """With ARGUS_DAGSTER_URL, as in containers, Dagster is asked there, while a run's page is on this machine."""
    with DagsterServer() as server:
        apart = replace(settings_for(server), dagster_port=3999, dagster_url=f"http://localhost:{server.port}")
        run = launch_job(apart, "process_memory")
    assert run_url(apart, run) == f"http://127.0.0.1:3999/runs/{run}"


def test_a_job_is_launched_where_the_webserver_has_it() -> None:
    """The launch names location, repository, job, configuration and tags, and gives the run's id."""
    with DagsterServer() as server:
        run = launch_job(settings_for(server), "process_memory", run_config={"a": 1}, tags={"why": "asked"})
        assert run == "run-1"
        assert run_url(settings_for(server), run).endswith(f":{server.port}/runs/run-1")
    assert server.launched == [
        {
            "selector": {
                "repositoryLocationName": "argus",
                "repositoryName": "__repository__",
                "jobName": "process_memory",
            },
            "runConfigData": {"a": 1},
            "executionMetadata": {"tags": [{"key": "why", "value": "asked"}]},
        }
    ]


def test_waiting_ends_with_the_run() -> None:
    """Every change of state is told once, and the last one returned."""
    told: list[str] = []
    with DagsterServer(states=("QUEUED", "STARTED", "STARTED", "FAILURE")) as server:
        status = wait_run(settings_for(server), "run-1", on_status=told.append, poll_seconds=0.01)
    assert (status, told) == ("FAILURE", ["QUEUED", "STARTED", "FAILURE"])


def test_waiting_has_an_end() -> None:
    """When the time is over, the sentence says that the run goes on, and where."""
    with DagsterServer(states=("STARTED",)) as server, pytest.raises(Unreachable, match=r"still started.*goes on"):
        wait_run(settings_for(server), "run-1", timeout_seconds=0.05, poll_seconds=0.01)


def test_runs_at_work_are_named() -> None:
    """Queued and running runs of the job come back by id."""
    with DagsterServer() as server:
        server.at_work = ["run-7"]
        assert runs_at_work(settings_for(server), "process_memory") == ["run-7"]


def test_what_is_wrong_is_said_in_a_sentence() -> None:
    """A refused launch, an unknown job, a server error and a closed port each raise Unreachable with the reason."""
    with DagsterServer() as server:
        known = settings_for(server)
        with pytest.raises(Unreachable, match="does not know the job other"):
            launch_job(known, "other")
        server.refuse = "the code\ndoes not load"
        with pytest.raises(Unreachable, match="did not start process_memory: the code does not load"):
            launch_job(known, "process_memory")
        server.broken = True
        with pytest.raises(Unreachable, match="HTTP 500"):
            launch_job(known, "process_memory")
    with pytest.raises(Unreachable, match="cannot be reached"):
        launch_job(known, "process_memory")
