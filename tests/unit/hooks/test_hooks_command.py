"""`argus hooks` on a home of its own."""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

from argus_cli.hooks_python import find_python, stable_path
from argus_cli.hooks_wiring import ours_in
from argus_cli.main import main
from tests.stubs.hook_server import HookServer

SETTINGS = (
    '{\r\n\t"model": "opus",\r\n\t"permissions": {"allow": ["Read"]},\r\n'
    '\t"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}\r\n}'
)


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home of a person with nothing of Argus in it."""
    for name in ("ARGUS_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    home = tmp_path / "a person's home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(home)
    return home


@pytest.fixture
def settings(person: Path) -> Path:
    path = person / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_bytes(SETTINGS.encode())
    return path


def argus(*words: str) -> int:
    return main(["hooks", *words])


def status(capsys: pytest.CaptureFixture[str], target: str = "claude-code") -> dict[str, Any]:
    capsys.readouterr()
    argus("status", "--target", target, "--json")
    found: dict[str, Any] = json.loads(capsys.readouterr().out)[0]
    return found


def test_install_merges_and_uninstall_restores_byte_for_byte(
    settings: Path, person: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The person's own entries stay; both files are there; afterwards the file is as it was, and nothing is left."""
    settings.chmod(0o640)
    assert argus("install", "--target", "claude-code") == 0
    document = json.loads(settings.read_bytes())
    assert document["hooks"]["Stop"][0]["hooks"][0]["command"] == "say done"
    assert len(ours_in(document)) == 10
    assert settings.stat().st_mode & 0o777 == 0o640
    assert status(capsys)["state"] == "wired"
    assert argus("uninstall", "--target", "claude-code") == 0
    assert settings.read_bytes() == SETTINGS.encode()
    assert [path for path in (person / ".argus").rglob("*") if path.is_file()] == []


