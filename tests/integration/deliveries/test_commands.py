"""`argus alerts`, `argus deliveries` and `argus digest`, called as from a shell."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from argus_cli.main import main
from argus_memory.db import Database
from argus_memory.settings import Settings
from argus_memory.watch.alerts import Condition, raise_alert
from tests.integration.deliveries.conftest import Put, row_of
from tests.stubs.telegram_server import TelegramServer

Call = Callable[..., tuple[int, str]]


@pytest.fixture
def call(settings: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    """The command with its exit code and what it printed; variables given by name."""

    def call_argus(*words: str, **variables: str) -> tuple[int, str]:
        monkeypatch.setenv("ARGUS_HOME", str(settings.home))
        monkeypatch.setenv("ARGUS_DATABASE_URL", str(settings.database_url))
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        code = main(words)
        captured = capsys.readouterr()
        return code, captured.out + captured.err

    return call_argus


def open_alert(db: Database, settings: Settings) -> int:
    with db.transaction() as conn:
        wrong = Condition("no-show", "task:backup", "backup did not run", detail="due 03:00")
        id_ = raise_alert(conn, settings, wrong, now=datetime.now(UTC) - timedelta(hours=3), by="watchdog")
    assert id_ is not None
    return id_


def as_json(told: tuple[int, str]) -> Any:
    return json.loads(told[1])


def test_alerts_are_listed_snoozed_and_closed(db: Database, settings: Settings, call: Call) -> None:
    """Exit 1 while one is open; an unknown id and a bad span are refused in one sentence."""
    assert call("alerts") == (0, "no alert is open (open=0)\n")
    id_ = open_alert(db, settings)
    code, told = call("alerts", "list")
    assert code == 1
    assert told.splitlines() == [
        "open=1", f"{id_}  error no-show task:backup  (for 3 h, seen by watchdog)", "    backup did not run",
        "    due 03:00",
    ]  # fmt: skip
    assert call("alerts", "snooze", str(id_), "--for", "2h")[0] == 0
    assert "snoozed until" in call("alerts")[1]
    assert call("alerts", "snooze", str(id_), "--for", "soon")[0] == 2
    assert as_json(call("alerts", "close", str(id_), "--json")) == {"id": id_, "closed": True}
    assert call("alerts", "close", str(id_))[0] == 2
    assert "no alert 999" in call("alerts", "close", "999")[1]
    listed = as_json(call("alerts", "list", "--all", "--json"))
    assert (listed["open"], listed["total"], listed["alerts"][0]["id"]) == (0, 1, id_)


def test_messages_are_listed_with_what_became_of_them(db: Database, call: Call, put: Put) -> None:
    """Kept where nothing is configured; one given up shows how to try again, and exit 1."""
    id_ = put(title="hello")
    code, told = call("deliveries")
    assert code == 0
    assert told.splitlines()[0] == "count=1"
    assert told.splitlines()[-1] == "    kept, nothing is configured to send"
    db.fetch_all("update deliveries set status = 'gave-up', attempts = 5, last_error = '400 empty' returning id")
    code, told = call("deliveries", "list", "--status", "gave-up")
    assert (code, "given up after 5 tries: 400 empty" in told) == (1, True)
    assert as_json(call("deliveries", "retry", str(id_), "--json")) == {"id": id_, "status": "pending"}
    assert (row_of(db, id_)["status"], row_of(db, id_)["attempts"]) == ("pending", 0)
    assert as_json(call("deliveries", "--json"))["deliveries"][0]["id"] == id_
    db.fetch_all("update deliveries set status = 'sent' returning id")
    assert "only one that waits" in call("deliveries", "retry", str(id_))[1]


def test_a_test_message_is_sent_and_waited_for(call: Call, telegram: TelegramServer) -> None:
    """Through the real door; a channel that does not exist is refused, for a fallback would test another one."""
    assert call("deliveries", "send-test", "main")[0] == 2
    given = {
        "ARGUS_TELEGRAM_TOKEN": telegram.token, "ARGUS_TELEGRAM_BASE_URL": f"{telegram.url}/bot",
        "ARGUS_TELEGRAM_CHATS": "main=100",
    }  # fmt: skip
    code, told = call("deliveries", "send-test", "main", **given)
    assert (code, "sent to telegram:100" in told) == (0, True)
    assert "The channel “main” works." in telegram.texts[0]
    code, told = call("deliveries", "send-test", "team")
    assert (code, "no channel 'team'" in told) == (2, True)


def test_the_digest_is_printed_or_put_into_the_outbox(db: Database, call: Call) -> None:
    """--print writes nothing; the second one of a day says that it is there already."""
    code, told = call("digest", "--print")
    assert (code, "Open alerts: none." in told) == (0, True)
    assert db.fetch_all("select id from deliveries") == []
    written = as_json(call("digest", "--json"))
    assert (written["duplicate"], row_of(db, written["id"])["key"]) == (False, written["key"])
    assert "in the outbox already" in call("digest")[1]
