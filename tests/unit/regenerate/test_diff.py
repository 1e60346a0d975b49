"""The diff of one unit."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from argus_memory.rules.carry_over import Place
from argus_memory.rules.regeneration import Line, NewNote, OldNote, diff_unit, loss_of

TABS = "User: I prefer tabs in Python files."
PUMP = "The pump runs at 12 bar."


def old(id: int, content: str, *, start: int = 0, gone: str | None = None, kept: str | None = None) -> OldNote:  # noqa: A002
    return OldNote(id, f"uid of {content}", content, Place(1, start, start + 20), gone, kept)


def new(content: str, *, start: int = 0, uid: str | None = None) -> NewNote:
    return NewNote(uid or f"uid of {content}", content, Place(1, start, start + 20))


def changes(lines: list[Line]) -> list[tuple[str, int | None, str | None]]:
    return [(line.change, line.old.id if line.old else None, line.new.content if line.new else None) for line in lines]


def test_the_same_uid_is_unchanged_or_changed_by_its_words() -> None:
    """One uid is one note; other words under it are a change."""
    louder = new(TABS.upper(), uid=f"uid of {TABS}")
    assert changes(diff_unit([old(1, TABS)], [new(TABS)])) == [("unchanged", 1, TABS)]
    assert changes(diff_unit([old(1, TABS)], [louder])) == [("changed", 1, TABS.upper())]


def test_a_rewording_of_the_same_place_is_a_change() -> None:
    """Another uid, the same place and the same fact: the old note goes on with new words."""
    again = "The user prefers tabs in Python files."
    (line,) = diff_unit([old(1, TABS)], [new(again)])
    assert (line.change, line.old and line.old.id) == ("changed", 1)


def test_what_is_not_made_again_is_removed_and_what_is_new_is_added() -> None:
    """Another fact at the same place takes no note's place."""
    assert changes(diff_unit([old(1, TABS)], [new(PUMP)])) == [("added", None, PUMP), ("removed", 1, None)]


def test_the_closest_rewording_takes_the_note() -> None:
    """Two candidates for one old note: the closer one is it, the other is new."""
    near, far = "User: I do prefer tabs in Python files.", "User prefers tabs in files of Python, everywhere at work."
    lines = diff_unit([old(1, TABS)], [new(far), new(near)])
    assert sorted(changes(lines)) == [("added", None, far), ("changed", 1, near)]


def test_what_was_taken_away_is_not_made_again() -> None:
    """A forgotten note comes back neither by its uid nor reworded at its place."""
    gone = old(1, TABS, gone="forgotten")
    for again in (TABS, "The user prefers tabs in Python files."):
        (line,) = diff_unit([gone], [new(again)])
        assert line.change == "refused-by-decision"
        assert "forgotten" in str(line.detail)


def test_a_forgotten_wording_does_not_come_back_as_another_notes_words() -> None:
    """A standing note is not reworded into what was forgotten: it is simply not made again."""
    lines = diff_unit([old(1, TABS), old(2, "The user prefers tabs in Python files.", gone="forgotten")],
                      [new("The user prefers tabs in Python files.")])  # fmt: skip
    assert [line.change for line in lines] == ["refused-by-decision", "removed"]


def test_the_words_of_a_merged_note_go_to_the_one_it_was_merged_into() -> None:
    """A duplicate's words made anew reword the note that stands, rather than losing both."""
    again = "The user prefers tabs in Python files."
    lines = diff_unit([old(1, TABS), old(2, again, gone="duplicate")], [new(again)])
    assert changes(lines) == [("changed", 1, again)]


def test_a_superseded_fact_stays_superseded() -> None:
    """The old value made anew is refused, and the value that stands is not touched by it."""
    lines = diff_unit([old(1, "The pump runs at 14 bar."), old(2, PUMP, gone="superseded")], [new(PUMP)])
    assert sorted(line.change for line in lines) == ["refused-by-decision", "removed"]


def test_what_a_person_decided_to_keep_stays_as_it_is() -> None:
    """A pinned note is neither removed nor reworded; both texts are shown."""
    pinned = old(1, TABS, kept="pinned")
    (line,) = diff_unit([pinned], [])
    assert line.change == "kept-by-decision"
    (line,) = diff_unit([pinned], [new("The user prefers tabs in Python files.")])
    assert (line.change, line.new is not None) == ("kept-by-decision", True)


def test_a_decision_in_force_refuses_a_note_of_another_unit() -> None:
    """What `forbids` names is refused with its words."""
    (line,) = diff_unit([], [new(TABS)], lambda note: "decision 7: forget" if note.content == TABS else None)
    assert (line.change, line.detail) == ("refused-by-decision", "decision 7: forget")


TEXTS = st.sampled_from([TABS, PUMP, "The pump runs at 14 bar.", "The user prefers tabs in Python files.", "Mara left."])
OLD = st.lists(st.tuples(TEXTS, st.sampled_from([None, None, "forgotten", "duplicate"]), st.sampled_from([None, "pinned"])),
               max_size=5)  # fmt: skip


@given(OLD, st.lists(TEXTS, max_size=5, unique=True))
def test_every_note_of_either_side_has_its_line(before: list[tuple[str, str | None, str | None]], made: list[str]) -> None:
    """Each standing note and each new one is in exactly one line, nothing forgotten is added, the loss is a share."""
    olds = [old(n, text, gone=gone, kept=kept) for n, (text, gone, kept) in enumerate(before)]
    lines = diff_unit(olds, [new(text) for text in made])
    standing = Counter(note.id for note in olds if note.gone is None)
    assert Counter(line.old.id for line in lines if line.old and line.old.gone is None) == standing
    assert Counter(line.new.content for line in lines if line.new) == Counter(made)
    forgotten = {note.content for note in olds if note.gone == "forgotten"}
    kept = {note.content for note in olds if note.gone is None}
    assert not {line.new.content for line in lines if line.change == "added" and line.new} & (forgotten - kept)
    lost, stood = loss_of(lines)
    assert 0 <= lost <= stood == len(standing)
    assert not any(line.change == "removed" and line.old and line.old.kept for line in lines)
