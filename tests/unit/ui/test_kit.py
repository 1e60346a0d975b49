"""Sessions, places in lists, plots, one-time links: the rules behind the pages."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus_api.ui import plots, sessions
from argus_api.ui.pages import PAGES, has_page, navigation
from argus_memory.errors import UsageError
from argus_memory.upkeep import entry
from argus_memory.upkeep.pages.keyset import Cursor, Sort, Wanted, compose, cut, parse_cursor
from argus_memory.upkeep.pages.overview import Bar

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
KEY = sessions.key_of("admin") or b""
STATIC = Path(plots.__file__).parent / "static"
VENDOR = Path(__file__).parents[2] / "ui" / "vendor"

TIME, NUMBER, TEXT = (
    Sort("t", "T", "s.at"), Sort("n", "N", "s.n", "number"), Sort("x", "X", "s.x", "text", descending=False)
)  # fmt: skip


def test_a_session_holds_for_thirty_days() -> None:
    """And not a second longer."""
    cookie = sessions.open_session(KEY, now=NOW)
    assert sessions.read_session(KEY, cookie, now=NOW + timedelta(days=29, hours=23))
    assert sessions.read_session(KEY, cookie, now=NOW + timedelta(days=30)) is None


@given(st.integers(0, 200), st.characters(codec="ascii"))
def test_a_changed_cookie_is_none(place: int, char: str) -> None:
    """Any one character changed ends it."""
    cookie = sessions.open_session(KEY, now=NOW)
    place %= len(cookie)
    forged = cookie[:place] + char + cookie[place + 1 :]
    assert (sessions.read_session(KEY, forged, now=NOW) is not None) == (forged == cookie)


def test_sessions_have_tokens_of_their_own() -> None:
    """One session's form is none of another's; another key signs nothing."""
    first, second = (sessions.read_session(KEY, sessions.open_session(KEY, now=NOW), now=NOW) for _ in "ab")
    assert first
    assert second
    assert sessions.is_csrf(first, first.csrf)
    assert not sessions.is_csrf(first, second.csrf)
    other = sessions.key_of("another") or b""
    assert sessions.read_session(other, first.cookie, now=NOW) is None
    assert sessions.key_of(None) is None
    assert sessions.read_session(None, first.cookie, now=NOW) is None


@given(st.text(max_size=900), st.booleans())
def test_a_message_comes_back_as_it_was(text: str, bad: bool) -> None:
    """Cut at its limit, in any script; a forged one is none, and it fits a cookie."""
    cookie = sessions.write_flash(KEY, text, bad=bad)
    assert len(cookie) < 4000
    read = sessions.read_flash(KEY, cookie)
    assert read is not None
    assert read[1] == bad
    assert read[0] == text.encode("utf-8", "replace").decode() or read[0].endswith("…")
    assert sessions.read_flash(KEY, "x" + cookie) is None


@given(st.datetimes(min_value=datetime(1970, 1, 2), max_value=datetime(2200, 1, 1)), st.integers(-(2**63), 2**63 - 1))
def test_a_place_by_time_comes_back_exactly(at: datetime, id_: int) -> None:
    """To the microsecond, since rows lie closer than a second."""
    cursor = Cursor(at.replace(tzinfo=UTC), id_)
    assert parse_cursor(cursor.text, TIME) == cursor


@given(st.floats(allow_nan=False), st.text(max_size=100), st.integers(1, 10**12))
def test_a_place_by_number_or_text_comes_back_exactly(number: float, text: str, id_: int) -> None:
    """Also with the mark in the text."""
    assert parse_cursor(Cursor(number, id_).text, NUMBER) == Cursor(number, id_)
    assert parse_cursor(Cursor(text, id_).text, TEXT) == Cursor(text, id_)


@pytest.mark.parametrize("text", ["", "x", "~", "2026~", "nan~1", "yesterday~1", "1~99999999999999999999"])
def test_another_place_is_refused(text: str) -> None:
    """With a sentence that says what to do."""
    for sort in (TIME, NUMBER):
        with pytest.raises(UsageError, match=r"after: .* begin at its first page"):
            parse_cursor(text, sort)


def test_a_query_is_composed_for_its_order() -> None:
    """Down and up, with and without a place."""
    text = "select {key} as sort_key from t s where {after} order by {order} limit %(limit)s"
    assert compose(text, Wanted(TIME)) == (
        "select s.at as sort_key from t s where true order by s.at desc, s.id desc limit %(limit)s"
    )
    assert "(s.x, s.id) > (%(after_key)s::text, %(after_id)s::bigint)" in compose(text, Wanted(TEXT, Cursor("a", 1)))


def test_the_row_too_many_tells_of_a_next_page() -> None:
    """Exactly a page is the last one."""
    rows = [{"id": n, "sort_key": float(n)} for n in range(3)]
    assert cut(rows, 9, Wanted(NUMBER, rows=2)).next == Cursor(1.0, 1)
    assert cut(rows, 3, Wanted(NUMBER, rows=3)).next is None
    assert cut([], 3, Wanted(NUMBER)).next is None


@given(st.lists(st.tuples(st.sampled_from(["ok", "warn", "failed", "unknown", None]), st.one_of(st.none(), st.integers(0, 10**6))), max_size=24), st.text(max_size=30))
def test_the_hours_plot_is_well_formed_and_told(hours: list[tuple[str | None, int | None]], name: str) -> None:
    """One bar an hour within the frame, whatever the figures and the name; the label tells it in words."""
    bars = [Bar(n, status, amount) for n, (status, amount) in enumerate(hours)]  # type: ignore[arg-type]
    svg = plots.hours(bars, name.encode("ascii", "ignore").decode().replace("\x00", ""))
    if not bars:
        assert "no data" in svg
        return
    root = ElementTree.fromstring("".join(c for c in str(svg) if c >= " "))
    rects = root.findall("rect")
    assert len(rects) == len(bars)
    assert all(0 <= float(r.get("y", "")) <= plots.TALL and float(r.get("height", "")) > 0 for r in rects)
    assert f"last {len(bars)} hours" in root.get("aria-label", "")


def test_other_plots_are_well_formed_and_told() -> None:
    """Columns with floors, lines with thresholds, strips; hostile labels are text."""
    bad = '"><script>'
    for svg in (
        plots.columns([plots.Column(3, bad), plots.Column(0, "none")], bad, marks=[plots.Mark(0.5, "floor 0.5")]),
        plots.line([plots.Point(0, 1, bad), plots.Point(1, 2)], bad, marks=[plots.Mark(1.5, "threshold")]),
        plots.line([plots.Point(0, 1)], "one", joined=False),
        plots.strip([plots.Column(1, bad, "ok"), plots.Column(1, "b", "failed")], bad),
    ):
        root = ElementTree.fromstring(str(svg))
        assert root.get("role") == "img"
        assert root.get("aria-label")
        assert "<script>" not in svg
    assert "no data" in plots.columns([], "x") + plots.line([], "x") + plots.strip([], "x")


def test_a_link_is_good_once_and_for_ten_minutes(tmp_path: Path) -> None:
    """The file names no code; what is over is cleared away by the next link; a clock set back opens nothing."""
    code = entry.make_code(tmp_path, now=NOW)
    assert code not in [path.name for path in (tmp_path / entry.FOLDER).iterdir()]
    assert entry.use_code(tmp_path, code, now=NOW + timedelta(minutes=9))
    assert not entry.use_code(tmp_path, code, now=NOW + timedelta(minutes=9))
    late = entry.make_code(tmp_path, now=NOW)
    assert not entry.use_code(tmp_path, late, now=NOW + timedelta(minutes=10))
    ahead = entry.make_code(tmp_path, now=NOW + timedelta(days=2))
    assert not entry.use_code(tmp_path, ahead, now=NOW)
    entry.make_code(tmp_path, now=NOW)
    entry.make_code(tmp_path, now=NOW + timedelta(hours=1))
    assert len(list((tmp_path / entry.FOLDER).iterdir())) == 1
    for made_up in ("", "..", "/etc/passwd", "x" * 300, "\ud83d"):
        assert not entry.use_code(tmp_path, made_up, now=NOW)


def test_the_navigation_marks_one_page() -> None:
    """The page itself, or the one it belongs to; /ui is marked on /ui alone."""
    assert [link.label for link in navigation("/ui") if link.current] == ["Overview"]
    assert [link.label for link in navigation("/ui/search") if link.current] == ["Search"]
    assert not [link.label for link in navigation("/ui/notes/3") if link.current]
    assert has_page("/ui/notes/{id}")
    assert not has_page("/ui/nothing")
    assert len({page.path for page in PAGES}) == len(PAGES)


@pytest.mark.parametrize(
    ("file", "licence", "digest"),
    [
        (STATIC / "htmx.min.js", STATIC / "htmx.LICENSE", "d6fdc75f204e6bdefa99b69bf1e6d4ac69b8a364f77929f45c13476b4000f717"),
        (VENDOR / "axe.min.js", VENDOR / "axe.LICENSE", "29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c"),
    ],
)
def test_what_others_made_is_unchanged_and_has_its_licence(file: Path, licence: Path, digest: str) -> None:
    """htmx.org 2.0.11 and axe-core 4.14.1, byte for byte as in their npm packages."""
    assert hashlib.sha256(file.read_bytes()).hexdigest() == digest
    assert licence.read_text().strip()
