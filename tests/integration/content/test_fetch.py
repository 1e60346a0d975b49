"""Fetching from servers that behave, misbehave and lie, on the loopback."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from argus_memory.content.fetch import FetchFailure, check_url, fetch, is_public


class _Site(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        path = self.path
        if path == "/feed":
            if self.headers.get("If-None-Match") == '"v1"':
                self._send(304, b"")
            else:
                self._send(200, b"<rss/>", ("Content-Type", "application/rss+xml; charset=utf-8"), ("ETag", '"v1"'))
        elif path == "/loop":
            self._send(302, b"", ("Location", "/loop"))
        elif path == "/to-feed":
            self._send(301, b"", ("Location", "/feed"))
        elif path == "/to-file":
            self._send(302, b"", ("Location", "file:///etc/passwd"))
        elif path == "/to-nothing":
            self._send(302, b"", ("Location", "http://[half"))
        elif path == "/big":
            self.send_response(200)
            self.end_headers()
            try:
                while True:
                    self.wfile.write(b"x" * 65536)
            except OSError:
                pass
        elif path == "/drip":
            self.send_response(200)
            self.end_headers()
            try:
                while not self.server.done.is_set():  # type: ignore[attr-defined]
                    self.wfile.write(b"x")
                    self.wfile.flush()
                    self.server.done.wait(0.05)  # type: ignore[attr-defined]
            except OSError:
                pass
        elif path == "/picture":
            self._send(200, b"\x89PNG", ("Content-Type", "image/png"))
        else:
            self._send(int(path.strip("/")), b"")

    def _send(self, status: int, body: bytes, *headers: tuple[str, str]) -> None:
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_args: object) -> None:
        pass


@pytest.fixture
def site() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Site)
    server.done = threading.Event()  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.done.set()  # type: ignore[attr-defined]
        server.shutdown()
        server.server_close()


def test_a_body_comes_with_its_type_and_its_marks(site: str) -> None:
    """Type, charset and ETag are read; asked again with the mark, the answer is "not modified"."""
    got = fetch(f"{site}/feed", types=("application/",), allow_private=True)
    assert (got.status, got.content_type, got.charset, got.body) == (200, "application/rss+xml", "utf-8", b"<rss/>")
    again = fetch(f"{site}/feed", types=("application/",), allow_private=True, etag=got.etag)
    assert (again.status, again.body) == (304, b"")


def test_a_redirect_is_followed_and_a_loop_is_not(site: str) -> None:
    """The last address is told; a loop ends after five."""
    assert fetch(f"{site}/to-feed", allow_private=True).url.endswith("/feed")
    with pytest.raises(FetchFailure, match="redirects more than 5 times"):
        fetch(f"{site}/loop", allow_private=True)


def test_this_machine_and_its_network_are_refused(site: str) -> None:
    """Without leave, an address that is not public is refused before a byte is sent."""
    with pytest.raises(FetchFailure, match="no public address") as told:
        fetch(f"{site}/feed")
    assert told.value.lasting


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "10.1.2.3", "192.168.0.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "::1", "fe80::1%eth0",
     "::ffff:127.0.0.1", "fc00::1", "224.0.0.1", "2002:7f00:1::", "64:ff9b::7f00:1", "64:ff9b::a01:203", "255.255.255.255"],
)  # fmt: skip
def test_no_private_address_passes_in_any_spelling(address: str) -> None:
    """Loopback, private, link-local, shared, mapped and multicast addresses are none of the internet."""
    assert not is_public(address)


def test_public_addresses_pass() -> None:
    """What is of the internet is fetched."""
    assert is_public("93.184.215.14")
    assert is_public("2606:4700::1111")


@pytest.mark.parametrize(
    "url",
    ["file:///etc/passwd", "ftp://a.example/x", "http://", "javascript:alert(1)", "http://kim:pw@a.example/",
     "http://a.example:99999/", "http://[::1", "x" * 3000],
)  # fmt: skip
def test_only_plain_web_addresses_are_taken(url: str) -> None:
    """Other schemes, passwords and what is no address are refused with a sentence."""
    with pytest.raises(FetchFailure):
        check_url(url)


def test_a_redirect_to_a_file_is_refused(site: str) -> None:
    """Each address on the way is looked at like the first."""
    with pytest.raises(FetchFailure, match="no http"):
        fetch(f"{site}/to-file", allow_private=True)
    with pytest.raises(FetchFailure, match="what is no address"):
        fetch(f"{site}/to-nothing", allow_private=True)


def test_too_much_and_too_slow_end(site: str) -> None:
    """An endless body ends at the limit, a dripping one at the time."""
    with pytest.raises(FetchFailure, match=r"more than 0\.2 MB"):
        fetch(f"{site}/big", allow_private=True, max_bytes=200_000)
    started = time.monotonic()
    with pytest.raises(FetchFailure, match="in time"):
        fetch(f"{site}/drip", allow_private=True, seconds=0.5)
    assert time.monotonic() - started < 5


@pytest.mark.parametrize(("status", "lasting"), [(404, True), (410, True), (429, False), (500, False), (503, False)])
def test_a_refusal_says_whether_asking_again_helps(site: str, status: int, lasting: bool) -> None:
    """What is gone stays gone; what is busy or broken may come back."""
    with pytest.raises(FetchFailure) as told:
        fetch(f"{site}/{status}", allow_private=True)
    assert (told.value.status, told.value.lasting) == (status, lasting)


def test_types_that_are_not_read_are_refused(site: str) -> None:
    """A picture is not taken for a page."""
    with pytest.raises(FetchFailure, match="image/png"):
        fetch(f"{site}/picture", types=("text/",), allow_private=True)


def test_nobody_there_is_a_sentence() -> None:
    """A closed port and a name without an address are failures that may pass."""
    with pytest.raises(FetchFailure, match="cannot be reached"):
        fetch("http://127.0.0.1:9/", allow_private=True)
    with pytest.raises(FetchFailure, match="has no address"):
        fetch("http://nowhere.invalid/", allow_private=True)