def test_installing_again_changes_nothing(settings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same file, and still the first bytes to go back to."""
    argus("install", "--target", "claude-code")
    once = settings.read_bytes()
    assert argus("install", "--target", "claude-code") == 0
    assert settings.read_bytes() == once
    assert "nothing to do" in capsys.readouterr().out
    argus("uninstall", "--target", "claude-code")
    assert settings.read_bytes() == SETTINGS.encode()


def test_a_file_that_was_not_there_is_gone_again(person: Path) -> None:
    """What the installation made, the removal takes away."""
    argus("install", "--target", "claude-code")
    assert (person / ".claude" / "settings.json").exists()
    argus("uninstall", "--target", "claude-code")
    assert not (person / ".claude" / "settings.json").exists()


def test_a_dry_run_prints_the_difference_and_touches_nothing(
    settings: Path, person: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A unified diff that adds lines only, for install and for uninstall."""
    assert argus("install", "--target", "claude-code", "--dry-run") == 0
    diff = capsys.readouterr().out
    assert diff.startswith("--- ")
    assert '+\t\t"SessionEnd": [' in diff.replace("\r", "")
    assert settings.read_bytes() == SETTINGS.encode()
    assert not (person / ".argus").exists()
    argus("install", "--target", "claude-code")
    wired = settings.read_bytes()
    capsys.readouterr()
    argus("uninstall", "--target", "claude-code", "--dry-run")
    assert '-\t\t"SessionEnd": [' in capsys.readouterr().out.replace("\r", "")
    assert settings.read_bytes() == wired


def test_a_file_changed_by_someone_else_loses_only_our_entries(settings: Path) -> None:
    """Their change since the installation is kept, at an upgrade too."""
    argus("install", "--target", "claude-code")
    settings.write_bytes(settings.read_bytes().replace(b'"opus"', b'"sonnet"'))
    argus("uninstall", "--target", "claude-code")
    assert json.loads(settings.read_bytes()) == json.loads(SETTINGS.replace("opus", "sonnet"))
    argus("install", "--target", "claude-code")
    stale = settings.read_bytes().replace(b'"timeout": 5\r', b'"timeout": 6\r').replace(b'"sonnet"', b'"haiku"')
    settings.write_bytes(stale)
    argus("install", "--target", "claude-code")
    argus("uninstall", "--target", "claude-code")
    assert json.loads(settings.read_bytes()) == json.loads(SETTINGS.replace("opus", "haiku"))


def test_a_linked_settings_file_stays_a_link(settings: Path, person: Path) -> None:
    """Dotfiles kept elsewhere are written through the link."""
    kept = person / "dotfiles" / "claude.json"
    kept.parent.mkdir()
    settings.rename(kept)
    settings.symlink_to(kept)
    argus("install", "--target", "claude-code")
    assert settings.is_symlink()
    assert len(ours_in(json.loads(kept.read_bytes()))) == 10


def test_a_byte_order_mark_stays(settings: Path) -> None:
    """Some editors write one; it is neither lost nor in the way."""
    settings.write_bytes(b"\xef\xbb\xbf{}")
    assert argus("install", "--target", "claude-code") == 0
    assert settings.read_bytes().startswith(b"\xef\xbb\xbf{")
    argus("uninstall", "--target", "claude-code")
    assert settings.read_bytes() == b"\xef\xbb\xbf{}"


@pytest.mark.parametrize("data", [b"{ // mine\n}", b"[]", b"\xff\xfe{}"])
def test_a_file_that_cannot_be_merged_is_refused(
    settings: Path, person: Path, capsys: pytest.CaptureFixture[str], data: bytes
) -> None:
    """One sentence, exit code 2, and nothing touched; status names it too."""
    settings.write_bytes(data)
    assert argus("install", "--target", "claude-code") == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert settings.read_bytes() == data
    assert not (person / ".argus" / "bin").exists()
    assert status(capsys)["state"] == "unreadable"


def test_homes_moved_by_variables_are_honoured(
    person: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """CLAUDE_CONFIG_DIR, CODEX_HOME and ARGUS_HOME; the hooks are told the last, which their session may not know."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "c"))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "x"))
    monkeypatch.setenv("ARGUS_HOME", str(tmp_path / "an argus"))
    assert argus("install", "--target", "claude-code") == 0
    assert argus("install", "--target", "codex") == 0
    document = json.loads((tmp_path / "c" / "settings.json").read_bytes())
    words = shlex.split(ours_in(document)[0][1]["command"])
    assert words[-2:] == ["--home", str(tmp_path / "an argus")]
    assert (tmp_path / "an argus" / "bin" / "capture_hook.py").exists()
    assert (tmp_path / "x" / "hooks.json").exists()
    assert status(capsys)["state"] == "wired"
    assert "approve" in " ".join(status(capsys, "codex")["problems"])


def test_codex_says_that_hooks_must_be_approved(person: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Codex passes over a hook nobody approved, in silence; so it is said aloud."""
    argus("install", "--target", "codex")
    assert "/hooks" in capsys.readouterr().out
    document = json.loads((person / ".codex" / "hooks.json").read_bytes())
    assert set(document) == {"hooks"}


def test_codex_notify_is_a_way_without_approval(person: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One line in config.toml, seen by status, and taken out to the byte."""
    path = person / ".codex" / "config.toml"
    path.parent.mkdir()
    path.write_text('model = "x"\n\n[mcp]\na = 1\n')
    assert argus("install", "--target", "codex", "--notify") == 0
    assert status(capsys, "codex")["state"] == "wired"
    argus("uninstall", "--target", "codex")
    assert path.read_text() == 'model = "x"\n\n[mcp]\na = 1\n'


def test_one_target_leaves_the_others_hooks_alone(person: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The files stay while the other program still calls them."""
    argus("install", "--target", "claude-code")
    argus("install", "--target", "codex")
    argus("uninstall", "--target", "codex")
    assert status(capsys)["state"] == "wired"
    assert (person / ".argus" / "bin" / "capture_hook.py").exists()


def test_status_sees_what_is_wrong(settings: Path, person: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Missing, of another version, without its interpreter, twice, switched off: each is named, exit code 1."""
    assert status(capsys)["state"] == "missing"
    argus("install", "--target", "claude-code")
    installed = settings.read_text()
    hook = person / ".argus" / "bin" / "capture_hook.py"
    current = hook.read_bytes()

    hook.write_bytes(current + b"# older\n")
    assert (status(capsys)["state"], argus("status", "--target", "claude-code")) == ("stale", 1)
    hook.unlink()
    assert "is not there" in status(capsys)["problems"][0]
    hook.write_bytes(current)
    settings.write_text(installed.replace(str(find_python()), "/gone/python3"))
    assert "/gone/python3 is not there any more" in status(capsys)["problems"][0]
    settings.write_text(installed.replace("SessionEnd", "SessionOver"))
    assert "not wired for SessionEnd" in status(capsys)["problems"][0]
    settings.write_text(installed.replace('"model": "opus"', '"disableAllHooks": true'))
    assert status(capsys)["state"] == "off"
    settings.write_text(installed)
    (settings.parent / "settings.local.json").write_text(installed)
    assert status(capsys)["state"] == "duplicate"


def test_an_interpreter_that_cannot_serve_is_refused(person: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """--python must be a Python 3.8 or later."""
    for path in ("/bin/sh", "/nowhere/python3"):
        assert argus("install", "--target", "claude-code", "--python", path) == 2
    assert "--python" in capsys.readouterr().err
    assert argus("install") == 2
    assert "--target" in capsys.readouterr().err


def test_the_interpreter_is_a_real_file() -> None:
    """Neither a link in a virtual environment nor a version manager's shim; of Homebrew the link that stays."""
    python = find_python()
    assert python.is_absolute()
    assert python.exists()
    assert "shims" not in python.parts
    assert not (python.parent.parent / "pyvenv.cfg").exists()
    brewed = Path("/opt/homebrew/Cellar/python@3.12/3.12.7_1/bin/python3.12")
    assert stable_path(brewed, exists=True) == Path("/opt/homebrew/opt/python@3.12/bin/python3.12")


def test_the_wired_command_runs_as_the_host_runs_it(
    person: Path, settings: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Through a shell, in a home with blanks and quotes in its name: turns arrive, and status has the heartbeat."""
    argus("install", "--target", "claude-code")
    entries = {event: entry["command"] for event, entry in ours_in(json.loads(settings.read_bytes()))}
    transcript = person / "0b1f6f0e-1111-4222-8333-444455556666.jsonl"
    transcript.write_text(json.dumps({
        "type": "user", "uuid": "u1", "sessionId": transcript.stem, "timestamp": "2026-11-30T10:00:00Z",
        "cwd": "/home/ada", "message": {"role": "user", "content": "through the shell"},
    }) + "\n")  # fmt: skip
    event = {"session_id": transcript.stem, "transcript_path": str(transcript), "hook_event_name": "Stop"}
    with HookServer() as server:
        environment = {"HOME": str(person), "ARGUS_API_URL": server.url, "ARGUS_CAPTURE_TOKEN": server.token}
        ended = subprocess.run(
            entries["Stop"], shell=True, input=json.dumps(event).encode(), env=environment, capture_output=True,
            check=True,
        )  # fmt: skip
        assert ended.stdout == b""
        assert server.bodies == ["through the shell"]
    found = status(capsys)
    assert found["state"] == "wired"
    assert found["problems"] == []
    assert found["heartbeats"]["capture"]["event"] == "Stop"
