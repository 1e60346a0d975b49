"""The environment every service of a hub gets."""

from __future__ import annotations

from collections.abc import Mapping

from argus_cli.dagster_url import dagster_url
from argus_cli.home import Home
from argus_cli.service_table import QUIET, Addresses

# glibc gives each thread an arena of its own; Dagster's many threads then hold memory they do not use.
ARENAS = "2"


def service_environment(
    given: Mapping[str, str], home: Home, dsn: str, addresses: Addresses
) -> dict[str, str]:
    """`given` with the hub's own variables over it.

    Every DAGSTER_ variable of the caller is left out (DAGSTER_HOME of another project, for one), and so is
    PYTHONDONTWRITEBYTECODE: without pyc files each run compiles what it imports.
    """
    kept = {
        name: value
        for name, value in given.items()
        if not name.startswith("DAGSTER_") and name != "PYTHONDONTWRITEBYTECODE"
    }
    return {
        "MALLOC_ARENA_MAX": ARENAS,
        **kept,
        **QUIET,
        "PYTHONUNBUFFERED": "1",
        "ARGUS_HOME": str(home.root),
        "ARGUS_DATABASE_URL": dsn,
        "ARGUS_DAGSTER_DATABASE_URL": dagster_url(dsn),
        "ARGUS_CODE_HOST": addresses.code_host,
        "ARGUS_CODE_PORT": str(addresses.code_port),
        "DAGSTER_HOME": str(home.dagster),
    }
