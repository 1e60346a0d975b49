"""How values are shown: captured text, times, ages, numbers. Pure.

Captured text may hold anything: escape sequences of terminals, characters without width, marks that turn the
direction of what follows. `show_text` drops the first and makes the others visible, so that what is read is what is
there; the template's escaping and `dir="auto"` do the rest.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final

from markupsafe import Markup, escape

CLIP: Final = 1200  # characters of a captured text on a list
WHOLE: Final = 20_000  # of one on its own page; above it a link shows all

_ANSI: Final = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]{0,2000}(?:\x07|\x1b\\)|[@-Z\\-_])")
_ODD: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
_JOINERS: Final = "\u200c\u200d"
_SMALL: Final = frozenset({
    "the", "and", "for", "with", "that", "this", "what", "which", "where", "when", "who", "how", "why", "does", "did",
    "was", "were", "are", "has", "have", "had", "you", "your", "our", "from", "into", "about", "der", "die", "das",
    "und", "ist", "mit", "den", "von", "wie", "wer", "wann",
})  # fmt: skip


def show_text(text: str) -> str:
    """`text` without terminal sequences; control, invisible and direction-turning characters as ␛ or ⟨U+202E⟩.

    Joiners stay where a script or an emoji needs them.
    """
    text = text.replace("\r\n", "\n")
    if _ODD.search(text) is None:
        return text
    text = _ANSI.sub("", text)
    return _ODD.sub(lambda match: _visible(match, text), text)


def typed(text: str) -> str:
    """The text for a field that is edited: what cannot be seen, and so not be taken out by hand, is left out."""
    text = _ANSI.sub("", text.replace("\r\n", "\n"))
    return _ODD.sub(lambda match: match[0] if _is_joiner(match, text) else "", text)


def _visible(match: re.Match[str], text: str) -> str:
    if _is_joiner(match, text):
        return match[0]
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    if 0xE0020 <= code <= 0xE007F:  # the letters of a flag's tag, which can hide a whole sentence
        return f"⟨tag {chr(code - 0xE0000)}⟩"
    return f"⟨U+{code:04X}⟩"


def _is_joiner(match: re.Match[str], text: str) -> bool:
    """Whether what was found is a joiner that its neighbours need."""
    at = match.start()
    return match[0] in _JOINERS and 0 < at < len(text) - 1 and _joins(text[at - 1]) and _joins(text[at + 1])


def _joins(char: str) -> bool:
    """Whether a joiner beside this one has a meaning: emoji, and letters of scripts that connect."""
    return unicodedata.category(char) in ("So", "Sk", "Mn", "Mc") or char == "\ufe0f" or "\u0600" <= char <= "\u0dff"


@dataclass(frozen=True, slots=True)
class Clipped:
    """The beginning of a text, shown; `left` characters were left off."""

    text: str
    left: int = 0


def clip(text: str | None, limit: int = CLIP) -> Clipped:
    """At most `limit` characters, ready to be shown."""
    text = text or ""
    if len(text) <= limit:
        return Clipped(show_text(text))
    return Clipped(show_text(text[:limit]).rstrip() + "…", len(text) - limit)


@dataclass(frozen=True, slots=True)
class Marked:
    """A text around a span of it, each part ready to be shown. `left`: characters that were left off."""

    before: str
    span: str
    after: str
    left: int = 0


def mark_span(text: str, start: int | None, end: int | None, limit: int = WHOLE) -> Marked:
    """The text with characters start to end apart; of a long one what is nearest to the span."""
    if start is None or end is None or not 0 <= start < end <= len(text):
        plain = clip(text, limit)
        return Marked(plain.text, "", "", plain.left)
    room = max(limit - (end - start), 400)
    first = max(0, start - room // 2)
    last = min(len(text), end + room // 2)
    before = ("…" if first else "") + show_text(text[first:start])
    after = show_text(text[end:last]) + ("…" if last < len(text) else "")
    return Marked(before, show_text(text[start:end]), after, first + len(text) - last)


def coded(text: str) -> Markup:
    """A sentence of ours or of a check, with what stands between backticks as code."""
    parts = show_text(text).split("`")
    if len(parts) % 2 == 0:  # an odd tick: all of it is words
        return escape(show_text(text))
    code = Markup("<code>{}</code>")
    return Markup("").join(code.format(part) if at % 2 else part for at, part in enumerate(parts))


_MARK: Final = Markup("<mark>")
_END: Final = Markup("</mark>")


def highlight(text: str, words: Sequence[str]) -> Markup:
    """The text, ready to be shown, with each word that begins as one of `words` does marked."""
    shown = show_text(text)
    if not words:
        return escape(shown)
    pattern = re.compile(rf"\b(?:{'|'.join(re.escape(word) for word in words)})\w*", re.IGNORECASE)
    parts: list[str] = []
    at = 0
    for match in pattern.finditer(shown):  # joined at the end: Markup's format is slow, and a page has thousands
        parts += [shown[at : match.start()], _MARK, match[0], _END]
        at = match.end()
    return Markup("").join([*parts, shown[at:]])


def mark_all(text: str, spans: Sequence[str]) -> Markup:
    """The text, ready to be shown, with every quoted span that it holds marked; spans that overlap are one."""
    found = sorted((at, at + len(span)) for span in spans if span and (at := text.find(span)) >= 0)
    parts: list[str] = []
    at = 0
    for start, end in found:
        if end > at:
            parts += [show_text(text[at : max(at, start)]), _MARK, show_text(text[max(at, start) : end]), _END]
            at = end
    return Markup("").join([*parts, show_text(text[at:])])


def question_words(question: str) -> tuple[str, ...]:
    """Words of a question worth marking: without the small ones, and without the end that inflection changes."""
    words = [word.lower() for word in re.findall(r"\w{3,40}", question)][:20]
    stems = {word[: max(4, len(word) - 2)] for word in words if word not in _SMALL}
    return tuple(sorted(stems, key=len, reverse=True))


def one_line(text: str | None, limit: int = 160) -> str:
    """The text in one line, for headings and cells."""
    words = show_text(" ".join((text or "")[: limit * 4].split()))
    return words if len(words) <= limit else words[: limit - 1].rstrip() + "…"


def utc_text(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def local_text(at: datetime, zone: tzinfo) -> str:
    return f"{at.astimezone(zone):%Y-%m-%d %H:%M}"


def age_text(at: datetime, now: datetime) -> str:
    """`just now`, `5 min ago`, `3 h ago`, `in 2 h`, `12 days ago`."""
    gap = now - at
    span = span_text(abs(gap))
    if abs(gap) < timedelta(seconds=45):
        return "just now"
    return f"in {span}" if gap < timedelta() else f"{span} ago"


def span_text(span: timedelta) -> str:
    """The largest unit that fits: `40 s`, `5 min`, `3 h`, `12 days`."""
    seconds = span.total_seconds()
    for unit, size, below in (("s", 1, 90), ("min", 60, 90 * 60), ("h", 3600, 48 * 3600)):
        if seconds < below:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds / 86400:.0f} days"


def count_text(number: int, noun: str, plural: str | None = None) -> str:
    """`1 note`, `1,200 notes`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def bytes_text(size: float) -> str:
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"


def money_text(usd: float | None) -> str:
    """Unknown is not zero."""
    if usd is None:
        return "unknown"
    return f"${usd:.2f}" if usd >= 0.995 or usd == 0 else f"${usd:.4f}"
