"""`argus regenerate` as a person calls it."""

from __future__ import annotations

import json

import pytest

from argus_cli.main import main
from tests.integration.regenerate.conftest import FACTS, Diary
from tests.memory_rows import at

DAY = at(0).date().isoformat()


@pytest.fixture
def at_home(diary: Diary, dsn: str, monkeypatch: pytest.MonkeyPatch) -> Diary:
    """The command works on the test's database, with the extractive distiller."""
    monkeypatch.setenv("ARGUS_HOME", str(diary.settings.home))
    monkeypatch.setenv("ARGUS_DATABASE_URL", dsn)
    return diary


def test_dry_run_show_accept(at_home: Diary, capsys: pytest.CaptureFixture[str]) -> None:
    """A dry run prints both texts; it is listed, shown again, and accepted once."""
    assert main(["regenerate", "--from", DAY, "--dry-run"]) == 0
    told = capsys.readouterr().out
    assert "shown" in told
    assert f"- {FACTS[0]}" in told
    assert main(["regenerate", "list", "--json"]) == 0
    latest = json.loads(capsys.readouterr().out)["regenerations"][0]
    assert (latest["mode"], latest["status"]) == ("dry-run", "shown")
    assert main(["regenerate", "show", str(latest["id"]), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert {line["old_text"] for line in shown["changes"] if line["old_text"]} == set(FACTS)
    assert main(["regenerate", "--accept", str(latest["id"])]) == 0
    assert "switched" in capsys.readouterr().out
    assert main(["regenerate", "--dismiss", str(latest["id"])]) == 2
    assert "it was switched by" in capsys.readouterr().err


def test_every_end_is_told_as_json_too(at_home: Diary, capsys: pytest.CaptureFixture[str]) -> None:
    """A dry run and its acceptance, each one object with the counts of each day."""
    assert main(["regenerate", "--from", DAY, "--dry-run", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["status"], list(shown["days"])) == ("shown", [DAY])
    assert main(["regenerate", "--accept", str(shown["id"]), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["status"] == "switched"


def test_what_is_held_ends_with_one(at_home: Diary, capsys: pytest.CaptureFixture[str]) -> None:
    """Facts that today's distiller does not make: exit 1, and how to accept it."""
    with at_home.db.transaction() as conn:
        conn.execute("update distilled_notes set content = 'Something else ' || id, uid = 'else ' || id")
    assert main(["regenerate", "--from", DAY]) == 1
    assert "--accept" in capsys.readouterr().out


@pytest.mark.parametrize("words", [[], ["show"], ["list", "--from", DAY], ["--from", DAY, "--to", "2020-01-01"]])
def test_wrong_use_says_what_to_do(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing to do, two things to do, or days the wrong way round: exit 2 and one sentence."""
    assert main(["regenerate", *words]) == 2
    assert capsys.readouterr().err.startswith("argus: ")
