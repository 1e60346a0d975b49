"""The one table of what runs: the supervisor starts from it, and a test holds compose.yaml against it.

Order is the order of starting; stopping goes the other way. `{…}` in a command is filled from Addresses.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Health(StrEnum):
    """How a service is asked whether it works."""

    POSTGRES = "postgres"  # a login and `select 1`
    HTTP = "http"  # any HTTP answer below 500, or a 503 of /healthz: the process lives
    DAGSTER = "dagster"  # HTTP, and the webserver's word that the code is loaded and its sensors run
    PORT = "port"  # something accepts a connection
    HEARTBEAT = "heartbeat"  # the daemons' rows in dagster.daemon_heartbeats are young


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where the services of one hub listen."""

    api_host: str
    api_port: int
    dagster_host: str
    dagster_port: int
    code_host: str
    code_port: int
    workspace: str

    def fill(self, part: str) -> str:
        return part.format(**{name: getattr(self, name) for name in self.__slots__})


@dataclass(frozen=True, slots=True)
class Service:
    """One long-running process. `command` follows the Python interpreter; `path` is asked for over HTTP."""

    name: str
    command: tuple[str, ...]
    health: Health
    host: str
    port: str
    path: str = ""

    def argv(self, python: str, addresses: Addresses) -> list[str]:
        return [python, *(addresses.fill(part) for part in self.command)]


SERVICES: tuple[Service, ...] = (
    Service(
        "api",
        (
            "-m", "uvicorn", "argus_api.app:create_app", "--factory",
            "--host", "{api_host}", "--port", "{api_port}",
            "--no-access-log", "--no-server-header", "--timeout-graceful-shutdown", "5",
        ),
        Health.HTTP, "{api_host}", "{api_port}", "/healthz",
    ),
    Service(
        "code",
        (
            "-m", "dagster", "code-server", "start", "-m", "argus_assets.definitions",
            "-h", "{code_host}", "-p", "{code_port}", "--log-level", "warning",
        ),
        Health.PORT, "{code_host}", "{code_port}",
    ),
    Service(
        "daemon",
        ("-m", "dagster._daemon", "run", "-w", "{workspace}"),
        Health.HEARTBEAT, "", "",
    ),
    Service(
        "webserver",
        ("-m", "dagster_webserver", "-h", "{dagster_host}", "-p", "{dagster_port}", "-w", "{workspace}"),
        Health.DAGSTER, "{dagster_host}", "{dagster_port}", "/server_info",
    ),
)

# One process that ends, before any service: both schemas brought up to date. Orphaned runs are closed by it here;
# in containers the `code` container, which hosts the runs, does it whenever it starts.
PREPARE = ("-m", "argus_cli.prepare")
CLOSE_ORPHANS = "--close-orphans"

# The containers' addresses: every interface of the container, and only published on the host's loopback.
IN_CONTAINERS = Addresses(
    api_host="0.0.0.0",  # noqa: S104
    api_port=8484,
    dagster_host="0.0.0.0",  # noqa: S104
    dagster_port=3000,
    code_host="0.0.0.0",  # noqa: S104
    code_port=4000,
    workspace="/opt/argus/workspace.yaml",
)

# What containers call each other by: the names of their services.
CODE_IN_CONTAINERS = "code"
DAGSTER_IN_CONTAINERS = f"http://webserver:{IN_CONTAINERS.dagster_port}"

# What every service gets beside the addresses: no telemetry, no price list fetched at import.
QUIET = {
    "DAGSTER_DISABLE_TELEMETRY": "1",
    "DO_NOT_TRACK": "1",
    "GX_ANALYTICS_ENABLED": "false",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_TELEMETRY": "False",
}
