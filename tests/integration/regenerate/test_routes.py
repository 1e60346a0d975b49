"""Regenerations over HTTP: the diff that waits, and a person's word."""

from __future__ import annotations

from fastapi.testclient import TestClient

from argus_api.app import create_app
from tests.integration.regenerate.conftest import FACTS, Diary

BASE = "http://127.0.0.1:8484"


def test_a_held_regeneration_is_read_and_accepted_over_http(diary: Diary) -> None:
    """It is listed as held, its diff has both texts, `accept` switches once, and a second word is a conflict."""
    diary.model.says = lambda line: line if line == FACTS[0] else None
    held = diary.regenerate()
    headers = {"Authorization": f"Bearer {diary.settings.admin_token}"}
    with TestClient(create_app(diary.settings), base_url=BASE, headers=headers) as client:
        listed = client.get("/regenerations").json()
        assert (listed["regenerations"][0]["id"], listed["regenerations"][0]["status"]) == (held.id, "held")
        assert listed["count"] == len(listed["regenerations"])
        shown = client.get(f"/regenerations/{held.id}").json()
        assert {line["old_text"] for line in shown["changes"] if line["change"] == "removed"} == set(FACTS[1:])
        assert len(diary.notes()) == 4
        assert client.post(f"/regenerations/{held.id}/accept").json()["status"] == "switched"
        assert set(diary.notes()) == {FACTS[0]}
        again = client.post(f"/regenerations/{held.id}/dismiss")
        assert (again.status_code, again.json()["error"]["code"]) == (409, "conflict")
        assert client.get("/regenerations/999").status_code == 404


def test_only_the_admin_decides(diary: Diary) -> None:
    """The capture token may read what waits; its word on it is refused and changes nothing."""
    diary.model.says = lambda _line: None
    held = diary.regenerate()
    headers = {"Authorization": f"Bearer {diary.settings.capture_token}"}
    with TestClient(create_app(diary.settings), base_url=BASE, headers=headers) as client:
        assert client.get(f"/regenerations/{held.id}").json()["regeneration"]["status"] == "held"
        assert client.post(f"/regenerations/{held.id}/accept").status_code == 403
    assert len(diary.notes()) == 4
