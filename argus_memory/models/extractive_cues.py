"""What makes a sentence worth keeping: cues, each with the category it names and how strong it is.

A sentence is kept only for a cue that fires; nothing is kept for being long or central (measured: the centre
of a chat is its small talk). Strengths are importances, 0..1, and order the notes of a session's start: what
a person decided or wants, then who and what things are, then how to do them, then what happened.

The cues were frozen before the held-out half of benchmarks/distiller was read; change one only together with
a fresh held-out half.
"""

from __future__ import annotations

import re
from typing import Final

from argus_memory.models.extractive_rule import Cue, Speaker
from argus_memory.models.extractive_rules_people import OTHER_LANGUAGES, PEOPLE_RULES
from argus_memory.models.extractive_rules_things import DONE_VERBS, THING_RULES

_RULES: Final = (*PEOPLE_RULES, *THING_RULES, *OTHER_LANGUAGES)

# A person's instruction that says what to build or how it shall behave is a decision; a chore is not.
_BUILD: Final = re.compile(
    r"""
        ^(?:please\s|now\s|also\s|and\s|then\s|no,?\s|yes,?\s|next,?\s|ok(?:ay)?,?\s
        |great[,!]\s)*(?:add|build|change|convert|create|disable|drop|enable|extract|generate
        |implement|install|introduce|keep|limit|merge|migrate|move|port|redesign|refactor|remove
        |rename|replace|restrict|rewrite|set\sup|split|store|support|switch|upgrade|use|wrap)\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_CHORE: Final = re.compile(
    r"""
        \b(?:(?:a|the|some|new|simple|dummy|empty|this|that)\s)*(?:simple|sample|dummy|file|folder
        |directory|dir|comment|line|docstring|summary|todo|ticket|branch|commit|pr|bead|beads|note
        |example|agent|agents|plan|report|hello)s?\b|\b[\w-]+\.(?:py|js|ts|md|txt|json|sh)\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_KEY_VALUE: Final = re.compile(
    r"^\W{0,4}(?:\*\*[^*\n]{2,60}:\*\*|(?:\*\*[^*\n]{2,60}\*\*|`[^`\n]{1,60}`)(?:\s*\([^)]*\))?\s*:)\s+\S"
    r"|^(?-i:[A-Z])[\w /-]{1,30}:\s+\S"
)
# "**Name** - what it is" also writes menus: it needs a heading that says these are facts.
_NAME_DASH: Final = re.compile(r"^\W{0,4}(?:\*\*[^*\n]{2,60}\*\*|`[^`\n]{1,60}`)(?:\s*\([^)]*\))?\s*[-–—→]\s+\S")

_DONE_SECTION: Final = re.compile(
    r"""
        \b(?:changes?|done|did|changed|fixed|implemented|completed|created|deleted|removed|added
        |updated|result|results|outcome|delivered|what\s(?:was|i|we)\b)
    """,
    re.IGNORECASE | re.VERBOSE,
)
_FACT_SECTION: Final = re.compile(
    r"""
        \b(?:findings?|status|stack|architecture|overview|facts?|key|configuration|environment|setup
        |requirements|constraints|limitations|known\sissues|root\scause|design|decisions?|principles
        |conventions|testing|pattern|structure|background|problem|about|what\sis)\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_DECISION_SECTION: Final = re.compile(
    r"""
        \b(?:decisions?|decided|agreed|no-?gos?|non-?goals|out\sof\sscope|conventions)\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_PLAN_SECTION: Final = re.compile(
    r"""
        \b(?:next\ssteps?|proposed|proposals?|recommend\w*|suggest\w*|options?|todo|to-do|plan|planned
        |roadmap|phases?|future|ideas?|could|priority)\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_NEVER_SECTION: Final = re.compile(
    r"""
        \b(?:steps|estimate|questions?|would|will|can\shelp|i\scan|want\sto|includes?:|acceptance
        |definition\sof\sdone|examples?|verify|output\sfiles|source\sreferences?|edge\scases
        |use\scases|usage|tools?\s(?:i|available)|available)\b
    """,
    re.IGNORECASE | re.VERBOSE,
)

# An assistant's proposal; it counts only where the person took it up.
_PROPOSAL: Final = re.compile(
    r"""
        \b(?:I(?:'d|\swould)?\s(?:suggest|recommend|propose)|we\s(?:should|could|can|will)
        |let'?s\s(?:use|go|keep|store|put|make)|my\s(?:recommendation|suggestion|proposal)
        |the\splan\sis|I\swould\s(?:use|go|keep)|I'd\s(?:use|go\swith|keep))\b
    """,
    re.IGNORECASE | re.VERBOSE,
)


def is_proposal(text: str) -> bool:
    """True for a sentence that proposes what could be decided."""
    return _PROPOSAL.search(text) is not None


def _item_cue(raw: str, section: str, lead: str) -> Cue | None:
    """List items live off their heading: "**Runtime**: Node 24" under "Technology Stack" is a fact."""
    above = lead or section
    if _DECISION_SECTION.search(above):
        return Cue("decision-list", "decision", 0.7)
    if _DONE_SECTION.search(above) and re.match(rf"\W*{DONE_VERBS}\b", raw, re.IGNORECASE | re.VERBOSE):
        return Cue("change-list", "context", 0.5)
    if _KEY_VALUE.match(raw) or (_NAME_DASH.match(raw) and _telling(section, lead)):
        return Cue("key-value", "fact", 0.5)
    return Cue("fact-list", "fact", 0.45) if _telling(section, lead) and len(raw.split()) >= 4 else None


def _telling(section: str, lead: str) -> bool:
    return any(p.search(part) for p in (_FACT_SECTION, _DONE_SECTION) for part in (section, lead))


def find_cue(
    text: str,
    speaker: Speaker,
    *,
    item: bool = False,
    raw: str = "",
    section: str = "",
    lead: str = "",
    adopted: bool = False,
) -> Cue | None:
    """The strongest cue of one sentence, or None.

    `text` is the sentence without emphasis, `raw` as it stands (list items are read with it); `section` and
    `lead` are the heading and the "…:" line above; `adopted` says the person took up what this turn proposed.
    """
    above = lead or section
    if speaker != "user" and item and (_NEVER_SECTION.search(above) or (_PLAN_SECTION.search(above) and not adopted)):
        return None
    if adopted and (is_proposal(text) or (_BUILD.match(text) and not _NEVER_SECTION.search(above))):
        return Cue("adopted", "decision", 0.7)
    found = [rule.cue for rule in _RULES if speaker in rule.speakers and rule.pattern.search(text)]
    if speaker == "user" and _BUILD.match(text) and len(text.split()) >= 3 and not _CHORE.search(text):
        found.append(Cue("instruction", "decision", 0.6))
    if speaker != "user" and item and (listed := _item_cue(raw or text, section, lead)):
        found.append(listed)
    return max(found, key=lambda cue: cue.importance) if found else None
