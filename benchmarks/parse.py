"""How long parsing and skipping takes, beside a bare `orjson.loads` of the same lines (reach: at most 2 times).

    python -m benchmarks.parse [FOLDER …]       default: ../shared/data/claude-code ../shared/data/codex

Both sides read the same bytes from memory, in turns within one run; the figure is the ratio of the medians of CPU
time (other work on the machine does not count). The
same parsers with `json.loads` are the hook's side. Main transcripts only: agent files are skipped unread.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import orjson

from argus_memory.stages.importing import detect_source, find_transcripts
from argus_memory.transcripts import ClaudeCodeParser, CodexParser
from argus_memory.transcripts.common import CODEX

REPEATS = 15
DEFAULT = [Path("../shared/data/claude-code"), Path("../shared/data/codex")]


def load(folders: list[Path]) -> list[tuple[str, bytes]]:
    """(source, content) of each main transcript."""
    files, _ = find_transcripts(folders)
    found = [(detect_source(file.path), file.path.read_bytes()) for file in files if file.path.suffix == ".jsonl"]
    return [(source, data) for source, data in found if source]


def bare(content: list[tuple[str, bytes]], loads: Callable[[bytes], object]) -> int:
    """Split and decode; a line that is no JSON costs its exception here too."""
    lines = 0
    for _, data in content:
        for line in data.split(b"\n"):
            lines += 1
            try:
                loads(line)
            except ValueError:
                continue
    return lines


def parse(content: list[tuple[str, bytes]], loads: Callable[[bytes], object]) -> int:
    kept = 0
    for source, data in content:
        parser = (CodexParser if source == CODEX else ClaudeCodeParser)(loads)
        parser.feed(data)
        parser.finish()
        kept += parser.kept
    return kept


def seconds(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def compare(name: str, content: list[tuple[str, bytes]], loads: Callable[[bytes], object]) -> float:
    """Print one line and return the ratio of the medians."""
    sides: dict[str, list[float]] = {"bare": [], "parse": []}
    for _ in range(REPEATS):
        sides["bare"].append(seconds(lambda: bare(content, loads)))
        sides["parse"].append(seconds(lambda: parse(content, loads)))
    bare_ms, parse_ms = (statistics.median(sides[side]) * 1000 for side in ("bare", "parse"))
    print(f"{name:<24} bare {bare_ms:8.2f} ms   parse and skip {parse_ms:8.2f} ms   ratio {parse_ms / bare_ms:.2f}")
    return parse_ms / bare_ms


def main() -> None:
    content = load([Path(argument) for argument in sys.argv[1:]] or DEFAULT)
    if not content:
        raise SystemExit("no transcripts found: name folders that hold some")
    size = sum(len(data) for _, data in content)
    print(f"{platform.platform()}, {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    print(
        f"{len(content)} files, {size / 1e6:.1f} MB, {bare(content, orjson.loads):,} lines, "
        f"{parse(content, orjson.loads)} turns; median of {REPEATS}"
    )
    compare("orjson (importer)", content, orjson.loads)
    compare("json (hook)", content, json.loads)
    for source in sorted({source for source, _ in content}):
        compare(f"orjson, {source}", [pair for pair in content if pair[0] == source], orjson.loads)


if __name__ == "__main__":
    main()
