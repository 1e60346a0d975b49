"""New articles of the feeds in feeds.txt, read by an agent against tasks/context/GOALS.md, as one synthesis.

The agent gets the articles and what memory has on them, and may read this folder; its engine is the runtime chain's
(Claude Code, Codex, the API). The synthesis is captured with the sources it was made of; recalled notes are named as
such, so that it never counts as a second witness of what it was fed.
"""

import os
import sys
from pathlib import Path

import taskkit
from argus_memory.content.feeds import Entry, read_feed
from argus_memory.content.fetch import FetchFailure, fetch

HERE = Path(__file__).resolve().parent
ARTICLES = int(os.environ.get("ARTICLES_A_RUN", "8"))
ARTICLE_MAX = 6_000  # characters of each; the agent follows the link for more where it may
NOTES_EACH = 3
KEPT = 5_000  # ids of articles read; feeds show the last few dozen
PRIVATE = os.environ.get("FEEDS_PRIVATE") == "yes"


def collect(seen: set[str]) -> tuple[list[Entry], list[str]]:
    """(new articles, newest first, at most ARTICLES; what could not be read)."""
    found: list[Entry] = []
    problems: list[str] = []
    lines = (line.split("#", 1)[0].strip() for line in (HERE / "feeds.txt").read_text("utf-8").splitlines())
    for url in filter(None, lines):
        try:
            got = fetch(url, types=("application/", "text/"), allow_private=PRIVATE)
        except FetchFailure as failure:
            problems.append(str(failure))
            continue
        feed = read_feed(got.body, url=got.url, content_type=got.content_type, charset=got.charset)
        if feed.problem:
            problems.append(f"{feed.title or url}: {feed.problem}")
        found += [entry for entry in feed.entries if entry.id not in seen]
    found.sort(key=lambda entry: entry.published_at.timestamp() if entry.published_at else 0, reverse=True)
    return found[:ARTICLES], problems


def material(entries: list[Entry]) -> tuple[str, list[int]]:
    """The articles with what memory has on each, and the ids of those notes."""
    parts: list[str] = []
    recalled: list[int] = []
    for number, entry in enumerate(entries, start=1):
        known = [hit for hit in taskkit.recall(entry.title, limit=NOTES_EACH) if hit.get("type") == "note"]
        recalled += [hit["id"] for hit in known]
        notes = "\n".join(f"- (note {hit['id']}) {hit['text']}" for hit in known) or "- nothing"
        parts.append(
            f'<article number="{number}" link="{entry.link or ""}">\n# {entry.title}\n\n{entry.text[:ARTICLE_MAX]}\n'
            f"</article>\nMemory on it:\n{notes}"
        )
    return "\n\n".join(parts), sorted(set(recalled))


def main() -> int:
    seen: list[str] = taskkit.load_state([])
    entries, problems = collect(set(seen))
    for problem in problems:
        print(problem, file=sys.stderr)
    if not entries:
        taskkit.skip("no new article" + (f"; {len(problems)} feeds could not be read" if problems else ""))
        return 0
    text, recalled = material(entries)
    prompt = (HERE / "prompt.md").read_text("utf-8").format(articles=text)
    result = taskkit.run_agent(prompt, capture=False)
    if result["outcome"] == "capped":
        taskkit.skip(f"every engine is capped until {result.get('reset_at')}: the articles wait")
        return 0
    sources = [{"title": entry.title, "link": entry.link, "id": entry.id} for entry in entries]
    receipt = taskkit.remember(
        result["text"], kind="synthesis",
        metadata={"sources": sources, "recalled_notes": recalled, "engine": result.get("engine"),
                  "directive": "read against GOALS.md"},
    )  # fmt: skip
    taskkit.save_state([*seen, *(entry.id for entry in entries)][-KEPT:])
    taskkit.report({"raw_id": receipt["id"], "sources": sources, "recalled_notes": recalled}, summary=result["text"])
    print(result["text"])
    return 0


if __name__ == "__main__":
    sys.exit(main())
