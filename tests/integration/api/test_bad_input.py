"""Bad input: one clear sentence in the one shape of errors, and nothing half done."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from fastapi.testclient import TestClient

from argus_api.body import parse_json
from argus_memory.db import Database
from argus_memory.settings import CAPTURE_MAX_BYTES

from .conftest import turn


def error_of(answer: Any, status: int) -> str:
    """The message, after a look at the shape."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/json"
    error = answer.json()["error"]
    assert set(error) >= {"code", "message"}
    assert "\n" not in error["message"]
    assert "Traceback" not in error["message"]
    return str(error["message"])


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "empty"),
        (b"   ", "empty"),
        (b"{", "not JSON"),
        (b'{"source": "claude-code", }', "line 1"),
        (b"\xff\xfe{}", "not UTF-8"),
        (b'{"body": "\xc3\x28"}', "not UTF-8 (byte 10"),
        (b'{"a": NaN}', "NaN"),
        (b'{"a": 1e999}', "too large"),
        (b"[" * 100_000, "nested too deeply"),
    ],
)
def test_what_is_no_json_is_400(quiet: TestClient, body: bytes, words: str) -> None:
    """Malformed JSON and invalid UTF-8 are told apart, with the place."""
    assert words in error_of(quiet.post("/capture", content=body), 400)


@pytest.mark.parametrize("body", ["[]", '"text"', "3", "null", "true", '{"items": {}}', '{"items": [], "hook": 3}'])
def test_another_shape_is_422(quiet: TestClient, body: str) -> None:
    """JSON that is not what the call takes."""
    assert "needed" in error_of(quiet.post("/capture", content=body), 422)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("source", "Claude Code"),
        ("source", 3),
        ("source", None),
        ("kind", "opinion"),
        ("kind", ["turn"]),
        ("body", None),
        ("body", ""),
        ("body", 17),
        ("body", {"text": "x"}),
        ("session", 5),
        ("cwd", ["/home"]),
        ("project", True),
        ("metadata", "role: user"),
        ("metadata", []),
    ],
)
def test_a_wrong_type_names_its_field(quiet: TestClient, field: str, value: Any) -> None:
    """Every field of an item is checked, and its name stands in the answer."""
    answer = quiet.post("/capture", json={**turn("Something said."), field: value})
    message = error_of(answer, 422)
    assert field in message
    assert answer.json()["error"]["field"].startswith(field)


def test_a_body_above_the_limit_is_413(server: httpx.Client, db: Database) -> None:
    """50 MB are refused with the limit named, whether their length is told beforehand or not."""
    piece = b" " * (1024 * 1024)

    def pieces() -> Iterator[bytes]:
        for _ in range(50):
            yield piece

    assert "KiB" in error_of(server.post("/capture", content=piece * 50), 413)
    assert "KiB" in error_of(server.post("/capture", content=pieces()), 413)
    assert "KiB" in error_of(server.post("/recall/notes", content=piece * 2), 413)
    assert server.post("/capture", json=turn("Still there.")).status_code == 201


def test_a_body_far_above_the_limit_is_refused_at_once(quiet: TestClient) -> None:
    """A told length that is out of all proportion is not even read."""
    headers = {"Content-Length": str(CAPTURE_MAX_BYTES * 100)}
    assert quiet.post("/capture", content=b"{}", headers=headers).status_code == 413


def test_a_line_of_a_megabyte_is_stored(client: TestClient, db: Database) -> None:
    """A long turn is no bad input."""
    assert client.post("/capture", json=turn("word " * 200_000)).status_code == 201
    row = db.fetch_one("select length(body) as n from raw_items")
    assert row is not None
    assert row["n"] >= 999_999


def test_lone_surrogates_and_nul_are_replaced(client: TestClient, db: Database) -> None:
    """Half an emoji and a NUL are no reason to lose a turn."""
    item = json.dumps(turn("half \ud83d and \u0000 nothing", note="\udc00"))  # noqa: RUF100
    assert client.post("/capture", content=item).status_code == 201
    row = db.fetch_one("select body from raw_items")
    assert row == {"body": "half \ufffd and \ufffd nothing"}


