"""The label in front of a note: who said it, and to an answer what was asked."""

from __future__ import annotations

import re
from typing import Final

SPEAKER: Final = re.compile(
    r"^(?:user|assistant|document|event|synthesis)(?:, asked \"[^\"]*\")?:\s*", re.IGNORECASE
)
