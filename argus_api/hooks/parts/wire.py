"""One HTTP request, bounded in time. http:// over a bare socket, because http.client alone would double the start-up
time of the hook; https:// over http.client and ssl, certificates verified, an own authority by SSL_CERT_FILE."""

from __future__ import annotations

import json
import time

try:
    import _socket as socket_module  # the C part of `socket`, a quarter of its import time
except ImportError:  # another Python than CPython
    import socket as socket_module  # type: ignore[no-redef]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, List, Optional, Tuple

    from argus_api.hooks.parts.base import Config

ANSWER_MAX = 16 * 1024 * 1024  # bytes


class Answer:
    """What came back. `status` 0: nothing did, and `problem` says why in words for people."""

    __slots__ = ("body", "late", "problem", "status")

    def __init__(self, status: int, body: bytes = b"", problem: str = "", late: bool = False) -> None:
        self.status = status
        self.body = body
        self.problem = problem
        self.late = late  # the server was there, but did not answer in time

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300

    def object(self) -> Any:
        """The body as a JSON object; anything else is an empty one."""
        try:
            value = json.loads(self.body.decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            return {}
        return value if isinstance(value, dict) else {}

    def reason(self) -> str:
        """In a few words why it is not a yes."""
        if self.status == 0:
            return self.problem
        if self.status in (401, 403):
            return "the server refused the capture token (%d)" % self.status
        if self.status in (408, 429) or self.status >= 500:
            return "server busy or failing (%d)" % self.status
        error = self.object().get("error")
        message = error.get("message") if isinstance(error, dict) else None
        detail = ": %s" % message[:200] if isinstance(message, str) else ""
        return "the server answered %d%s" % (self.status, detail)


class Address:
    __slots__ = ("host", "port", "prefix", "tls")

    def __init__(self, tls: bool, host: str, port: int, prefix: str) -> None:
        self.tls = tls
        self.host = host
        self.port = port
        self.prefix = prefix


def parse_address(url: str) -> Optional[Address]:
    """`http(s)://host[:port][/prefix]`, IPv6 in brackets; None where it is not one."""
    scheme, separator, rest = url.partition("://")
    if not separator or scheme not in ("http", "https"):
        return None
    authority, slash, path = rest.partition("/")
    host, port = authority.rpartition("@")[2], "443" if scheme == "https" else "80"
    if host.startswith("["):
        host, _, after = host[1:].partition("]")
        port = after[1:] or port
    elif ":" in host:
        host, _, port = host.partition(":")
    if not host or not port.isdigit() or not 0 < int(port) < 65536:
        return None
    return Address(scheme == "https", host, int(port), (slash + path).rstrip("/"))


def ask(config: Config, method: str, path: str, body: bytes, connect_s: float, whole_s: float) -> Answer:
    """Send one request; never raises for what the network or the other end does. Redirects are not followed."""
    address = parse_address(config.url)
    if address is None:
        return Answer(0, problem="ARGUS_API_URL is not an http(s) address")
    deadline = time.monotonic() + whole_s
    try:
        if address.tls:
            return _ask_tls(address, config, method, path, body, deadline)
        return _ask_plain(address, config.token, method, path, body, min(connect_s, whole_s), deadline)
    except OSError as error:
        return Answer(0, problem=_words(error), late=address.tls and _timed_out(error))


def _headers(address: Address, token: str, body: bytes) -> List[Tuple[str, str]]:
    host = "[%s]" % address.host if ":" in address.host else address.host
    headers = [("Host", "%s:%d" % (host, address.port)), ("Connection", "close"), ("Accept", "application/json")]
    if token:
        headers.append(("Authorization", "Bearer " + "".join(c for c in token if " " < c < "\x7f")))
    if body:
        headers += [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
    return headers


def _words(error: BaseException) -> str:
    name = type(error).__name__
    if name == "SSLCertVerificationError":
        return "the server's certificate was not accepted"
    if _timed_out(error):
        return "server unreachable (no answer in time)"
    return "server unreachable"


def _timed_out(error: BaseException) -> bool:
    return type(error).__name__ in ("timeout", "TimeoutError")  # socket.timeout until Python 3.9


def _connect(address: Address, connect_s: float, deadline: float) -> Any:
    """A connected socket; raises OSError. Each address of the host is tried, within the time."""
    literal = address.host.replace(".", "").isdigit()
    found: List[Any] = [(socket_module.AF_INET, socket_module.SOCK_STREAM, 0, "", (address.host, address.port))]
    if not literal:
        found = _resolve(address.host, address.port, connect_s)
    until = min(deadline, time.monotonic() + connect_s)
    problem: Optional[OSError] = None
    for family, kind, protocol, _, place in found:
        left = until - time.monotonic()
        if left <= 0:
            break
        link = socket_module.socket(family, kind, protocol)
        try:
            link.settimeout(left)
            link.connect(place)
            return link
        except OSError as error:
            link.close()
            problem = error
    raise problem or OSError("no address")


def _resolve(host: str, port: int, wait_s: float) -> List[Any]:
    """The host's addresses. The resolver knows no time-out, so a stranger's name is looked up in a thread."""
    def look() -> List[Any]:
        return socket_module.getaddrinfo(host, port, 0, socket_module.SOCK_STREAM)

    if host == "localhost":
        return look()
    import _thread

    found: List[Any] = []
    done = _thread.allocate_lock()
    done.acquire()

    def work() -> None:
        try:
            found.extend(look())
        except OSError:
            found.clear()
        finally:
            done.release()

    _thread.start_new_thread(work, ())
    if not done.acquire(timeout=wait_s) or not found:
        raise OSError("the name was not found")
    return found


def _ask_plain(
    address: Address, token: str, method: str, path: str, body: bytes, connect_s: float, deadline: float
) -> Answer:
    link = _connect(address, connect_s, deadline)
    try:
        head = "%s %s%s HTTP/1.1\r\n" % (method, address.prefix, path)
        head += "".join("%s: %s\r\n" % pair for pair in _headers(address, token, body)) + "\r\n"
        try:
            link.settimeout(max(0.01, deadline - time.monotonic()))
            link.sendall(head.encode("latin-1", "replace") + body)
        except OSError as error:  # it may have answered early (413) and closed: read what it said
            if _timed_out(error):
                return Answer(0, problem="server did not answer in time", late=True)
        return _read_answer(link, deadline)
    finally:
        link.close()


def _read_answer(link: Any, deadline: float) -> Answer:
    data = bytearray()
    ends = -1  # where the body is complete, once known
    start = -1
    chunked = False
    while True:
        if start < 0:
            cut = data.find(b"\r\n\r\n")
            if cut >= 0:
                start = cut + 4
                length, chunked = _framing(bytes(data[:cut]))
                ends = start + length if length >= 0 else -1
        if start >= 0 and (0 <= ends <= len(data) or (chunked and data.endswith(b"0\r\n\r\n"))):
            break
        left = deadline - time.monotonic()
        if left <= 0:
            return Answer(0, problem="server did not answer in time", late=True)
        link.settimeout(left)
        try:
            piece = link.recv(1 << 16)
        except OSError as error:
            if _timed_out(error):
                return Answer(0, problem="server did not answer in time", late=True)
            return Answer(0, problem="server broke the connection")
        if not piece:
            break
        data += piece
        if len(data) > ANSWER_MAX:
            return Answer(0, problem="the server's answer is too large")
    words = bytes(data[:64]).split(None, 2)
    if start < 0 or len(words) < 2 or not words[0].startswith(b"HTTP/") or not words[1].isdigit():
        return Answer(0, problem="no HTTP answer at ARGUS_API_URL")
    if ends > len(data):
        return Answer(0, problem="server broke the connection")
    found = bytes(data[start:ends] if ends >= 0 else data[start:])
    return Answer(int(words[1]), _unchunk(found) if chunked else found)


def _framing(head: bytes) -> Tuple[int, bool]:
    """Body length (-1: to the end of the stream) and whether it comes in chunks."""
    for line in head.lower().split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if name == b"content-length" and value.strip().isdigit():
            return int(value), False
        if name == b"transfer-encoding" and b"chunked" in value:
            return -1, True
    return -1, False


def _unchunk(data: bytes) -> bytes:
    out, at = bytearray(), 0
    while True:
        cut = data.find(b"\r\n", at)
        if cut < 0:
            return bytes(out)
        try:
            size = int(data[at:cut].split(b";")[0], 16)
        except ValueError:
            return bytes(out)
        if size == 0:
            return bytes(out)
        out += data[cut + 2:cut + 2 + size]
        at = cut + 4 + size


def _ask_tls(address: Address, config: Config, method: str, path: str, body: bytes, deadline: float) -> Answer:
    import http.client
    import ssl

    try:
        trust = ssl.create_default_context(cafile=config.authority or None)
    except OSError:
        return Answer(0, problem="SSL_CERT_FILE cannot be read")
    left = max(0.1, deadline - time.monotonic())
    link = http.client.HTTPSConnection(address.host, address.port, timeout=left, context=trust)
    try:
        link.request(method, address.prefix + path, body or None, dict(_headers(address, config.token, body)))
        reply = link.getresponse()
        return Answer(reply.status, reply.read(ANSWER_MAX))
    except http.client.HTTPException:
        return Answer(0, problem="server broke the connection")
    finally:
        link.close()


def quoted(text: str) -> str:
    """Percent-encoding for a query value."""
    return "".join(
        chr(b) if (chr(b).isalnum() and b < 128) or b in b"-_.~" else "%%%02X" % b
        for b in text.encode("utf-8", "replace")
    )
