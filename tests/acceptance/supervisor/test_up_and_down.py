"""The life of a hub, in order: up, refusals, deaths, stop, up again, a killed supervisor. One home throughout."""

from __future__ import annotations

import json
import os
import signal
import stat
import time
from pathlib import Path

import psycopg
import pytest

from argus_cli.ports import find_free_port, port_is_free
from argus_cli.service_table import SERVICES
from argus_memory.settings import read_env_file
from tests.acceptance.hub import Hub
from tests.helpers import wait_until

ALL = ["postgres", *(service.name for service in SERVICES)]
RESTART_SECONDS = 90.0
STOP_LIMIT_SECONDS = 15.0


@pytest.fixture(scope="module", autouse=True)
def started(hub: Hub) -> None:
    hub.start()


def test_up_says_one_line_for_each_service_and_the_addresses(hub: Hub) -> None:
    """`argus up` prints when each service is ready, and ends with both addresses."""
    lines = hub.text().splitlines()
    for name in ALL:
        assert len([line for line in lines if line.startswith(f"{name:<10} ready")]) == 1
    assert f"http://127.0.0.1:{hub.api_port}" in lines[-1]
    assert f"http://127.0.0.1:{hub.dagster_port}" in lines[-1]


def test_status_is_well_and_machine_readable(hub: Hub) -> None:
    """`argus status --json` names every service as ok and exits 0."""
    wait_until(lambda: hub.status()[0] == 0, seconds=30, step=0.5)
    code, answer = hub.status()
    assert code == 0
    assert answer["status"] == "ok"
    assert [name for name, row in answer["services"].items() if row["status"] == "ok"] == ["supervisor", *ALL]


def test_tokens_are_made_and_private(hub: Hub) -> None:
    """The first start writes three tokens into the env file, closed to others, and never prints them."""
    env = hub.home / "env"
    assert stat.S_IMODE(env.stat().st_mode) == 0o600
    tokens = read_env_file(env)
    assert set(tokens) == {"ARGUS_CAPTURE_TOKEN", "ARGUS_MCP_TOKEN", "ARGUS_ADMIN_TOKEN"}
    assert not [token for token in tokens.values() if token in hub.text()]


def test_dsn_opens_the_database_as_an_ordinary_role(hub: Hub) -> None:
    """`argus dsn` prints an address that psql can use, of a role that is no superuser; a row is left in it."""
    with psycopg.connect(hub.argus("dsn").stdout.strip()) as connection:
        row = connection.execute(
            "select rolsuper, current_setting('fsync') from pg_roles where rolname = current_user"
        ).fetchone()
        assert row == (False, "on")
        connection.execute("create table keepsake (word text)")
        connection.execute("insert into keepsake values ('kept')")


@pytest.mark.parametrize("words", [["up"], ["up", "--detach"]], ids=" ".join)
def test_a_second_instance_on_the_home_is_refused(hub: Hub, words: list[str]) -> None:
    """`argus up` on a home that is taken ends with exit 2 and one sentence that names the process."""
    done = hub.argus(*words)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert f"process {hub.pids()['supervisor']}" in done.stderr


def test_doctor_finds_a_captured_turn_again(hub: Hub) -> None:
    """`argus doctor --json` on a running hub: the database is in order, and a canary goes in and is found."""
    findings = {row["name"]: row for row in json.loads(hub.argus("doctor", "--json").stdout)["findings"]}
    for name in ("platform", "versions", "file modes", "role", "fsync", "pgvector", "migrations", "capture → search"):
        assert findings[name]["status"] == "ok", findings[name]


def test_a_taken_port_is_told_before_anything_starts(hub: Hub, tmp_path: Path) -> None:
    """Another home with the same API port: exit 3, one sentence with the variable, and no process or cluster."""
    other = Hub(tmp_path / "home", hub.api_port, find_free_port())
    done = other.argus("up")
    assert done.returncode == 3
    assert done.stderr.count("\n") == 1
    assert "ARGUS_API_PORT" in done.stderr
    assert not (other.home / "postgres").exists()


def test_what_is_killed_is_started_again(hub: Hub) -> None:
    """SIGKILL on every service, Postgres among them: each comes back as a new process, and it is said."""
    before = hub.pids()
    for name in ALL:
        os.kill(before[name], signal.SIGKILL)
    wait_until(
        lambda: hub.status()[0] == 0 and not set(hub.pids().values()) & {before[name] for name in ALL},
        seconds=RESTART_SECONDS,
        step=0.5,
    )
    hub.look()
    _, answer = hub.status()
    for name in ALL:
        assert answer["services"][name]["restarts"] >= 1, name
        assert f"{name:<10} ended" in hub.text(), name


def test_a_killed_supervisor_takes_its_children_along(hub: Hub) -> None:
    """SIGKILL on the supervisor leaves no process behind; status then says so with exit 3."""
    assert hub.process is not None
    hub.look()
    hub.process.kill()
    hub.process.wait()
    wait_until(lambda: not hub.left(), seconds=STOP_LIMIT_SECONDS)
    done = hub.argus("status")
    assert done.returncode == 3
    assert "argus up" in done.stdout


def test_detached_it_comes_back_with_every_row(hub: Hub) -> None:
    """`argus up --detach` returns when everything answers, and what was stored before the crash is there."""
    done = hub.argus("up", "--detach")
    assert done.returncode == 0, done.stdout + done.stderr
    hub.look()
    with psycopg.connect(hub.argus("dsn").stdout.strip()) as connection:
        assert connection.execute("select word from keepsake").fetchall() == [("kept",)]


def test_down_frees_everything_in_time(hub: Hub) -> None:
    """`argus down` (SIGTERM) ends all services within 15 s; no process and no port is left."""
    begun = time.monotonic()
    assert hub.argus("down").returncode == 0
    assert time.monotonic() - begun < STOP_LIMIT_SECONDS
    wait_until(lambda: not hub.left(), seconds=2)
    assert port_is_free(hub.api_port)
    assert port_is_free(hub.dagster_port)


def test_down_without_a_hub_is_content(hub: Hub) -> None:
    """There is nothing to stop: exit 0."""
    assert hub.argus("down").returncode == 0
