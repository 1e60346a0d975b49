"""Feeds: RSS, Atom and RDF of any age and encoding → entries. A broken feed gives what can be read of it.

feedparser (BSD) reads them; it has no `podcast:transcript` (podcastindex.org namespace), so those are read by hand
from the same bytes and matched by the entry's order and guid.
"""

from __future__ import annotations

import calendar
import hashlib
import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import urljoin
from xml.etree import ElementTree

PODCAST: Final = re.compile(
    r"^https?://podcastindex\.org/namespace/|^https://github\.com/Podcastindex-org/podcast-namespace"
)
_CUE_MARKS: Final = ("WEBVTT", "NOTE", "STYLE", "Kind:", "Language:")  # of WebVTT, beside the times
TRANSCRIPT_ORDER: Final = ("text/plain", "text/vtt", "application/srt", "application/x-subrip", "text/html")
TITLE_MAX: Final = 300
DIGITS_MAX: Final = 7  # of an hour, a minute or a second
_TAG: Final = re.compile(r"<[^>]*>")
_BREAK: Final = re.compile(r"<(?:br|/p|/li|/h\d|/div)\b[^>]*>", re.IGNORECASE)
_BLANKS: Final = re.compile(r"[ \t\xa0]+")


@dataclass(frozen=True, slots=True)
class Transcript:
    """Where a written form of an episode lies."""

    url: str
    type: str
    language: str | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry. `id` is stable from one reading to the next; `text` is plain; `published_at` None: not given."""

    id: str
    title: str
    link: str | None
    text: str
    published_at: datetime | None
    authors: tuple[str, ...] = ()
    audio_url: str | None = None
    seconds: int | None = None
    transcripts: tuple[Transcript, ...] = ()
    chapters_url: str | None = None


@dataclass(frozen=True, slots=True)
class Feed:
    """A feed as read; `problem` says what was wrong with it, though entries may have been read."""

    title: str
    link: str | None
    entries: tuple[Entry, ...]
    problem: str | None = None


def read_feed(body: bytes, *, url: str = "", content_type: str = "", charset: str | None = None) -> Feed:
    """Never raises: what is no feed has no entries and a problem. `url` completes relative links."""
    import feedparser

    # Without the address: with it a guid that looks like a path would become one, and change with the server.
    headers = {"content-type": content_type + (f"; charset={charset}" if charset else "")} if content_type else {}
    parsed = feedparser.parse(body, response_headers=headers, sanitize_html=False, resolve_relative_uris=False)
    podcast = _podcast_tags(body)
    entries = [_entry(raw, podcast, number, url) for number, raw in enumerate(parsed.entries)]
    problem = None
    if not entries and not parsed.get("version"):
        problem = "this is no feed"
    elif parsed.get("bozo") and not isinstance(
        parsed.get("bozo_exception"), feedparser.CharacterEncodingOverride | feedparser.NonXMLContentType
    ):
        problem = f"the feed is damaged ({_one_line(str(parsed.get('bozo_exception')))})"
    head = parsed.feed
    return Feed(_one_line(plain_text(head.get("title", "")))[:TITLE_MAX], head.get("link"), tuple(entries), problem)


def plain_text(markup: str) -> str:
    """HTML as text: blocks end lines, tags and entities are gone, white space is single."""
    text = html.unescape(_TAG.sub("", _BREAK.sub("\n", markup)))
    lines = (_BLANKS.sub(" ", line).strip() for line in text.splitlines())
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def transcript_text(body: bytes, kind: str) -> str:
    """The spoken words of a transcript file: WebVTT and SubRip without times and numbers, HTML as text."""
    text = body.decode("utf-8", "replace").lstrip("\ufeff")
    if kind == "text/html":
        return plain_text(text)
    if kind == "text/plain" and "-->" not in text:
        return text.strip()
    kept: list[str] = []
    for line in (_TAG.sub("", part).strip() for part in text.splitlines()):
        if not line or "-->" in line or line.isdigit() or line.startswith(_CUE_MARKS):
            continue
        if not kept or kept[-1] != line:
            kept.append(line)
    return " ".join(kept)


def _entry(raw: Mapping[str, Any], podcast: Sequence[_PodcastTags], number: int, url: str) -> Entry:
    title = _one_line(plain_text(raw.get("title", "")))[:TITLE_MAX]
    link = _join(url, raw.get("link"))
    contents = [part.get("value", "") for part in raw.get("content", [])] or [raw.get("summary", "")]
    text = plain_text(max(contents, key=len))
    published = raw.get("published_parsed") or raw.get("updated_parsed")
    audio = next((e.get("href") for e in raw.get("enclosures", []) if e.get("type", "").startswith("audio/")), None)
    tags = _tags_of(raw, podcast, number)
    key = raw.get("id") or link or hashlib.sha256(f"{title}\n{text}".encode()).hexdigest()
    return Entry(
        id=str(key),
        title=title or _one_line(text)[:80] or "without a title",
        link=link,
        text=text,
        published_at=_moment(published),
        authors=tuple(a["name"] for a in raw.get("authors", []) if a.get("name")),
        audio_url=_join(url, audio),
        seconds=_seconds(raw.get("itunes_duration")),
        transcripts=tags.transcripts if tags else (),
        chapters_url=tags.chapters if tags else None,
    )


@dataclass(frozen=True, slots=True)
class _PodcastTags:
    guid: str | None
    transcripts: tuple[Transcript, ...]
    chapters: str | None


def _podcast_tags(body: bytes) -> list[_PodcastTags]:
    """The tags of each item, in order; none for a feed that is no well-formed XML or declares entities."""
    if b"<!ENTITY" in body or b"podcast" not in body:
        return []
    try:
        root = ElementTree.fromstring(body)  # noqa: S314  entities were refused
    except (ElementTree.ParseError, ValueError, LookupError):
        return []
    found = []
    for item in root.iter("item"):
        transcripts, chapters = [], None
        for child in item:
            name = _podcast_name(child.tag)
            url = (child.get("url") or "").strip()
            if name == "transcript" and url:
                transcripts.append(Transcript(url, (child.get("type") or "").lower(), child.get("language")))
            elif name == "chapters" and url:
                chapters = url
        transcripts.sort(key=lambda t: TRANSCRIPT_ORDER.index(t.type) if t.type in TRANSCRIPT_ORDER else 99)
        found.append(_PodcastTags((item.findtext("guid") or "").strip() or None, tuple(transcripts), chapters))
    return found


def _podcast_name(tag: str) -> str | None:
    namespace, _, name = tag.removeprefix("{").partition("}")
    return name if PODCAST.match(namespace) else None


def _tags_of(raw: Mapping[str, Any], podcast: Sequence[_PodcastTags], number: int) -> _PodcastTags | None:
    """By order, as long as the guid agrees where both have one; else by guid."""
    guid = raw.get("id")
    if number < len(podcast) and podcast[number].guid in (None, guid):
        return podcast[number]
    return next((tags for tags in podcast if guid and tags.guid == guid), None)


def _moment(parsed: Any) -> datetime | None:
    try:
        return datetime.fromtimestamp(calendar.timegm(parsed), UTC) if parsed else None
    except (ValueError, OverflowError, OSError, TypeError):
        return None


def _join(base: str, link: str | None) -> str | None:
    """The link made whole; None for what is no address."""
    try:
        return urljoin(base, link) if link else None
    except ValueError:  # http://[half of one
        return None


def _seconds(text: str | None) -> int | None:
    """`1:02:03`, `62:03`, `3723`."""
    parts = (text or "").strip().split(":")
    if not all(part.isascii() and part.isdigit() and len(part) <= DIGITS_MAX for part in parts) or len(parts) > 3:
        return None
    total = 0
    for part in parts:
        total = total * 60 + int(part)
    return total


def _one_line(text: str) -> str:
    return " ".join(text.split())
