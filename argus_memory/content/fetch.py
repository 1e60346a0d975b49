"""Fetch an address that a person, a feed or a model named: bounded in size, time, redirects and types.

The guard stands where the connection is made: a name is resolved once, every address it has must be public, and the
connection goes to the address that was looked at. A name that resolves differently at the second look gains nothing,
and each redirect is looked at like a first address.
"""

from __future__ import annotations

import ipaddress
import socket
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urljoin, urlsplit

import httpcore

from argus_memory.errors import ArgusError

MAX_BYTES: Final = 20 * 1024 * 1024  # a long podcast feed has 10 MB
MAX_SECONDS: Final = 60.0  # of one fetch, redirects included
CONNECT_SECONDS: Final = 10.0
MAX_REDIRECTS: Final = 5
NAT64: Final = ipaddress.ip_network("64:ff9b::/96")  # an IPv4 address behind a translator, private ones too
MAX_URL: Final = 2048  # characters
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_HEADERS: Final = (
    (b"User-Agent", b"Argus"),
    (b"Accept-Encoding", b"identity"),  # so that the limit counts what is kept, not what unpacks from it
)


class FetchFailure(ArgusError):
    """Why nothing was fetched. `lasting`: asking again later will not help."""

    http_status = 502
    code = "fetch_failed"

    def __init__(self, message: str, *, lasting: bool, status: int | None = None) -> None:
        super().__init__(message)
        self.lasting = lasting
        self.status = status


@dataclass(frozen=True, slots=True)
class Fetched:
    """A body with the address it came from in the end; `content_type` without parameters, in lower case."""

    url: str
    status: int
    content_type: str
    charset: str | None
    body: bytes
    etag: str | None
    last_modified: str | None


def fetch(
    url: str,
    *,
    types: Iterable[str] = (),
    max_bytes: int = MAX_BYTES,
    seconds: float = MAX_SECONDS,
    allow_private: bool = False,
    etag: str | None = None,
    last_modified: str | None = None,
) -> Fetched:
    """GET; a 304 comes back with an empty body. Raises FetchFailure with one sentence for everything else.

    types: prefixes of content types to take ("text/", "application/xml"), all where none is given; allow_private:
    for tests and for a person's own servers.
    """
    headers = list(_HEADERS)
    if etag:
        headers.append((b"If-None-Match", etag.encode("latin-1", "ignore")))
    if last_modified:
        headers.append((b"If-Modified-Since", last_modified.encode("latin-1", "ignore")))
    end = time.monotonic() + seconds
    with httpcore.ConnectionPool(network_backend=_GuardedBackend(allow_private)) as pool:
        for _ in range(MAX_REDIRECTS + 1):
            check_url(url)
            answer = _get(pool, url, headers, tuple(types), max_bytes, end)
            if isinstance(answer, Fetched):
                return answer
            try:
                url = urljoin(url, answer)
            except ValueError:
                raise FetchFailure(f"{host_of(url)} redirects to what is no address", lasting=True) from None
    raise FetchFailure(f"{host_of(url)} redirects more than {MAX_REDIRECTS} times", lasting=True)


def check_url(url: str) -> None:
    """Raises FetchFailure unless it is an http(s) address without a password."""
    try:
        parts = urlsplit(url)
        port_is_fine = parts.port is None or 0 < parts.port < 65536
    except ValueError:
        parts, port_is_fine = urlsplit(""), False
    if parts.scheme not in ("http", "https") or not parts.hostname or not port_is_fine or len(url) > MAX_URL:
        raise FetchFailure(f"{url[:80]!r} is no http(s) address", lasting=True)
    if parts.username or parts.password:
        raise FetchFailure(f"the address at {parts.hostname} holds a user name: take it out", lasting=True)


def is_public(address: str) -> bool:
    """Whether an IP address is of the internet: no loopback, private, link-local, shared or reserved one."""
    ip = ipaddress.ip_address(address.split("%", 1)[0])
    mapped = getattr(ip, "ipv4_mapped", None) or getattr(ip, "sixtofour", None)
    if ip in NAT64:
        mapped = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
    if mapped is not None:
        ip = mapped
    return ip.is_global and not ip.is_multicast


def host_of(url: str) -> str:
    """The host alone: an address may carry a token in its path or query, and messages are shown."""
    return urlsplit(url).hostname or "the address"


def _get(
    pool: httpcore.ConnectionPool,
    url: str,
    headers: list[tuple[bytes, bytes]],
    types: tuple[str, ...],
    max_bytes: int,
    end: float,
) -> Fetched | str:
    """One request: the answer, or the address it redirects to."""
    host = host_of(url)
    left = end - time.monotonic()
    if left <= 0:
        raise FetchFailure(f"{host} did not answer in time", lasting=False)
    wait = {"connect": min(CONNECT_SECONDS, left), "read": left, "write": left, "pool": left}
    try:
        with pool.stream("GET", url, headers=headers, extensions={"timeout": wait}) as response:
            given = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers}
            if response.status in _REDIRECTS and given.get("location"):
                return given["location"]
            if response.status != 304 and not 200 <= response.status < 300:
                gone = 400 <= response.status < 500 and response.status not in (408, 425, 429)
                raise FetchFailure(f"{host} answers HTTP {response.status}", lasting=gone, status=response.status)
            content_type, charset = _content_type(given.get("content-type", ""))
            if response.status != 304 and types and not content_type.startswith(types):
                raise FetchFailure(f"{host} sends {content_type or 'no type'}, which is not read", lasting=True)
            body = _read(response, host, max_bytes, end)
            return Fetched(
                url, response.status, content_type, charset, body, given.get("etag"), given.get("last-modified")
            )
    except FetchFailure:
        raise
    except httpcore.TimeoutException as error:
        raise FetchFailure(f"{host} did not answer in time", lasting=False) from error
    except (httpcore.NetworkError, httpcore.ProtocolError, OSError, UnicodeError) as error:
        reason = str(error) or type(error).__name__
        raise FetchFailure(f"{host} cannot be reached ({reason})", lasting=False) from error


def _read(response: httpcore.Response, host: str, max_bytes: int, end: float) -> bytes:
    body = bytearray()
    for part in response.iter_stream():
        body += part
        if len(body) > max_bytes:
            raise FetchFailure(f"{host} sends more than {max_bytes / 1e6:g} MB", lasting=True)
        if time.monotonic() > end:
            raise FetchFailure(f"{host} did not end its answer in time", lasting=False)
    return bytes(body)


def _content_type(header: str) -> tuple[str, str | None]:
    kind, *parameters = (part.strip() for part in header.split(";"))
    charset = next((p[8:].strip("\"' ") for p in parameters if p.lower().startswith("charset=")), None)
    return kind.lower(), charset or None


class _GuardedBackend(httpcore.SyncBackend):
    """Connects to public addresses alone, to the very address that was looked at."""

    def __init__(self, allow_private: bool) -> None:
        self._allow_private = allow_private

    def connect_tcp(self, host: str, port: int, *args: Any, **options: Any) -> httpcore.NetworkStream:
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            raise FetchFailure(f"{host} has no address", lasting=False) from error
        addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
        if not self._allow_private:
            for address in addresses:
                if not is_public(address):
                    raise FetchFailure(f"{host} is {address}, which is no public address: refused", lasting=True)
        failure: Exception | None = None
        for address in addresses:
            try:
                return super().connect_tcp(address, port, *args, **options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        assert failure is not None
        raise failure

    def connect_unix_socket(self, *_args: Any, **_options: Any) -> httpcore.NetworkStream:
        raise FetchFailure("a socket of this machine is no address", lasting=True)
