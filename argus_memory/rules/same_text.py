"""When two texts say the same letter for letter, apart from how they are set.

`fold` is the one normalisation: a note's uid is made of it, and exact duplicates are found by it.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

# What carries meaning: signed numbers with their inner marks, sign and unit; words with their inner marks and a
# closing + or # (C++, C#); comparisons. All else (stops, quotes, brackets, emphasis, dashes) only sets the text.
_TOKEN: Final = re.compile(
    r"(?:(?<![^\W_])[-\u2212])?[$€£¥]?\d+(?:[.,:/-]\d+)*[^\W\d_]*[%°]?"
    r"|[^\W_]+(?:[._/'+#@:\\-]+[^\W_]+)*(?:\+\+|#)?"
    r"|!=|[<>=≤≥≠]+"
)


def fold(text: str) -> str:
    """NFKC, case folded, white space and punctuation folded to single blanks; "" only for blank text.

    Text without a single word or number (an emoji) is folded by its white space alone. Applied twice it changes
    nothing more.
    """
    plain = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    plain = plain.replace("\u2019", "'").replace("\u2212", "-")
    return " ".join(_TOKEN.findall(plain)) or " ".join(plain.split())
