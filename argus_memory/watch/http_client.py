"""What every door over HTTP shares: logs without addresses, and one set of trusted certificates a process."""

from __future__ import annotations

import logging
import ssl
from functools import cache


def quiet_http_logs() -> None:
    """Every address of the Bot API holds the token, a webhook's may hold a secret, and httpx logs them at INFO."""
    for name in ("httpx", "httpcore", "telegram"):
        logging.getLogger(name).setLevel(logging.WARNING)


@cache
def tls_context() -> ssl.SSLContext:
    """Reading the certificates is most of what opening a client costs; doors are opened for each pass."""
    import httpx

    return httpx.create_ssl_context()
