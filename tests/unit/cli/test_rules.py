"""The pure rules around the supervisor: pauses, verdicts, addresses, environment, modes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus_cli import probes, restart_rule
from argus_cli.dagster_url import dagster_url
from argus_cli.home import Home
from argus_cli.platform_check import check_platform, check_python
from argus_cli.postgres_place import Owner, may_walk
from argus_cli.service_environment import service_environment
from argus_cli.service_table import IN_CONTAINERS, SERVICES, Health, Service
from argus_cli.service_watch import answers_anew, fault_of
from argus_cli.status_command import exit_code
from argus_memory.errors import Unreachable
from tests.stubs.dagster_server import DagsterServer

BEATS = dict.fromkeys(probes.WATCHED_DAEMONS, 3.0)


def test_pauses_grow_to_a_minute() -> None:
    """1, 2, 4, 8, 16, 32, then 60 seconds each time."""
    assert [restart_rule.pause_before(deaths) for deaths in range(1, 10)] == [1, 2, 4, 8, 16, 32, 60, 60, 60]


@given(st.integers(0, 1000), st.floats(0, 1e6))
def test_a_long_life_wipes_out_earlier_deaths(before: int, lived: float) -> None:
    """The count of deaths in a row starts again after a stable life, and grows by one otherwise."""
    after = restart_rule.deaths_in_row(before, lived)
    assert after == (1 if lived >= restart_rule.STABLE_SECONDS else before + 1)


def test_only_a_lasting_silence_counts_as_hung() -> None:
    """One probe without an answer, after a laptop slept for instance, restarts nothing."""
    assert not restart_rule.is_hung(restart_rule.SILENT_PROBES - 1)
    assert restart_rule.is_hung(restart_rule.SILENT_PROBES)


def test_young_heartbeats_are_well() -> None:
    """All watched daemons beaten within two minutes: ok."""
    assert probes.judge_heartbeats({**BEATS, "SENSOR": 119.0}).status == "ok"


@pytest.mark.parametrize("name", probes.WATCHED_DAEMONS)
def test_one_old_or_absent_heartbeat_is_a_failure_that_names_it(name: str) -> None:
    """A daemon that went silent is named, whichever it is."""
    old = probes.judge_heartbeats({**BEATS, name: 121.0})
    absent = probes.judge_heartbeats({kind: age for kind, age in BEATS.items() if kind != name})
    for probe in (old, absent):
        assert probe.status == "failed"
        assert probe.answered is False
        assert name in probe.detail


def test_a_heartbeat_of_the_process_before_does_not_make_this_one_ready() -> None:
    """A daemon that started 4 s ago is not ready by a beat of 20 s ago."""
    daemon = next(service for service in SERVICES if service.health is Health.HEARTBEAT)
    probe = probes.judge_heartbeats({**BEATS, "SENSOR": 20.0})
    assert not answers_anew(daemon, probe, age_seconds=4.0)
    assert answers_anew(daemon, probe, age_seconds=25.0)


@pytest.mark.parametrize(
    ("code", "body", "status"),
    [
        (200, b"<html>", "ok"),
        (200, json.dumps({"status": "ok", "checks": {}}).encode(), "ok"),
        (200, json.dumps({"status": "degraded", "checks": {}}).encode(), "warn"),
        (503, json.dumps({"status": "down", "checks": {}}).encode(), "failed"),
        (500, b"oops", "failed"),
        (200, b"{broken", "ok"),
    ],
)
def test_an_http_answer_is_a_sign_of_life_whatever_it_says(code: int, body: bytes, status: str) -> None:
    """The verdict follows code and body; the process counts as alive in each case, so it is not restarted."""
    probe = probes.judge_answer(code, body, "http://127.0.0.1:1")
    assert probe.status == status
    assert probe.answered


def test_a_webserver_without_code_is_failed_though_it_answers() -> None:
    """The probe shows the error's first line and a stopped sensor, and asks for no restart; well again, it is ok."""
    service = next(service for service in SERVICES if service.health is Health.DAGSTER)
    with DagsterServer() as server:
        here = replace(IN_CONTAINERS, dagster_host="127.0.0.1", dagster_port=server.port)
        well = probes.probe_service(service, here, "")
        server.code_error = "ImportError: no plumbing\n  File …"
        broken = probes.probe_service(service, here, "")
        server.code_error, server.stopped = None, ["pending_memory"]
        stopped = probes.probe_service(service, here, "")
    assert (well.status, fault_of(service, well)) == ("ok", "")
    assert (broken.status, broken.answered) == ("failed", True)
    assert fault_of(service, broken) == broken.detail
    assert "argus does not load (ImportError: no plumbing)" in broken.detail
    assert (stopped.status, "pending_memory" in stopped.detail, fault_of(service, stopped)) == ("warn", True, "")
    gone = probes.probe_service(service, here, "")
    assert (gone.answered, fault_of(service, gone)) == (False, "")


