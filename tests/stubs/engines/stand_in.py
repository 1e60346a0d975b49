"""The stand-in executables `claude` and `codex`: log how they were called, replay a recording, end as it says.

    STAND_IN_CLAUDE / STAND_IN_CODEX   names of recordings, comma-separated: one for each call, the last one stays
    STAND_IN_LOG                       folder that gets a JSON file for each call
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from recordings import BY_ENGINE, Recording


def files_named(argv: list[str]) -> dict[str, str]:
    """The content and mode of every file on the command line, while it is there."""
    paths = [Path(word) for word in argv if word.startswith("/") and Path(word).is_file()]
    return {path.name: f"{path.stat().st_mode & 0o777:o} {path.read_text()}" for path in paths}


def write_log(engine: str, folder: Path) -> int:
    """Log this call; returns how many of this engine came before."""
    before = len(list(folder.glob(f"{engine}-*.json")))
    call = {
        "argv": sys.argv[1:],
        "stdin": sys.stdin.read(),
        "env": dict(os.environ),
        "cwd": str(Path.cwd()),
        "files": files_named(sys.argv[1:]),
        "pid": os.getpid(),
        "group": os.getpgid(0),
    }
    (folder / f"{engine}-{before}.json").write_text(json.dumps(call))
    return before


def replay(recording: Recording, folder: Path) -> int:
    for line in recording.lines(time.time()):
        sys.stdout.write(line + "\n")
    sys.stdout.flush()
    sys.stderr.write(recording.stderr)
    sys.stderr.flush()
    if recording.end == "hang-with-child":
        child = subprocess.Popen(["sleep", "300"], stdin=subprocess.DEVNULL)
        (folder / "child").write_text(str(child.pid))
    if recording.end.startswith("hang"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN if recording.end == "hang-with-child" else signal.SIG_DFL)
        time.sleep(300)
    if recording.end == "signal":
        os.kill(os.getpid(), signal.SIGKILL)
    return recording.exit_code


def main(engine: str) -> int:
    folder = Path(os.environ["STAND_IN_LOG"])
    kinds = os.environ[f"STAND_IN_{engine.upper()}"].split(",")
    before = write_log(engine, folder)
    return replay(BY_ENGINE[engine][kinds[min(before, len(kinds) - 1)]], folder)