@pytest.mark.parametrize(
    ("stamp", "said"),
    [
        ("2026-03-02T09:00:00", "2026-03-02T09:00:00+00:00"),
        ("2026-03-02T10:00:00+01:00", "2026-03-02T09:00:00+00:00"),
        ("2999-01-01T00:00:00Z", None),
    ],
)
def test_odd_timestamps_are_understood(client: TestClient, db: Database, stamp: str, said: str | None) -> None:
    """Without a zone it is UTC; the future is clipped to the moment of capture."""
    assert client.post("/capture", json=turn("When was it?", original_timestamp=stamp)).status_code == 201
    row = db.fetch_one("select said_at, captured_at from raw_items")
    assert row is not None
    assert row["said_at"].isoformat() == (said or row["captured_at"].isoformat())


def test_metadata_of_any_json_is_kept(quiet: TestClient) -> None:
    """Numbers beyond 64 bits, deep objects, odd keys: metadata is the sender's, and can be read again."""
    odd = {"big": 10**30, "deep": {"a": [{"b": None}]}, "": "empty key", "half\ud83d": 1}
    answer = quiet.post("/capture", content=json.dumps(turn("With odd metadata.", **odd)))
    assert answer.status_code == 201
    kept = quiet.get(f"/raw/{answer.json()['id']}").json()["metadata"]
    assert kept["big"] == pytest.approx(1e30)
    assert (kept["deep"], kept[""], kept["half\ufffd"]) == (odd["deep"], "empty key", 1)


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nowhere", 404),
        ("GET", "/capture", 405),
        ("DELETE", "/notes/1", 405),
        ("GET", "/notes/4711", 404),
        ("GET", "/notes/4711/source", 404),
        ("GET", "/raw/4711", 404),
        ("GET", "/episodes/4711", 404),
        ("GET", "/hooks/download/other.py", 404),
        ("GET", "/notes/first", 422),
        ("GET", "/notes/99999999999999999999", 422),
        ("GET", "/raw/-1", 422),
        ("POST", "/review/4711/approve", 404),
        ("POST", "/review/1/forget", 422),
        ("GET", "/search", 422),
        ("GET", "/search?q=seal&limit=0", 422),
        ("GET", "/search?q=seal&limit=many", 422),
        ("GET", "/search?q=seal&type=feeling", 422),
        ("GET", "/recall/context?limit=none", 422),
        ("GET", "/openapi.json", 404),
        ("GET", "/docs", 404),
    ],
)
def test_each_error_has_the_one_shape(quiet: TestClient, method: str, path: str, status: int) -> None:
    """Unknown places, wrong methods and parameters that do not fit."""
    error_of(quiet.request(method, path), status)


@pytest.mark.parametrize(
    ("data", "field"),
    [
        ({}, "prompt"),
        ({"prompt": 3}, "prompt"),
        ({"prompt": "What about the pump?", "session": 3}, "session"),
        ({"prompt": "What about the pump?", "limit": "all"}, "limit"),
        ({"prompt": "What about the pump?", "limit": 0}, "limit"),
        ({"prompt": "What about the pump?", "limit": 1.5}, "limit"),
        ({"prompt": "What about the pump?", "limit": True}, "limit"),
        ({"prompt": "What about the pump?", "floor": 2}, "floor"),
        ({"prompt": "What about the pump?", "cwd": []}, "cwd"),
    ],
)
def test_a_recall_names_the_field_that_does_not_fit(quiet: TestClient, data: dict[str, Any], field: str) -> None:
    """The recall's own fields."""
    assert error_of(quiet.post("/recall/notes", json=data), 422).startswith(field)


def test_an_unexpected_error_tells_the_caller_nothing_of_it(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """500 in the one shape; the exception's text, which may hold what somebody said, stays in the log."""

    def break_down(*_: object, **__: object) -> None:
        raise RuntimeError("the diary says")

    monkeypatch.setattr("argus_api.capture_routes.accept", break_down)
    assert "diary" not in error_of(client.post("/capture", json=turn("Something.")), 500)


def test_wait_must_be_true_or_false(quiet: TestClient) -> None:
    """Options of a run are checked before anything starts."""
    assert error_of(quiet.post("/process", json={"wait": "yes"}), 422).startswith("wait")


@pytest.mark.parametrize("text", ['{"a": 18446744073709551616}', '{"a": "\\ud83d", "b": 123456789012345678901234}'])
def test_numbers_beyond_64_bits_are_floats(text: str) -> None:
    """Whichever parser reads it, a number is one that can be written again."""
    value = parse_json(text.encode())
    assert all(isinstance(number, float | str) for number in value.values())
