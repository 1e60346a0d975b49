"""A loopback stand-in for Telegram's Bot API: it records what arrives and answers as told. No Telegram.

    with TelegramServer() as server:
        settings = replace(settings, telegram_token=server.token, telegram_base_url=server.url, ...)
        server.behave("429:3", "ok")           # what the next sends get, in order; the last one stays
        server.behave("topic", chat="-200")    # for one chat alone
        ...
        assert server.texts == ["…"]

Behaviours: ok · markup (400 where parse_mode is set, ok for plain text) · topic (400 where a thread is named) · chat
(400 chat not found) · refused (400) · moved:<id> · 401 · 403 · 404 · 409 · 429[:seconds] · 413 · 500 · 502 · 504 · prose
(200, not JSON) · hang (takes the message, never answers) · drop (takes the message, closes).
`getMe` is always answered, unless the behaviour for "getMe" (`server.behave("500", method="getMe")`) says otherwise; a
wrong token gets 401.

`python -m tests.stubs.telegram_server [PORT]` serves other processes: it prints its address; `POST /control`
`{"behaviours": [...], "chat"?, "method"?}` changes it, `GET /arrived` lists what arrived.
"""

from __future__ import annotations

import json
import sys
import threading
import time
import urllib.parse
from dataclasses import dataclass, field
from email.parser import BytesParser
from email.policy import HTTP
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TOKEN = "123456789:stand-in-token-of-the-tests-000000"
ERRORS: dict[str, tuple[int, str]] = {
    "markup": (400, 'Bad Request: can\'t parse entities: Unsupported start tag "x" at byte offset 0'),
    "topic": (400, "Bad Request: message thread not found"),
    "chat": (400, "Bad Request: chat not found"),
    "refused": (400, "Bad Request: message text is empty"),
    "401": (401, "Unauthorized"),
    "403": (403, "Forbidden: bot was blocked by the user"),
    "404": (404, "Not Found"),
    "409": (409, "Conflict: terminated by other getUpdates request"),
    "413": (413, "Request Entity Too Large"),
    "500": (500, "Internal Server Error"),
    "502": (502, "Bad Gateway"),
    "504": (504, "Gateway Timeout"),
}


@dataclass(frozen=True)
class Arrived:
    """One request as it came: `accepted` when it was answered ok, `at` of time.monotonic()."""

    method: str
    chat: str
    thread: str | None
    text: str
    mode: str | None
    behaviour: str
    accepted: bool
    at: float
    file: bytes | None = None


@dataclass
class TelegramServer:
    token: str = TOKEN
    port: int = 0
    arrived: list[Arrived] = field(default_factory=list)
    closing: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self._behaviours: dict[str, list[str]] = {"*": ["ok"], "getMe": ["ok"]}
        self._lock = threading.Lock()
        self._next_id = 0
        self._http: ThreadingHTTPServer | None = None

    def __enter__(self) -> TelegramServer:
        self.start()
        return self

    def start(self) -> None:
        if self._http is not None:
            return
        self.closing.clear()
        self._http = ThreadingHTTPServer(("127.0.0.1", self.port), _handler(self))
        self._http.daemon_threads = True
        self.port = self._http.server_address[1]
        threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True).start()

    def __exit__(self, *_exc: object) -> None:
        self.stop()

    def stop(self) -> None:
        """From now on the connection is refused; `start` serves on the same port again."""
        self.closing.set()
        if self._http is not None:
            self._http.shutdown()
            self._http.server_close()
            self._http = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def behave(self, *behaviours: str, chat: str = "*", method: str | None = None) -> None:
        with self._lock:
            self._behaviours[method or chat] = list(behaviours)

    @property
    def sends(self) -> list[Arrived]:
        """Everything but the harmless questions."""
        return [one for one in self.arrived if one.method != "getMe"]

    @property
    def accepted(self) -> list[Arrived]:
        return [one for one in self.sends if one.accepted]

    @property
    def texts(self) -> list[str]:
        return [one.text for one in self.accepted]

    def answer(self, token: str, method: str, fields: dict[str, str], file: bytes | None) -> tuple[int, Any] | str:
        """(status, JSON), or what to do instead of answering: prose, hang, drop."""
        chat = fields.get("chat_id", "")
        with self._lock:
            queue = self._behaviours.get("getMe" if method == "getMe" else chat) or self._behaviours["*"]
            behaviour = queue.pop(0) if len(queue) > 1 else queue[0]
            reply = self._reply(token, method, fields, behaviour)
            accepted = not isinstance(reply, str) and reply[0] == 200
            text = fields.get("text") or fields.get("caption") or ""
            self.arrived.append(
                Arrived(method, chat, fields.get("message_thread_id"), text, fields.get("parse_mode"), behaviour,
                        accepted, time.monotonic(), file)
            )  # fmt: skip
            return reply

    def _reply(self, token: str, method: str, fields: dict[str, str], behaviour: str) -> tuple[int, Any] | str:
        name, _, value = behaviour.partition(":")
        if token != self.token:
            return _error(*ERRORS["401"])
        if name in ("prose", "hang", "drop"):
            return name
        if name == "429":
            seconds = int(value or 1)
            return _error(429, f"Too Many Requests: retry after {seconds}", {"retry_after": seconds})
        if name == "moved" and fields.get("chat_id") != value:
            text = "Bad Request: group chat was upgraded to a supergroup chat"
            return _error(400, text, {"migrate_to_chat_id": int(value)})
        is_plain = name == "markup" and not fields.get("parse_mode")
        is_main = name == "topic" and not fields.get("message_thread_id")
        if name in ERRORS and not is_plain and not is_main:
            return _error(*ERRORS[name])
        if method == "getMe":
            return 200, {"ok": True, "result": {"id": 1, "is_bot": True, "first_name": "Stand-in", "username": "b"}}
        self._next_id += 1
        chat = fields.get("chat_id", "0")
        number = int(chat) if chat.lstrip("-").isdigit() else 0
        shown = {"message_id": self._next_id, "date": 1, "chat": {"id": number, "type": "private"}}
        return 200, {"ok": True, "result": {**shown, "text": fields.get("text", "")}}


