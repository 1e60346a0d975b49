"""An outbox on a fresh database, and a stand-in for Telegram."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count
from typing import Any

import pytest

from argus_memory.db import Database
from argus_memory.settings import Settings
from argus_memory.watch.alerts import put_delivery
from tests.stubs.telegram_server import TelegramServer

NOW = datetime(2026, 5, 4, 9, 0, tzinfo=UTC)
_numbers = count(1)
Put = Callable[..., int]


@pytest.fixture
def telegram() -> Iterator[TelegramServer]:
    with TelegramServer() as server:
        yield server


@pytest.fixture
def outbox(settings: Settings, telegram: TelegramServer) -> Settings:
    """Settings that send to the stand-in: main is a person, team a group's topic."""
    return replace(
        settings,
        telegram_token=telegram.token,
        telegram_base_url=telegram.url,
        telegram_chats=("main=100", "team=-200/7"),
        timezone="UTC",
    )


@pytest.fixture
def put(db: Database) -> Put:
    """Put a message into the outbox; returns its id."""

    def put_one(body: str = "words", **more: Any) -> int:
        given = {"key": f"test:{next(_numbers)}", "kind": "deliver", "channel": "main", "title": "Title", "now": NOW}
        with db.transaction() as conn:
            id_ = put_delivery(conn, body=body, **{**given, **more})
        assert id_ is not None
        return id_

    return put_one


def row_of(db: Database, id_: int) -> dict[str, Any]:
    row = db.fetch_one("select * from deliveries where id = %(id)s", {"id": id_})
    assert row is not None
    return dict(row)


def outcomes(db: Database, id_: int) -> list[str]:
    rows = db.fetch_all("select outcome from delivery_attempts where delivery_id = %(id)s order by id", {"id": id_})
    return [row["outcome"] for row in rows]
