"""Units for systemd and launchd: their content, systemd's own verdict, and what install does around them."""

from __future__ import annotations

import os
import plistlib
import shutil
import subprocess
from pathlib import Path

import pytest

from argus_cli.service_command import Manager, find_manager, install, show, uninstall
from argus_cli.service_units import launchd_plist, systemd_unit
from argus_memory.errors import Unreachable

ODD = Path("/home/o dd/100%/.argus")


def test_the_systemd_unit_starts_the_hub_and_stops_it_in_time() -> None:
    """It names interpreter, home and project, restarts after a crash but not after a refusal."""
    lines = systemd_unit(Path("/p/.venv/bin/python"), Path("/p"), Path("/home/a/.argus")).splitlines()
    assert 'ExecStart="/p/.venv/bin/python" -m argus_cli.main up' in lines
    assert 'Environment="ARGUS_HOME=/home/a/.argus"' in lines
    assert "WorkingDirectory=/p" in lines
    assert "Restart=on-failure" in lines
    assert "RestartPreventExitStatus=2" in lines
    assert "WantedBy=default.target" in lines


def test_odd_paths_are_taken_literally() -> None:
    """Spaces are quoted and percent signs are no specifiers."""
    assert 'Environment="ARGUS_HOME=/home/o dd/100%%/.argus"' in systemd_unit(Path("/p/python"), Path("/p"), ODD)


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze, which is Linux's")
def test_systemd_accepts_the_unit(tmp_path: Path) -> None:
    """`systemd-analyze verify --user` has nothing to say about it."""
    python = tmp_path / "py thon"
    python.write_text("#!/bin/sh\n")
    python.chmod(0o755)
    unit = tmp_path / "argus.service"
    unit.write_text(systemd_unit(python, tmp_path, ODD))
    done = subprocess.run(
        ["systemd-analyze", "verify", "--user", "--man=no", str(unit)],
        env={**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


def test_the_launchd_agent_is_a_property_list() -> None:
    """It starts at log-in, again after a crash, and keeps its output in the home."""
    agent = plistlib.loads(launchd_plist(Path("/p/python"), Path("/p"), ODD))
    assert agent["ProgramArguments"] == ["/p/python", "-m", "argus_cli.main", "up"]
    assert agent["EnvironmentVariables"] == {"ARGUS_HOME": str(ODD)}
    assert agent["RunAtLoad"] is True
    assert agent["KeepAlive"] == {"SuccessfulExit": False}


def test_a_platform_without_service_manager_is_told() -> None:
    """Elsewhere one sentence says what to do instead."""
    with pytest.raises(Unreachable, match="argus up --detach"):
        find_manager("sunos", ODD, {})


def linux(tmp_path: Path) -> Manager:
    return find_manager("linux", tmp_path / "home", {"XDG_CONFIG_HOME": str(tmp_path / "config")})


def test_install_writes_the_unit_enables_it_and_asks_for_lingering(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """All commands run, in order, and the unit is the one of this version."""
    ran: list[list[str]] = []
    manager = linux(tmp_path)
    assert install(manager, lambda command: ran.append(command) or 0) == 0
    assert manager.unit.read_bytes() == manager.text
    assert [command[0] for command in ran] == ["systemctl", "systemctl", "loginctl"]
    assert ran[1][-3:] == ["enable", "--now", "argus.service"]
    assert "enabled and started" in capsys.readouterr().out


def test_what_cannot_be_done_here_is_printed_as_a_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without lingering rights the hint is the command itself, and the exit code says there is something left."""
    assert install(linux(tmp_path), lambda command: 1 if command[0] == "loginctl" else 0) == 1
    assert "loginctl enable-linger" in capsys.readouterr().out


def test_uninstall_stops_and_removes_the_unit_only(tmp_path: Path) -> None:
    """The unit is gone; a second uninstall is content."""
    manager = linux(tmp_path)
    install(manager, lambda _command: 0)
    ran: list[list[str]] = []
    assert uninstall(manager, lambda command: ran.append(command) or 0) == 0
    assert not manager.unit.exists()
    assert ran[0][-3:] == ["disable", "--now", "argus.service"]
    assert uninstall(manager, lambda _command: 0) == 0


def test_status_sees_a_unit_of_another_version(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A unit that differs from what would be written is something to look at, and so is none."""
    manager = linux(tmp_path)
    assert show(manager, lambda _command: 0) == 1
    install(manager, lambda _command: 0)
    assert show(manager, lambda _command: 0) == 0
    assert show(manager, lambda _command: 3) == 1
    manager.unit.write_bytes(manager.text + b"# mine\n")
    assert show(manager, lambda _command: 0) == 1
    assert "another version" in capsys.readouterr().out
