"""A browser without a screen for tests of pages: keeps the session, sends forms as a browser does."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html import unescape
from typing import Any

import httpx
import psycopg
from fastapi.testclient import TestClient

from argus_memory.settings import Settings

BASE = "http://127.0.0.1:8484"


@dataclass(slots=True)
class Browser:
    """`get`, `send` (a form with the session's CSRF token) and `follow` (the page a change leads to)."""

    client: TestClient
    csrf: str

    @classmethod
    def signed_in(cls, client: TestClient, settings: Settings) -> Browser:
        answer = client.post("/ui/sign-in", data={"token": settings.admin_token or "", "next": "/ui"})
        assert answer.status_code == 303, answer.text
        page = client.get("/ui")
        found = re.search(r'name="csrf" value="([^"]+)"', page.text)
        assert found, page.text[:500]
        return cls(client, unescape(found[1]))

    def get(self, path: str) -> httpx.Response:
        return self.client.get(path)

    def page(self, path: str) -> str:
        """The text of a page that answers 200."""
        answer = self.client.get(path)
        assert answer.status_code == 200, f"{path} answered {answer.status_code}: {answer.text[-800:]}"
        return answer.text

    def send(self, path: str, **fields: Any) -> httpx.Response:
        """The answer to a form, not followed."""
        return self.client.post(path, data={"csrf": self.csrf, **fields})

    def follow(self, path: str, **fields: Any) -> str:
        """Send a form that has to lead to a page, and read that page: the message of what happened is on it."""
        answer = self.send(path, **fields)
        assert answer.status_code == 303, f"{path} answered {answer.status_code}: {answer.text[-800:]}"
        return self.page(answer.headers["location"])


@contextmanager
def count_queries() -> Iterator[list[str]]:
    """The statements that any connection of this process sends while the block runs."""
    sent: list[str] = []
    before = psycopg.Connection.execute

    def execute(self: Any, query: Any, *args: Any, **more: Any) -> Any:
        sent.append(str(query)[:200])
        return before(self, query, *args, **more)

    psycopg.Connection.execute = execute  # type: ignore[method-assign,assignment]
    try:
        yield sent
    finally:
        psycopg.Connection.execute = before  # type: ignore[method-assign]


def words_of(html: str) -> str:
    """The text of a page as a person reads it: without tags, in one line."""
    plain = re.sub(r"(?s)<(script|style|svg)\b.*?</\1>", " ", html)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", plain)).split())
