"""`argus memory health|fading|stale|uses|shown|graph`: how the memory as a whole is."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from argus_cli.history_words import one_line
from argus_cli.hub import open_database
from argus_memory.settings import load_settings

if TYPE_CHECKING:
    from argus_memory.db import Database
    from argus_memory.upkeep.fading import Fading
    from argus_memory.upkeep.injections import Injections
    from argus_memory.upkeep.memory_health import HealthReport

BAR = 20  # characters


def add_arguments(parser: argparse.ArgumentParser) -> None:
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="machine-readable output")
    common.add_argument("--project", help="only this project")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    verbs.add_parser("health", help="a score with its parts, and what to look at", parents=[common])
    for word, months in (("fading", "five"), ("stale", "ten")):
        row = verbs.add_parser(word, help=f"notes without any sign for some {months} months", parents=[common])
        row.add_argument("--limit", type=int, default=50, help="1 to 1000, 50 by default")
        row.add_argument("--after", type=int, default=0, metavar="N", help="pass over the first N")
    verbs.add_parser("uses", help="what was shown and used, week by week", parents=[common])
    row = verbs.add_parser("shown", help="each recall, newest first, with what the answer used", parents=[common])
    row.add_argument("--note", type=int, metavar="ID", help="only recalls that showed this note")
    row.add_argument("--session", help="only recalls of this session")
    row.add_argument("--limit", type=int, default=20, help="1 to 500, 20 by default")
    row.add_argument("--before", type=int, metavar="ID", help="go on below this recall")
    row = verbs.add_parser("graph", help="notes and what links them, as Mermaid or SVG", parents=[common])
    row.add_argument("--note", type=int, metavar="ID", help="what is around this note")
    row.add_argument("--depth", type=int, default=1, help="steps from it, 0 to 4, 1 by default")
    row.add_argument("--limit", type=int, default=60, help="notes, 1 to 300, 60 by default")
    row.add_argument("--format", choices=("mermaid", "svg"), default="mermaid")
    row.add_argument("--out", type=Path, metavar="FILE", help="write it there instead of printing it")


def run(arguments: argparse.Namespace) -> int:
    now = datetime.now(UTC)
    with open_database(load_settings()) as database:
        if arguments.verb == "graph":
            return _graph(database, arguments, now)
        data, text = _read(database, arguments, now)
    print(json.dumps(data, default=str, ensure_ascii=False) if arguments.json else text)
    return 0


def _read(database: Database, arguments: argparse.Namespace, now: datetime) -> tuple[Any, str]:
    if arguments.verb == "health":
        from argus_memory.upkeep.memory_health import read_memory_health

        report = read_memory_health(database, now=now, project=arguments.project)
        return report.as_json(), health_as_text(report)
    if arguments.verb == "uses":
        from argus_memory.upkeep.memory_health import read_weeks

        weeks = read_weeks(database, since=now - timedelta(days=366), project=arguments.project)
        return {"weeks": weeks}, weeks_as_text(weeks)
    if arguments.verb == "shown":
        from argus_memory.upkeep.injections import list_injections

        page = list_injections(
            database, now=now, before=arguments.before, session=arguments.session, project=arguments.project,
            note=arguments.note, limit=arguments.limit,
        )  # fmt: skip
        return asdict(page), shown_as_text(page)
    from argus_memory.upkeep.fading import list_fading

    found = list_fading(
        database, arguments.verb, now=now, project=arguments.project, limit=arguments.limit, after=arguments.after
    )
    return asdict(found), fading_as_text(found)


def _graph(database: Database, arguments: argparse.Namespace, now: datetime) -> int:
    from argus_memory.rules.graph import as_mermaid, as_svg
    from argus_memory.upkeep.memory_graph import read_graph

    graph = read_graph(
        database, now=now, project=arguments.project, note_id=arguments.note, depth=arguments.depth,
        limit=arguments.limit,
    )  # fmt: skip
    heading = f"note {arguments.note}" if arguments.note else arguments.project or "all projects"
    text = as_svg(graph, heading=heading) if arguments.format == "svg" else as_mermaid(graph)
    if arguments.json:
        text = json.dumps(asdict(graph), ensure_ascii=False)
    if arguments.out is None:
        print(text.rstrip("\n"))
        return 0
    arguments.out.write_text(text, encoding="utf-8")
    print(f"wrote {arguments.out}: {len(graph.nodes)} nodes, {len(graph.edges)} links, {graph.left_out} left out")
    return 0


def health_as_text(report: HealthReport) -> str:
    """The score, then a line a part with what to do about it; unknown parts say why."""
    whole = "unknown: there are no live notes" if report.score is None else f"{report.score:.0f} of 100"
    lines = [f"health {whole}  ({report.notes} live notes, {report.never_shown} never shown)"]
    for part in report.parts:
        if part.count is None:
            lines.append(f"  {part.rule.name:<16} unknown      {part.detail}")
            continue
        share = f"{part.share or 0:.0%}"
        detail = f" ({part.detail})" if part.detail else ""
        act = f"  → {part.rule.act}" if part.count else ""
        lines.append(f"  {part.rule.name:<16} {part.count:>5} {share:>5}  {part.rule.meaning}{detail}{act}")
        for each in part.examples[:3] if part.rule.name in ("near-duplicates", "contradictions") else ():
            lines.append(f"      {each['note_id']}  {one_line(each['note'])}")
            lines.append(f"      {each['other_id']}  {one_line(each['other'])}")
    return "\n".join(lines)


def fading_as_text(found: Fading) -> str:
    """A line a note with what is left of it, and how to answer."""
    lines = [
        f"{each['id']:>6}  {each['retention']:.0%} left, last sign {each['last_sign']:%Y-%m-%d}"
        f" ({each['project'] or 'no project'}): {one_line(each['content'])}"
        for each in found.notes
    ]
    ask = ", still wanted? `argus note reconfirm ID` or `argus note forget ID`" if found.count else ""
    lines.append(f"{found.asked}={found.count}{ask}")
    return "\n".join(lines)


def weeks_as_text(weeks: Sequence[Any]) -> str:
    """A bar a week: the share of what was shown that the answer used."""
    lines = []
    for week in weeks:
        share = week["used"] / week["judged"]
        bar = "█" * round(BAR * share)
        lines.append(f"{week['week']}  {bar:<{BAR}} {share:>4.0%}  {week['used']} of {week['judged']}")
    return "\n".join(lines) or "nothing was judged yet: an answer has to follow what was shown"


def shown_as_text(page: Injections) -> str:
    """A recall with its notes below it: used, not used, or not judged."""
    lines = []
    for each in page.injections:
        asked = one_line(each["query"]) if each["query"] else "a session began"
        lines.append(f"{each['id']}  {each['at']:%Y-%m-%d %H:%M}  ({each['project'] or 'no project'})  {asked}")
        for note in each["notes"]:
            word = {True: "used", False: "not used", None: each["outcome"] or "not judged"}[note["used"]]
            lines.append(f"      {word:<10} note {note['id']}  {one_line(note['content'] or '(no longer live)')}")
        if not each["notes"]:
            lines.append(f"      nothing shown: {each['skipped'] or 'no notes'}")
    if page.next is not None:
        lines.append(f"more: --before {page.next}")
    return "\n".join(lines) or "nothing was recalled yet"
