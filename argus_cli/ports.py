"""Ports: whether one is free, and which one is."""

from __future__ import annotations

import socket

LOOPBACK = "127.0.0.1"


def port_is_free(port: int, host: str = LOOPBACK) -> bool:
    """Whether nobody listens on host:port.

    Asked by connecting and by binding: with SO_REUSEPORT (Dagster's code servers) a bind alone succeeds
    beside a listener, and the stale one would go on answering.
    """
    return not port_answers(port, host) and _can_bind(port, host)


def port_answers(port: int, host: str = LOOPBACK, timeout: float = 0.5) -> bool:
    """Whether something accepts a connection on host:port; every address is asked for on loopback."""
    target = reach_host(host)
    try:
        socket.create_connection((target, port), timeout).close()
    except OSError:
        return False
    return True


def reach_host(host: str) -> str:
    """The address under which a listener on `host` is reached from this machine."""
    return {"0.0.0.0": LOOPBACK, "::": "::1", "": LOOPBACK}.get(host, host)  # noqa: S104  # asked, not bound


def _can_bind(port: int, host: str) -> bool:
    try:
        found = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM)
        family, kind, protocol, _, address = found[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError:
        return False
    return True


def find_free_port() -> int:
    """A port nobody listens on at this moment."""
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])
