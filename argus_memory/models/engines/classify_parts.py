"""What the classifiers of claude and codex share: reading JSON of unknown shape, and the plain ends of a process."""

from __future__ import annotations

import signal as signals
from collections.abc import Mapping, Sequence
from datetime import datetime, tzinfo
from typing import Any, Final

from argus_memory.models.engines.classify_text import Kind, reason_of
from argus_memory.models.engines.records import Ended, Verdict
from argus_memory.models.engines.reset_times import parse_reset
from argus_memory.rules.storable import storable

Event = Mapping[str, Any]
_BY_EXIT_CODE: Final = {128 + number: number for number in (signals.SIGINT, signals.SIGKILL, signals.SIGTERM)}


def text_of(value: object) -> str:
    """The text, without what no database takes (NUL, half of a character)."""
    return storable(value) if isinstance(value, str) else ""


def object_of(value: object) -> Event:
    return value if isinstance(value, Mapping) else {}


def list_of(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def number_of(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def sum_of(usage: Event, *names: str) -> int | None:
    """The counts of those names together; None when there is none of them."""
    counts = [usage[name] for name in names if isinstance(usage.get(name), int)]
    return sum(counts) if counts else None


def over(ended: Ended) -> Verdict:
    """The process was ended by its limits."""
    if ended.silent:
        return Verdict("timeout", reason=f"nothing came from it for too long; ended after {ended.seconds:.0f} s")
    return Verdict("timeout", reason=f"its time was over after {ended.seconds:.0f} s", final=True)


def by_exit(ended: Ended, when: str) -> Verdict:
    """The process ended in a way that only its exit code or signal tells of."""
    number = ended.signal or _BY_EXIT_CODE.get(ended.exit_code or 0)
    if number:
        return Verdict("infra", reason=f"ended by {_signal_name(number)} {when}")
    return Verdict("infra", reason=f"ended with exit code {ended.exit_code} {when}")


def _signal_name(number: int) -> str:
    try:
        return signals.Signals(number).name
    except ValueError:
        return f"signal {number}"


def failed(kind: Kind, texts: Sequence[str], now: datetime, zone: tzinfo) -> Verdict:
    """A failure of that kind, with its message and, for a cap, the reset the texts name."""
    reason = reason_of(" ".join(texts))
    if kind == "capped":
        return Verdict("capped", reason=reason, reset_at=find_reset(texts, now, zone))
    if kind == "configuration":
        return Verdict("infra", reason=reason, configuration=True)
    return Verdict(kind, reason=reason)


def find_reset(texts: Sequence[str], now: datetime, zone: tzinfo) -> datetime | None:
    return next((at for text in texts if (at := parse_reset(text, now, zone))), None)
