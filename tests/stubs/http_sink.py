"""A loopback address that takes POSTs, as a webhook or an ntfy server does, and answers as told."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True)
class Posted:
    """`status` is what it was answered with."""

    path: str
    headers: dict[str, str]
    body: bytes
    status: int


@dataclass
class HttpSink:
    """`statuses`: what the next POSTs get, in order; the last one stays. `extra`: headers of every answer."""

    statuses: list[int] = field(default_factory=lambda: [200])
    extra: dict[str, str] = field(default_factory=dict)
    posted: list[Posted] = field(default_factory=list)

    def __enter__(self) -> HttpSink:
        sink = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_args: object) -> None:
                """Silent."""

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                status = sink.statuses.pop(0) if len(sink.statuses) > 1 else sink.statuses[0]
                sink.posted.append(Posted(self.path, dict(self.headers), body, status))
                self.send_response(status)
                for name, value in sink.extra.items():
                    self.send_header(name, value)
                self.end_headers()

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}"
        threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_exc: object) -> None:
        self._http.shutdown()
        self._http.server_close()
