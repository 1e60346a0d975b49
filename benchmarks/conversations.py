"""Benchmark files as conversations with questions: one shape for LoCoMo, LongMemEval, AutoMemoryBench and LifeBench.

How each labels its evidence, and what is dirty about it, is said at its reader.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

SECONDS_BETWEEN = 10  # turns of a session, where the data names only the session's time


@dataclass(frozen=True)
class Said:
    """One turn. `key` is unique in its conversation; `unit` is what evidence names (the turn, or its session)."""

    key: str
    unit: str
    session: str
    role: str
    text: str
    said_at: datetime


@dataclass(frozen=True)
class Asked:
    """`gold` and `forbidden` are units; `group` is reported apart; `counts`: whether it is in the total."""

    text: str
    gold: frozenset[str]
    group: str
    counts: bool = True
    forbidden: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Conversation:
    name: str
    said: list[Said] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)


def read_locomo(path: Path) -> list[Conversation]:
    """LoCoMo with the audit's corrections where `corrections*.json` lies beside it.

    Evidence is ids like D3:12, some malformed (`D:11:26`, two in one string). Category 5 has no answer and is not in
    the total. A turn's image counts as its caption. Questions without evidence that exists are left out.
    """
    file = _find(path, "locomo*.json")
    corrections = {
        row["question_id"]: row["correct_evidence"]
        for other in file.parent.glob("corrections*.json")
        for row in json.loads(other.read_text())
    }
    conversations = []
    for number, sample in enumerate(json.loads(file.read_text())):
        content = sample["conversation"]
        said = []
        for name in sorted((k for k in content if re.fullmatch(r"session_\d+", k)), key=lambda k: int(k[8:])):
            start = datetime.strptime(content[f"{name}_date_time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
            for place, turn in enumerate(content[name]):
                caption = f" [shares {turn['blip_caption']}]" if turn.get("blip_caption") else ""
                text = f"{turn['speaker']}: {turn['text']}{caption}"
                at = start + timedelta(seconds=SECONDS_BETWEEN * place)
                said.append(Said(turn["dia_id"], turn["dia_id"], name, "user", text, at))
        known = {turn.unit for turn in said}
        asked = []
        for place, row in enumerate(sample["qa"]):
            evidence = corrections.get(f"locomo_{number}_qa{place}", row["evidence"])
            gold = {f"D{int(a)}:{int(b)}" for e in evidence for a, b in re.findall(r"D:?(\d+):(\d+)", e)} & known
            if gold:
                category = row["category"]
                asked.append(Asked(row["question"], frozenset(gold), f"category {category}", category != 5))
        conversations.append(Conversation(sample["sample_id"], said, asked))
    return conversations


def read_longmemeval(path: Path) -> list[Conversation]:
    """One haystack of sessions a row, with one or several questions. Evidence names sessions, not turns."""
    conversations = []
    for row in json.loads(_find(path, "*longmemeval*.json").read_text()):
        said = []
        for session, date, turns in zip(
            row["haystack_session_ids"], row["haystack_dates"], row["haystack_sessions"], strict=True
        ):
            start = datetime.strptime(re.sub(r" \(\w+\)", "", date), "%Y/%m/%d %H:%M").replace(tzinfo=UTC)
            for place, turn in enumerate(turns):
                at = start + timedelta(seconds=SECONDS_BETWEEN * place)
                said.append(Said(f"{session}:{place}", session, session, turn["role"], turn["content"], at))
        questions = row["questions"] if "questions" in row else [row["question"]]
        gold = row["answer_session_ids"] if "questions" in row else [row["answer_session_ids"]]
        asked = [
            Asked(question, frozenset(sessions), row["question_type"])
            for question, sessions in zip(questions, gold, strict=True)
        ]
        conversations.append(Conversation(row["question_id"], said, asked))
    return conversations


def read_automemorybench(path: Path) -> list[Conversation]:
    """Cases of templated turns. Gold and forbidden memories name the turns they were made of."""
    conversations = []
    for file in _find_all(path, "*.json"):
        for case in json.loads(file.read_text())["cases"]:
            said = []
            for session in case["sessions"]:
                start = datetime.fromisoformat(session["timestamp"])
                for place, turn in enumerate(session["turns"]):
                    at = start + timedelta(seconds=SECONDS_BETWEEN * place)
                    key, text = turn["turn_id"], turn["content"]
                    said.append(Said(key, key, session["session_id"], turn["role"], text, at))
            memories = {memory["memory_id"]: memory["source_turn_ids"] for memory in case["gold_memory_units"]}
            asked = []
            for query in case["queries"]:
                gold = _turns_of(query["gold_memory_ids"], memories)
                forbidden = _turns_of(query.get("forbidden_memory_ids", ()), memories) - gold
                if gold:
                    asked.append(Asked(query["prompt"], gold, query["task_type"], forbidden=forbidden))
            conversations.append(Conversation(case["case_id"], said, asked))
    return conversations


def read_lifebench(path: Path) -> list[Conversation]:
    """One persona over chats, notes, messages, calendar, calls, photos and notices; evidence is (type, id)."""
    conversations = []
    for questions in _find_all(path, "QA_clean.json"):
        persona = questions.parent.parent
        said = []
        for file in sorted((persona / "phone_data").glob("*.json")):
            for place, item in enumerate(json.loads(file.read_text())):
                kind = file.stem
                unit = f"{kind}:{item.get('phone_id', place)}"
                at = _life_time(item)
                said.append(Said(f"{unit}:{place}", unit, f"{kind}-{at:%Y-%m}", "user", _life_text(kind, item), at))
        known = {one.unit for one in said}
        asked = []
        for row in json.loads(questions.read_text()):
            gold = {f"{each['type']}:{each['id']}" for each in row["evidence"]} & known
            if gold:
                asked.append(Asked(row["question"], frozenset(gold), row["question_type"]))
        conversations.append(Conversation(persona.name, said, asked))
    return conversations


READERS: dict[str, Callable[[Path], list[Conversation]]] = {
    "locomo": read_locomo,
    "longmemeval": read_longmemeval,
    "automemorybench": read_automemorybench,
    "lifebench": read_lifebench,
}


def _find(path: Path, pattern: str) -> Path:
    return _find_all(path, pattern)[0]


def _find_all(path: Path, pattern: str) -> list[Path]:
    files = [path] if path.is_file() else sorted(path.rglob(pattern))
    if not files:
        raise SystemExit(f"no {pattern} in {path}")
    return files


def _turns_of(ids: Iterable[str], memories: dict[str, list[str]]) -> frozenset[str]:
    return frozenset(turn for id_ in ids for turn in memories.get(id_, ()))


def _life_time(item: dict[str, Any]) -> datetime:
    text = next(str(item[key]) for key in ("datetime", "start_time", "date", "timestamp") if item.get(key))
    return datetime.fromisoformat(text[:19]).replace(tzinfo=UTC)


def _life_text(kind: str, item: dict[str, Any]) -> str:
    """Every text of an item, its kind in front; ids, numbers and paths are left out."""
    skipped = {"event_id", "type", "phone_id", "jump_path", "push_status"}
    texts = [text for key, value in item.items() if key not in skipped for text in _strings(value)]
    return f"{kind}: " + " | ".join(texts)


def _strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value] if value.strip() else []
    if isinstance(value, dict):
        return [text for each in value.values() for text in _strings(each)]
    if isinstance(value, list):
        return [text for each in value for text in _strings(each)]
    return []
