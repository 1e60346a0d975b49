"""compose.yaml and Dockerfile against the supervisor's service table, as far as that goes without an engine."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

from argus_cli import compose_env
from argus_cli.dagster_url import dagster_url
from argus_cli.home import Home
from argus_cli.service_environment import service_environment
from argus_cli.service_table import (
    CODE_IN_CONTAINERS,
    DAGSTER_IN_CONTAINERS,
    IN_CONTAINERS,
    PREPARE,
    SERVICES,
    Service,
)

ROOT = Path(__file__).resolve().parents[3]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text())
CONTAINERS: dict[str, Any] = COMPOSE["services"]


def test_the_containers_are_the_table_the_database_and_the_migration() -> None:
    """No service is missing, none is too many."""
    assert list(CONTAINERS) == ["postgres", "migrate", *(service.name for service in SERVICES)]


@pytest.mark.parametrize("service", SERVICES, ids=lambda service: service.name)
def test_commands_are_those_of_the_supervisor(service: Service) -> None:
    """The same words with the containers' addresses; `code` first closes the runs that died with it."""
    expected = service.argv("python", IN_CONTAINERS)
    if service.name == "code":
        expected = ["python", "-m", "argus_cli.close_orphans", *expected]
    assert CONTAINERS[service.name]["command"] == expected


def test_the_migration_is_the_supervisors() -> None:
    """The one-shot runs prepare.py and is not started again."""
    assert CONTAINERS["migrate"]["command"] == ["python", *PREPARE]
    assert CONTAINERS["migrate"]["restart"] == "no"


@pytest.mark.parametrize("service", SERVICES, ids=lambda service: service.name)
def test_health_checks_ask_the_same_probes(service: Service) -> None:
    """Each container asks container_health for its own row of the table."""
    test = CONTAINERS[service.name]["healthcheck"]["test"]
    assert test == ["CMD", "python", "-m", "argus_cli.container_health", service.name]


@pytest.mark.parametrize("name", ["migrate", *(service.name for service in SERVICES)])
def test_settings_are_those_of_the_supervisor(name: str) -> None:
    """Every variable the supervisor sets is set to the same value; the addresses are the containers'."""
    environment = CONTAINERS[name]["environment"]
    dsn = environment["ARGUS_DATABASE_URL"]
    made = service_environment({}, Home(Path(environment["ARGUS_HOME"])), dsn, IN_CONTAINERS)
    for variable in set(made) - {"ARGUS_DAGSTER_DATABASE_URL", "ARGUS_CODE_HOST"}:
        assert environment[variable] == made[variable], variable
    assert environment["ARGUS_CODE_HOST"] == CODE_IN_CONTAINERS
    # compose asks for the password once; the other mention is the same variable without the question
    plain = dsn.replace(":?run python3 -m argus_cli.compose_env", "")
    assert environment["ARGUS_DAGSTER_DATABASE_URL"] == dagster_url(plain)


def test_the_api_reaches_dagster_in_its_own_container() -> None:
    """The address names the webserver's container and port; a run's page is told with the published port."""
    environment = CONTAINERS["api"]["environment"]
    assert environment["ARGUS_DAGSTER_URL"] == DAGSTER_IN_CONTAINERS
    url = urlsplit(DAGSTER_IN_CONTAINERS)
    assert url.hostname in CONTAINERS
    assert CONTAINERS[url.hostname]["ports"] == [f"127.0.0.1:{environment['ARGUS_DAGSTER_PORT']}:{url.port}"]
    assert CODE_IN_CONTAINERS in CONTAINERS


def test_ports_are_published_on_loopback_only() -> None:
    """API and Dagster UI, and nothing else: not the database, not the code server."""
    published = {name: row["ports"] for name, row in CONTAINERS.items() if "ports" in row}
    assert set(published) == {"api", "webserver"}
    for ports in published.values():
        assert all(port.startswith("127.0.0.1:") for port in ports)


def test_order_of_starting_is_the_supervisors() -> None:
    """Database, migration, then API and code server, then daemon and webserver."""
    needs = {name: row.get("depends_on", {}) for name, row in CONTAINERS.items()}
    assert needs["migrate"] == {"postgres": {"condition": "service_healthy"}}
    for name in ("api", "code"):
        assert needs[name] == {"migrate": {"condition": "service_completed_successfully"}}
    for name in ("daemon", "webserver"):
        assert needs[name] == {"code": {"condition": "service_healthy"}}


def test_our_containers_have_no_rights_to_spare() -> None:
    """No capability, no new privileges, a root file system that cannot be written, a user who is not root."""
    for name, row in CONTAINERS.items():
        if name != "postgres":
            assert row["cap_drop"] == ["ALL"], name
            assert row["read_only"] is True, name
            assert row["security_opt"] == ["no-new-privileges:true"], name
    final = (ROOT / "Dockerfile").read_text().split("\nFROM ")[-1]
    assert "\nUSER argus\n" in final


def test_the_image_and_files_the_containers_name_are_there() -> None:
    """The mounted script exists and is executable; the image takes along every file the processes read."""
    script = ROOT / "containers" / "postgres-init.sh"
    assert f"./{script.relative_to(ROOT)}:" in CONTAINERS["postgres"]["volumes"][1]
    assert script.stat().st_mode & stat.S_IXUSR
    kept = [line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    for name in ("argus_api", "argus_assets", "argus_cli", "argus_memory", "migrations", "dagster.yaml",
                 "workspace.yaml", "constraints.txt", "pyproject.toml"):  # fmt: skip
        assert name in kept
    assert ".env" in (ROOT / ".dockerignore").read_text().splitlines()


def test_the_secrets_file_is_made_once_and_private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every variable compose demands is written, mode 0600; an existing file is kept."""
    monkeypatch.setattr(compose_env, "PROJECT_ROOT", tmp_path)
    compose_env.main()
    text = (tmp_path / ".env").read_text()
    demanded = {part.split(":?")[0] for part in (ROOT / "compose.yaml").read_text().split("${") if ":?" in part[:40]}
    assert {line.split("=")[0] for line in text.splitlines()} == demanded
    assert stat.S_IMODE((tmp_path / ".env").stat().st_mode) == 0o600
    compose_env.main()
    assert (tmp_path / ".env").read_text() == text
