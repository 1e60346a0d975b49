"""The access log says who asked what for how long, and nothing of what was said."""

from __future__ import annotations

import logging

import pytest
from fastapi.testclient import TestClient

from argus_api.access_log import PATH_MAX, describe
from argus_memory.settings import Settings

from .conftest import turn


def lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name == "argus_api.access_log"]


def test_each_request_is_one_line_without_its_words(
    client: TestClient, stranger: TestClient, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    """Method, path, status and milliseconds; no token, no query, no body, also where the call is refused."""
    with caplog.at_level(logging.INFO, "argus_api.access_log"):
        client.post("/capture", json=turn("The gorse is mossy."))
        client.get("/search", params={"q": "gorse"})
        stranger.get("/raw/1")
        stranger.get("/search?q=gorse", headers={"Host": "evil.example"})
    found = lines(caplog)
    words = [line.split()[:3] for line in found]
    assert words == [["POST", "/capture", "201"], ["GET", "/search", "200"], ["GET", "/raw/1", "401"],
                     ["GET", "/search", "421"]]  # fmt: skip
    assert all(line.endswith(" ms") for line in found)
    text = "\n".join(found)
    assert "gorse" not in text
    assert settings.admin_token is not None
    assert settings.admin_token not in text


def test_a_healthy_answer_to_the_supervisor_is_no_line(client: TestClient, caplog: pytest.LogCaptureFixture) -> None:
    """It is asked every few seconds."""
    with caplog.at_level(logging.INFO, "argus_api.access_log"):
        assert client.get("/healthz").status_code == 200
    assert lines(caplog) == []


def test_a_path_cannot_forge_a_line() -> None:
    """Line breaks and what is no ASCII are escaped, and a long path is cut."""
    assert describe("GET", "/a\n2026 GET /x 200\u2028ü", 404, 0.0012) == r"GET /a\n2026 GET /x 200\u2028\xfc 404 1.2 ms"
    assert len(describe("GET", "/" + "a" * 1000, 404, 0)) < PATH_MAX + 30
