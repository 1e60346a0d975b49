"""Which files are meant: the two hooks and the settings that call them; putting hooks into `$ARGUS_HOME/bin`."""

from __future__ import annotations

import importlib.util
import os
import subprocess
from pathlib import Path

from argus_cli.hooks_wiring import HOOK_FILES, Target
from argus_memory.errors import Unreachable


def settings_file(target: Target) -> Path:
    """Where the target reads its hooks: CLAUDE_CONFIG_DIR and CODEX_HOME are honoured."""
    if target == "claude-code":
        return Path(os.environ.get("CLAUDE_CONFIG_DIR") or "~/.claude").expanduser() / "settings.json"
    return codex_home() / "hooks.json"


def notify_file() -> Path:
    return codex_home() / "config.toml"


def codex_home() -> Path:
    return Path(os.environ.get("CODEX_HOME") or "~/.codex").expanduser()


def hooks_source() -> Path:
    """The folder of the packaged hooks, found without importing the face they belong to."""
    found = importlib.util.find_spec("argus_api")
    assert found is not None
    assert found.submodule_search_locations
    return Path(found.submodule_search_locations[0]) / "hooks"


def copy_hooks(source: Path, folder: Path, python: Path) -> list[Path]:
    """Bring both files up to date, each replaced in one step (a hook may start at any moment); returns those
    that changed. Each is started once, so that its compiled form is there before the first event."""
    changed = []
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        for name in HOOK_FILES:
            data, place = (source / name).read_bytes(), folder / name
            if place.exists() and place.read_bytes() == data:
                continue
            part = folder / f".{name}.part"
            part.write_bytes(data)
            part.chmod(0o755)
            part.replace(place)
            changed.append(place)
    except OSError as error:
        raise Unreachable(f"{folder} cannot be written ({error.strerror}); correct its permissions") from None
    for place in changed:
        start = f"import sys;sys.path.insert(0,{str(folder)!r});import {place.stem}"
        subprocess.run([str(python), "-I", "-S", "-c", start], check=False, capture_output=True, timeout=30)
    return changed


def remove_hooks(folder: Path) -> list[Path]:
    """Take both files away, with their compiled forms; what else stands in the folder stays."""
    removed = [folder / name for name in HOOK_FILES if (folder / name).exists()]
    for place in removed:
        place.unlink()
        for compiled in (folder / "__pycache__").glob(f"{place.stem}.*"):
            compiled.unlink()
    for empty in (folder / "__pycache__", folder):
        if empty.is_dir() and not any(empty.iterdir()):
            empty.rmdir()
    return removed
