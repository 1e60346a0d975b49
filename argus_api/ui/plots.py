"""Small plots as SVG, drawn on the server: no script, colours from the style sheet, and each told in words as well.

Every function is pure and returns one `<svg role="img">` whose label says what a person would read off it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from markupsafe import Markup

TALL: Final = 28  # of a plot in a row
SLOT: Final = 7  # width of one bar with its gap
GAP: Final = 2
LEAST: Final = 3  # height of a bar that stands for something


class Hour(Protocol):
    """What `hours` draws: argus_memory.upkeep.pages.overview.Bar."""

    @property
    def hours_ago(self) -> int: ...
    @property
    def status(self) -> str | None: ...
    @property
    def amount(self) -> int | None: ...


@dataclass(frozen=True, slots=True)
class Mark:
    """A value of the axis that is drawn across a plot: a threshold, a floor."""

    value: float
    label: str


@dataclass(frozen=True, slots=True)
class Column:
    """A bar of `columns`; `tone` is a class of the style sheet: ok, warn, failed, unknown, accent, faint."""

    value: float
    label: str
    tone: str = "accent"


@dataclass(frozen=True, slots=True)
class Point:
    """A point of `line`: x and y in the plot's own units."""

    x: float
    y: float
    label: str = ""
    tone: str = "accent"


def hours(bars: Sequence[Hour], name: str) -> Markup:
    """The last hours: colour is the state, height what was done; without counts all are of one height."""
    if not bars:
        return Markup('<span class="quiet">no data</span>')
    top = max((bar.amount or 0 for bar in bars), default=0)
    parts = []
    for number, bar in enumerate(bars):
        tone = bar.status or ("none" if bar.amount is None or not bar.amount else "ok")
        tall = TALL if bar.amount is None else _tall(bar.amount, top)
        if bar.status is None and bar.amount is None:
            tall = LEAST
        words = [_ago(bar.hours_ago)]
        if bar.amount is not None:
            words.append(f"{bar.amount:,} done")
        words.append(bar.status or "no sample")
        parts.append(_bar(number * SLOT, tall, TALL, SLOT - GAP, tone, ", ".join(words)))
    return _svg(len(bars) * SLOT - GAP, TALL, _tell_hours(bars, name), Markup("").join(parts), "hours")


def columns(
    values: Sequence[Column], name: str, *, marks: Sequence[Mark] = (), low: float = 0.0, high: float = 1.0,
    width: int = 480, tall: int = 120,
) -> Markup:  # fmt: skip
    """A histogram or a row of days. `marks` stand on the axis that runs from `low` to `high` below the columns."""
    if not values:
        return Markup('<span class="quiet">no data</span>')
    top = max(column.value for column in values) or 1.0
    slot = width / len(values)
    gap = min(3.0, slot / 4)
    parts = [
        _bar(number * slot, _tall(column.value, top, tall), tall, slot - gap, column.tone, column.label)
        for number, column in enumerate(values)
    ]
    for mark in marks:
        at = _place(mark.value, low, high) * width
        parts.append(
            Markup('<line class="mark" x1="{0}" x2="{0}" y1="0" y2="{1}"><title>{2}</title></line>').format(
                _n(at), tall, mark.label
            )
        )
    told = f"{name}: " + "; ".join(
        [column.label for column in values if column.value][:40] + [mark.label for mark in marks]
    )
    return _svg(width, tall, told, Markup("").join(parts), "columns")


