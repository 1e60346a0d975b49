"""What a regeneration changes of one unit: the notes that stand against those made anew. Pure.

A note made anew is an old one, in this order, when it has its uid, its folded text, or its place with the same fact
(carry_over.py). What was taken away is not made again, also reworded; what a person decided to keep stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from argus_memory.rules.carry_over import Place, is_carried
from argus_memory.rules.same_text import fold

Change = Literal["added", "removed", "changed", "unchanged", "kept-by-decision", "refused-by-decision"]
CHANGES: tuple[Change, ...] = (
    "added", "removed", "changed", "unchanged", "kept-by-decision", "refused-by-decision",
)  # fmt: skip

MERGED = frozenset({"duplicate", "refined", "superseded"})  # taken away in favour of another note


@dataclass(frozen=True, slots=True)
class OldNote:
    """A note as it is stored. gone: why it was taken away, None while it stands; kept: what a person decided that
    keeps it, None where nothing does."""

    id: int
    uid: str
    content: str
    place: Place
    gone: str | None = None
    kept: str | None = None


@dataclass(frozen=True, slots=True)
class NewNote:
    """A note made anew; `params` is all that its row takes."""

    uid: str
    content: str
    place: Place
    params: Mapping[str, Any] = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the diff."""

    change: Change
    old: OldNote | None = None
    new: NewNote | None = None
    detail: str | None = None


Forbids = Callable[[NewNote], str | None]


def diff_unit(old: Sequence[OldNote], new: Sequence[NewNote], forbids: Forbids = lambda _note: None) -> list[Line]:
    """Every old note that stands once, every new one once. `forbids` names the decision that a note goes against."""
    standing = {note.id: note for note in old if note.gone is None}
    gone = [note for note in old if note.gone is not None]
    lines: list[Line] = []
    left = list(new)
    for same in (_same_uid, _same_text):
        left = _pair_exactly(standing, left, same, forbids, lines)
    left = _refuse(left, [note for note in gone if note.gone not in MERGED], forbids, lines)
    for closeness, note, again in _rewordings(standing.values(), left):
        if note.id in standing and again in left:
            del standing[note.id]
            left.remove(again)
            detail = f"the same place and fact, {closeness:.2f} of the words shared"
            lines.append(_line_of(note, again, detail, forbids))
    # Only now: what was merged into a note that stands may be that note's own words, made anew.
    left = _refuse(left, [note for note in gone if note.gone in MERGED], lambda _note: None, lines)
    lines += [Line("added", None, note) for note in left]
    lines += [_leave(note) for note in standing.values()]
    return lines


def loss_of(lines: Iterable[Line]) -> tuple[int, int]:
    """(notes that stood and were not made again, notes that stood)."""
    changes = [line.change for line in lines if line.old is not None and line.old.gone is None]
    return changes.count("removed"), len(changes)


def _same_uid(old: OldNote, new: NewNote) -> bool:
    return old.uid == new.uid


def _same_text(old: OldNote, new: NewNote) -> bool:
    return fold(old.content) == fold(new.content)


def _pair_exactly(
    standing: dict[int, OldNote],
    new: list[NewNote],
    same: Callable[[OldNote, NewNote], bool],
    forbids: Forbids,
    lines: list[Line],
) -> list[NewNote]:
    left = []
    for note in new:
        old = next((old for old in standing.values() if same(old, note)), None)
        if old is None:
            left.append(note)
            continue
        del standing[old.id]
        lines.append(_line_of(old, note, None, forbids))
    return left


def _refuse(new: list[NewNote], gone: Sequence[OldNote], forbids: Forbids, lines: list[Line]) -> list[NewNote]:
    """Those that may be made; what was taken away or a decision forbids becomes a line."""
    left = []
    for note in new:
        old = next((old for old in gone if _is_again(old, note)), None)
        why = f"the same fact was taken away: {old.gone}" if old else forbids(note)
        if why is None:
            left.append(note)
        else:
            lines.append(Line("refused-by-decision", old, note, why))
    return left


def _is_again(old: OldNote, new: NewNote) -> bool:
    carried = is_carried((old.content, old.place), (new.content, new.place)) > 0
    return _same_uid(old, new) or _same_text(old, new) or carried


def _rewordings(standing: Iterable[OldNote], new: Sequence[NewNote]) -> list[tuple[float, OldNote, NewNote]]:
    """Pairs of one place and fact, the closest first."""
    pairs = [
        (is_carried((old.content, old.place), (note.content, note.place)), old, note)
        for old in standing
        for note in new
    ]
    return sorted((pair for pair in pairs if pair[0] > 0), key=lambda pair: (-pair[0], pair[1].id, pair[2].uid))


def _line_of(old: OldNote, new: NewNote, detail: str | None, forbids: Forbids) -> Line:
    """A note keeps its words where it was decided on, or where a decision is against the new ones."""
    if old.content == new.content:
        return Line("unchanged", old, new, detail)
    if why := old.kept or forbids(new):
        return Line("kept-by-decision", old, new, f"{why}: its words stay")
    return Line("changed", old, new, detail or "the same fact, set otherwise")


def _leave(old: OldNote) -> Line:
    return Line("kept-by-decision", old, None, f"{old.kept}: not made again, and stays") if old.kept else Line(
        "removed", old, None
    )
