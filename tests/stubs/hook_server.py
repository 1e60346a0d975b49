"""A loopback stand-in for Argus' API, as the hooks see it: it records requests and answers by rule."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Rule = Callable[["Request"], "Reply | None"]


class Request:
    """One request as received. `items` and `hook` are those of a capture."""

    def __init__(self, method: str, path: str, headers: dict[str, str], body: bytes) -> None:
        self.method = method
        self.path = path
        self.headers = headers
        self.body = body
        self.json: dict[str, Any] = json.loads(body) if body else {}

    @property
    def items(self) -> list[dict[str, Any]]:
        items: list[dict[str, Any]] = self.json.get("items", [])
        return items

    @property
    def hook(self) -> dict[str, Any] | None:
        return self.json.get("hook")


class Reply:
    def __init__(self, status: int, body: Any = None, raw: bytes | None = None) -> None:
        self.status = status
        self.raw = raw if raw is not None else json.dumps(body if body is not None else {}).encode()


class HookServer:
    """`with HookServer() as server:` then `server.url`; `rule` may answer instead of the usual answer.

    `stored` holds the items of every capture answered 2xx, repeats left out as the real server does.
    """

    def __init__(self, rule: Rule | None = None, text: str = "", tls: ssl.SSLContext | None = None) -> None:
        self.rule = rule
        self.text = text
        self.token = "capture-token-for-tests"
        self.requests: list[Request] = []
        self.stored: list[dict[str, Any]] = []
        self.repeats = 0
        self._lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self._take()

            def do_POST(self) -> None:
                self._take()

            def _take(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                request = Request(self.command, self.path, dict(self.headers), self.rfile.read(length))
                reply = outer.answer(request)
                self.send_response(reply.status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(reply.raw)))
                self.end_headers()
                self.wfile.write(reply.raw)

            def log_message(self, *_: Any) -> None:
                return

        class Server(ThreadingHTTPServer):
            def handle_error(self, *_: Any) -> None:
                return  # a hook that gave up has closed its end: nothing to report

        self._server = Server(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        if tls is not None:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)
        self.url = f"http{'s' if tls else ''}://127.0.0.1:{self._server.server_port}"
        serve = self._server.serve_forever
        self._thread = threading.Thread(target=serve, kwargs={"poll_interval": 0.01}, daemon=True)

    def __enter__(self) -> HookServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, request: Request) -> Reply:
        with self._lock:
            self.requests.append(request)
        if request.headers.get("Authorization") != f"Bearer {self.token}":
            return Reply(401, {"error": {"code": "unauthorized", "message": "unknown token"}})
        reply = self.rule(request) if self.rule else None
        if reply is not None:
            return reply
        if request.path.startswith("/recall"):
            return Reply(200, {"injection_id": 1, "notes": [], "turns": [], "text": self.text})
        with self._lock:
            return Reply(201, {"receipts": [self._store(item) for item in request.items]})

    def _store(self, item: dict[str, Any]) -> dict[str, Any]:
        def key(of: dict[str, Any]) -> Any:
            meta = of["metadata"]
            return meta.get("uuid") or (of.get("session"), meta.get("position"), of["body"])

        known = [key(other) for other in self.stored]
        if key(item) in known:
            self.repeats += 1
            return {"id": known.index(key(item)) + 1, "duplicate": True, "skipped": None, "redactions": []}
        self.stored.append(item)
        return {"id": len(self.stored), "duplicate": False, "skipped": None, "redactions": []}

    @property
    def bodies(self) -> list[str]:
        return [item["body"] for item in self.stored]

    @property
    def beats(self) -> list[dict[str, Any]]:
        return [request.hook for request in self.requests if request.hook]
