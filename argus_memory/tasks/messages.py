"""What a task says about itself: JSON lines in the file ARGUS_TASK_MESSAGES. Pure but for `MessageFile`.

    {"type": "report", "output": any, "summary": text}    the last one stands
    {"type": "metric", "name", "value"}                    the last of a name stands
    {"type": "cost", "usd": number or null, "engine"}      added up; one that is not known makes the sum unknown
    {"type": "deliver", "title", "text", "channel"?, "link"?, "key"?}
    {"type": "skip", "reason"}                             there was nothing to do: the run counts as skipped
    {"type": "engine", "engine", "mcp_errors"?, …}         which engine ran

A line that cannot be used is counted with its reason and never stops the run.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

LINE_MAX = 256 * 1024  # bytes of one message
TOTAL_MAX = 16 * 1024 * 1024  # bytes of all of a run's messages
METRICS_MAX = 200
DELIVERIES_MAX = 50  # a task that sends more is in a loop
COST_MAX = 1_000_000  # US dollars of one message
TEXT_MAX = 20_000  # characters of a message to a person
NAME_MAX = 200
PROBLEMS_MAX = 5  # told in full; the rest is a count
READ = 256 * 1024
BEHIND = 4096  # bytes by which a file is known again


@dataclass(frozen=True, slots=True)
class Deliver:
    """A message for a person; `number` is its line's, which makes the key unless the task gave one."""

    number: int
    title: str
    text: str
    channel: str | None = None
    link: str | None = None
    key: str | None = None


@dataclass(slots=True)
class Told:
    """Everything the messages of a run came to so far."""

    output: Any = None
    summary: str | None = None
    metrics: dict[str, float] = field(default_factory=dict)
    costs: list[float | None] = field(default_factory=list)
    engine: str | None = None
    mcp_errors: list[Any] = field(default_factory=list)
    skip: str | None = None
    reports: int = 0
    deliveries: list[Deliver] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    refused: int = 0

    @property
    def cost_usd(self) -> float | None:
        """The sum; None when there is none, or when a part of it is not known."""
        known = [cost for cost in self.costs if cost is not None]
        return math.fsum(known) if known and len(known) == len(self.costs) else None

    def refuse(self, number: int, problem: str) -> None:
        self.refused += 1
        if len(self.problems) < PROBLEMS_MAX:
            self.problems.append(f"message {number}: {problem}")

    def describe_problems(self) -> str | None:
        """One clause for the run's reason."""
        if not self.refused:
            return None
        more = self.refused - len(self.problems)
        return "; ".join(self.problems) + (f"; and {more} more" if more else "")


def take_line(told: Told, number: int, line: bytes) -> None:
    """Fold one line into `told`."""
    if not line.strip():
        return
    try:
        message = json.loads(line.decode("utf-8", "replace"), parse_constant=_refuse_constant, parse_float=_finite)
    except RecursionError:
        told.refuse(number, "is nested too deeply")
        return
    except ValueError as error:
        told.refuse(number, f"is not JSON ({str(error)[:80]})")
        return
    if not isinstance(message, dict):
        told.refuse(number, "is not a JSON object")
        return
    kind = message.get("type")
    take = _TAKERS.get(kind) if isinstance(kind, str) else None
    if take is None:
        told.refuse(number, f"type {str(kind)[:40]!r} is none of {', '.join(_TAKERS)}")
        return
    try:
        take(told, number, message)
    except ValueError as error:
        told.refuse(number, f"{kind}: {error}")


def _take_report(told: Told, number: int, message: dict[str, Any]) -> None:
    summary = _text(message, "summary", TEXT_MAX)
    told.reports += 1
    told.output = message.get("output")
    told.summary = summary


def _take_metric(told: Told, number: int, message: dict[str, Any]) -> None:
    name = _needed(message, "name", NAME_MAX)
    value = _number(message, "value")
    if value is None:
        raise ValueError("value is missing")
    if name not in told.metrics and len(told.metrics) >= METRICS_MAX:
        raise ValueError(f"more than {METRICS_MAX} names")
    told.metrics[name] = value


def _take_cost(told: Told, number: int, message: dict[str, Any]) -> None:
    usd = _number(message, "usd")
    if usd is not None and not 0 <= usd <= COST_MAX:
        raise ValueError(f"usd {usd} is not between 0 and {COST_MAX:,}")
    engine = _text(message, "engine", NAME_MAX)
    told.costs.append(usd)
    told.engine = engine or told.engine


