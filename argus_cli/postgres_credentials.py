"""The embedded cluster's passwords and port: one JSON file beside the cluster, mode 0600."""

from __future__ import annotations

import json
import secrets
from pathlib import Path
from typing import Any

from argus_cli.ports import LOOPBACK
from argus_cli.postgres_place import Owner
from argus_cli.private_file import write_private
from argus_memory.errors import Unreachable

SUPERUSER = "postgres"
ROLE = "argus"


class Credentials:
    """Read on every question: another process (`argus dsn`) may ask, and the port changes with a start."""

    def __init__(self, folder: Path, owner: Owner | None = None) -> None:
        self.path = folder / "credentials"
        self._owner = owner

    def create(self) -> None:
        """Fresh passwords for both roles; only ever called before initdb."""
        self._write({SUPERUSER: secrets.token_urlsafe(24), ROLE: secrets.token_urlsafe(24)})

    def password(self, role: str) -> str:
        return str(self._read()[role])

    def port(self) -> int | None:
        """The port of the last start, None before the first."""
        port = self._read().get("port")
        return port if isinstance(port, int) else None

    def dsn(self, role: str, database: str) -> str:
        """The address, password included; raises Unreachable where the cluster was never started."""
        port = self.port()
        if port is None:
            raise Unreachable("the embedded database was never started: run `argus up`")
        return f"postgresql://{role}:{self.password(role)}@{LOOPBACK}:{port}/{database}"

    def keep_port(self, port: int) -> None:
        values = self._read()
        if values.get("port") != port:
            self._write({**values, "port": port})

    def _read(self) -> dict[str, Any]:
        """Raises Unreachable with the cure when the file is missing, closed to this user or broken."""
        try:
            values: dict[str, Any] = json.loads(self.path.read_text("utf-8"))
        except FileNotFoundError:
            raise Unreachable(
                f"{self.path} with the passwords of the embedded database is missing: run `argus up`, or"
                " restore it from a backup"
            ) from None
        except PermissionError:
            raise Unreachable(
                f"{self.path} cannot be read by this user: call argus as the user who ran `argus up`"
            ) from None
        except ValueError:
            raise Unreachable(f"{self.path} is not JSON: restore it from a backup") from None
        return values

    def _write(self, values: dict[str, Any]) -> None:
        owner = None if self._owner is None else (self._owner.uid, self._owner.gid)
        write_private(self.path, json.dumps(values) + "\n", owner=owner)
