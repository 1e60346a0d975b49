"""Numbers in words for people."""

from __future__ import annotations


def count(number: int, noun: str) -> str:
    """"1 note", "3 notes", "12,345 notes"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