def line(
    points: Sequence[Point], name: str, *, marks: Sequence[Mark] = (), low: float | None = None,
    high: float | None = None, width: int = 480, tall: int = 120, joined: bool = True,
) -> Markup:  # fmt: skip
    """Values along x, with thresholds across; `joined` False leaves the points apart."""
    if not points:
        return Markup('<span class="quiet">no data</span>')
    ys = [point.y for point in points] + [mark.value for mark in marks]
    bottom, top = min(ys) if low is None else low, max(ys) if high is None else high
    left, right = min(point.x for point in points), max(point.x for point in points)
    inset = 4.0

    def across(x: float) -> str:
        return _n(inset + _place(x, left, right) * (width - 2 * inset))

    def up(y: float) -> str:
        return _n(tall - inset - _place(y, bottom, top) * (tall - 2 * inset))

    parts = []
    for mark in marks:
        parts.append(
            Markup('<line class="mark" x1="0" x2="{0}" y1="{1}" y2="{1}"><title>{2}</title></line>').format(
                width, up(mark.value), mark.label
            )
        )
    if joined and len(points) > 1:
        path = " ".join(f"{across(point.x)},{up(point.y)}" for point in points)
        parts.append(Markup('<polyline class="path" points="{}"/>').format(path))
    if not joined or len(points) <= 60:
        parts += [
            Markup('<circle class="b-{}" cx="{}" cy="{}" r="3"><title>{}</title></circle>').format(
                point.tone, across(point.x), up(point.y), point.label
            )
            for point in points
        ]
    told = (
        f"{name}: {len(points)} values from {min(p.y for p in points):.3g} to {max(p.y for p in points):.3g},"
        f" the last {points[-1].y:.3g}" + "".join(f"; {mark.label}" for mark in marks)
    )
    return _svg(width, tall, told, Markup("").join(parts), "line")


def strip(cells: Sequence[Column], name: str, *, slot: int = 12, tall: int = 20) -> Markup:
    """A calendar strip: one cell a day or an occurrence, coloured by its tone."""
    if not cells:
        return Markup('<span class="quiet">no data</span>')
    parts = [_bar(number * slot, tall, tall, slot - GAP, cell.tone, cell.label) for number, cell in enumerate(cells)]
    counts: dict[str, int] = {}
    for cell in cells:
        counts[cell.tone] = counts.get(cell.tone, 0) + 1
    told = f"{name}: " + ", ".join(f"{number} {tone}" for tone, number in sorted(counts.items()))
    return _svg(len(cells) * slot - GAP, tall, told, Markup("").join(parts), "strip")


def _svg(width: float, tall: float, label: str, inside: Markup, kind: str) -> Markup:
    return Markup(
        '<svg class="plot plot-{4}" role="img" aria-label="{2}" viewBox="0 0 {0} {1}" width="{0}" height="{1}">'
        "{3}</svg>"
    ).format(_n(width), _n(tall), label, inside, kind)


def _bar(x: float, height: float, tall: float, width: float, tone: str, label: str) -> Markup:
    return Markup('<rect class="b-{}" x="{}" y="{}" width="{}" height="{}"><title>{}</title></rect>').format(
        tone, _n(x), _n(tall - height), _n(width), _n(height), label
    )


def _tall(value: float, top: float, tall: float = TALL) -> float:
    """A bar's height; the square root lets a quiet hour be seen beside a busy one. Nothing is a thin line."""
    if value <= 0 or top <= 0:
        return LEAST - 1
    return max(LEAST, math.sqrt(value / top) * tall) if tall == TALL else max(LEAST, value / top * tall)


def _place(value: float, low: float, high: float) -> float:
    return 0.5 if high <= low else min(1.0, max(0.0, (value - low) / (high - low)))


def _n(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _ago(hours_ago: int) -> str:
    return "this hour" if hours_ago == 0 else f"{hours_ago} h ago"


def _tell_hours(bars: Sequence[Hour], name: str) -> str:
    counts: dict[str, int] = {}
    for bar in bars:
        counts[bar.status or "without a sample"] = counts.get(bar.status or "without a sample", 0) + 1
    told = ", ".join(f"{number} h {state}" for state, number in counts.items())
    amounts = [bar.amount for bar in bars if bar.amount is not None]
    done = f"; {sum(amounts):,} done" if amounts else ""
    return f"{name}, last {len(bars)} hours: {told}{done}"
