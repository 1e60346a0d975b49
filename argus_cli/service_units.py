"""The text of the units that start Argus at log-in and boot: systemd (user) and launchd. Pure."""

from __future__ import annotations

import plistlib
from pathlib import Path

UNIT_NAME = "argus.service"
LABEL = "dev.argus.hub"
STOP_SECONDS = 30  # the supervisor takes at most 15 s


def systemd_quote(text: str) -> str:
    """One word of a unit file: quoted, with systemd's own specifiers and expansions taken literally."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return f'"{escaped}"'


def systemd_path(text: str) -> str:
    """A path in a setting that takes the rest of the line: no quotes there, only the specifiers."""
    return text.replace("%", "%%")


def systemd_unit(python: Path, project: Path, home: Path) -> str:
    """The user unit. Settings come from `$ARGUS_HOME/env`, so the unit names the home alone.

    Exit 2 and 3 (a bad setting, a taken port) are not tried for ever: StartLimit ends that after five times.
    """
    variable = systemd_quote(f"ARGUS_HOME={home}").replace("$$", "$")  # Environment= does not expand
    return f"""\
[Unit]
Description=Argus: memory for Claude Code and Codex
Documentation=file://{systemd_path(str(project / "README.md"))}
After=network.target
StartLimitIntervalSec=300
StartLimitBurst=5

[Service]
Type=exec
WorkingDirectory={systemd_path(str(project))}
Environment={variable}
ExecStart={systemd_quote(str(python))} -m argus_cli.main up
Restart=on-failure
RestartSec=5
RestartPreventExitStatus=2
KillMode=mixed
TimeoutStopSec={STOP_SECONDS}

[Install]
WantedBy=default.target
"""


def launchd_plist(python: Path, project: Path, home: Path) -> bytes:
    """The agent of macOS: started at log-in, and again unless it ended well."""
    return plistlib.dumps(
        {
            "Label": LABEL,
            "ProgramArguments": [str(python), "-m", "argus_cli.main", "up"],
            "WorkingDirectory": str(project),
            "EnvironmentVariables": {"ARGUS_HOME": str(home)},
            "RunAtLoad": True,
            "KeepAlive": {"SuccessfulExit": False},
            "ThrottleInterval": 10,
            "ExitTimeOut": STOP_SECONDS,
            "ProcessType": "Background",
            "StandardOutPath": str(home / "logs" / "supervisor.log"),
            "StandardErrorPath": str(home / "logs" / "supervisor.log"),
        }
    )
