"""Text → sentences that were meant as words, with their exact place in it.

Code, tables, tag lines and rules are passed over; what is left is cut at sentence ends, list items and
headings. `text[s.start:s.end] == s.text` holds for every sentence, so each one can prove where it stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

SentenceKind = Literal["prose", "item", "heading"]


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence, verbatim. `section` is the heading above it, `lead` the "…:" line; "" where none is."""

    text: str
    start: int
    end: int
    kind: SentenceKind
    section: str = ""
    lead: str = ""


@dataclass(slots=True)
class _Block:
    start: int
    end: int
    kind: SentenceKind


_FENCE: Final = re.compile(r"\s*(?:>\s*)*(`{3,}|~{3,})")
_QUOTE: Final = re.compile(r"\s*(?:>\s?)+")
_HEADING: Final = re.compile(r"\s*#{1,6}\s+")
_ITEM: Final = re.compile(r"\s*(?:[-*+•–]|\d{1,3}[.)]|[a-z]\))\s+(?:\[[ xX]\]\s+)?")
_RULE: Final = re.compile(r"\s*(?:[-*_=]\s*){3,}$")
_TABLE: Final = re.compile(r"\s*\|.*\||.*\|.*\|.*\|")
_TAG_LINE: Final = re.compile(r"\s*</?[A-Za-z][\w-]*(?:\s[^<>]*)?/?>")
_DRAWING: Final = re.compile(r"\s*(?:[├└│┌┐┘↓↑→]|\$ |>>> |\+\+\+|@@ |diff --git)")

# A line of a program: it ends like one, opens like one, or is mostly punctuation.
_CODE_END: Final = re.compile(r"(?:[;{}\[(,]|=>|\)\s*\{|/>|\*/|\\n\"?)\s*$")
_CODE_START: Final = re.compile(
    r"\s*(?:import\s+[\w{*\"']|from\s+[\w.]+\s+import\b|export\s+(?:const|default|class|function|type)|"
    r"(?:const|let|var)\s+[\w{\[]+.*=|def\s+\w+\(|class\s+\w+[({:]|function\s+\w*\(|return\b.*;|"
    r"if\s*\(|for\s*\(|while\s*\(|else\b\s*[{:]|try\s*[{:]|#include|@\w+\(|[}\])]+[;,)]*\s*$|"
    r"\w+(?:\.\w+)*\(.*\)\s*;?\s*$|\"?[\w-]+\"?\s*:\s*[\"'\[{].*[,\]}]?\s*$|[\w.-]+\s*[:=]\s*\S+;\s*$|"
    r"ul#|[.#]\w[\w-]*\s*\{|<\?|#!/|(?:FROM|RUN|COPY|ENV|CMD|SELECT|INSERT|UPDATE|CREATE)\s.*[;\\]$)"
)
_CODE_CHARS: Final = frozenset("{}[]()<>=;|&$\\/*+^~_\"'`@#%")

# Abbreviations and initials: the full stop after them ends no sentence. "no." only before a number.
_ABBREVIATION: Final = re.compile(
    r"(?:e\.g|i\.e|etc|vs|cf|approx|ca|dr|mr|mrs|ms|prof|sr|jr|st|nr|fig|vol|resp|incl|excl|dept|est|"
    r"jan|feb|apr|jun|jul|aug|sept?|oct|nov|dec|a\.m|p\.m|u\.s|u\.k|z\.b|d\.h|bzw|[a-hj-z])",
    re.IGNORECASE,
)
# An end mark, what may close after it, then space or the end; CJK marks need no space.
_END: Final = re.compile(r"(?:[.!?…]+[\"'”’)\]*_]*(?=\s|$)|[。！？；]+[」』”’）]*)")
_NEWLINE: Final = re.compile(r"\n")
_BACKTICKS: Final = re.compile(r"`+[^`\n]*`+")
_URL: Final = re.compile(r"(?:https?|ftp|file|ssh|git)://\S+")
_PROTECTED: Final = re.compile(rf"{_BACKTICKS.pattern}|{_URL.pattern}")
_LAST_WORD: Final = re.compile(r"[^\s(\[\"'“‘]*$")
_WRAPPED_AT: Final = 60  # characters; a shorter line was ended on purpose, a longer one may be wrapped


def is_code_line(line: str) -> bool:
    """True for a line that reads as program text rather than words."""
    bare = line.strip()
    if not bare:
        return False
    without_spans = _URL.sub("", _BACKTICKS.sub("x", bare))
    if _CODE_START.match(without_spans) and not _ITEM.match(bare):
        return True
    if without_spans.endswith(",") and " " not in without_spans:
        return True
    letters = sum(c.isalpha() for c in without_spans)
    marks = sum(c in _CODE_CHARS for c in without_spans)
    if _CODE_END.search(without_spans) and (marks * 5 > letters or len(without_spans.split()) < 4):
        return not without_spans.endswith(",") or marks * 4 > letters
    return marks * 2 > letters and len(without_spans) > 8


