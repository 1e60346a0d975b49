"""Who may see and change the pages."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from fastapi.testclient import TestClient

from argus_api.app import create_app
from argus_api.ui.sessions import COOKIE, key_of, open_session
from argus_memory.db import Database
from argus_memory.settings import Settings
from argus_memory.upkeep.entry import make_code
from tests.filled_store import Filled
from tests.ui_client import BASE, Browser, words_of

PAGES = ("/ui", "/ui/search", "/ui/search?q=vents", "/ui/notes/1", "/ui/raw/1", "/ui/notes/1/redact", "/ui/checks/disk")


def cookie_of(settings: Settings, now: datetime) -> str:
    key = key_of(settings.admin_token)
    assert key
    return open_session(key, now=now)


def is_pinned(db: Database, note_id: int) -> bool:
    row = db.fetch_one("select pinned_at from distilled_notes where id = %(id)s", {"id": note_id})
    return row is not None and row["pinned_at"] is not None


@pytest.mark.parametrize("path", PAGES)
def test_every_page_asks_who_is_signed_out_to_sign_in(stranger: TestClient, path: str) -> None:
    """A page that was asked for is a 303 to the form, which comes back to it."""
    answer = stranger.get(path)
    assert answer.status_code == 303
    assert answer.headers["location"].startswith("/ui/sign-in?next=%2Fui")


def test_the_token_opens_a_session_and_leads_back(stranger: TestClient, settings: Settings) -> None:
    """The cookie is HttpOnly and SameSite=Strict, lasts 30 days, and the page asked for comes next."""
    answer = stranger.post("/ui/sign-in", data={"token": settings.admin_token, "next": "/ui/search?q=a"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/ui/search?q=a")
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()
    assert f"Max-Age={30 * 86400}" in cookie
    assert "Secure" not in cookie
    assert stranger.get("/ui/search?q=a").status_code == 200


def test_over_https_the_cookie_is_secure(app: object, settings: Settings) -> None:
    """Behind TLS the browser must never send it in the clear."""
    client = TestClient(app, base_url="https://localhost:8484", follow_redirects=False)  # type: ignore[arg-type]
    answer = client.post("/ui/sign-in", data={"token": settings.admin_token, "next": "/ui"})
    assert "Secure" in answer.headers["set-cookie"]


@pytest.mark.parametrize("token", ["", "wrong", "capture-token-for-tests", "mcp-token-for-tests-only", "ä\x00"])
def test_other_tokens_open_nothing(stranger: TestClient, token: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """401, the form again, no cookie."""
    monkeypatch.setattr("argus_api.ui.sign_in.WRONG_SECONDS", 0.0)
    answer = stranger.post("/ui/sign-in", data={"token": token, "next": "/ui"})
    assert answer.status_code == 401
    assert "not the admin token" in answer.text
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("goal", ["https://evil.example/ui", "//evil.example/ui", "/ui\\@evil.example", "/capture", "ui", "/uix"])
def test_signing_in_leads_nowhere_else(stranger: TestClient, settings: Settings, goal: str) -> None:
    """A link of somebody else's making cannot send who signs in to another place."""
    answer = stranger.post("/ui/sign-in", data={"token": settings.admin_token, "next": goal})
    assert answer.headers["location"] == "/ui"


def test_the_printed_link_signs_in_once(stranger: TestClient, settings: Settings) -> None:
    """The second time it leads to the form, which says why."""
    settings.home.mkdir(exist_ok=True)
    code = make_code(settings.home, now=datetime.now(UTC))
    assert stranger.get(f"/ui/enter?code={code}").headers["location"] == "/ui"
    assert stranger.get("/ui").status_code == 200
    stranger.cookies.clear()
    again = stranger.get(f"/ui/enter?code={code}")
    assert again.headers["location"] == "/ui/sign-in?link=1"
    assert "used up" in stranger.get(again.headers["location"]).text


def test_a_link_of_eleven_minutes_ago_is_over(stranger: TestClient, settings: Settings) -> None:
    """A code in a log or a scroll-back is worth nothing later."""
    settings.home.mkdir(exist_ok=True)
    code = make_code(settings.home, now=datetime.now(UTC) - timedelta(minutes=11))
    assert stranger.get(f"/ui/enter?code={code}").headers["location"] == "/ui/sign-in?link=1"


def test_an_expired_cookie_in_a_post_does_nothing(
    db: Database, filled: Filled, stranger: TestClient, settings: Settings
) -> None:
    """303 to the form with a plain sentence; the note stays as it was; after signing in the page comes back."""
    note = filled.note("The greenhouse vents")
    stranger.cookies.set(COOKIE, cookie_of(settings, datetime.now(UTC) - timedelta(days=31)))
    answer = stranger.post(
        f"/ui/notes/{note}/pin", data={"csrf": "x"}, headers={"referer": f"{BASE}/ui/notes/{note}"}
    )
    assert answer.status_code == 303
    assert answer.headers["location"] == f"/ui/sign-in?over=1&next=%2Fui%2Fnotes%2F{note}"
    assert "nothing was changed" in stranger.get(answer.headers["location"]).text
    assert not is_pinned(db, note)


def test_a_forged_cookie_is_none(stranger: TestClient, settings: Settings) -> None:
    """A longer life written into a real cookie, and one made up, both lead to the form."""
    until, nonce, signature = cookie_of(settings, datetime.now(UTC)).split(".")
    for forged in (f"{int(until) + 9}.{nonce}.{signature}", "a.b.c", "", "9" * 400):
        stranger.cookies.set(COOKIE, forged)
        assert stranger.get("/ui").status_code == 303


