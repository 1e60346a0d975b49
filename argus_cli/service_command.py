"""`argus service install|uninstall|status`: Argus starts at log-in, and with lingering at boot."""

from __future__ import annotations

import argparse
import getpass
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from argus_cli.home import PROJECT_ROOT, Home
from argus_cli.service_units import LABEL, UNIT_NAME, launchd_plist, systemd_unit
from argus_memory.errors import Unreachable
from argus_memory.settings import load_settings

Run = Callable[[list[str]], int]


@dataclass(frozen=True, slots=True)
class Manager:
    """One service manager: where its unit lies, what it says, and the commands around it.

    `required` must work; `wished` are told to the person when they do not.
    """

    unit: Path
    text: bytes
    install: tuple[list[str], ...]
    wished: tuple[list[str], ...]
    uninstall: tuple[list[str], ...]
    status: list[str]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("install", "uninstall", "status"))


def run(arguments: argparse.Namespace) -> int:
    settings = load_settings()
    manager = find_manager(sys.platform, settings.home, os.environ)
    if arguments.action == "install":
        Home(settings.home).make()
        return install(manager, run_command)
    if arguments.action == "uninstall":
        return uninstall(manager, run_command)
    return show(manager, run_command)


def find_manager(platform: str, home: Path, environment: Mapping[str, str]) -> Manager:
    """systemd on Linux, launchd on macOS; raises Unreachable elsewhere."""
    python = Path(sys.executable)
    if platform == "linux":
        config = Path(environment.get("XDG_CONFIG_HOME") or Path.home() / ".config")
        control = ["systemctl", "--user"]
        return Manager(
            unit=config / "systemd" / "user" / UNIT_NAME,
            text=systemd_unit(python, PROJECT_ROOT, home).encode(),
            install=([*control, "daemon-reload"], [*control, "enable", "--now", UNIT_NAME]),
            # Without lingering the user's manager, and Argus with it, ends at log-out and waits for the next log-in.
            wished=(["loginctl", "enable-linger", getpass.getuser()],),
            uninstall=([*control, "disable", "--now", UNIT_NAME], [*control, "daemon-reload"]),
            status=[*control, "--no-pager", "status", UNIT_NAME],
        )
    if platform == "darwin":
        unit = Path.home() / "Library" / "LaunchAgents" / f"{LABEL}.plist"
        domain = f"gui/{os.getuid()}"
        return Manager(
            unit=unit,
            text=launchd_plist(python, PROJECT_ROOT, home),
            install=(["launchctl", "bootstrap", domain, str(unit)],),
            wished=(),
            uninstall=(["launchctl", "bootout", f"{domain}/{LABEL}"],),
            status=["launchctl", "print", f"{domain}/{LABEL}"],
        )
    raise Unreachable(f"there is no service manager known for {platform}: start `argus up --detach` at boot yourself")


def install(manager: Manager, execute: Run) -> int:
    """Write the unit and start it; what cannot be done here is printed as a command to run."""
    manager.unit.parent.mkdir(parents=True, exist_ok=True)
    manager.unit.write_bytes(manager.text)
    print(f"service    {manager.unit} written")
    return carry_out([*manager.install, *manager.wished], execute, "enabled and started")


def uninstall(manager: Manager, execute: Run) -> int:
    if not manager.unit.exists():
        print(f"service    was not installed ({manager.unit})")
        return 0
    stop, *rest = manager.uninstall
    code = carry_out([stop], execute, "stopped and disabled")
    manager.unit.unlink()
    for command in rest:
        execute(command)
    print(f"service    {manager.unit} removed; everything in the home is kept")
    return code


def show(manager: Manager, execute: Run) -> int:
    """0 when the unit is installed as this version would write it and runs."""
    if not manager.unit.exists():
        print(f"service    not installed ({manager.unit}): `argus service install`")
        return 1
    if manager.unit.read_bytes() != manager.text:
        print(f"service    {manager.unit} is of another version or place: `argus service install` renews it")
        return 1
    return 0 if execute(manager.status) == 0 else 1


def carry_out(commands: list[list[str]], execute: Run, done: str) -> int:
    """Run each; 0 when all worked, else 1 with the commands that are left to the person."""
    left = [command for command in commands if execute(command) != 0]
    if not left:
        print(f"service    {done}")
        return 0
    print("service    left to do, as the user who shall run Argus:")
    for command in left:
        print(f"             {' '.join(command)}")
    return 1


def run_command(command: list[str]) -> int:
    """Exit code; 127 when the program is not there. Its words go to the terminal."""
    if shutil.which(command[0]) is None:
        return 127
    return subprocess.run(command, check=False).returncode
