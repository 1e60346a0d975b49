"""What arguments of several commands are read by."""

from __future__ import annotations

import argparse
from typing import Final

ROWS_MAX: Final = 1_000_000


def row_count(text: str) -> int:
    """The type of `--limit`: how many rows to show."""
    if not text.isascii() or not text.isdigit() or len(text) > len(str(ROWS_MAX)) or not 1 <= int(text) <= ROWS_MAX:
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is not a whole number from 1 to {ROWS_MAX:,}")
    return int(text)
