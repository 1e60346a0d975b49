"""Each task that comes with Argus does what its stanza says, and says so when it cannot."""

from __future__ import annotations

import json
import os
import shutil
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from argus_memory.db import Database
from argus_memory.settings import CODE_FOLDER, Settings
from argus_memory.tasks.config import read_task_list
from tests.integration.shipped.conftest import RunShipped
from tests.memory_rows import add_note
from tests.stubs.llm_server import LlmServer

ENGINES = Path(__file__).parents[2] / "stubs" / "engines"
FEED = """<?xml version="1.0"?><rss version="2.0" xmlns:podcast="https://podcastindex.org/namespace/1.0"><channel>
<title>Garden Hours</title>{items}</channel></rss>"""
ITEM = """<item><title>{title}</title><guid>{title}</guid><link>{site}/{title}.html</link>
<pubDate>Mon, 30 Nov 2026 06:00:00 GMT</pubDate><description>All about {title}.</description>
<podcast:transcript url="{site}/{title}.vtt" type="text/vtt"/></item>"""
DIGEST = "## Highlights\n- Kim keeps the pump at 2 bar.\n\n## To look into\n- [ ] look into drip hoses: they save water"


def write_feed(folder: Path, site: str, titles: list[str]) -> str:
    (folder / "feed.xml").write_text(FEED.format(items="".join(ITEM.format(title=t, site=site) for t in titles)))
    for title in titles:
        (folder / f"{title}.vtt").write_text(f"WEBVTT\n\n00:00.000 --> 00:09.000\nWe speak of {title} for a while.\n")
    return f"{site}/feed.xml"


def rows(db: Database, query: str) -> list[Any]:
    return db.fetch_all(query)  # type: ignore[arg-type]


def test_every_shipped_stanza_can_be_used() -> None:
    """The list that comes with Argus has no broken stanza, and a task for each promise."""
    found = read_task_list(CODE_FOLDER / "tasks", default_zone="UTC")
    assert found.broken == ()
    assert {spec.name for spec in found.tasks} >= {
        "heartbeat", "memory-backup", "daily-digest", "transcript-sweep", "podcast-digest", "research-synthesis",
    }  # fmt: skip


def test_the_heartbeat_says_that_tasks_run(run_shipped: RunShipped) -> None:
    """One line, exit 0."""
    result = run_shipped("heartbeat")
    assert (result.outcome, result.stdout_tail.startswith("alive at ")) == ("ok", True)


def test_the_backup_is_proven_and_reported(run_shipped: RunShipped, db: Database, tmp_path: Path, served: Settings) -> None:
    """The run's output holds the file and the rows, and the table says proven."""
    result = run_shipped("memory-backup", settings=replace(served, backups=tmp_path / "backups"))
    assert result.outcome == "ok", result.stderr_tail
    assert result.output["outcome"] == "proven"
    assert [row["outcome"] for row in rows(db, "select outcome from backups")] == ["proven"]
    assert len(list((tmp_path / "backups").glob("*.dump"))) == 1


def test_the_digest_is_written_once_a_day(run_shipped: RunShipped, db: Database) -> None:
    """Run twice, there is one message."""
    assert [run_shipped("daily-digest").outcome for _ in range(2)] == ["ok", "ok"]
    assert len(rows(db, "select id from deliveries where kind = 'digest'")) == 1


def test_the_sweep_catches_what_hooks_missed_and_says_so(run_shipped: RunShipped, db: Database, tmp_path: Path) -> None:
    """A rested transcript whose turns never arrived is captured; the person is told once; a second sweep is quiet."""
    path = tmp_path / ".claude" / "projects" / "-home-kim-garden" / "11111111-2222-4333-8444-555555555555.jsonl"
    path.parent.mkdir(parents=True)
    line = {
        "type": "user", "uuid": "u1", "sessionId": path.stem, "timestamp": "2026-11-30T10:00:00.000Z",
        "cwd": "/home/kim/garden", "message": {"role": "user", "content": "The pump runs at 2 bar."},
    }  # fmt: skip
    path.write_text(json.dumps(line) + "\n")
    hour_ago = time.time() - 3600
    os.utime(path, (hour_ago, hour_ago))

    first = run_shipped("transcript-sweep")
    assert first.outcome == "ok", first.stderr_tail
    assert first.metrics["turns_uncaptured"] == 1
    assert rows(db, "select body from raw_items where kind = 'turn'") == [{"body": "The pump runs at 2 bar."}]
    second = run_shipped("transcript-sweep")
    assert second.metrics["turns_uncaptured"] == 0
    assert [row["title"] for row in rows(db, "select title from deliveries where kind = 'deliver'")] == ["Hooks missed 1 turns"]


