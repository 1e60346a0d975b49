"""/ui and /ui/checks: is it working, seen at a glance."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest
from fastapi.testclient import TestClient

from argus_api.app import create_app
from argus_memory.db import Database
from argus_memory.settings import Settings
from argus_memory.upkeep.pages.overview import ROWS
from tests.filled_store import Filled, add_many_notes
from tests.ui_client import BASE, Browser, count_queries, words_of


def headline(html: str) -> str:
    found = re.search(r"(?s)<h1>(.*?)</h1>", html)
    assert found
    return words_of(found[1])


def test_a_new_hub_says_what_is_missing_and_claims_nothing(bare: Browser) -> None:
    """Nothing has happened: only Dagster, which has to be there, needs a look; no empty list is left unexplained."""
    page = bare.page("/ui")
    assert headline(page) == "1 thing needs a look: dagster."
    words = words_of(page)
    assert "Nothing waits for a person." in words
    assert "No task is set up." in words
    assert "nothing was captured yet" in words


def test_every_stage_and_watchdog_has_a_row_with_its_plot(reader: Browser) -> None:
    """State, figure, plot told in words, and a link to the evidence, for each of them."""
    page = reader.page("/ui")
    for name, _, _ in ROWS:
        assert f'href="/ui/checks/{name}"' in page
        assert f'aria-label="{name}, last 24 hours: ' in page
    assert page.count('class="plot plot-hours"') == len(ROWS)


def test_the_headline_names_what_needs_a_look_the_worst_first(reader: Browser) -> None:
    """Within five seconds: how many things, and which."""
    line = headline(reader.page("/ui"))
    assert re.fullmatch(r"3 things need a look: distill, tasks, dagster\.", line)


def test_what_waits_for_a_person_is_counted(reader: Browser) -> None:
    """A held merge, a proposal, a parked unit, an alert and a message, each with the way to decide."""
    words = words_of(reader.page("/ui"))
    for told in ("1 merge of notes to decide", "1 fact proposed by an agent", "1 unit parked after five failures",
                 "1 open alert", "1 message not yet sent"):  # fmt: skip
        assert told in words
    assert "5 things wait for a person." in words


def test_tasks_stand_with_their_last_and_next_run(reader: Browser) -> None:
    """The one that failed first, with its reason."""
    page = reader.page("/ui")
    names = re.findall(r'<th scope="row"><a href="/ui/tasks/([a-z-]+)"', page)
    assert names[0] == "weather-note"
    assert sorted(names) == ["disk-report", "memory-backup", "read-feeds", "watering", "weather-note"]
    assert "the forecast service answered 502" in page


def test_a_broken_list_of_tasks_is_told(filled: Filled, browser: Browser, settings: Settings) -> None:
    """File, line and cure, instead of a page that fails."""
    (settings.tasks_folder / "config.ini").write_text("[watering]\nhandler = magic\n")
    assert "config.ini:" in words_of(browser.page("/ui"))


def test_the_page_stands_without_its_database(settings: Settings, db: Database) -> None:
    """What is down is what the page is for: 200, failed in its headline, nothing shown as well that is not."""
    from dataclasses import replace

    lost = replace(settings, database_url="postgresql://nobody@127.0.0.1:9/none?connect_timeout=1")
    client = TestClient(create_app(lost), base_url=BASE, headers={"authorization": f"Bearer {settings.admin_token}"})
    client.app.state.hub.db.open()  # type: ignore[attr-defined]
    try:
        answer = client.get("/ui")
    finally:
        client.app.state.hub.db.close()  # type: ignore[attr-defined]
    assert answer.status_code == 200
    assert headline(answer.text) == "Argus is down: database failed, nothing can be captured"
    assert "s-ok" not in re.sub(r"(?s)disk.*?</tr>", "", answer.text.split('id="g-ground"')[0])


def test_the_overviews_queries_do_not_grow_with_the_store(
    filled: Filled, browser: Browser, db: Database
) -> None:
    """As many statements with 500 notes and 200 more passes as without."""
    browser.page("/ui")
    with count_queries() as before:
        browser.page("/ui")
    add_many_notes(db, 500, datetime.now(UTC))
    with db.transaction() as conn:
        conn.execute(
            """insert into stage_passes (stage, started_at, finished_at, outcome, counts)
               select 'dedup', now(), now(), 'ok', '{"notes": 1}' from generate_series(1, 200)"""
        )
    with count_queries() as after:
        browser.page("/ui")
    assert len(before) == len(after)
    assert len(after) < 45


@pytest.mark.parametrize("name", [row[0] for row in ROWS])
def test_each_row_has_its_evidence(reader: Browser, name: str) -> None:
    """What the check says now, and the rows behind it, counted."""
    words = words_of(reader.page(f"/ui/checks/{name}"))
    assert "pass" in words or "sample" in words
    assert "the last 24 hours" in words


def test_evidence_of_an_empty_store_says_what_would_fill_it(bare: Browser) -> None:
    """No bare table."""
    assert "argus process" in bare.page("/ui/checks/distill")
    assert "The watchdog keeps one" in bare.page("/ui/checks/disk")


def test_passes_are_paged_sorted_filtered_and_counted(filled: Filled, browser: Browser, db: Database) -> None:
    """Every pass comes once over the pages; the failed one is found by the filter; links keep both."""
    with db.transaction() as conn:
        conn.execute(
            """insert into stage_passes (stage, started_at, finished_at, outcome, counts)
               select 'embed', now() - n * interval '1 minute', now() - n * interval '1 minute' + interval '3 seconds',
                      'ok', '{}' from generate_series(1, 100) n"""
        )
    for order in ("newest", "longest"):
        path, seen = f"/ui/checks/embed?sort={order}", 0
        while path:
            page = browser.page(path)
            assert "130 passes" in words_of(page)
            seen += len(re.findall(r'<span class="state s-(?:ok|failed)">', page.split("<tbody>")[1]))
            found = re.search(r'rel="next" href="([^"]+)"', page)
            path = found[1].replace("&amp;", "&") if found else ""
            assert not path or order == "newest" or "sort=longest" in path
        assert seen == 130
    failed = browser.page("/ui/checks/embed?outcome=failed")
    assert "1 pass" in words_of(failed)
    assert "the model server did not answer" in failed


def test_a_place_past_the_end_is_an_empty_page_with_a_way_back(reader: Browser) -> None:
    """No error: the list may have been longer once."""
    words = words_of(reader.page("/ui/checks/embed?after=2001-01-01T00:00:00Z~1"))
    assert "There is nothing further on." in words
    assert "Back to the first page" in words


@pytest.mark.parametrize("query", ["sort=worst", "after=x", "after=1~2~x", "outcome=maybe", "after=" + "9" * 5000 + "~1"])
def test_a_list_refuses_what_it_cannot_read(reader: Browser, query: str) -> None:
    """422 and a sentence that names the word."""
    answer = reader.get(f"/ui/checks/embed?{query}")
    assert answer.status_code == 422
    assert query.partition("=")[0].capitalize() in words_of(answer.text)


def test_an_unknown_check_is_not_there(reader: Browser) -> None:
    """404 as a page; a hostile name is text."""
    answer = reader.get("/ui/checks/%3Cscript%3E")
    assert answer.status_code == 404
    assert "<script>" not in answer.text


def test_times_are_the_viewers(reader: Browser) -> None:
    """The cookie's zone, UTC on hover; a made-up zone is the hub's."""
    reader.client.cookies.set("argus_tz", "Asia%2FKathmandu")
    page = reader.page("/ui/checks/embed")
    assert "Times are in Asia/Kathmandu, UTC on hover." in words_of(page)
    utc, local = re.findall(r'title="([\d-]+ [\d:]+) UTC">(\d{4}-\d\d-\d\d \d\d:\d\d)<', page)[0]
    gap = datetime.fromisoformat(local) - datetime.fromisoformat(utc).replace(second=0)
    assert gap.total_seconds() == 5.75 * 3600
    reader.client.cookies.set("argus_tz", "../../etc/passwd")
    assert "(the hub's zone)" in reader.page("/ui")


def test_pages_are_compressed_and_small(reader: Browser) -> None:
    """Well below the 150 kB of the whole page, style and scripts included."""
    page = reader.client.get("/ui", headers={"accept-encoding": "gzip"})
    assert page.headers["content-encoding"] == "gzip"
    names = set(re.findall(r'(?:src|href)="(/ui/static/[^"]+)"', page.text))
    total = int(page.headers["content-length"])
    for name in names:
        answer = reader.client.get(name, headers={"accept-encoding": "gzip"})
        assert "immutable" in answer.headers["cache-control"]
        total += int(answer.headers["content-length"])
    assert total < 60_000


def test_a_file_that_is_not_ours_is_not_served(reader: Browser) -> None:
    """No way out of the folder."""
    for name in ("..%2fpage.py", "nothing.css", "%2e%2e%2f%2e%2e%2fapp.py"):
        assert reader.get(f"/ui/static/{name}").status_code == 404
