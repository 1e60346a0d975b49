"""What an event of a note tells beside its name. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from argus_memory.rules.recall_text import clip, one_line

TEXT_CHARS = 160


def detail_words(event: str, detail: Mapping[str, Any]) -> str:
    """What an event tells beside its name."""
    if event in ("reinforced", "weakened"):
        return f" (confidence {detail['before']:.2f} → {detail['after']:.2f})"
    if event == "reworded" and "before" in detail:
        return f" (before: {clip(one_line(detail['before']), TEXT_CHARS)})"
    if event == "revised":
        return f" ({', '.join(detail['fields'])})"
    if event == "moved":
        return f" (from {detail['from'] or 'no project'} to {detail['to'] or 'no project'})"
    if event == "restored" and detail.get("was"):
        return f" (was {detail['was']})"
    if "valid_to" in detail and detail["valid_to"]["after"]:
        return f" (held until {str(detail['valid_to']['after'])[:10]})"
    return ""
