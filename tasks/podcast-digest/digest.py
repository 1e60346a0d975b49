"""New episodes of the podcasts in feeds.txt, each as a short digest in memory, without having listened yet.

Of each episode the transcript is read where the feed names one (podcast:transcript), else its description. The digest
is captured as a synthesis: what it states as facts passes the write-gate, its "- [ ]" lines become to-dos, and it
stands among what can be resurfaced. Models: ARGUS_ASK_MODEL, the local one first.
"""

import os
import sys
from pathlib import Path

import taskkit
from argus_memory.content.feeds import Entry, read_feed, transcript_text
from argus_memory.content.fetch import FetchFailure, fetch

HERE = Path(__file__).resolve().parent
FEED_TYPES = ("application/", "text/")
TEXT_MAX = 24_000  # characters of an episode for the model: the first three quarters of an hour of talk
EPISODES_A_RUN = int(os.environ.get("EPISODES_A_RUN", "5"))
FIRST_TIME = 2  # episodes of a feed that is new here: not the whole archive
PRIVATE = os.environ.get("FEEDS_PRIVATE") == "yes"  # feeds of one's own network


def feeds() -> list[str]:
    """Addresses of feeds.txt, a line each; # begins a comment."""
    lines = (line.split("#", 1)[0].strip() for line in (HERE / "feeds.txt").read_text("utf-8").splitlines())
    return [line for line in lines if line]


def words_of(entry: Entry) -> str:
    """What is said in the episode, as far as the feed lets it be read."""
    for transcript in entry.transcripts:
        try:
            got = fetch(transcript.url, types=("text/", "application/"), allow_private=PRIVATE)
        except FetchFailure as failure:
            print(f"transcript of {entry.title}: {failure}", file=sys.stderr)
            continue
        if text := transcript_text(got.body, transcript.type or got.content_type):
            return text[:TEXT_MAX]
    return entry.text[:TEXT_MAX]


def digest(show: str, entry: Entry, words: str) -> str:
    """The synthesis: the model's digest under a heading that says what it is of."""
    prompt = (HERE / "prompt.md").read_text("utf-8").format(show=show, title=entry.title, words=words)
    answer = taskkit.ask(prompt)
    published = f"{entry.published_at.date()}, " if entry.published_at else ""
    place = entry.link or entry.audio_url or "no address"
    return f"# {show}: {entry.title}\n\n{published}{place}\n\n{answer['text'].strip()}"


def new_episodes(url: str, seen: dict[str, list[str]]) -> tuple[str, list[Entry], str | None]:
    """(the show, its new episodes, oldest first, what is wrong with the feed)."""
    got = fetch(url, types=FEED_TYPES, allow_private=PRIVATE)
    feed = read_feed(got.body, url=got.url, content_type=got.content_type, charset=got.charset)
    known = seen.get(url)
    entries = feed.entries[:FIRST_TIME] if known is None else [e for e in feed.entries if e.id not in known]
    if known is None and not feed.problem:
        seen[url] = [entry.id for entry in feed.entries[FIRST_TIME:]]
    return feed.title or url, list(reversed(entries)), feed.problem


def main() -> int:
    addresses = feeds()
    if not addresses:
        taskkit.skip("feeds.txt names no feed yet")
        return 0
    seen: dict[str, list[str]] = taskkit.load_state({})
    made: list[dict[str, object]] = []
    problems: list[str] = []
    for url in addresses:
        try:
            show, episodes, problem = new_episodes(url, seen)
        except FetchFailure as failure:
            problems.append(str(failure))
            continue
        if problem:
            problems.append(f"{show}: {problem}")
        for entry in episodes:
            if len(made) >= EPISODES_A_RUN:
                break
            text = digest(show, entry, words_of(entry))
            receipt = taskkit.remember(text, kind="synthesis", metadata={"feed": url, "episode": entry.id,
                                                                         "link": entry.link})  # fmt: skip
            made.append({"show": show, "title": entry.title, "raw_id": receipt["id"]})
            seen.setdefault(url, []).append(entry.id)
            taskkit.save_state(seen)  # after each: a run that dies asks no model twice for the same
    taskkit.save_state(seen)
    summary = "\n".join(f"{episode['show']}: {episode['title']}" for episode in made) or "no new episode"
    taskkit.report({"episodes": made, "problems": problems}, summary=summary)
    taskkit.metric("episodes", len(made))
    print(summary)
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems and len(problems) == len(addresses) else 0


if __name__ == "__main__":
    sys.exit(main())
