"""Garbage, huge arguments, dropped streams, wrong tokens, forged names: the server answers and goes on."""

from __future__ import annotations

import contextlib
import json
import socket
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from argus_api.mcp.answers import read_cursor, write_cursor
from argus_api.mcp.caller import clean_name
from argus_memory.errors import UsageError
from argus_memory.upkeep.serving import parse_ref
from tests.api_process import ADMIN, CAPTURE, MCP, ApiProcess
from tests.integration.mcp.conftest import NEW, OLD, call, refusal

ACCEPT = "application/json, text/event-stream"


def post(api: ApiProcess, body: bytes, *, token: str | None = MCP, **headers: str) -> httpx.Response:
    given = {"Accept": ACCEPT, "Content-Type": "application/json", **{name.replace("_", "-"): value for name, value in headers.items()}}
    if token:
        given["Authorization"] = f"Bearer {token}"
    return httpx.post(f"{api.url}/mcp", content=body, headers=given, timeout=20, trust_env=False)


def request(method: str, params: dict[str, Any] | None = None) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}}).encode()


def still_works(api: ApiProcess) -> bool:
    return "hits" in call(api, "search", query="anything at all")


@pytest.mark.parametrize(
    ("token", "status"), [(None, 401), ("wrong", 401), (CAPTURE, 403), (MCP, 200), (ADMIN, 200)]
)
def test_only_the_mcp_token_or_a_higher_one_opens_the_door(api: ApiProcess, token: str | None, status: int) -> None:
    """Without it nothing is read of the message; 401 names the scheme, and no answer names a token."""
    params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    answer = post(api, request("initialize", params), token=token)
    assert answer.status_code == status, answer.text
    if status == 401:
        assert answer.headers["WWW-Authenticate"] == "Bearer"
    assert CAPTURE not in answer.text
    assert MCP not in answer.text


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8484", "localhost.evil.example", "[", ""])
def test_a_forged_host_is_refused_with_a_token_too(api: ApiProcess, host: str) -> None:
    """421 for every name that is not this hub's, whatever the token."""
    assert post(api, request("tools/list"), Host=host).status_code in (400, 421)
    assert host == "" or post(api, request("tools/list"), Host=host).status_code == 421


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://[::", "http://127.0.0.1.evil.example"])
def test_a_foreign_page_is_refused(api: ApiProcess, origin: str) -> None:
    """An Origin that is not this hub's is refused before the message is read."""
    assert post(api, request("tools/list"), Origin=origin).status_code == 403


@pytest.mark.parametrize(
    "body",
    [
        b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"jsonrpc":"2.0"}', b"[" * 50_000, b'{"a":' * 20_000,
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":["search"],"arguments":"x"}}',
        b'{"jsonrpc":"2.0","id":1,"method":"no/such"}', b'{"jsonrpc":"2.0","id":{"a":1},"method":"tools/list"}',
        b'{"jsonrpc":"2.0","id":1e999,"method":"tools/list"}',
    ],
    ids=range(12),
)  # fmt: skip
@pytest.mark.parametrize("version", ["2025-06-18", NEW, "2099-01-01", "x"])
def test_garbage_gets_an_answer(api: ApiProcess, body: bytes, version: str) -> None:
    """What is no message is answered with a client's error, in either generation, and nothing of it stays."""
    answer = post(api, body, MCP_Protocol_Version=version)
    assert 400 <= answer.status_code < 500 or "error" in answer.json(), (answer.status_code, answer.text[:200])
    assert "Traceback" not in answer.text


def test_the_server_lives_after_all_of_it(api: ApiProcess) -> None:
    """After the garbage a search answers, and the log holds no traceback."""
    assert still_works(api)
    assert "Traceback" not in api.log.read_text("utf-8", "replace")


@pytest.mark.parametrize("mode", [OLD, NEW])
def test_huge_arguments_are_refused_in_a_sentence(api: ApiProcess, mode: str) -> None:
    """A query, a list of ids and a cursor beyond their limits: one short sentence that does not repeat them."""
    for tool, arguments in (
        ("search", {"query": "x" * 100_000}),
        ("get", {"ids": ["note:1"] * 1_000}),
        ("search", {"query": "x", "cursor": "A" * 100_000}),
        ("search", {"query": "x", "limit": 10**30}),
        ("get", {"ids": ["note:" + "9" * 30]}),
        ("forget", {"note": 10**40}),
        ("timeline", {"since": "z" * 39}),
    ):
        words = refusal(api, tool, mode=mode, **arguments)
        assert len(words) < 400, words
        assert not any(word in words for word in ("unexpected", "pydantic")), words


def test_a_body_of_many_megabytes_is_refused(api: ApiProcess) -> None:
    """Above one megabyte the answer is 413 and no session is opened."""
    assert post(api, request("tools/call", {"name": "search", "arguments": {"query": "x" * 3_000_000}})).status_code == 413


@pytest.mark.parametrize(
    "arguments",
    [
        {"query": ""}, {"query": "\x00\ud800"}, {}, {"query": 5}, {"query": None}, {"query": "x", "kind": "secrets"},
        {"query": "x", "limit": -1}, {"query": "x", "as_of": "someday"}, {"query": "x", "as_of": "2999-01-01"},
        {"query": "x", "cursor": "bm9uZQ"},
    ],
    ids=range(10),
)  # fmt: skip
def test_wrong_arguments_name_the_argument(api: ApiProcess, arguments: dict[str, Any]) -> None:
    """Each is refused, or answered where it is only odd, in words that name what was wrong."""
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "search", "arguments": arguments, "_meta": {
            "io.modelcontextprotocol/protocolVersion": NEW, "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"}}}})  # fmt: skip
    answer = post(api, body.encode(), MCP_Protocol_Version=NEW, Mcp_Method="tools/call", Mcp_Name="search")
    assert answer.status_code == 200, answer.text
    result = answer.json()["result"]
    text = result["content"][0]["text"]
    assert not any(word in text for word in ("unexpected", "Traceback")), text
    if arguments != {"query": "\x00\ud800"}:
        assert result["isError"], text
        assert text.split(":")[0] in ("q", "query", "kind", "limit", "as_of", "cursor"), text


