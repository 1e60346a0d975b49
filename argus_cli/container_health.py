"""`python -m argus_cli.container_health SERVICE`: a container's health check, by the supervisor's probes."""

from __future__ import annotations

import os
import sys

from argus_cli.probes import probe_service
from argus_cli.service_table import IN_CONTAINERS, SERVICES


def main(name: str) -> int:
    """0 when the service of that name answers from inside its container, else 1 with the reason."""
    service = next(service for service in SERVICES if service.name == name)
    probe = probe_service(service, IN_CONTAINERS, os.environ["ARGUS_DATABASE_URL"])
    print(probe.detail)
    return 0 if probe.answered else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
