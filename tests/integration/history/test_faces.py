"""History over HTTP and on the command line."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient

from argus_api.app import create_app
from argus_cli.history_words import history_as_text
from argus_cli.main import main
from argus_memory.db import Database
from argus_memory.settings import Settings
from argus_memory.upkeep.history import read_history

from .test_reads import day, learn, supersede


@pytest.fixture
def client(db: Database, settings: Settings) -> Iterator[TestClient]:
    headers = {"Authorization": f"Bearer {settings.capture_token}"}
    with TestClient(create_app(settings), base_url="http://127.0.0.1:8484", headers=headers) as called:
        yield called


@pytest.fixture
def pair(db: Database, monkeypatch: pytest.MonkeyPatch, dsn: str, settings: Settings) -> tuple[int, int]:
    """A port that changed on day 12; the command line finds the same database."""
    monkeypatch.setenv("ARGUS_DATABASE_URL", dsn)
    monkeypatch.setenv("ARGUS_HOME", str(settings.home))
    old, new = learn(db, "The staging port is 5433.", 0), learn(db, "The staging port is 6001.", 10)
    supersede(db, old, new, 12)
    return old, new


def test_history_timeline_and_diff_over_http(client: TestClient, pair: tuple[int, int]) -> None:
    """Each with its fields; moments as a person writes them."""
    old, new = pair
    found = client.get(f"/notes/{old}/history").json()
    assert [event["event"] for event in found["events"]] == ["created", "superseded"]
    assert (found["state"], found["superseded_by"]) == ("superseded", new)
    found = client.get("/timeline", params={"project": "garden", "since": "2026-03-14", "until": "2026-03-14"}).json()
    assert [(entry["event"], entry["note_id"]) for entry in found["entries"]] == [("superseded", old)]
    assert (found["unattributed"], found["more"]) == (0, False)
    found = client.get("/diff", params={"subject": "staging port", "since": "2026-03-05"}).json()
    assert [(line["before"], line["after"]) for line in found["changed"]] == [
        ("The staging port is 5433.", "The staging port is 6001.")
    ]


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("/notes/999/history", 404, "there is no note 999"),
        ("/timeline?project=gardn", 404, "did you mean garden"),
        ("/timeline?since=soon", 422, "since: 'soon' is no day"),
        ("/timeline?since=2026-03-05&until=2026-03-01", 422, "is before since"),
        ("/diff?subject=port", 422, "since: is missing"),
        ("/diff?subject=&since=march", 422, "no word to look for"),
        ("/search?q=port&as_of=2199-01-01", 422, "as_of: 2199-01-01 23:59 UTC is yet to come"),
    ],
)
def test_what_cannot_be_answered_is_said(
    client: TestClient, pair: tuple[int, int], path: str, status: int, words: str
) -> None:
    """A status, and one sentence."""
    found = client.get(path)
    assert (found.status_code, words in found.json()["error"]["message"]) == (status, True), found.text


def test_search_and_recall_as_of_over_http(client: TestClient, pair: tuple[int, int]) -> None:
    """The old value as of a day when it held; by words alone, nothing being embedded."""
    old, new = pair
    for as_of, expected in (("2026-03-05", old), ("", new)):
        hits = client.get("/search", params={"q": "staging port", "type": "note", "as_of": as_of}).json()["results"]
        assert [hit["id"] for hit in hits] == [expected]
        data = {"prompt": "What is the number of the staging port?", "as_of": as_of, "session": f"s{as_of}"}
        assert [note["id"] for note in client.post("/recall/notes", json=data).json()["notes"]] == [expected]


def test_the_commands(pair: tuple[int, int], capsys: pytest.CaptureFixture[str]) -> None:
    """Lines for people, and the same as JSON; a day that is none ends with code 2."""
    old, new = pair
    assert main(["timeline", "--project", "garden", "--since", "2026-03-14"]) == 0
    line = capsys.readouterr().out
    assert f"superseded  note {old} → note {new}, by argus: The staging port is 5433. (held until 2026-03-14)" in line
    assert main(["diff", "staging", "port", "--since", "2026-03-05"]) == 0
    assert "The staging port is 5433. → The staging port is 6001. (garden, by argus)" in capsys.readouterr().out
    assert main(["diff", "port", "--since", "2026-03-05", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["changed"][0]["other_id"] == new
    assert main(["search", "staging", "port", "--type", "note", "--as-of", "2026-03-05"]) == 0
    assert "5433" in capsys.readouterr().out
    assert main(["timeline", "--since", "soon"]) == 2
    assert "--since: 'soon' is no day or moment" in capsys.readouterr().err


def test_a_history_in_words(db: Database, pair: tuple[int, int]) -> None:
    """The note, its state, and a line an event with who did it; of the later note also what went in its favour."""
    old, new = pair
    lines = history_as_text(read_history(db, old, now=day(20))).splitlines()
    assert lines[0] == f"note {old}  The staging port is 5433."
    assert lines[1].startswith("    superseded; fact, garden; uid ")
    assert lines[3] == f"2026-03-14 09:00  superseded  by argus → note {new} (held until 2026-03-14)"
    assert f"superseded  by argus (note {old}, in its favour)" in history_as_text(read_history(db, new, now=day(20)))
