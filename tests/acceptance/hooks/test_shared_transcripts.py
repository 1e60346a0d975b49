"""On every recorded transcript the hook sends exactly what the importer reads."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from argus_memory.transcripts import ClaudeCodeParser, CodexParser, detect, skip_file, to_item
from tests.stubs.hook_home import HookHome
from tests.stubs.hook_server import HookServer

DATA = Path(__file__).resolve().parents[4] / "shared" / "data"
FILES = sorted(
    path for part in ("claude-code", "codex") for path in (DATA / part).rglob("*.jsonl") if path.is_file()
)  # fmt: skip


def imported(path: Path) -> list[dict[str, Any]]:
    """The items an import of the file makes, folders of other machines being no repositories here."""
    data = path.read_bytes()
    source = None if skip_file(str(path)) else detect(data[: 256 * 1024], str(path))
    if source is None:
        return []
    parser = CodexParser(json.loads) if source == "codex" else ClaudeCodeParser(json.loads)
    turns = parser.feed(data) + parser.finish()
    taken_back = getattr(parser, "retracted", ())
    return [to_item(turn, source, None, None) for turn in turns if turn.uuid not in taken_back]


def comparable(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Without the machine's name, and without the session that stands in where the file names none."""
    return [
        {**item, "session": None, "metadata": {k: v for k, v in item["metadata"].items() if k != "host"}}
        for item in items
    ]


def sent(server: HookServer) -> list[dict[str, Any]]:
    return comparable([item for request in server.requests for item in request.items])


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(DATA)))
def test_the_hooks_turns_are_the_importers(home: HookHome, server: HookServer, shared_data: Path, path: Path) -> None:
    """A hook at the session's end sends the importer's items: same words, order, roles, times, uuids, positions."""
    event = {"session_id": "s", "transcript_path": str(path), "hook_event_name": "SessionEnd"}
    home.capture(event)
    assert sent(server) == comparable(imported(path))


def pairs() -> list[tuple[Path, Path]]:
    """(first, grown) of the recordings of one session at two moments."""
    found = []
    for first in FILES:
        for old, new in (("turn-1", "turn-2"), ("turn-2", "turn-3")):
            if old in first.name or old in first.parent.name:
                grown = Path(str(first).replace(old, new))
                if grown != first and grown.exists():
                    found.append((first, grown))
    return found


@pytest.mark.parametrize("pair", pairs(), ids=lambda pair: str(pair[1].relative_to(DATA)))
def test_a_growing_transcript_is_read_in_steps(
    home: HookHome, server: HookServer, shared_data: Path, tmp_path: Path, pair: tuple[Path, Path]
) -> None:
    """Reading the first recording and then what was added gives what reading the second at once does, nothing twice;
    where the second recording rewrote lines of the first, no turn of it is missing."""
    first, grown = pair
    appended = grown.read_bytes().startswith(first.read_bytes().rstrip(b"\n"))
    live = tmp_path / "0b1f6f0e-1111-4222-8333-444455556666.jsonl"
    event = {"session_id": live.stem, "transcript_path": str(live), "hook_event_name": "Stop"}
    shutil.copy(first, live)
    home.capture(event)
    before = len(sent(server))
    shutil.copy(grown, live)
    home.capture({**event, "hook_event_name": "SessionEnd"})
    assert before > 0
    if appended:
        assert sent(server) == comparable(imported(grown))
    else:
        assert {item["metadata"]["uuid"] for item in imported(grown)} <= {
            item["metadata"]["uuid"] for item in server.stored
        }


def test_there_are_recordings_to_read(shared_data: Path) -> None:
    """The files above were found; where the data is absent this test says so."""
    assert len(FILES) > 100
    assert len(pairs()) >= 2
