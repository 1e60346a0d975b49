"""Read the transcripts that changed lately once more: what the hooks missed is captured now, and said.

A turn of a session that still goes on may simply not have been sent yet, so only what is missing from files that
rested for a while counts as missed. The sweep reads as `argus import` does, and storing twice is impossible.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import taskkit

CHANGED_SECONDS = float(os.environ.get("SWEEP_DAYS", "3")) * 86400  # older ones were swept before
RESTED_SECONDS = 600.0
FILES_A_CALL = 200


def folders() -> list[Path]:
    """Where Claude Code and Codex keep transcripts on this machine."""
    claude = Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude") / "projects"
    codex = Path(os.environ.get("CODEX_HOME") or Path.home() / ".codex") / "sessions"
    return [folder for folder in (claude, codex) if folder.is_dir()]


def changed(now: float) -> tuple[list[Path], list[Path]]:
    """(files that rested, files still being written), changed within CHANGED_SECONDS."""
    rested, warm = [], []
    for folder in folders():
        for path in folder.rglob("*.jsonl"):
            try:
                age = now - path.stat().st_mtime
            except OSError:
                continue  # moved meanwhile: the next sweep finds it where it went
            if age <= CHANGED_SECONDS:
                (rested if age > RESTED_SECONDS else warm).append(path)
    return sorted(rested), sorted(warm)


def bring_in(paths: list[Path]) -> dict[str, int]:
    """`argus import` over the files; raises SystemExit with its sentence where it cannot work."""
    total = {"files": 0, "turns": 0, "new": 0, "unreadable": 0, "rejected": 0}
    for start in range(0, len(paths), FILES_A_CALL):
        files = [str(path) for path in paths[start : start + FILES_A_CALL] if path.exists()]
        if not files:
            continue
        done = subprocess.run(["argus", "import", "--json", *files], capture_output=True, text=True, check=False)
        if done.returncode > 1:
            raise SystemExit(done.stderr.strip() or f"argus import ended with {done.returncode}")
        report = json.loads(done.stdout)
        for name in total:
            value = report[name]
            total[name] += len(value) if isinstance(value, list) else value
    return total


def main() -> int:
    rested, warm = changed(time.time())
    if not rested and not warm:
        taskkit.skip(f"no transcript changed lately below {', '.join(map(str, folders())) or 'any known folder'}")
        return 0
    missed, current = bring_in(rested), bring_in(warm)
    taskkit.metric("turns_uncaptured", missed["new"])
    taskkit.metric("turns_swept", missed["turns"] + current["turns"])
    both = {name: missed[name] + current[name] for name in missed}
    summary = f"{both['turns']} turns of {both['files']} files, {both['new']} were missing"
    taskkit.report({"rested": missed, "warm": current}, summary=summary)
    print(summary)
    if missed["new"]:
        taskkit.deliver(
            f"Hooks missed {missed['new']} turns",
            "Sessions existed whose turns had not arrived; the sweep has captured them now. If this repeats, see"
            " `argus hooks status` and `argus doctor` on this machine.",
            key=time.strftime("missed-%Y-%m-%d", time.gmtime()),
        )
    return 1 if missed["unreadable"] or missed["rejected"] else 0


if __name__ == "__main__":
    sys.exit(main())
