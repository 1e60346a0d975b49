"""Both decoders, the importer's and the hook's, read the same record from the same line."""

from __future__ import annotations

import json

import orjson
import pytest

from argus_memory.transcripts import ClaudeCodeParser
from tests.unit.transcripts.lines import user, words

LINE = b'{"type":"user","message":{"role":"user","content":"%s"},"uuid":%s}'


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (LINE % (rb"lone \ud800 half", b'"u"'), "lone \ufffd half"),
        (LINE % (rb"pair \ud83d\ude00", b'"u"'), "pair \U0001f600"),
        (LINE % (b"bad byte \xff here", b'"u"'), "bad byte \ufffd here"),
        (LINE % (b"surrogate bytes \xed\xa0\x80", b'"u"'), "surrogate bytes \ufffd\ufffd\ufffd"),
        (LINE % (b"not a number", b"NaN"), "not a number"),
        (LINE % (b"infinite", b"-Infinity"), "infinite"),
        (LINE % (b"large", b"1e999"), "large"),
        (LINE % (b"long", b"9" * 400), "long"),
        (LINE % (b"more than 64 bits", b"123456789012345678901234567890"), "more than 64 bits"),
        (LINE % (rb"nul \u0000", b'"u"'), "nul \ufffd"),
    ],
)
def test_what_one_decoder_refuses_the_other_does_not_decide(line: bytes, text: str) -> None:
    """orjson refuses lone surrogates, NaN, huge numbers and bytes that are no UTF-8; the turn is the same."""
    for loads in (json.loads, orjson.loads):
        assert words(ClaudeCodeParser(loads).feed(line + b"\n")) == [("user", text)]


@pytest.mark.parametrize(
    "line", [LINE % (b"raw \x01 control", b'"u"'), LINE % (b"comma", b'"u",'), b"{'a': 1}", b'{"a":' + b"[" * 2000]
)
def test_what_is_no_json_is_so_for_both(line: bytes) -> None:
    """A damaged object is counted under one reason, whoever decodes."""
    for loads in (json.loads, orjson.loads):
        parser = ClaudeCodeParser(loads)
        assert parser.feed(line + b"\n") == []
        assert parser.skipped == {"bad-json": 1}


def test_utf16_is_not_guessed() -> None:
    """A line with NULs between its bytes is no record for either decoder, though json would guess an encoding."""
    line = json.dumps(user("words")).encode("utf-16-le")
    for loads in (json.loads, orjson.loads):
        parser = ClaudeCodeParser(loads)
        assert parser.feed(line + b"\n") == []
        assert sum(parser.skipped.values()) == 1
