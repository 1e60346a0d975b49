"""A loopback stand-in for an OpenAI-compatible model server: chat completions and embeddings, no model.

    with LlmServer() as server:
        settings = replace(settings, llm_base_url=server.base_url, distill_model=("openai/small",))
        server.behave("prose", model="small")     # or for every model: server.behave("429")
        ...
        assert server.count("chat") == 2

Chat answers follow a rule over the prompt's text: `server.rule = lambda request: {...}` returns the JSON to
answer with (a str is sent as it is). Without one, a distill prompt gets one note for each turn that says
"decided" or "prefer", and any other schema gets its first enum values and empty texts. Embeddings are hashed words.

Behaviours: ok, prose, empty-list, refusal, invalid-json, wrong-shape, fenced, empty, content-filter,
context-window, content-policy, hang (until the server closes), drop (closes the connection), and any HTTP
status ("400", "401", "403", "404", "408", "422", "429", "500", "503"). Embeddings: `server.embed_dim`.

`python -m tests.stubs.llm_server` serves for other processes: it prints its address, `POST /control`
`{"behaviour", "model"?, "embed_dim"?}` changes it, `GET /calls` lists the calls.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TURN = re.compile(
    r'<(turn-\w+) speaker="(?P<speaker>\w+)"[^>]*>\n(?P<text>.*?)\n</\1>', re.DOTALL
)  # as models/llm_distill.py writes them
KEPT = re.compile(r"[^.!?\n]*\b(?:decided|prefers?)\b[^.!?\n]*[.!?]?")
FIXED = {
    "prose": "Sure! Here are a few thoughts about this conversation, which I found quite interesting.",
    "refusal": "I'm sorry, but I can't assist with that.",
    "invalid-json": '{"notes": [{"title": "cut off',
    "wrong-shape": '{"notes": "none"}',
    "empty": "",
}
ERRORS = {
    "context-window": (400, "This model's maximum context length is 4096 tokens", "context_length_exceeded"),
    "content-policy": (400, "Your request was rejected by the content policy", "content_policy_violation"),
}


@dataclass(frozen=True)
class ChatRequest:
    """One chat call as the server saw it."""

    model: str
    system: str
    user: str
    messages: list[dict[str, Any]]
    schema: dict[str, Any] | None
    body: dict[str, Any]


Rule = Callable[[ChatRequest], Any]


@dataclass(frozen=True)
class Call:
    """One request that arrived: `kind` is chat or embeddings, `authorization` the header as sent."""

    kind: str
    model: str
    behaviour: str
    body: dict[str, Any]
    authorization: str


def fill(schema: dict[str, Any]) -> Any:
    """The smallest value a schema accepts."""
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        return {name: fill(part) for name, part in schema.get("properties", {}).items()}
    return {"array": [], "string": "", "number": 0.0, "integer": 0, "boolean": False}.get(str(kind))


def default_rule(request: ChatRequest) -> Any:
    """One note for each turn that decides or prefers something; any other schema is filled."""
    if request.schema is None or "notes" not in request.schema.get("properties", {}):
        return fill(request.schema or {"type": "object"})
    notes = []
    for turn in TURN.finditer(request.user):
        for sentence in KEPT.findall(turn["text"]):
            said = " ".join(sentence.split())
            notes.append(
                {
                    "title": said[:80],
                    "content": f"{turn['speaker'].capitalize()}: {said}",
                    "category": "decision" if "decided" in said else "preference",
                    "importance": 0.7,
                    "keywords": [],
                    "tags": [],
                    "context": "",
                    "source_ref": sentence.strip(),
                    "speaker": turn["speaker"],
                }
            )
    return {"notes": notes}


def embed_text(text: str, dim: int) -> list[float]:
    """A unit vector of hashed words: equal texts are equal, texts that share words are near."""
    vector = [0.0] * dim
    for word in re.findall(r"\w+", text.casefold()) or ["?"]:
        vector[int(hashlib.md5(word.encode()).hexdigest(), 16) % dim] += 1.0
    length = math.sqrt(sum(x * x for x in vector))
    return [x / length for x in vector]


@dataclass
class LlmServer:
    """See the module's text. Everything may be changed while it runs."""

    rule: Rule = default_rule
    embed_dim: int = 768
    model_real: dict[str, str] = field(default_factory=dict)
    port: int = 0
    calls: list[Call] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._behaviours: dict[str, list[str]] = {"*": ["ok"]}
        self._lock = threading.Lock()
        self.closing = threading.Event()
        self._http: ThreadingHTTPServer | None = None

    def __enter__(self) -> LlmServer:
        self._http = ThreadingHTTPServer(("127.0.0.1", self.port), _handler(self))
        self._http.daemon_threads = True
        self.port = self._http.server_address[1]
        threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_exc: object) -> None:
        self.closing.set()
        assert self._http is not None
        self._http.shutdown()
        self._http.server_close()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def behave(self, *behaviours: str, model: str = "*") -> None:
        """What the next calls get, in order; the last one stays."""
        with self._lock:
            self._behaviours[model] = list(behaviours)

    def behaviour_for(self, model: str) -> str:
        with self._lock:
            queue = self._behaviours.get(model) or self._behaviours["*"]
            return queue.pop(0) if len(queue) > 1 else queue[0]

    def count(self, kind: str | None = None, model: str | None = None) -> int:
        """How many calls arrived, of one kind and for one model where given."""
        return sum(kind in (None, c.kind) and model in (None, c.model) for c in self.calls)


