"""The distiller that needs no model: verbatim sentences, each with its speaker, its place and its kind.

    turns → sentences (extractive_sentences) → not noise (extractive_drops) → a cue fires (extractive_cues)
          → near-duplicates dropped → the strongest of a turn and of the unit

Grounded by construction: `source_ref` is a slice of one turn, and a note's speaker is that turn's. It keeps
decisions, preferences, facts about people and machines, and outcomes of attempts; measured in
benchmarks/distiller.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from argus_memory.models.extractive_answers import is_acceptance, is_answer, open_question
from argus_memory.models.extractive_cues import find_cue, is_proposal
from argus_memory.models.extractive_drops import is_announcement, is_noise, is_question
from argus_memory.models.extractive_rule import Cue, Speaker
from argus_memory.models.extractive_sentences import Sentence, split_sentences
from argus_memory.records import Candidate, EpisodeTurn
from argus_memory.rules.dead_ends import DEAD_END, is_dead_end, is_told_on
from argus_memory.rules.poison import poison_reason
from argus_memory.settings import TITLE_MAX

MODEL: Final = "extractive-v1"
TRIED: Final = Cue(DEAD_END, "fact", 0.6)
MAX_PER_TURN: Final = 30
MAX_PER_UNIT: Final = 60
MAX_COMPARED: Final = 300  # candidates of one turn that are looked at for repeats; bounds a pasted book
SAME_SHARE: Final = 0.8  # of the words of the shorter sentence; numbers must agree as well
MAX_KEYWORDS: Final = 8

# Emphasis opens after a blank and closes before one; a star anywhere else belongs to a path or a formula.
_OPENS: Final = r"(?:(?<=\s)|(?<=^)|(?<=\())"
_CLOSES: Final = r"(?=\s|$|[.,:;!?)])"
_EMPHASIS: Final = re.compile(rf"{_OPENS}\*\*(?=\S)|(?<=\S)\*\*{_CLOSES}")
_ITALIC: Final = re.compile(rf"{_OPENS}\*(?=\w)([^*]+?)(?<=[\w.!?])\*{_CLOSES}")
_CODE_SPAN: Final = re.compile(r"(`[^`]*`)")
_OPENING_SIGN: Final = re.compile(r"^[^\w`'\"“‘(\[/~$@#<.-]+")
_TOKEN: Final = re.compile(r"[^\W_]+(?:[._/-][^\W_]+)*")
_NUMBER: Final = re.compile(r"\d+(?:[.:]\d+)*")
_CODE: Final = re.compile(r"`([^`\n]{2,60})`")
_IDENTIFIER: Final = re.compile(r"\b(?:[\w-]+(?:[./_][\w-]+)+|[a-z]+[A-Z]\w+|[A-Z]{2,}\w*)\b")
_NAME: Final = re.compile(r"(?<![.!?:]\s)(?<!^)\b[A-Z][a-z]+(?:\s[A-Z][a-z]+)*\b")
_RELATIVE: Final = (
    (re.compile(r"\byesterday\b", re.IGNORECASE), "yesterday", -1),
    (re.compile(r"\btoday\b|\btonight\b|\bthis morning\b", re.IGNORECASE), "today", 0),
    (re.compile(r"\btomorrow\b", re.IGNORECASE), "tomorrow", 1),
)
_LABEL: Final = {
    "user": "User",
    "assistant": "Assistant",
    "document": "Document",
    "event": "Event",
    "synthesis": "Synthesis",
}


def plain(sentence: str) -> str:
    """One line without markdown emphasis and opening signs; the words stay as they were said."""
    parts = _CODE_SPAN.split(" ".join(sentence.split()))
    parts[::2] = [_ITALIC.sub(r"\1", _EMPHASIS.sub("", part)) for part in parts[::2]]
    return _OPENING_SIGN.sub("", "".join(parts)).strip()


def title_of(text: str) -> str:
    """At most 80 characters, cut at a word."""
    text = text.rstrip(".:;, ")
    if len(text) <= TITLE_MAX:
        return text
    cut = text[: TITLE_MAX - 1]
    head, _, tail = cut.rpartition(" ")
    return (head if head and len(tail) < 30 else cut).rstrip(".:;, ") + "…"


def keywords_of(text: str) -> tuple[str, ...]:
    """Code words, identifiers and names, in the order they stand."""
    found: dict[str, str] = {}
    for pattern in (_CODE, _IDENTIFIER, _NAME):
        for match in pattern.finditer(text):
            word = match.group(match.lastindex or 0).strip(" .,:;()")
            if 1 < len(word) <= 60:
                found.setdefault(word.casefold(), word)
    return tuple(found.values())[:MAX_KEYWORDS]


def context_of(text: str, said_at: datetime, section: str, lead: str) -> str:
    """Day, relative days resolved against it, and the headings a list item stood under."""
    parts = [f"said on {said_at:%Y-%m-%d}"]
    parts += [
        f"{word} = {said_at + timedelta(days=days):%Y-%m-%d}"
        for pattern, word, days in _RELATIVE
        if pattern.search(text)
    ]
    under = [plain(part).rstrip(":：").strip() for part in (section, lead) if part]
    if under:
        parts.append("under: " + " › ".join(under)[:160])
    return "; ".join(parts)


class _Seen:
    """Sentences already kept, for dropping what says the same again."""

    def __init__(self) -> None:
        self._kept: list[tuple[frozenset[str], frozenset[str]]] = []

    def repeats(self, text: str) -> bool:
        words = frozenset(w.casefold() for w in _TOKEN.findall(text)) or frozenset(text)
        numbers = frozenset(_NUMBER.findall(text))
        for kept_words, kept_numbers in self._kept:
            smaller, larger = sorted((len(words), len(kept_words)))
            shared = len(words & kept_words)
            if numbers == kept_numbers and shared >= SAME_SHARE * smaller and smaller >= 0.6 * larger:
                return True
        self._kept.append((words, numbers))
        return False


def _cue_of(sentence: Sentence, speaker: Speaker, *, adopted: bool) -> Cue | None:
    text = plain(sentence.text)
    if sentence.kind == "heading" or is_noise(text) or is_question(text, asked_by_person=speaker == "user"):
        return None
    if is_announcement(text, of_person=speaker == "user") and not (adopted and is_proposal(text)):
        return None
    is_item = sentence.kind == "item"
    cue = find_cue(
        text, speaker, item=is_item, raw=sentence.text, section=sentence.section, lead=sentence.lead, adopted=adopted
    )
    if cue and text.endswith((":", "：")) and cue.importance < 0.5:
        return None
    return cue or (TRIED if is_dead_end(text) else None)


def _candidate(turn: EpisodeTurn, sentence: Sentence, cue: Cue, label: str, asked: str | None = None) -> Candidate:
    text = plain(sentence.text)
    said = f'{label}, asked "{asked}": {text}' if asked else f"{label}: {text}"
    return Candidate(
        title=title_of(text),
        content=said,
        source_ref=sentence.text,
        category=cue.category,
        importance=cue.importance,
        keywords=keywords_of(text),
        tags=(cue.name,),
        context=context_of(text, turn.said_at, sentence.section, sentence.lead),
        role=turn.role if label in ("User", "Assistant") else None,
        raw_id=turn.raw_id,
        source_start=sentence.start,
        source_end=sentence.end,
    )


def _answer(turn: EpisodeTurn, before: EpisodeTurn | None) -> Candidate | None:
    """A short reply to a question, with the question: "blue" alone says nothing."""
    if before is None or before.role != "assistant" or turn.role != "user" or not is_answer(turn.text):
        return None
    question = open_question(before.text)
    sentences = split_sentences(turn.text, quotes=False)
    if question is None or len(sentences) != 1:
        return None
    return _candidate(turn, sentences[0], Cue("answer", "decision", 0.65), "User", asked=question)


def _attempts_whole(text: str, sentences: Sequence[Sentence]) -> Iterable[Sentence]:
    """The sentences, an attempt and what became of it as one: "We tried A. It failed because of B." """
    held: Sentence | None = None
    for sentence in sentences:
        if held is None:
            held = sentence
        elif (
            held.kind == sentence.kind != "heading"
            and not text[held.end : sentence.start].strip(" ")
            and is_told_on(held.text, sentence.text)
        ):
            held = replace(held, text=text[held.start : sentence.end], end=sentence.end)
        else:
            yield held
            held = sentence
    if held is not None:
        yield held


def _from_turn(turn: EpisodeTurn, speaker: Speaker, label: str, *, adopted: bool) -> Iterable[Candidate]:
    for sentence in _attempts_whole(turn.text, split_sentences(turn.text, quotes=speaker != "user")):
        if cue := _cue_of(sentence, speaker, adopted=adopted):
            yield _candidate(turn, sentence, cue, label)


def _strongest(candidates: Sequence[Candidate], limit: int) -> list[Candidate]:
    """The `limit` most important ones, in the order they were said."""
    if len(candidates) <= limit:
        return list(candidates)
    ranked = sorted(range(len(candidates)), key=lambda i: (-candidates[i].importance, i))[:limit]
    return [candidates[i] for i in sorted(ranked)]


def extract(turns: Sequence[EpisodeTurn], *, item_kind: str = "turn") -> list[Candidate]:
    """Candidates of one unit, in the order said; [] when nothing is worth keeping.

    `item_kind` other than "turn" (document, event, synthesis) means one item that nobody speaks in.
    """
    seen = _Seen()
    kept: list[Candidate] = []
    for at, turn in enumerate(turns):
        if poison_reason(turn.text, turn.role):
            continue
        before = turns[at - 1] if at else None
        after = turns[at + 1] if at + 1 < len(turns) else None
        speaker: Speaker = turn.role if item_kind == "turn" else "document"
        label = _LABEL[turn.role if item_kind == "turn" else item_kind]
        adopted = (
            turn.role == "assistant" and after is not None and after.role == "user" and is_acceptance(after.text)
        )
        answer = _answer(turn, before) if item_kind == "turn" else None
        found = (
            [answer] if answer else _strongest(list(_from_turn(turn, speaker, label, adopted=adopted)), MAX_COMPARED)
        )
        fresh = [c for c in found if not seen.repeats(c.content if answer else plain(c.source_ref))]
        kept += _strongest(fresh, MAX_PER_TURN)
    return _strongest(kept, MAX_PER_UNIT)
