"""`POST /deliver` and `GET /deliveries`, and the thread that sends."""

from __future__ import annotations

from dataclasses import replace

import httpx
import pytest
from fastapi.testclient import TestClient

from argus_api.app import create_app
from argus_memory.db import Database
from argus_memory.settings import Settings
from tests.helpers import wait_until
from tests.integration.api.conftest import BASE, bearer
from tests.stubs.telegram_server import TelegramServer


def test_an_intent_is_a_row_and_says_what_becomes_of_it(client: TestClient, settings: Settings) -> None:
    """Nothing is configured: it is kept, and the receipt says why it is not sent."""
    sent = client.post("/deliver", json={"text": "hello", "title": "T"}, headers=bearer(settings.mcp_token))
    assert sent.status_code == 201
    receipt = sent.json()
    assert (receipt["duplicate"], receipt["channel"], receipt["sending"]) == (False, "main", False)
    assert "nothing is configured to send" in receipt["why"]
    listed = client.get("/deliveries").json()
    assert (listed["count"], [row["id"] for row in listed["deliveries"]]) == (1, [receipt["id"]])
    assert listed["deliveries"][0]["status"] == "pending"


def test_the_same_key_of_a_task_is_one_message(client: TestClient) -> None:
    """The second answer is 200 with the first id; another task's key is another message."""
    first = client.post("/deliver", json={"text": "a", "key": "k", "task": "backup"})
    again = client.post("/deliver", json={"text": "b", "key": "k", "task": "backup"})
    other = client.post("/deliver", json={"text": "c", "key": "k", "task": "sweep"})
    assert [r.status_code for r in (first, again, other)] == [201, 200, 201]
    assert (again.json()["id"], again.json()["duplicate"]) == (first.json()["id"], True)
    found = client.get("/deliveries", params={"key": "deliver:backup:k"}).json()
    assert (found["count"], found["deliveries"][0]["id"]) == (1, first.json()["id"])


@pytest.mark.parametrize(
    ("intent", "said"),
    [
        ({}, "text: is empty"),
        ({"text": " \n"}, "text: is empty"),
        ({"text": "é" * 40_000}, "text: has 80,000 bytes"),
        ({"text": 5}, "text: is no text"),
        ({"text": "a", "title": "t" * 501}, "title: has 501 characters"),
        ({"text": "a", "channel": "a\u0000b"}, "channel: holds characters"),
        ({"text": "a", "link": "javascript:alert(1)"}, "link: is no address"),
        ({"text": "a", "rid": "x"}, "rid: 'x' is no run's id"),
    ],
)
def test_what_cannot_be_delivered_is_refused(quiet: TestClient, intent: dict[str, object], said: str) -> None:
    """422 names the field; nothing is kept."""
    refused = quiet.post("/deliver", json=intent)
    assert refused.status_code == 422
    assert said in refused.json()["error"]["message"]
    assert quiet.get("/deliveries").json()["count"] == 0


def test_tokens_of_hooks_may_not_deliver_and_agents_may_not_list(quiet: TestClient, quiet_app: object) -> None:
    """POST /deliver is an agent's write; the outbox holds what others were told."""
    settings = quiet_app.state.hub.settings  # type: ignore[attr-defined]
    assert quiet.post("/deliver", json={"text": "a"}, headers=bearer(settings.capture_token)).status_code == 403
    assert quiet.get("/deliveries", headers=bearer(settings.mcp_token)).status_code == 403
    assert quiet.get("/deliveries", params={"status": "lost"}).status_code == 422


def test_secrets_and_odd_characters_do_not_reach_the_outbox(client: TestClient, settings: Settings, db: Database) -> None:
    """A token of Argus's own is masked, a NUL and half an emoji are replaced."""
    body = '{"text": "nul \\u0000 half \\ud83d token %s"}' % settings.admin_token  # noqa: UP031
    assert client.post("/deliver", content=body).status_code == 201
    row = db.fetch_one("select body from deliveries")
    assert row is not None
    assert row["body"] == "nul \ufffd half \ufffd token [redacted:argus-token]"


def test_a_secret_in_a_link_or_a_key_stays_out_of_the_outbox(client: TestClient, settings: Settings, db: Database) -> None:
    """The link's token is masked, the key becomes a digest, under which a repeat is still a repeat."""
    intent = {"text": "a", "link": f"https://h/?token={settings.mcp_token}", "key": settings.mcp_token}
    assert [client.post("/deliver", json=intent).status_code for _ in range(2)] == [201, 200]
    assert client.post("/deliver", json={**intent, "key": settings.admin_token}).status_code == 201
    assert str(settings.mcp_token) not in str(db.fetch_all("select * from deliveries"))


def test_a_run_nobody_knows_loses_no_message(client: TestClient, db: Database) -> None:
    """The message is kept without the run, and the receipt says so."""
    reply = client.post("/deliver", json={"text": "a", "rid": "0d7f2a36-1f7c-4f37-9d0e-2f6b5f1c0a11"})
    assert reply.status_code == 201
    assert "is known" in reply.json()["note"]
    assert db.fetch_one("select rid from deliveries") == {"rid": None}


def test_the_running_api_sends_within_ten_seconds(db: Database, settings: Settings) -> None:
    """From the route to a loopback Telegram, by the thread of the application; the beat says that it lives."""
    with TelegramServer() as telegram:
        sending = replace(
            settings, telegram_token=telegram.token, telegram_base_url=telegram.url, telegram_chats=("main=100",)
        )
        with TestClient(create_app(sending), base_url=BASE, headers=bearer(settings.admin_token)) as client:
            reply: httpx.Response = client.post("/deliver", json={"text": "it is done"})
            assert (reply.json()["sending"], reply.json()["why"]) == (True, None)
            wait_until(lambda: telegram.texts, seconds=10, what="the message has arrived")
            wait_until(lambda: client.get("/deliveries", params={"status": "sent"}).json()["count"] == 1)
            assert db.fetch_one("select pid > 0 as there from watcher_beats where watcher = 'sender'") == {"there": True}
    assert telegram.texts == ["it is done"]
