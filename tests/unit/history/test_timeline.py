"""What a note was at a moment, and what changed between two."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from argus_memory.rules.timeline import Change, Diff, Event, NoteFacts, compare, stand

_numbers = count(1)


def day(number: int) -> datetime:
    return datetime(2026, 3, 1, tzinfo=UTC) + timedelta(days=number)


def event(note: int, when: int, what: str, other: int | None = None, **detail: Any) -> Event:
    return Event(next(_numbers), note, day(when), what, "kim", other, detail)


def gone(note: int, when: int, reason: str, other: int | None = None, word: str | None = None) -> Event:
    return event(note, when, word or reason, other, reason=reason)


def note(
    id_: int, text: str, *events: Event, made: int = 0, until: int | None = None, project: str | None = "p", since: int = -9
) -> NoteFacts:
    ended = None if until is None else day(until)
    first = event(id_, made, "created")
    return NoteFacts(id_, text, "fact", project, day(made), day(since), ended, (first, *events))


def diff(since: int, until: int, *notes: NoteFacts) -> Diff:
    return compare({each.id: each for each in notes}, day(since), day(until))


def lines(changes: tuple[Change, ...]) -> list[tuple[int, str, str | None, str | None]]:
    return [(line.note_id, line.event, line.before, line.after) for line in changes]


def only(found: Diff, **expected: list[tuple[int, str, str | None, str | None]]) -> None:
    """The diff has these lines and no others."""
    for name in Diff.__slots__:
        assert lines(getattr(found, name)) == expected.get(name, []), name


def test_a_note_is_unknown_before_it_was_learned() -> None:
    """Valid since long ago, and yet not known."""
    assert not stand(note(1, "x", made=3), day(2)).known
    assert stand(note(1, "x", made=3), day(3)).live


def test_a_note_stands_until_it_was_taken_away_and_again_when_it_is_back() -> None:
    """By recorded time, with the reason in between."""
    facts = note(1, "x", gone(1, 2, "forgotten"), event(1, 5, "restored", was="forgotten"))
    assert [stand(facts, day(n)).live for n in (1, 2, 4, 5)] == [True, False, False, True]
    assert stand(facts, day(4)).why_not == "forgotten"


def test_a_validity_that_was_set_later_did_not_hold_before() -> None:
    """On day 4 nobody knew that the fact had ended on day 2."""
    ended = gone(1, 5, "superseded", 2)
    ended = Event(ended.id, 1, ended.at, ended.event, "kim", 2,
                  {**ended.detail, "valid_to": {"before": None, "after": day(2).isoformat()}})  # fmt: skip
    facts = note(1, "x", ended, until=2)
    assert stand(facts, day(4)).live
    assert not stand(facts, day(5)).live


def test_text_is_that_of_the_moment() -> None:
    """Two rewordings: each moment has its own words."""
    facts = note(1, "c", event(1, 2, "reworded", before="a"), event(1, 4, "reworded", before="b"))
    assert [stand(facts, day(n)).text for n in (1, 2, 3, 4)] == ["a", "b", "b", "c"]


def test_a_new_fact_is_added() -> None:
    """Known at the end and not at the beginning."""
    only(diff(1, 9, note(1, "x", made=3)), added=[(1, "created", None, "x")])


def test_nothing_outside_the_window_is_told() -> None:
    """Older and later changes are not of this window."""
    only(diff(2, 4, note(1, "x", gone(1, 6, "forgotten")), note(2, "y", made=5), note(3, "z", gone(3, 1, "forgotten"))))


def test_a_superseded_fact_is_one_line_with_both_texts() -> None:
    """The new note is no line of its own."""
    old = note(1, "port 5433", gone(1, 3, "superseded", 2))
    found = diff(1, 9, old, note(2, "port 5434", made=3))
    only(found, changed=[(1, "superseded", "port 5433", "port 5434")])
    assert found.changed[0].other_id == 2


def test_a_chain_leads_to_the_note_that_stands() -> None:
    """Superseded twice within the window: the first text and the last; the one in between came and went."""
    found = diff(
        1, 9,
        note(1, "a", gone(1, 3, "superseded", 2)),
        note(2, "b", gone(2, 5, "corrected", 3), made=3),
        note(3, "c", made=5),
    )  # fmt: skip
    only(found, changed=[(1, "superseded", "a", "c")], passed=[(2, "corrected", "b", "c")])


def test_what_was_superseded_inside_the_window_is_found() -> None:
    """Learned and overruled in between: it is in neither end, and told."""
    found = diff(1, 9, note(1, "a", gone(1, 5, "superseded", 2), made=3), note(2, "b", made=5))
    only(found, passed=[(1, "superseded", "a", "b")], added=[(2, "created", None, "b")])


def test_a_forgotten_an_excluded_and_an_ended_fact_are_removed() -> None:
    """Each with its word."""
    found = diff(
        1, 9,
        note(1, "a", gone(1, 3, "forgotten")),
        note(2, "b", event(2, 4, "excluded")),
        note(3, "c", until=5),
    )  # fmt: skip
    only(found, removed=[(3, "ended", "c", None), (2, "excluded", "b", None), (1, "forgotten", "a", None)])


def test_a_repeat_firms_the_note_it_was_merged_into() -> None:
    """A merged note is no loss and no news: the other was heard again."""
    found = diff(1, 9, note(1, "a"), note(2, "a", gone(2, 4, "duplicate", 1, "merged"), made=4),
                 note(3, "b", event(3, 5, "reinforced")))  # fmt: skip
    only(found, corroborated=[(3, "reinforced", None, "b")])
    found = diff(1, 9, note(2, "a", gone(2, 4, "duplicate", 1, "merged")), note(1, "a", made=2))
    only(found, corroborated=[(1, "merged", None, "a")])


def test_a_reworded_note_has_both_texts() -> None:
    """Text before and after."""
    only(diff(1, 9, note(1, "b", event(1, 4, "reworded", before="a"))), changed=[(1, "reworded", "a", "b")])


def test_what_is_back_is_added_again() -> None:
    """Restored and included facts, and one whose validity began."""
    found = diff(
        3, 9,
        note(1, "a", gone(1, 2, "forgotten"), event(1, 5, "restored", was="forgotten")),
        note(2, "b", event(2, 2, "excluded"), event(2, 6, "included")),
        note(3, "c", since=7),
    )  # fmt: skip
    only(found, added=[(3, "began", None, "c"), (2, "included", None, "b"), (1, "restored", None, "a")])


def test_a_ring_of_replacements_ends() -> None:
    """Two notes that name each other: both are gone, and the rule comes to an end."""
    found = diff(1, 9, note(1, "a", gone(1, 3, "superseded", 2)), note(2, "b", gone(2, 4, "superseded", 1)))
    only(found, removed=[(2, "superseded", "b", None), (1, "superseded", "a", None)])


steps = st.lists(
    st.tuples(st.integers(0, 4), st.sampled_from(["forgotten", "superseded", "duplicate", "restored", "excluded", "included", "reinforced"])),
    max_size=12,
)  # fmt: skip


@given(steps, st.integers(0, 12), st.integers(0, 12))
def test_each_note_is_told_once_and_nothing_is_lost(happened: list[tuple[int, str]], one: int, two: int) -> None:
    """Whatever happened: a note that is live at one end only is told, by its own line or by that of its pair, and no
    note has two lines."""
    since, until = sorted((one, two))
    events: dict[int, list[Event]] = {n: [] for n in range(5)}
    for when, (id_, what) in enumerate(happened, 1):
        if what in ("forgotten", "superseded", "duplicate"):
            events[id_].append(gone(id_, when, what, None if what == "forgotten" else (id_ + 1) % 5))
        else:
            events[id_].append(event(id_, when, what, **({"was": "x"} if what == "restored" else {})))
    notes = {n: note(n, f"text {n}", *events[n]) for n in range(5)}
    found = compare(notes, day(since), day(until))
    told = [line.note_id for name in Diff.__slots__ for line in getattr(found, name)]
    assert len(told) == len(set(told))
    for id_, facts in notes.items():
        was, now = stand(facts, day(since)), stand(facts, day(until))
        if was.live and not now.live and now.why_not != "duplicate":
            assert id_ in told
        if now.live and not was.live:
            named = [line.after for name in ("changed", "corroborated") for line in getattr(found, name)]
            assert id_ in told or f"text {id_}" in named
        if was.live == now.live and not any(e.event in ("reinforced", "duplicate") for each in events.values() for e in each):
            assert id_ not in [line.note_id for line in (*found.added, *found.removed)]