def refused_url() -> str:
    """An address where nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}/v1"


def _chat_request(body: dict[str, Any]) -> ChatRequest:
    by_role: dict[str, str] = {}
    for message in body["messages"]:
        by_role.setdefault(message["role"], str(message["content"]))
    schema = (body.get("response_format") or {}).get("json_schema", {}).get("schema")
    return ChatRequest(
        body["model"], by_role.get("system", ""), by_role.get("user", ""), body["messages"], schema, body
    )


def _chat_answer(server: LlmServer, body: dict[str, Any], behaviour: str) -> dict[str, Any]:
    text = FIXED.get(behaviour)
    if text is None and behaviour == "empty-list":
        text = '{"notes": []}'
    if text is None:
        answer = server.rule(_chat_request(body))
        text = answer if isinstance(answer, str) else json.dumps(answer)
    if behaviour == "fenced":
        text = f"```json\n{text}\n```"
    said = sum(len(str(m["content"])) for m in body["messages"])
    filtered = behaviour == "content-filter"
    message = {"role": "assistant", "content": None if filtered else text}
    usage = {"prompt_tokens": said // 4, "completion_tokens": len(text) // 4, "total_tokens": (said + len(text)) // 4}
    return {
        "id": "chatcmpl-stub",
        "object": "chat.completion",
        "created": 1,
        "model": server.model_real.get(body["model"], body["model"]),
        "choices": [{"index": 0, "message": message, "finish_reason": "content_filter" if filtered else "stop"}],
        "usage": usage,
    }


def _embeddings_answer(server: LlmServer, body: dict[str, Any]) -> dict[str, Any]:
    texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
    rows = [
        {"object": "embedding", "index": at, "embedding": embed_text(str(text), server.embed_dim)}
        for at, text in enumerate(texts)
    ]
    tokens = sum(len(str(text)) for text in texts) // 4
    return {
        "object": "list",
        "model": server.model_real.get(body["model"], body["model"]),
        "data": rows,
        "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
    }


def _handler(server: LlmServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_args: object) -> None:
            """Silent."""

        def do_GET(self) -> None:
            if self.path == "/calls":
                self._send(200, [{"kind": c.kind, "model": c.model, "behaviour": c.behaviour} for c in server.calls])
            else:
                self._send(200, {"object": "list", "data": []})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
            if self.path == "/control":
                server.embed_dim = body.get("embed_dim", server.embed_dim)
                server.behave(body.get("behaviour", "ok"), model=body.get("model", "*"))
                self._send(200, {})
                return
            kind = "embeddings" if self.path.endswith("/embeddings") else "chat"
            behaviour = server.behaviour_for(body.get("model", ""))
            authorization = self.headers.get("Authorization", "")
            server.calls.append(Call(kind, body.get("model", ""), behaviour, body, authorization))
            self._answer(kind, behaviour, body)

        def _answer(self, kind: str, behaviour: str, body: dict[str, Any]) -> None:
            if behaviour in ("hang", "drop"):
                if behaviour == "hang":
                    server.closing.wait(120)
                self.close_connection = True
                self.connection.close()
            elif behaviour.isdigit() or behaviour in ERRORS:
                status, message, code = ERRORS.get(
                    behaviour, (int(behaviour) if behaviour.isdigit() else 500, "as told", None)
                )
                self._send(status, {"error": {"message": message, "type": "stub_error", "param": None, "code": code}})
            elif kind == "embeddings":
                self._send(200, _embeddings_answer(server, body))
            else:
                self._send(200, _chat_answer(server, body, behaviour))

        def _send(self, status: int, answer: object) -> None:
            data = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    return Handler


def main() -> None:
    with LlmServer() as server:
        print(server.base_url, flush=True)  # noqa: T201
        server.closing.wait()


if __name__ == "__main__":
    main()
