"""/ui/projects: the registry, one project, filing, and changes that count before they are done."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest

from argus_memory.db import Database
from tests.filled_store import Filled, add_many_notes
from tests.ui_client import Browser, count_queries, words_of


def names(html: str) -> list[str]:
    return re.findall(r'<th scope="row" dir="auto"><a href="/ui/projects/([^"]+)"', html)


def test_the_registry_shows_every_project_and_what_to_settle(reader: Browser) -> None:
    """Counts, other names, how episodes came to them, and the one that reads like another's."""
    page = reader.page("/ui/projects")
    assert {"garden", "workshop", "homelab", "lab"} <= set(names(page))
    words = words_of(page)
    for told in ("also allotment", "by its folder", "by its repository", "reads like homelab", "0.12 nearer"):
        assert told in words


def test_an_empty_registry_says_what_fills_it(bare: Browser) -> None:
    """`global` is there from the beginning; nothing else."""
    page = bare.page("/ui/projects")
    assert names(page) == ["global"]
    assert "Nothing was renamed" in page
    assert "Nothing fits these filters." in bare.page("/ui/projects?words=walrus")


def test_names_are_looked_for_and_sorted(reader: Browser) -> None:
    """By part of a name or of another name; in each order all are there."""
    assert names(reader.page("/ui/projects?words=ALLOT")) == ["garden"]
    every = set(names(reader.page("/ui/projects")))
    assert names(reader.page("/ui/projects?sort=name")) == sorted(every)
    for sort in ("latest", "notes", "turns", "episodes"):
        assert set(names(reader.page(f"/ui/projects?sort={sort}"))) == every


def test_projects_come_page_by_page_each_once(browser: Browser, db: Database) -> None:
    """120 of them, without one missing, in two orders."""
    with db.transaction() as conn:
        conn.execute(
            "insert into projects (name, first_method) select 'p' || n, 'cwd' from generate_series(1, 120) n"
        )
    for sort in ("name", "turns"):
        found: list[str] = []
        path = f"/ui/projects?sort={sort}"
        while path:
            page = browser.page(path)
            found += names(page)
            onward = re.search(r'rel="next" href="([^"]+)"', page)
            path = onward[1].replace("&amp;", "&") if onward else ""
        assert len(found) == len(set(found)) == 121


def test_a_project_shows_what_makes_it(reader: Browser) -> None:
    """Words of its notes, what leads to it, its other names and its episodes; by another name too."""
    for name in ("garden", "allotment"):
        words = words_of(reader.page(f"/ui/projects/{name}"))
        for told in ("garden", "tomato", "cwd:/home/kim/garden", "allotment", "by its folder", "Latest episodes"):
            assert told in words


def test_renaming_counts_first_and_is_taken_back(filled: Filled, browser: Browser, db: Database) -> None:
    """The first form changes nothing; the second does; Undo gives the name back."""
    asked = browser.send("/ui/projects/rename", name="garden", to="orchard")
    assert asked.status_code == 200
    assert re.search(r"\d+ turns, 2 episodes, \d+ notes", words_of(asked.text))
    assert names(browser.page("/ui/projects?words=orchard")) == []
    done = browser.follow("/ui/projects/rename", name="garden", to="orchard", sure="agreed")
    assert "Renamed garden to orchard" in words_of(done)
    assert "orchard" in names(browser.page("/ui/projects"))
    made = db.fetch_one("select id from project_changes where change = 'renamed'")
    assert made
    assert "Taken back" in words_of(browser.follow("/ui/projects/undo", change=made["id"]))
    assert "garden" in names(browser.page("/ui/projects"))
    again = words_of(browser.follow("/ui/projects/undo", change=made["id"]))
    assert "was taken back" in again
    assert "Nothing was changed." in again


def test_merging_counts_first_and_is_taken_back(filled: Filled, browser: Browser, db: Database) -> None:
    """What would move is told; after it one project is left; Undo brings both back whole."""
    before = db.fetch_all("select id, project from distilled_notes order by id")
    assert "Merge lab into workshop?" in words_of(browser.send("/ui/projects/merge", name="lab", to="workshop").text)
    assert db.fetch_all("select id, project from distilled_notes order by id") == before
    assert "Merged lab into workshop" in words_of(
        browser.follow("/ui/projects/merge", name="lab", to="workshop", sure="agreed")
    )
    assert "lab" not in names(browser.page("/ui/projects"))
    made = db.fetch_one("select id from project_changes where change = 'merged'")
    assert made
    browser.follow("/ui/projects/undo", change=made["id"])
    assert db.fetch_all("select id, project from distilled_notes order by id") == before


