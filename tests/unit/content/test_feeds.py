"""Feeds of any age and state, read into entries."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus_memory.content.feeds import plain_text, read_feed, transcript_text

PODCAST = b"""<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd"
     xmlns:podcast="https://podcastindex.org/namespace/1.0">
<channel><title>Garden Hours</title><link>https://garden.example/</link>
<item><title>Pumps &amp; valves</title><guid>ep-2</guid><pubDate>Mon, 30 Nov 2026 06:00:00 GMT</pubDate>
  <description>&lt;p&gt;Two pumps.&lt;/p&gt;&lt;p&gt;One valve.&lt;/p&gt;</description><itunes:duration>1:02:03</itunes:duration>
  <enclosure url="https://garden.example/2.mp3" type="audio/mpeg" length="1"/>
  <podcast:transcript url="https://garden.example/2.html" type="text/html"/>
  <podcast:transcript url="https://garden.example/2.vtt" type="text/vtt" language="en"/>
  <podcast:chapters url="https://garden.example/2.json" type="application/json+chapters"/></item>
<item><title></title><guid>ep-1</guid><description>Without a title, without a date</description></item>
</channel></rss>"""


def test_an_episode_is_read_with_everything_it_names() -> None:
    """Title, time, text, audio, length, chapters, and transcripts with the plainest form first."""
    feed = read_feed(PODCAST)
    assert (feed.title, feed.problem, len(feed.entries)) == ("Garden Hours", None, 2)
    first = feed.entries[0]
    assert (first.id, first.title, first.text) == ("ep-2", "Pumps & valves", "Two pumps.\nOne valve.")
    assert first.published_at == datetime(2026, 11, 30, 6, 0, tzinfo=UTC)
    assert (first.audio_url, first.seconds) == ("https://garden.example/2.mp3", 3723)
    assert [t.type for t in first.transcripts] == ["text/vtt", "text/html"]
    assert first.chapters_url == "https://garden.example/2.json"


def test_links_are_completed_and_guids_are_left_as_they_are() -> None:
    """A relative link gets the feed's address; an id stays the same wherever the feed is served from."""
    body = b"<rss version='2.0'><channel><item><title>a</title><guid>a</guid><link>/a.html</link></item></channel></rss>"
    (entry,) = read_feed(body, url="https://garden.example/feed.xml").entries
    assert (entry.id, entry.link) == ("a", "https://garden.example/a.html")


def test_what_an_entry_lacks_is_shown_as_lacking() -> None:
    """No date is None, no title is the beginning of the text."""
    bare = read_feed(PODCAST).entries[1]
    assert (bare.title, bare.published_at, bare.transcripts) == ("Without a title, without a date", None, ())


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"", "this is no feed"),
        (b"<html><body>Not found</body></html>", "this is no feed"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "this is no feed"),
        (PODCAST[:900], "the feed is damaged"),
    ],
)
def test_what_is_no_feed_says_so(body: bytes, problem: str) -> None:
    """A page, a picture, nothing and half a feed each have a problem and break nothing."""
    assert (read_feed(body).problem or "").startswith(problem)


def test_half_a_feed_gives_the_entries_that_came() -> None:
    """What was read before the break is kept."""
    assert read_feed(PODCAST[:900]).entries[0].title == "Pumps & valves"


def test_entities_that_unfold_are_not_unfolded() -> None:
    """A feed that declares entities gets no podcast tags, and ends at once."""
    bomb = PODCAST.replace(
        b"<rss", b'<!DOCTYPE rss [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;">]>\n<rss', 1
    )
    assert all(entry.transcripts == () for entry in read_feed(bomb).entries)


@given(st.binary(max_size=2000))
def test_no_bytes_break_the_reader(body: bytes) -> None:
    """Whatever a server sends, a feed comes back."""
    assert read_feed(body).entries is not None


def test_spoken_words_come_without_times() -> None:
    """WebVTT and SubRip lose numbers, times, marks and repeated lines."""
    vtt = b"WEBVTT\n\n1\n00:00.000 --> 00:02.000\n<v Kim>The pump\n\n2\n00:02.000 --> 00:03.000\nThe pump\nis loud.\n"
    assert transcript_text(vtt, "text/vtt") == "The pump is loud."
    assert transcript_text(b"Kim: the pump is loud.\n", "text/plain") == "Kim: the pump is loud."
    assert transcript_text(b"<p>The pump</p><p>is loud.</p>", "text/html") == "The pump\nis loud."


def test_markup_becomes_lines() -> None:
    """Blocks end lines, entities are read once, white space is single."""
    assert plain_text("<h1>A &amp;amp; B</h1><ul><li>one&nbsp; two</li></ul>") == "A &amp; B\none two"


@pytest.mark.parametrize(
    ("name", "entries", "dated"),
    [
        ("encoding_ISO-8859-1.xml", 40, 40),
        ("encoding_WINDOWS-1251.xml", 50, 50),
        ("no_encoding_ISO-8859-1.xml", 10, 10),
        ("rdf_UTF8.xml", 60, 0),
        ("urdu_UTF8.xml", 26, 26),
        ("large_atom.xml", 25, 25),
    ],
)
def test_recorded_feeds_are_read_whole(shared_data: Path, name: str, entries: int, dated: int) -> None:
    """Old encodings, RDF without dates, right-to-left script: every entry, and no letter replaced."""
    feed = read_feed((shared_data / "other" / "miniflux-feeds" / name).read_bytes())
    assert (len(feed.entries), sum(e.published_at is not None for e in feed.entries)) == (entries, dated)
    assert not any("\ufffd" in entry.title for entry in feed.entries)


def test_the_podcast_namespace_example_names_its_transcripts(shared_data: Path) -> None:
    """Each episode of the namespace's own example has its transcripts."""
    feed = read_feed((shared_data / "other" / "podcast-namespace" / "example.xml").read_bytes())
    assert [len(entry.transcripts) > 0 for entry in feed.entries] == [True, True, True]


def test_one_entry_with_nonsense_takes_no_other_along() -> None:
    """A length of 5,000 digits and halves of addresses are left out; the entries are read."""
    body = (
        b"<rss version='2.0' xmlns:itunes='http://www.itunes.com/dtds/podcast-1.0.dtd'><channel><item><title>odd</title>"
        b"<itunes:duration>" + b"9" * 5000 + b"</itunes:duration><link>http://[bad</link>"
        b"<enclosure url='http://[x' type='audio/mpeg'/></item><item><title>good</title></item></channel></rss>"
    )
    feed = read_feed(body, url="https://example.org/feed")
    assert [(entry.title, entry.link, entry.audio_url, entry.seconds) for entry in feed.entries] == [
        ("odd", None, None, None),
        ("good", None, None, None),
    ]
