"""One request over a bare socket, against servers of every manner."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus_api.hooks.parts.base import Config
from argus_api.hooks.parts.wire import Answer, ask, parse_address, quoted


@contextmanager
def serving(speak: Callable[[socket.socket], None], family: int = socket.AF_INET) -> Iterator[str]:
    """A server that hands its one connection to `speak` after the request's head has come."""
    host = "::1" if family == socket.AF_INET6 else "127.0.0.1"
    server = socket.socket(family)
    server.bind((host, 0))
    server.listen()

    def work() -> None:
        link, _ = server.accept()
        with link:
            data = b""
            while b"\r\n\r\n" not in data:
                data += link.recv(65536)
            speak(link)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    shown = f"[{host}]" if family == socket.AF_INET6 else host
    try:
        yield f"http://{shown}:{server.getsockname()[1]}/base"
    finally:
        server.close()
        thread.join(5)


def get(url: str, whole_s: float = 5.0, body: bytes = b"") -> Answer:
    config = Config("/nowhere", {"ARGUS_API_URL": url, "ARGUS_CAPTURE_TOKEN": "token-of-the-tests"})
    return ask(config, "POST" if body else "GET", "/x", body, 0.5, whole_s)


@pytest.mark.parametrize(
    ("raw", "status", "body"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello and more", 200, b"hello"),
        (b"HTTP/1.1 201 Created\r\n\r\nto the end", 201, b"to the end"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6;x=y\r\n world\r\n0\r\n\r\n", 200,
         b"hello world"),
        (b"HTTP/1.0 503 Busy\r\ncontent-length: 0\r\n\r\n", 503, b""),
        (b"SSH-2.0-OpenSSH\r\n\r\n", 0, b""),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\ncut off", 0, b""),
        (b"", 0, b""),
    ],
    ids=range(7),
)  # fmt: skip
def test_every_framing_is_read(raw: bytes, status: int, body: bytes) -> None:
    """Length, end of stream and chunks; what is no HTTP, or broke off, is no answer."""
    with serving(lambda link: link.sendall(raw)) as url:
        answer = get(url)
    assert (answer.status, answer.body) == (status, body)
    assert bool(answer.problem) is (status == 0)


def test_an_answer_in_pieces_is_put_together() -> None:
    """Wherever the stream is cut, the answer is the same."""
    raw = b"HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\nhello world"

    def drip(link: socket.socket) -> None:
        for at in range(0, len(raw), 3):
            link.sendall(raw[at : at + 3])

    with serving(drip) as url:
        assert get(url).body == b"hello world"


def test_silence_and_a_slow_drip_are_bounded() -> None:
    """The whole request has one deadline, however often a byte comes; such an answer is late, not unreachable."""
    over = threading.Event()

    def drip(link: socket.socket) -> None:
        try:
            while not over.wait(0.05):
                link.sendall(b"H")
        except OSError:
            return

    for speak in (lambda _: over.wait(5), drip):
        over.clear()
        with serving(speak) as url:
            began = time.monotonic()
            answer = get(url, 0.3)
            assert time.monotonic() - began < 1.5
            assert (answer.status, answer.late) == (0, True)
            over.set()


def test_a_refusal_before_the_body_is_through_is_heard() -> None:
    """A server may answer 413 and close while a large body is still being sent."""
    raw = b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

    def refuse(link: socket.socket) -> None:
        link.sendall(raw)
        link.shutdown(socket.SHUT_WR)
        while link.recv(1 << 20):
            pass

    with serving(refuse) as url:
        assert get(url, body=b"x" * 3_000_000).status == 413


def test_a_name_is_reached() -> None:
    """localhost, whichever family it resolves to first."""
    raw = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
    with serving(lambda link: link.sendall(raw)) as url:
        assert get(url.replace("127.0.0.1", "localhost")).status == 200


def test_ipv6_is_reached() -> None:
    """An address in brackets."""
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no IPv6 loopback")
    raw = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
    with serving(lambda link: link.sendall(raw), socket.AF_INET6) as url:
        assert get(url).status == 200


@pytest.mark.parametrize("url", ["http://127.0.0.1:9", "http://no-such-name.invalid:8484", "ftp://x", "nonsense", ""])
def test_what_cannot_be_reached_is_said(url: str) -> None:
    """Refused, unknown or malformed: no exception, and words for people."""
    answer = get(url or "http:///x")
    assert answer.status == 0
    assert answer.problem


@pytest.mark.parametrize(
    ("url", "parts"),
    [
        ("http://127.0.0.1:8484", (False, "127.0.0.1", 8484, "")),
        ("https://hub.example", (True, "hub.example", 443, "")),
        ("https://hub.example/argus/", (True, "hub.example", 443, "/argus")),
        ("http://[::1]:80/x", (False, "::1", 80, "/x")),
        ("http://user:pw@hub.example:1", (False, "hub.example", 1, "")),
    ],
)
def test_addresses_are_taken_apart(url: str, parts: tuple[bool, str, int, str]) -> None:
    """Scheme, host, port with its default, and a prefix without its last slash."""
    address = parse_address(url)
    assert address is not None
    assert (address.tls, address.host, address.port, address.prefix) == parts


@pytest.mark.parametrize("url", ["http://", "http://h:0", "http://h:99999", "http://h:x", "h:80", "https//h"])
def test_a_malformed_address_is_none(url: str) -> None:
    """Nothing is guessed."""
    assert parse_address(url) is None


@given(st.text())
def test_quoting_is_undone_by_every_reader(text: str) -> None:
    """What a query carries comes back, whatever characters it has."""
    from urllib.parse import unquote

    assert unquote(quoted(text)) == text.encode("utf-8", "replace").decode()
    assert quoted(text).isascii()