def test_a_sweep_without_transcripts_is_skipped_with_a_reason(run_shipped: RunShipped) -> None:
    """Nothing to read is said, not hidden behind an ok."""
    result = run_shipped("transcript-sweep")
    assert (result.outcome, "no transcript changed" in (result.reason or "")) == ("skipped", True)


def test_new_episodes_become_digests_in_memory(
    run_shipped: RunShipped, db: Database, site: tuple[Path, str], models: LlmServer
) -> None:
    """Each new episode is asked for once, from its transcript, and captured as a synthesis with its source."""
    folder, address = site
    url = write_feed(folder, address, ["pumps", "valves"])
    models.rule = lambda request: DIGEST
    first = run_shipped("podcast-digest", feeds=[url])
    assert first.outcome == "ok", first.stderr_tail
    assert first.metrics["episodes"] == 2
    kept = rows(db, "select body, metadata from raw_items where kind = 'synthesis' order by id")
    assert [row["metadata"]["episode"] for row in kept] == ["valves", "pumps"]
    assert "drip hoses" in kept[0]["body"]
    assert run_shipped("podcast-digest", feeds=[url]).metrics["episodes"] == 0
    write_feed(folder, address, ["seeds", "pumps", "valves"])
    assert run_shipped("podcast-digest", feeds=[url]).metrics["episodes"] == 1
    assert models.count("chat") == 3


def test_a_feed_that_is_away_does_not_stop_the_others(
    run_shipped: RunShipped, site: tuple[Path, str], models: LlmServer
) -> None:
    """What works is digested; what does not is named; all feeds away is a failure."""
    folder, address = site
    url = write_feed(folder, address, ["pumps"])
    models.rule = lambda request: DIGEST
    result = run_shipped("podcast-digest", feeds=[f"{address}/none.xml", url])
    assert (result.outcome, result.metrics["episodes"]) == ("ok", 1)
    assert "HTTP 404" in result.stderr_tail
    assert run_shipped("podcast-digest", feeds=[f"{address}/none.xml"]).outcome == "failed"


def test_a_model_that_is_away_fails_the_run_and_loses_no_episode(
    run_shipped: RunShipped, site: tuple[Path, str], models: LlmServer
) -> None:
    """The next run takes the episode up again."""
    folder, address = site
    url = write_feed(folder, address, ["pumps"])
    models.behave("401")
    assert run_shipped("podcast-digest", feeds=[url]).outcome == "failed"
    models.behave("ok")
    models.rule = lambda request: DIGEST
    assert run_shipped("podcast-digest", feeds=[url]).metrics["episodes"] == 1


@pytest.fixture
def engines(tmp_path: Path) -> dict[str, str]:
    """Stand-ins for claude and codex, and the folder their calls are logged in."""
    (tmp_path / "calls").mkdir()
    return {"STAND_IN_LOG": str(tmp_path / "calls"), "STAND_IN_CLAUDE": "ok", "STAND_IN_CODEX": "ok"}


def test_articles_become_one_synthesis_against_the_goals(
    run_shipped: RunShipped, db: Database, site: tuple[Path, str], served: Settings, engines: dict[str, str], tmp_path: Path
) -> None:
    """The agent gets articles and notes, its answer is captured with its sources, and the articles count as read."""
    folder, address = site
    url = write_feed(folder, address, ["pumps", "valves"])
    note = add_note(db, "The pumps stand in the shed.")
    here = replace(served, claude=str(ENGINES / "claude"), codex=str(ENGINES / "codex"))
    result = run_shipped("research-synthesis", feeds=[url], env=engines, settings=here)
    assert result.outcome == "ok", result.stderr_tail
    (kept,) = rows(db, "select body, metadata from raw_items where kind = 'synthesis'")
    assert {source["title"] for source in kept["metadata"]["sources"]} == {"pumps", "valves"}
    assert note in kept["metadata"]["recalled_notes"]
    call = json.loads((tmp_path / "calls" / "claude-0.json").read_text())
    assert "All about pumps." in call["stdin"] + " ".join(call["argv"])
    again = run_shipped("research-synthesis", feeds=[url], env=engines, settings=here)
    assert (again.outcome, again.reason) == ("skipped", "no new article")


def test_capped_engines_let_the_articles_wait(
    run_shipped: RunShipped, site: tuple[Path, str], served: Settings, engines: dict[str, str], tmp_path: Path
) -> None:
    """A cap is no failure: the run is skipped with the time of the reset, and the articles are read next time."""
    folder, address = site
    url = write_feed(folder, address, ["pumps"])
    shutil.rmtree(tmp_path / "calls")
    (tmp_path / "calls").mkdir()
    here = replace(served, claude=str(ENGINES / "claude"), engines=("claude",))
    capped = run_shipped(
        "research-synthesis", feeds=[url], env={**engines, "STAND_IN_CLAUDE": "rejected"}, settings=here
    )
    assert capped.outcome == "skipped", capped.stderr_tail
    assert "capped until" in (capped.reason or "")
