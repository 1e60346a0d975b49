"""`python3 -m argus_cli.compose_env`: the `.env` beside compose.yaml, with fresh secrets, mode 0600.

Standard library only, so that it runs before anything is installed. An existing file is kept: its password is that
of the database volume.
"""

from __future__ import annotations

import secrets
import sys

from argus_cli.home import PROJECT_ROOT
from argus_cli.private_file import write_private
from argus_cli.tokens import TOKENS

SECRETS = ("ARGUS_DB_ADMIN_PASSWORD", "ARGUS_DB_PASSWORD", *TOKENS)


def main() -> int:
    path = PROJECT_ROOT / ".env"
    if path.exists():
        print(f"{path} is there already and is kept")
        return 0
    # urlsafe: the password stands in an address
    write_private(path, "".join(f"{name}={secrets.token_urlsafe(32)}\n" for name in SECRETS))
    print(f"{path} written: start with `docker compose up -d --build`")
    return 0


if __name__ == "__main__":
    sys.exit(main())
