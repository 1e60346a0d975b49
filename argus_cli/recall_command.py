"""`argus recall QUERY`: what a session would be given about it, with sources; the recall goes on record."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from argus_cli.hub import open_database
from argus_memory.errors import UsageError
from argus_memory.rules.moments import parse_as_of
from argus_memory.rules.recall_text import titled
from argus_memory.settings import PROMPT_MAX_NOTES, load_settings

if TYPE_CHECKING:
    from argus_memory.stages.recall import PromptRecall

LIMIT_MAX = 50


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("query", nargs="+", metavar="QUERY", help="what to look for, in words")
    parser.add_argument("--project", help="the project to prefer; others are not left out")
    told = f"1 to {LIMIT_MAX}, {PROMPT_MAX_NOTES} by default"
    parser.add_argument("--limit", type=int, default=PROMPT_MAX_NOTES, help=told)
    parser.add_argument("--as-of", metavar="DAY", help="what was known and held at the end of that day")


def run(arguments: argparse.Namespace) -> int:
    """0 also when nothing is on record: that is an answer."""
    from argus_memory.stages.recall import recall_for_prompt
    from argus_memory.stages.spaces import open_embedder

    if not 1 <= arguments.limit <= LIMIT_MAX:
        raise UsageError(f"--limit: {arguments.limit} is outside 1 to {LIMIT_MAX}")
    settings, now = load_settings(), datetime.now(UTC)
    with open_database(settings) as database:
        found = recall_for_prompt(
            database,
            settings,
            open_embedder(database, settings),
            prompt=" ".join(arguments.query),
            project=arguments.project,
            limit=arguments.limit,
            now=now,
            as_of=parse_as_of(arguments.as_of, name="--as-of", now=now),
            host="argus recall",
            gated=False,
        )
    print(as_json(found) if arguments.json else as_text(found))
    return 0


def as_json(found: PromptRecall) -> str:
    return json.dumps(asdict(found), default=str, ensure_ascii=False)


def as_text(found: PromptRecall) -> str:
    """A paragraph a hit: its text, then where it comes from."""
    parts = []
    for note in found.notes:
        said = f"{note.said_at or note.valid_from:%Y-%m-%d}"
        where = ", ".join(part for part in (said, note.category, note.project, f"by {note.model}") if part)
        text = titled(note.title, note.content)
        scores = _scores(note.score, note.rrf_score)
        where += f"; this changed on {note.changed_on}" if note.changed_on else ""
        parts.append(f"note {note.id}  {text}\n    {where}; raw item {note.raw_id}{scores}")
    for turn in found.turns:
        text = " ".join(turn.text.removeprefix(f"{turn.role}:").split())
        text = text if len(text) <= 400 else text[:399] + "…"
        where = ", ".join(part for part in (f"{turn.said_at:%Y-%m-%d %H:%M} UTC", turn.project) if part)
        parts.append(
            f"turn {turn.raw_id}  {turn.role}: {text}\n    {where}; session {turn.session}"
            f"{_scores(turn.score, turn.rrf_score)}"
        )
    if not parts:
        parts.append("nothing on record")
    if found.degraded:
        parts.append(f"({found.degraded})")
    return "\n".join(parts)


def _scores(score: float | None, rrf_score: float | None) -> str:
    return f"; score {score or 0:.2f}, rrf {rrf_score or 0:.4f}"
