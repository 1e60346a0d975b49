"""Who may call what, and under which name."""

from __future__ import annotations

import logging

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from argus_api.auth import Level, Tokens

from .conftest import BASE, bearer, turn

READ, WRITE = Level.CAPTURE, Level.ADMIN
CALLS = [
    ("POST", "/capture", READ),
    ("GET", "/recall/context", READ),
    ("POST", "/recall/notes", READ),
    ("GET", "/search?q=pump", READ),
    ("GET", "/notes/1", READ),
    ("GET", "/notes/1/source", READ),
    ("GET", "/raw/1", READ),
    ("GET", "/episodes/1", READ),
    ("GET", "/review", READ),
    ("GET", "/hooks/download/capture_hook.py", READ),
    ("POST", "/review/1/approve", WRITE),
    ("POST", "/review/1/reject", WRITE),
    ("POST", "/review/1/undo", WRITE),
    ("POST", "/process", WRITE),
    ("POST", "/segment", WRITE),
]


@pytest.mark.parametrize(("method", "path", "needed"), CALLS)
def test_a_call_takes_its_token_or_a_higher_one(
    stranger: TestClient,
    quiet_app: FastAPI,
    monkeypatch: pytest.MonkeyPatch,
    method: str,
    path: str,
    needed: Level,
) -> None:
    """Nobody and a wrong token: 401. A token that is too low: 403. From the needed level on: neither."""
    monkeypatch.setattr("argus_api.process_routes.launch_job", lambda *_, **__: "run")
    assert stranger.request(method, path).status_code == 401
    assert stranger.request(method, path, headers=bearer("x" * 30)).status_code == 401
    settings = quiet_app.state.hub.settings
    tokens = {
        Level.CAPTURE: settings.capture_token,
        Level.MCP: settings.mcp_token,
        Level.ADMIN: settings.admin_token,
    }
    for level, token in tokens.items():
        status = stranger.request(method, path, headers=bearer(token)).status_code
        assert (status == 403) == (level < needed), (level, status)
        assert status not in (401, 500, 503)


def test_no_route_is_forgotten(quiet_app: FastAPI, stranger: TestClient) -> None:
    """Every route but /healthz refuses a caller without a token, also one that a later change adds; a page leads to
    the form to sign in, which alone is open with its files and its link."""
    open_pages = {"/ui/sign-in", "/ui/static/{name}", "/ui/enter"}
    routers = [getattr(route, "original_router", None) for route in quiet_app.routes]
    routes = [route for route in quiet_app.routes if hasattr(route, "path")]
    routes += [route for router in routers if router is not None for route in router.routes]
    places = [(route.path, route.methods) for route in routes]  # type: ignore[attr-defined]
    assert len(places) >= 13
    for path, methods in places:
        for method in methods - {"HEAD"}:
            address = path.replace("{", "").replace("}", "")
            answer = stranger.request(method, address, follow_redirects=False)
            if path.startswith("/ui") and path not in open_pages:
                assert answer.headers.get("location", "").startswith("/ui/sign-in?"), (method, path, answer)
            elif path not in open_pages:
                assert (answer.status_code == 401) == (path != "/healthz"), (method, path, answer)


@pytest.mark.parametrize("header", ["", "Bearer", "Bearer ", "Basic abc", "capture-token-for-tests", "Bearer \u00e9"])
def test_another_header_is_nobody(quiet_app: FastAPI, header: str) -> None:
    """Other schemes, an empty token, and one that is no ASCII."""
    assert Tokens.of(quiet_app.state.hub.settings).level_of(header) == Level.NOBODY


def test_a_token_that_is_not_set_fits_nothing() -> None:
    """A hub without tokens takes no call, not every call."""
    assert Tokens(()).level_of("Bearer ") == Level.NOBODY


def test_a_refusal_shows_no_token(stranger: TestClient, quiet_app: FastAPI, caplog: pytest.LogCaptureFixture) -> None:
    """Neither in the answer nor in the log; and the answer names the scheme."""
    settings = quiet_app.state.hub.settings
    with caplog.at_level(logging.DEBUG):
        answer = stranger.post("/process", headers=bearer(settings.capture_token))
        wrong = stranger.post("/process", headers=bearer("wrong-token-of-somebody"))
    shown = answer.text + wrong.text + caplog.text
    assert settings.capture_token not in shown
    assert "wrong-token-of-somebody" not in shown
    assert wrong.headers["www-authenticate"] == "Bearer"


def test_the_token_is_asked_before_the_body_is_read(stranger: TestClient) -> None:
    """A stranger's megabytes are not looked at."""
    assert stranger.post("/capture", content=b"not json").status_code == 401
    assert stranger.post("/recall/notes", content=b"not json").status_code == 401


@pytest.mark.parametrize("host", ["127.0.0.1:8484", "localhost:8484", "[::1]:8484", "argus.localhost", "10.0.0.7:1"])
def test_own_names_are_answered(stranger: TestClient, host: str) -> None:
    """Loopback names, and addresses in digits, which cannot be rebound."""
    assert stranger.get("/healthz", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8484", "127.0.0.1.evil.example", "", "[::1"])
def test_a_foreign_name_is_refused(stranger: TestClient, host: str) -> None:
    """A page that reached the loopback under a name of its own learns nothing."""
    answer = stranger.get("/healthz", headers={"Host": host})
    assert answer.status_code == 421
    assert answer.json()["error"]["code"] == "wrong_host"


def test_a_hook_behind_a_foreign_name_keeps_its_turns(quiet_app: FastAPI) -> None:
    """With a token the name does not matter, and without one it hears 401, after which a hook waits."""
    far = TestClient(quiet_app, base_url=BASE, headers={"Host": "hub.example"})
    settings = quiet_app.state.hub.settings
    assert far.post("/capture", json=turn("From afar.")).status_code == 401
    assert far.post("/capture", json=turn("From afar."), headers=bearer(settings.capture_token)).status_code == 201