def _quote_length(line: str) -> int:
    quote = _QUOTE.match(line)
    return quote.end() if quote else 0


def _opening(line: str) -> tuple[int, SentenceKind, bool]:
    """(characters before the words, kind, begins a block) of one line without its quote marks."""
    if heading := _HEADING.match(line):
        return heading.end(), "heading", True
    if item := _ITEM.match(line):
        return item.end(), "item", True
    return len(line) - len(line.lstrip()), "prose", False


def _no_words(line: str) -> bool:
    """True for a rule, a table row, a tag, a drawing or a line of code."""
    return bool(
        _RULE.match(line) or _TABLE.match(line) or _TAG_LINE.match(line) or _DRAWING.match(line) or is_code_line(line)
    )


def _blocks(text: str, *, quotes: bool) -> list[_Block]:
    """Paragraphs, list items and headings; `quotes` says whether `> ` lines are the speaker's own words."""
    blocks: list[_Block] = []
    fence: str | None = None
    current: _Block | None = None
    offset = 0
    for raw in text.split("\n"):
        line, start = raw.rstrip().removesuffix("\\").rstrip(), offset
        offset += len(raw) + 1
        fenced = _FENCE.match(line)
        if fence is not None or fenced is not None:
            if fence is None and fenced is not None:
                fence, current = fenced.group(1)[:3], None
            elif fence is not None and fenced is not None and fenced.group(1).startswith(fence):
                fence = None
            continue
        quoted = _quote_length(line)
        words = line[quoted:]
        lead, kind, begins = _opening(words)
        indented_code = current is None and not begins and words.startswith(("    ", "\t"))
        if not words.strip() or (quoted and not quotes) or indented_code or _no_words(words):
            current = None
        elif current is None or begins or current.kind == "heading":
            current = _Block(start + quoted + lead, start + len(line), kind)
            blocks.append(current)
        else:
            current.end = start + len(line)
    return blocks


def _abbreviated(text: str, start: int, at: int) -> bool:
    """True when the full stop at `at` closes an abbreviation or an initial, not a sentence."""
    last = _LAST_WORD.search(text[max(start, at - 12) : at])
    word = last.group(0) if last else ""
    if word.lower() == "no":
        return text[at + 1 : at + 3].strip()[:1].isdigit()
    return _ABBREVIATION.fullmatch(word) is not None


def _ends(text: str, block: _Block) -> Iterator[re.Match[str]]:
    """End marks of one block that stand outside code spans and addresses."""
    closed = iter(_PROTECTED.finditer(text, block.start, block.end))
    shut = next(closed, None)
    for match in _END.finditer(text, block.start, block.end):
        while shut is not None and shut.end() <= match.end() - 1:
            shut = next(closed, None)
        if shut is None or not shut.start() <= match.start() < match.end() < shut.end():
            yield match


def _cuts(text: str, block: _Block) -> list[int]:
    """Where sentences of one block end."""
    if block.kind == "heading":
        return [block.end]
    cuts: list[int] = []
    for match in _ends(text, block):
        mark = match.group(0)
        following = text[match.end() : min(block.end, match.end() + 40)].lstrip()
        goes_on = following[:1].islower() and (len(mark) > 1 or mark == "…")
        if goes_on or (mark[0] == "." and following and _abbreviated(text, block.start, match.start())):
            continue
        cuts.append(match.end())
    previous = block.start
    for newline in _NEWLINE.finditer(text, block.start, block.end):
        if newline.start() - previous < _WRAPPED_AT:
            cuts.append(newline.start())
        previous = newline.end()
    return sorted({*cuts, block.end})


def split_sentences(text: str, *, quotes: bool = True) -> list[Sentence]:
    """Sentences of `text` in order, code and tables left out.

    `quotes=False` also leaves out `> ` lines: in a person's turn they are somebody else's words.
    """
    sentences: list[Sentence] = []
    section = lead = ""
    for block in _blocks(text, quotes=quotes):
        if block.kind == "heading":
            lead = ""
        start = block.start
        for cut in _cuts(text, block):
            piece = text[start:cut]
            inner_start = start + len(piece) - len(piece.lstrip())
            inner_end = start + len(piece.rstrip().removesuffix("\\").rstrip())
            start = cut
            if inner_end <= inner_start:
                continue
            words = text[inner_start:inner_end]
            sentences.append(Sentence(words, inner_start, inner_end, block.kind, section, lead))
            if block.kind == "heading":
                section = words
            elif words.rstrip("*_ ").endswith((":", "：")):
                lead = words
    return sentences