def test_a_new_admin_token_ends_every_session(browser: Browser, db: Database, settings: Settings) -> None:
    """The key is derived from the token."""
    rotated = TestClient(
        create_app(replace(settings, admin_token="another-admin-token")), base_url=BASE, follow_redirects=False
    )
    rotated.cookies.update(browser.client.cookies)
    assert rotated.get("/ui").status_code == 303


def test_without_an_admin_token_nobody_signs_in(db: Database, settings: Settings) -> None:
    """503 with the setting that is missing; a blank token is none."""
    client = TestClient(create_app(replace(settings, admin_token=None)), base_url=BASE, follow_redirects=False)
    answer = client.post("/ui/sign-in", data={"token": ""})
    assert answer.status_code == 503
    assert "ARGUS_ADMIN_TOKEN" in answer.text


@pytest.mark.parametrize("csrf", [None, "", "wrong"])
def test_a_form_without_the_sessions_token_does_nothing(
    db: Database, filled: Filled, browser: Browser, csrf: str | None
) -> None:
    """403 as a page, and nothing is changed."""
    note = filled.note("The greenhouse vents")
    answer = browser.client.post(f"/ui/notes/{note}/pin", data={} if csrf is None else {"csrf": csrf})
    assert answer.status_code == 403
    assert "not of your session" in answer.text
    assert not is_pinned(db, note)


@pytest.mark.parametrize(
    "headers",
    [{"origin": "https://evil.example"}, {"origin": "null"}, {"origin": "http://127.0.0.1:3000"},
     {"sec-fetch-site": "cross-site"}],
)  # fmt: skip
def test_a_page_of_another_site_can_change_nothing(
    db: Database, filled: Filled, browser: Browser, headers: dict[str, str]
) -> None:
    """Even with the session's cookie and token, and for signing in as well."""
    note = filled.note("The greenhouse vents")
    answer = browser.client.post(f"/ui/notes/{note}/pin", data={"csrf": browser.csrf}, headers=headers)
    assert answer.status_code == 403
    assert not is_pinned(db, note)
    assert browser.client.post("/ui/sign-in", data={"token": "x"}, headers=headers).status_code == 403


def test_the_own_origin_may_change(db: Database, filled: Filled, browser: Browser) -> None:
    """What a browser sends from the hub's own page."""
    note = filled.note("The greenhouse vents")
    headers = {"origin": BASE, "sec-fetch-site": "same-origin"}
    assert browser.client.post(f"/ui/notes/{note}/pin", data={"csrf": browser.csrf}, headers=headers).status_code == 303
    assert is_pinned(db, note)


def test_a_forged_host_is_refused_as_a_page(reader: Browser) -> None:
    """421 in one sentence, also with a session."""
    answer = reader.client.get("/ui", headers={"host": "evil.example"})
    assert answer.status_code == 421
    assert "is not a name of this hub" in answer.text
    assert answer.headers["content-type"].startswith("text/html")


def test_the_admin_token_in_a_header_reads_and_acts(db: Database, filled: Filled, stranger: TestClient) -> None:
    """For scripts: no cookie, and no CSRF token, since no page can send that header; other tokens do not."""
    admin = {"authorization": "Bearer admin-token-for-tests-only"}
    note = filled.note("The greenhouse vents")
    assert stranger.get("/ui", headers=admin).status_code == 200
    assert stranger.post(f"/ui/notes/{note}/pin", headers=admin).status_code == 303
    assert is_pinned(db, note)
    assert stranger.get("/ui", headers={"authorization": "Bearer mcp-token-for-tests-only"}).status_code == 303


def test_signing_out_forgets_the_session(browser: Browser) -> None:
    """The next page asks to sign in."""
    assert browser.send("/ui/sign-out").headers["location"] == "/ui/sign-in"
    assert browser.get("/ui").status_code == 303


def test_the_look_is_kept_and_followed(browser: Browser) -> None:
    """Dark on every page until it is the machine's again; another word is refused."""
    assert 'data-theme="dark"' in browser.follow("/ui/theme", theme="dark", back="/ui/search")
    assert 'data-theme="dark"' in browser.page("/ui")
    assert "data-theme" not in browser.follow("/ui/theme", theme="system", back="/ui")
    assert browser.send("/ui/theme", theme="pink").status_code == 422


@pytest.mark.parametrize("path", [*PAGES, "/ui/nowhere", "/ui/sign-in"])
def test_every_page_has_the_strict_headers(reader: Browser, path: str) -> None:
    """No script or style but our own files, no frame, no cache; and no inline script or style in any page."""
    answer = reader.client.get(path, follow_redirects=True)
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
    assert "unsafe" not in policy
    assert answer.headers["cache-control"] == "no-store"
    assert "<style" not in answer.text
    assert " style=" not in answer.text
    assert " onclick=" not in answer.text
    assert "<script>" not in answer.text


def test_what_is_no_form_is_refused(reader: Browser) -> None:
    """JSON, broken bytes and too many fields: a sentence, and nothing is done."""
    post = reader.client.post
    assert post("/ui/theme", json={"theme": "dark"}).status_code == 422
    form = {"content-type": "application/x-www-form-urlencoded"}
    assert post("/ui/theme", content=b"\xff\xfe=1", headers=form).status_code in (403, 422)
    assert post("/ui/theme", content=b"&".join(b"a=1" for _ in range(500)), headers=form).status_code == 422
    assert post("/ui/theme", content=b"a=" + b"x" * 2_000_000, headers=form).status_code == 413


@pytest.mark.parametrize("path", ["/ui/nowhere", "/ui/notes/0", "/ui/notes/abc", "/ui/notes/99999999999999999999"])
def test_errors_are_pages_of_one_sentence(reader: Browser, path: str) -> None:
    """With their status, and a way on."""
    answer = reader.get(path)
    assert answer.status_code in (404, 422)
    assert "To the overview" in words_of(answer.text)
