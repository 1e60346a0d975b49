"""`argus hooks install --http`: calls instead of processes where Claude Code allows it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from argus_cli.hooks_wiring import CAPTURE_EVENTS
from argus_cli.main import main

OWN = '{\n  "hooks": {\n    "Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]\n  }\n}\n'


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The settings of a person with a hook of their own."""
    for name in ("ARGUS_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "ARGUS_API_URL", "ARGUS_API_PORT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    path = tmp_path / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text(OWN)
    return path


def entries(path: Path) -> dict[str, list[dict[str, Any]]]:
    """Event → handlers."""
    document = json.loads(path.read_text())
    return {event: [one for group in groups for one in group["hooks"]] for event, groups in document["hooks"].items()}


def test_every_event_but_the_first_is_called(settings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """SessionStart stays a command of both hooks; each other event is one call with names of variables, no token;
    the person's own hook stays; and it is said what the session needs."""
    assert main(["hooks", "install", "--target", "claude-code", "--http"]) == 0
    told = capsys.readouterr().out
    assert "export ARGUS_CAPTURE_TOKEN=" in told
    found = entries(settings)
    assert [one["type"] for one in found["SessionStart"]] == ["command", "command"]
    for event in CAPTURE_EVENTS.keys() - {"SessionStart"}:
        (call,) = [one for one in found[event] if one["type"] == "http"]
        assert call["url"] == f"http://127.0.0.1:8484/hooks/{event}"
        assert call["headers"]["Authorization"] == "Bearer $ARGUS_CAPTURE_TOKEN"
        assert call["allowedEnvVars"] == ["ARGUS_CAPTURE_TOKEN", "ARGUS_SESSION"]
    assert {"type": "command", "command": "say done"} in found["Stop"]


def test_it_takes_the_place_of_the_commands_and_goes_again(settings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """After the commands, after the calls, after the commands again: one kind stands, twice is once, and uninstall
    restores the file byte for byte."""
    for words in ([], ["--http"], ["--http"], []):
        assert main(["hooks", "install", "--target", "claude-code", *words]) == 0
        kinds = {one["type"] for one in entries(settings)["UserPromptSubmit"]}
        assert kinds == ({"http"} if words else {"command"})
        assert len(entries(settings)["UserPromptSubmit"]) == (1 if words else 2)
    assert main(["hooks", "install", "--target", "claude-code", "--http"]) == 0
    assert main(["hooks", "uninstall", "--target", "claude-code"]) == 0
    assert settings.read_text() == OWN


def test_status_knows_the_calls(settings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Wired; with one call taken out, stale, and the event is named."""
    main(["hooks", "install", "--target", "claude-code", "--http"])
    capsys.readouterr()
    main(["hooks", "status", "--target", "claude-code", "--json"])
    assert json.loads(capsys.readouterr().out)[0]["state"] == "wired"
    document = json.loads(settings.read_text())
    del document["hooks"]["PreCompact"]
    settings.write_text(json.dumps(document))
    main(["hooks", "status", "--target", "claude-code", "--json"])
    found = json.loads(capsys.readouterr().out)[0]
    assert found["state"] == "stale"
    assert "PreCompact" in found["problems"][0]


@pytest.mark.parametrize(
    ("words", "url", "says"),
    [
        (["--target", "codex", "--http"], "", "Codex runs commands only"),
        (["--target", "claude-code", "--http"], "https://hub.example", "needs the API on this machine"),
    ],
)
def test_where_it_cannot_work_it_is_refused(
    settings: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, words: list[str], url: str, says: str
) -> None:
    """Codex has no http hooks, and another machine's API cannot read the transcripts: exit 2, nothing changed."""
    if url:
        monkeypatch.setenv("ARGUS_API_URL", url)
    assert main(["hooks", "install", *words]) == 2
    assert says in capsys.readouterr().err
    assert settings.read_text() == OWN