def _take_deliver(told: Told, number: int, message: dict[str, Any]) -> None:
    if len(told.deliveries) >= DELIVERIES_MAX:
        raise ValueError(f"more than {DELIVERIES_MAX} messages in one run")
    title = _text(message, "title", NAME_MAX)
    text = _text(message, "text", TEXT_MAX)
    if not (title or text):
        raise ValueError("neither title nor text")
    told.deliveries.append(
        Deliver(number, title or "", text or "", _text(message, "channel", NAME_MAX), _text(message, "link", 2000),
                _text(message, "key", NAME_MAX))
    )  # fmt: skip


def _take_skip(told: Told, number: int, message: dict[str, Any]) -> None:
    told.skip = _text(message, "reason", NAME_MAX) or "the task gave no reason"


def _take_engine(told: Told, number: int, message: dict[str, Any]) -> None:
    told.engine = _text(message, "engine", NAME_MAX) or told.engine
    errors = message.get("mcp_errors")
    if isinstance(errors, list):
        told.mcp_errors += errors[: 20 - len(told.mcp_errors)]


_TAKERS = {
    "report": _take_report,
    "metric": _take_metric,
    "cost": _take_cost,
    "deliver": _take_deliver,
    "skip": _take_skip,
    "engine": _take_engine,
}


def _text(message: dict[str, Any], name: str, limit: int) -> str | None:
    """The field cut to `limit` characters; raises ValueError on another type."""
    value = message.get(name)
    if value is None:
        return None
    if not isinstance(value, str):
        raise ValueError(f"{name} is not text")
    return value if len(value) <= limit else value[: limit - 1] + "…"


def _needed(message: dict[str, Any], name: str, limit: int) -> str:
    value = _text(message, name, limit)
    if not value:
        raise ValueError(f"{name} is missing")
    return value


def _number(message: dict[str, Any], name: str) -> float | None:
    value = message.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{name} is not a number")
    try:
        number = float(value)
    except OverflowError:
        raise ValueError(f"{name} is too large") from None
    if not math.isfinite(number):
        raise ValueError(f"{name} is not finite")
    return number


def _refuse_constant(word: str) -> None:
    raise ValueError(f"{word} is no JSON number")


def _finite(digits: str) -> float:
    """1e999 is infinite here and no JSON for Postgres."""
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"{digits[:20]} is too large")
    return number


class MessageFile:
    """The file, read as it grows; memory stays bounded whatever is written into it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.told = Told()
        self._offset = 0
        self._total = 0  # bytes read, of a file that was written anew again and again too
        self._first = b""  # the first bytes read, and the last in front of the offset
        self._behind = b""
        self._number = 0
        self._rest = b""
        self._too_long = False
        self._closed = False

    def read(self, *, last: bool = False) -> bool:
        """Take the lines that were written since; with `last` also one without an end. True when there was any."""
        before = self._number
        for data in self._chunks():
            *lines, self._rest = (self._rest + data).split(b"\n")
            for line in lines:
                self._take(line)
            if len(self._rest) > LINE_MAX:
                self._rest, self._too_long = b"", True
        if last and (self._rest or self._too_long):
            self._take(self._rest)
            self._rest = b""
        return self._number > before

    def _take(self, line: bytes) -> None:
        self._number += 1
        if self._too_long or len(line) > LINE_MAX:
            self._too_long = False
            self.told.refuse(self._number, f"is longer than {LINE_MAX // 1024} KiB")
        else:
            take_line(self.told, self._number, line)

    def _is_new(self, file: BinaryIO) -> bool:
        """Whether somebody wrote over what was read already, as `>` does in a shell."""
        if file.read(len(self._first)) != self._first:
            return True
        file.seek(self._offset - len(self._behind))
        return file.read(len(self._behind)) != self._behind

    def _chunks(self) -> Iterator[bytes]:
        if self._closed:
            return
        try:
            if not self.path.is_file():  # removed by the task, or a pipe that would hold us up
                return
            file = self.path.open("rb")
        except OSError:  # not readable any more: what was read before counts
            return
        with file:
            if self._is_new(file):
                self._offset, self._rest, self._first, self._behind = 0, b"", b"", b""
                self.told.refuse(self._number + 1, "the file was written anew, append with >>; lines may be lost")
            file.seek(self._offset)
            while data := file.read(READ):
                self._offset += len(data)
                self._total += len(data)
                self._first = self._first or data[:BEHIND]
                self._behind = (self._behind + data)[-BEHIND:]
                if self._total > TOTAL_MAX:
                    self._closed = True
                    self.told.refuse(self._number + 1, f"more than {TOTAL_MAX // 2**20} MiB of messages; not read on")
                    return
                yield data