def test_an_unknown_tool_and_text_beyond_the_plane(api: ApiProcess) -> None:
    """A verb that is none is told those that are; odd characters are kept or replaced, never an error."""
    assert "search" in refusal(api, "no_such_verb")
    given = call(api, "remember", text="Zwei Bäume \u202e\u200b🌳 \x00 stehen am Zaun")
    assert given["outcome"] == "queued"


def test_a_dropped_stream_leaves_the_server_well(api: ApiProcess) -> None:
    """A client that goes away in the middle of its body, or of the answer, or of its event stream."""
    place = urlsplit(api.url)
    head = f"Host: {place.netloc}\r\nAuthorization: Bearer {MCP}\r\nAccept: {ACCEPT}\r\nContent-Type: application/json\r\n"
    started = post(api, request("initialize", {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}))  # fmt: skip
    session = f"Mcp-Session-Id: {started.headers['mcp-session-id']}\r\n"
    for text in (
        f"POST /mcp HTTP/1.1\r\n{head}Content-Length: 5000\r\n\r\n{{",
        f"POST /mcp HTTP/1.1\r\n{head}{session}Content-Length: 58\r\n\r\n" + '{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{}}',
        f"GET /mcp HTTP/1.1\r\n{head}{session}\r\n",
        f"GET /mcp HTTP/1.1\r\n{head}{session}\r\n",
    ):
        with socket.create_connection((place.hostname, place.port), timeout=5) as link:
            link.sendall(text.encode())
            link.recv(10) if text.startswith("GET") else None
    assert still_works(api)
    with api.client(None) as client:
        assert client.get("/healthz").status_code == 200


def test_a_session_belongs_to_the_token_that_opened_it(api: ApiProcess) -> None:
    """Its id, with another token, is answered as if there were no such session."""
    params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    session = post(api, request("initialize", params)).headers["mcp-session-id"]
    assert post(api, request("tools/list"), token=ADMIN, Mcp_Session_Id=session).status_code == 404
    assert post(api, request("tools/list"), Mcp_Session_Id="0" * 32).status_code == 404


@given(st.text(max_size=200))
def test_a_name_is_always_one_short_printable_line(text: str) -> None:
    """Whatever a client calls itself, its name in the books is short, printable and not empty."""
    name = clean_name(text)
    assert name
    assert len(name) <= 66
    assert name.isprintable()
    assert name not in ("argus", "cli", "api", "ui")


@given(st.text(max_size=60))
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_no_text_breaks_an_id_or_a_cursor(text: str) -> None:
    """Any text is an id or a cursor of ours, or refused as a wrong use."""
    for read in (lambda: parse_ref(text), lambda: read_cursor(text, offset=int)):
        with contextlib.suppress(UsageError):
            assert read() is not None


@given(st.integers(0, 2**31), st.text(max_size=50))
def test_a_cursor_comes_back_as_it_was_written(offset: int, after: str) -> None:
    """What one answer wrote the next call reads."""
    assert read_cursor(write_cursor(offset=offset, after=after), offset=int, after=str) == {"offset": offset, "after": after}
