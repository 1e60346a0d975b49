"""How well the extractive distiller keeps what matters, on turns of real and staged coding sessions.

    python benchmarks/distiller/run.py [--data ../shared/data] [--half dev|held-out] [--show]

labels.jsonl holds one line a turn: file, line, block, role, a hash of its text, its half, and `keep`: short
fragments, one for each sentence worth remembering ([] for a turn that holds nothing). The turns themselves stay
in the shared data. A note is right when its source span holds a fragment of its own turn; a fragment is found
when a note of its turn holds it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from argus_memory.models.extractive import extract  # noqa: E402
from argus_memory.records import Candidate, EpisodeTurn  # noqa: E402

LABELS = Path(__file__).with_name("labels.jsonl")
DATA = ROOT.parent / "shared" / "data"
_MACHINE_BLOCK = re.compile(r"<(ide_\w+|system-reminder)>.*?</\1>", re.DOTALL)


@dataclass(frozen=True)
class Label:
    file: str
    line: int
    block: int
    role: str
    sha: str
    half: str
    keep: tuple[str, ...]


@dataclass
class Score:
    """Counts over one half; `wrong_speaker` are notes whose label is not the turn's role."""

    turns: int = 0
    notes: int = 0
    right: int = 0
    fragments: int = 0
    found: int = 0
    wrong_speaker: int = 0
    false_notes: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)

    @property
    def precision(self) -> float:
        return self.right / self.notes if self.notes else 0.0

    @property
    def recall(self) -> float:
        return self.found / self.fragments if self.fragments else 0.0


def read_labels(path: Path = LABELS) -> list[Label]:
    rows = (json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip())
    return [Label(**{**row, "keep": tuple(row["keep"])}) for row in rows]


def text_hash(text: str) -> str:
    return hashlib.sha256(text.strip().encode("utf-8", "replace")).hexdigest()[:16]


def read_block(line: str, block: int) -> str:
    """The visible text of one block of one transcript line, machine blocks cut out."""
    record = json.loads(line)
    payload = record.get("payload") if isinstance(record.get("payload"), dict) else record
    if isinstance(payload.get("message"), str):  # a Codex event
        text = payload["message"].split("## My request for Codex:", 1)[-1].strip()
    else:
        content = payload["message"]["content"] if "message" in payload else payload["content"]
        blocks = [content] if isinstance(content, str) else [b["text"] for b in content if "text" in b]
        text = _MACHINE_BLOCK.sub("", blocks[block])
    return text


def read_turns(data: Path, labels: list[Label]) -> Iterator[tuple[Label, str]]:
    """Each label with its turn's text; raises ValueError when the text is not the one that was labelled."""
    lines: dict[str, list[str]] = {}
    for label in labels:
        if label.file not in lines:
            lines[label.file] = (data / label.file).read_text("utf-8", "replace").split("\n")
        text = read_block(lines[label.file][label.line], label.block)
        if text_hash(text) != label.sha:
            raise ValueError(f"{label.file}:{label.line}: the text is not the one that was labelled")
        yield label, text


def squeeze(text: str) -> str:
    return " ".join(text.split())


def measure(data: Path, labels: list[Label]) -> Score:
    """Distil file by file, as an episode would be, and count."""
    files: dict[str, list[tuple[Label, str]]] = defaultdict(list)
    for label, text in read_turns(data, labels):
        files[label.file].append((label, text))
    score = Score()
    for turns in files.values():
        episode = [
            EpisodeTurn(raw_id=at, role=label.role, text=text, said_at=datetime(2025, 1, 1, tzinfo=UTC))  # type: ignore[arg-type]
            for at, (label, text) in enumerate(turns)
        ]
        by_turn: dict[int, list[Candidate]] = defaultdict(list)
        for note in extract(episode):
            by_turn[note.raw_id if note.raw_id is not None else -1].append(note)
        for at, (label, text) in enumerate(turns):
            _count(score, label, text, by_turn.pop(at, []))
        score.wrong_speaker += sum(len(left) for left in by_turn.values())
    return score


def _count(score: Score, label: Label, text: str, notes: list[Candidate]) -> None:
    fragments = [squeeze(fragment) for fragment in label.keep]
    for fragment in fragments:
        if fragment not in squeeze(text):
            raise ValueError(f"{label.file}:{label.line}: no such words in the turn: {fragment!r}")
    spans = [squeeze(note.source_ref) for note in notes]
    speaker = {"user": "User", "assistant": "Assistant"}[label.role]
    score.turns += 1
    score.notes += len(notes)
    score.fragments += len(fragments)
    score.wrong_speaker += sum(not re.match(rf"{speaker}[,:]", n.content) or n.role != label.role for n in notes)
    for span, note in zip(spans, notes, strict=True):
        if any(fragment in span for fragment in fragments):
            score.right += 1
        else:
            score.false_notes.append(f"{label.role} [{', '.join(note.tags)}] {span}")
    for fragment in fragments:
        if any(fragment in span for span in spans):
            score.found += 1
        else:
            score.missed.append(f"{label.role} {label.file}:{label.line} {fragment}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--half", choices=["dev", "held-out"])
    parser.add_argument("--show", action="store_true", help="list false notes and missed fragments")
    options = parser.parse_args()
    if not options.data.is_dir():
        print(f"{options.data} is not there: the labelled turns are part of the shared data", file=sys.stderr)
        return 3
    print(f"{'half':10} {'turns':>6} {'notes':>6} {'precision':>10} {'recall':>8} {'wrong speaker':>14}")
    for half in [options.half] if options.half else ["dev", "held-out"]:
        score = measure(options.data, [label for label in read_labels() if label.half == half])
        print(
            f"{half:10} {score.turns:6} {score.notes:6} {score.precision:10.3f} {score.recall:8.3f}"
            f" {score.wrong_speaker:14}"
        )
        if options.show:
            print("  false notes:", *score.false_notes, sep="\n    ")
            print("  missed:", *score.missed, sep="\n    ")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