def test_a_webserver_that_cannot_be_asked_for_its_code_is_a_warning() -> None:
    """Its page answers and its GraphQL does not: not ok, and no reason to restart it."""
    service = next(service for service in SERVICES if service.health is Health.DAGSTER)
    with DagsterServer() as server:
        server.broken = True
        here = replace(IN_CONTAINERS, dagster_host="127.0.0.1", dagster_port=server.port)
        probe = probes.probe_service(service, here, "")
    assert (probe.status, probe.answered, "HTTP 500" in probe.detail) == ("warn", True, True)


@pytest.mark.parametrize(
    ("statuses", "code"),
    [
        ({"supervisor": "ok", "postgres": "ok", "api": "ok"}, 0),
        ({"supervisor": "ok", "postgres": "ok", "api": "warn"}, 1),
        ({"supervisor": "ok", "postgres": "ok", "api": "failed"}, 1),
        ({"supervisor": "ok", "postgres": "ok", "daemon": "unknown"}, 1),
        ({"supervisor": "ok", "postgres": "failed", "api": "ok"}, 3),
        ({"supervisor": "failed"}, 3),
    ],
)
def test_status_exit_codes(statuses: dict[str, str], code: int) -> None:
    """0 all well, 1 degraded, 3 without supervisor or database."""
    assert exit_code(statuses) == code


def test_the_dagster_address_names_its_driver_and_schema() -> None:
    """SQLAlchemy must be told psycopg2, and the tables go into a schema of their own."""
    url = dagster_url("postgresql://argus:p%40ss@db:5433/argus?sslmode=require&options=-c%20timezone%3DUTC")
    parts = urlsplit(url)
    assert parts.scheme == "postgresql+psycopg2"
    assert parts.netloc == "argus:p%40ss@db:5433"
    assert dict(parse_qsl(parts.query)) == {
        "sslmode": "require",
        "options": "-c timezone=UTC -csearch_path=dagster",
    }
    assert "+" not in parts.query  # libpq reads a plus as a plus


def test_services_get_no_foreign_dagster_settings_and_no_telemetry() -> None:
    """DAGSTER_ variables of the caller and PYTHONDONTWRITEBYTECODE stay out; the quiet ones are in."""
    given_ = {"DAGSTER_HOME": "/elsewhere", "DAGSTER_X": "1", "PYTHONDONTWRITEBYTECODE": "1", "PATH": "/bin"}
    made = service_environment(given_, Home(Path("/h")), "postgresql://a:b@c/d", IN_CONTAINERS)
    assert made["DAGSTER_HOME"] == "/h/dagster"
    assert made["PATH"] == "/bin"
    assert not {"DAGSTER_X", "PYTHONDONTWRITEBYTECODE"} & set(made)
    assert made["LITELLM_LOCAL_MODEL_COST_MAP"] == "True"
    assert made["DAGSTER_DISABLE_TELEMETRY"] == "1"


@pytest.mark.parametrize("service", SERVICES, ids=lambda service: service.name)
def test_every_command_of_the_table_is_filled(service: Service) -> None:
    """No placeholder is left in a command line."""
    argv = service.argv("python", IN_CONTAINERS)
    assert argv[0] == "python"
    assert not [part for part in argv if "{" in part]


@pytest.mark.parametrize(
    ("mode", "owner", "group", "walks"),
    [
        (0o700, 5, 5, True),  # its own folder
        (0o077, 5, 5, False),  # its own folder, closed to itself
        (0o710, 0, 5, True),
        (0o701, 0, 5, False),  # the group's bits decide for its group
        (0o711, 0, 0, True),
        (0o750, 0, 0, False),
    ],
)
def test_who_may_walk_through_a_folder(mode: int, owner: int, group: int, walks: bool) -> None:
    """Owner, then group, then the rest: the first that fits decides, as in the kernel."""
    assert may_walk(mode, owner, group, Owner(5, 5)) is walks


@pytest.mark.parametrize(("system", "machine"), [("Windows", "AMD64"), ("Darwin", "x86_64"), ("Linux", "riscv64")])
def test_unsupported_platforms_are_refused_in_one_sentence(system: str, machine: str) -> None:
    """The sentence names the machine found."""
    with pytest.raises(Unreachable, match=f"{system} on {machine}"):
        check_platform(system, machine)


@pytest.mark.parametrize("version", [(3, 10), (3, 14)])
def test_unsupported_pythons_are_refused(version: tuple[int, int]) -> None:
    """Python before 3.11 and from 3.14 on."""
    with pytest.raises(Unreachable, match="PYTHON="):
        check_python(version)
