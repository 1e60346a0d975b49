"""Output of a task as its row keeps it: decoded, masked, and cut to its end. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from argus_memory.rules.masking import Counts, add_counts, mask_text, mask_tree
from argus_memory.rules.storable import storable, storable_value

TAIL_MAX = 16 * 1024  # characters of each stream that are kept
OUTPUT_MAX = 256 * 1024  # characters of a structured output, as JSON


class Masker:
    """Masks text after text with this installation's own secrets, and counts what it found."""

    def __init__(self, own: Sequence[str] = ()) -> None:
        self.own = tuple(own)
        self.counts: Counts = {}

    def text(self, text: str) -> str:
        masked, counts = mask_text(storable(text), self.own)
        add_counts(self.counts, counts)
        return masked

    def key(self, text: str) -> str:
        """The same for what has to stay apart from every other: what had to be changed is a digest of itself."""
        masked = self.text(text)
        return masked if masked == text else hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

    def tree(self, value: Any) -> Any:
        """The same for JSON; what is nested too deeply to be looked through is not kept."""
        try:
            masked, counts = mask_tree(storable_value(value), self.own)
        except (ValueError, RecursionError):
            return {"left_out": "nested too deeply"}
        add_counts(self.counts, counts)
        return masked

    def tail(self, data: bytes, total: int) -> str:
        """The end of a stream of `total` bytes of which `data` are the last.

        The secrets are masked in all of `data` first: one that lies across the cut would not be known as one.
        """
        text = self.text(data.decode("utf-8", "replace"))
        if len(text) <= TAIL_MAX and len(data) >= total:
            return text
        kept = text[-TAIL_MAX:]
        line_end = kept.find("\n")
        return kept[line_end + 1 :] if 0 <= line_end < TAIL_MAX // 4 else kept
