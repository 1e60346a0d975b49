"""From a row of the outbox to the texts that are sent. Nothing is read or sent here.

The parts of a message depend on its row alone, so that one that stopped in the middle goes on with the next part.
What is known only while sending (it goes elsewhere, it is late) are notes, for which each part has room left.
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final, Literal
from zoneinfo import ZoneInfo

from argus_memory.rules.masking import mask_text
from argus_memory.rules.message_parts import Measure, shorten, split_text, utf8_length, utf16_length
from argus_memory.settings import OPTIONS, Settings

TELEGRAM_MAX: Final = 4096  # UTF-16 units of a text without its markup
CAPTION_MAX: Final = 1024
NTFY_MAX: Final = 4096  # bytes
PART_MAX: Final = 3600  # of a message's own words; the rest of 4,096 is for notes and the number of the part
TITLE_MAX: Final = 300
NOTE_MAX: Final = 150
LINK_MAX: Final = 500
PARTS_MAX: Final = 5  # a longer Telegram message goes as a file
LATE: Final = timedelta(minutes=10)
SENT_AGAIN: Final = "(sent again: the first answer was lost)"
SECRET_MIN: Final = 8  # characters; a shorter value would be found inside ordinary words

ICONS: Final = {"alert": "🔴", "recovery": "🟢", "reminder": "🟠", "digest": "📋"}
WARNING_ICON: Final = "🟡"


@dataclass(frozen=True, slots=True)
class Message:
    """A row of `deliveries`; `severity` is its alert's."""

    id: int
    key: str
    kind: str
    channel: str
    title: str
    body: str
    link: str | None
    created_at: datetime
    severity: str | None = None
    alert_id: int | None = None
    task: str | None = None
    rid: str | None = None

    @property
    def heading(self) -> str:
        icon = WARNING_ICON if self.kind == "alert" and self.severity == "warn" else ICONS.get(self.kind, "")
        return f"{icon} {self.title}".strip()


@dataclass(frozen=True, slots=True)
class Part:
    """One message on the wire: number `number` (from 1) of `total`. As a file, `text` is the file's content."""

    number: int
    total: int
    title: str
    text: str
    link: str | None = None
    form: Literal["text", "file"] = "text"


def secrets_of(settings: Settings) -> list[str]:
    """The values that may stand in no message, log or error, longest first."""
    values = [getattr(settings, option.field) for option in OPTIONS if option.secret]
    return sorted((v for v in values if isinstance(v, str) and len(v) >= SECRET_MIN), key=len, reverse=True)


def hide_secrets(text: str, settings: Settings) -> str:
    """`text` without this installation's tokens and addresses, and without what has a secret's form."""
    return mask_text(text, secrets_of(settings))[0]


def message_of(row: Mapping[str, Any], settings: Settings) -> Message:
    """The message of a row, its texts without secrets."""
    return Message(
        id=row["id"],
        key=row["key"],
        kind=row["kind"],
        channel=row["channel"],
        title=hide_secrets(row["title"], settings),
        body=hide_secrets(row["body"], settings),
        link=row["link"],
        created_at=row["created_at"],
        severity=row["severity"],
        alert_id=row["alert_id"],
        task=row["task"],
        rid=str(row["rid"]) if row["rid"] else None,
    )


def telegram_parts(message: Message) -> list[Part]:
    """Texts below Telegram's limit, or one file where they would be more than PARTS_MAX."""
    parts = _text_parts(message, utf16_length)
    if len(parts) <= PARTS_MAX:
        return parts
    title = shorten(message.heading, TITLE_MAX)
    link = message.link if message.link and len(message.link) <= TITLE_MAX else None
    return [Part(1, 1, title, _content(message), link, "file")]


def ntfy_parts(message: Message) -> list[Part]:
    """Texts below ntfy's limit, as many as it takes; the title and link travel in headers."""
    title = shorten(message.title, TITLE_MAX, measure=utf8_length)
    texts = split_text(message.body, PART_MAX, measure=utf8_length) or [title]
    return [Part(n, len(texts), title, text, message.link) for n, text in enumerate(texts, 1)]


def whole_part(message: Message) -> list[Part]:
    """A webhook takes it in one piece."""
    return [Part(1, 1, message.title, message.body, message.link)]


def _content(message: Message) -> str:
    """The words below the title: a title too long for its line stands here whole."""
    long_title = message.heading if utf16_length(message.heading) > TITLE_MAX else ""
    return "\n\n".join(piece for piece in (long_title, message.body.strip(), message.link) if piece)


def _text_parts(message: Message, measure: Measure) -> list[Part]:
    title = shorten(message.heading, TITLE_MAX, measure=measure)
    texts = split_text(_content(message), PART_MAX, first=PART_MAX - measure(title), measure=measure) or [""]
    if not title and not texts[0]:
        title = "(a message without words)"
    return [Part(n, len(texts), title if n == 1 else "", text) for n, text in enumerate(texts, 1)]


def as_html(part: Part, notes: Sequence[str]) -> str:
    """The part in Telegram's HTML: everything that was written is escaped, the markup is ours."""
    return _join(part, notes, html.escape, ("<b>", "</b>"), ("<i>", "</i>"))


def as_plain(part: Part, notes: Sequence[str]) -> str:
    return _join(part, notes, lambda text: text, ("", ""), ("", ""))


def _join(part: Part, notes: Sequence[str], escape: Any, bold: tuple[str, str], italic: tuple[str, str]) -> str:
    """Notes, title, text, number; a file's caption says that the text is in the file."""
    lines = [f"{italic[0]}{escape(shorten(note, NOTE_MAX))}{italic[1]}" for note in notes]
    if part.title:
        lines.append(f"{bold[0]}{escape(part.title)}{bold[1]}")
    if part.form == "file":
        lines.append("The whole text is in the file.")
        return "\n".join([*lines, *([escape(part.link)] if part.link else [])])
    if part.text:
        lines.append(escape(part.text))
    if part.total > 1:
        lines.append(f"{italic[0]}({part.number} of {part.total}){italic[1]}")
    return "\n".join(lines)


def with_notes(part: Part, notes: Sequence[str]) -> Part:
    """The same part with its notes in front of its text, for targets without markup."""
    return replace(part, text="\n".join([*(shorten(note, NOTE_MAX) for note in notes), part.text])) if notes else part


def late_note(message: Message, now: datetime, settings: Settings) -> str | None:
    """The line that says when a late message was written; None where it is on time."""
    if now - message.created_at < LATE:
        return None
    return f"(written {show_time(message.created_at, settings)})"


def show_time(at: datetime, settings: Settings) -> str:
    """`2026-03-02 09:00 CET` in ARGUS_TIMEZONE, this machine's unless set."""
    return local_time(at, settings).strftime("%Y-%m-%d %H:%M %Z").strip()


def local_time(at: datetime, settings: Settings) -> datetime:
    return at.astimezone(ZoneInfo(settings.timezone) if settings.timezone else None)