def test_other_names_come_and_go(filled: Filled, browser: Browser) -> None:
    """Each leads to the project until it is taken away."""
    assert "Changed" in words_of(browser.follow("/ui/projects/alias", name="lab", alias="bench", back="lab"))
    assert "bench" in words_of(browser.page("/ui/projects/bench"))
    browser.follow("/ui/projects/unalias", alias="bench", back="lab")
    assert browser.get("/ui/projects/bench").status_code == 404


@pytest.mark.parametrize(("to", "filed"), [("homelab", "homelab"), ("", "workshop")])
def test_an_episode_is_filed_right(filled: Filled, browser: Browser, db: Database, to: str, filed: str) -> None:
    """Moved, or kept where it is: then nobody asks again."""
    row = db.fetch_one("select episode_id from project_mismatches")
    assert row
    told = words_of(browser.follow("/ui/projects/assign", episode=row["episode_id"], to=to))
    assert f"Filed under {filed}" in told
    assert "reads like" not in told
    found = db.fetch_one("select project from episodes where id = %(id)s", {"id": row["episode_id"]})
    assert found == {"project": filed}


@pytest.mark.parametrize(
    ("verb", "fields", "told"),
    [
        ("rename", {"name": "garden", "to": "workshop", "sure": "agreed"}, "Nothing was changed"),
        ("rename", {"name": "garden", "to": "", "sure": "agreed"}, "Nothing was changed"),
        ("rename", {"name": "garden", "to": "x" * 500, "sure": "agreed"}, "Nothing was changed"),
        ("rename", {"name": "global", "to": "all", "sure": "agreed"}, "Nothing was changed"),
        ("merge", {"name": "garden", "to": "garden", "sure": "agreed"}, "Nothing was changed"),
        ("merge", {"name": "garden", "to": "walrus", "sure": "agreed"}, "To the overview"),
        ("undo", {"change": "x"}, None), ("undo", {"change": "99999"}, "To the overview"), ("undo", {}, None),
        ("assign", {"episode": "99999", "to": "garden"}, "To the overview"), ("explode", {}, "To the overview"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_told(
    filled: Filled, browser: Browser, db: Database, verb: str, fields: dict[str, str], told: str | None
) -> None:
    """In a sentence, and nothing is changed."""
    answer = browser.send(f"/ui/projects/{verb}", **fields)
    if told is None:
        assert answer.status_code == 303
        assert "Nothing was changed." in browser.page(answer.headers["location"])
    else:
        assert answer.status_code in (404, 409)
        assert told in words_of(answer.text)
    assert db.fetch_all("select id from project_changes") == []


def test_odd_names_are_text(filled: Filled, browser: Browser, db: Database) -> None:
    """A name with a slash has a page; markup and marks of direction in one are shown as text."""
    with db.transaction() as conn:
        for name in ("kim/argus", "<script>alert(1)</script>", "a\u202eb"):
            conn.execute("insert into projects (name, first_method) values (%s, 'cwd')", (name,))
    assert "kim/argus" in words_of(browser.page("/ui/projects/kim/argus"))
    for path in (
        "/ui/projects",
        "/ui/projects/%3Cscript%3Ealert(1)%3C/script%3E",
        "/ui/projects/a%E2%80%AEb",
        "/ui/projects/lab",
    ):
        page = browser.page(path)
        assert "<script>alert" not in page
        assert "<script>document" not in page
        assert "\u202e" not in words_of(page)
    assert browser.get("/ui/projects/never-was").status_code == 404
    assert browser.get("/ui/projects/%00").status_code == 404
    assert browser.get("/ui/projects?after=x").status_code == 422


@pytest.mark.parametrize("path", ["/ui/projects", "/ui/projects/garden"])
def test_queries_do_not_grow_with_the_rows(filled: Filled, browser: Browser, db: Database, path: str) -> None:
    """As many statements for many projects and notes as for a few."""
    browser.page(path)
    with count_queries() as few:
        browser.page(path)
    add_many_notes(db, 120, datetime.now(UTC))
    with db.transaction() as conn:
        conn.execute("insert into projects (name, first_method) select 'p' || n, 'cwd' from generate_series(1, 80) n")
    with count_queries() as many:
        browser.page(path)
    assert len(few) == len(many) <= 20
