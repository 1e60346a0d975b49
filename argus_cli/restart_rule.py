"""When a service that died is started again: at once would spin, never would leave a hole. Pure."""

from __future__ import annotations

PAUSES = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0)  # seconds; the last one repeats
STABLE_SECONDS = 120.0  # a service that ran this long starts again at the first pause
# A service that lives but gives no answer: this many probes in a row, so that a laptop that slept is not punished.
SILENT_PROBES = 4


def pause_before(deaths: int) -> float:
    """Seconds to wait after the `deaths`-th death in a row (1 is the first)."""
    return PAUSES[min(max(deaths, 1), len(PAUSES)) - 1]


def deaths_in_row(before: int, lived_seconds: float) -> int:
    """The count after one more death: a long life wipes out the earlier ones."""
    return 1 if lived_seconds >= STABLE_SECONDS else before + 1


def is_hung(silent_probes: int) -> bool:
    return silent_probes >= SILENT_PROBES