def _error(status: int, description: str, parameters: dict[str, int] | None = None) -> tuple[int, Any]:
    told = {"ok": False, "error_code": status, "description": description}
    return status, told | ({"parameters": parameters} if parameters else {})


def _read_form(content_type: str, body: bytes) -> tuple[dict[str, str], bytes | None]:
    """Fields and the file of a form, in either of its encodings."""
    if not content_type.startswith("multipart/"):
        pairs = urllib.parse.parse_qs(body.decode(), keep_blank_values=True)
        return {name: values[0] for name, values in pairs.items()}, None
    fields: dict[str, str] = {}
    file = None
    message = BytesParser(policy=HTTP).parsebytes(b"Content-Type: " + content_type.encode() + b"\r\n\r\n" + body)
    for part in message.iter_parts():  # type: ignore[attr-defined]
        data = part.get_payload(decode=True)
        if part.get_filename():
            file = data
        else:
            fields[part.get_param("name", header="content-disposition")] = data.decode()
    return fields, file


def _handler(server: TelegramServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_args: object) -> None:
            """Silent."""

        def do_GET(self) -> None:
            if self.path == "/arrived":
                shown = [
                    {"method": a.method, "chat": a.chat, "thread": a.thread, "text": a.text, "mode": a.mode,
                     "behaviour": a.behaviour, "accepted": a.accepted}
                    for a in server.arrived
                ]  # fmt: skip
                self._send(200, shown)
            else:
                self.do_POST()

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if self.path == "/control":
                told = json.loads(body)
                server.behave(*told["behaviours"], chat=told.get("chat", "*"), method=told.get("method"))
                self._send(200, {})
                return
            token, _, method = self.path.removeprefix("/bot").partition("/")
            fields, file = _read_form(self.headers.get("Content-Type", ""), body)
            reply = server.answer(urllib.parse.unquote(token), method, fields, file)
            if reply == "hang":
                server.closing.wait(120)
            if reply in ("hang", "drop"):
                self.close_connection = True
                self.connection.close()
            elif reply == "prose":
                self._write(200, b"<html>log in to this network</html>")
            else:
                self._send(*reply)  # type: ignore[misc]

        def _send(self, status: int, answer: object) -> None:
            self._write(status, json.dumps(answer).encode())

        def _write(self, status: int, data: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    return Handler


def main() -> None:
    with TelegramServer(port=int(sys.argv[1]) if len(sys.argv) > 1 else 0) as server:
        print(server.url, flush=True)  # noqa: T201
        server.closing.wait()


if __name__ == "__main__":
    main()
