"""Pages of episodes: the list, and one with its boundaries, its turns, and what the gate let through and refused."""

from __future__ import annotations

from argus_memory.db import Database
from tests.filled_store import Filled
from tests.ui_client import Browser, count_queries, words_of


def episode_of(db: Database, session: str) -> int:
    row = db.fetch_one("select id from episodes where session = %(session)s", {"session": session})
    assert row
    return int(row["id"])


def test_the_list_tells_what_became_of_each(reader: Browser) -> None:
    """State, turns, notes made and how it was cut; narrowed by project, session and state."""
    words = words_of(reader.page("/ui/episodes"))
    assert "5 episodes" in words
    assert "idle" in words
    assert "1 episode" in words_of(reader.page("/ui/episodes?state=parked"))
    assert "2 episodes" in words_of(reader.page("/ui/episodes?project=garden"))
    assert "1 episode" in words_of(reader.page("/ui/episodes?session=printer"))
    assert reader.get("/ui/episodes?state=asleep").status_code == 422


def test_one_shows_accepted_and_refused_with_their_grounds(browser: Browser, filled: Filled, db: Database) -> None:
    """Notes beside refused candidates with the reason, quoted spans marked in the turns, and checks as a plot."""
    id_ = episode_of(db, "greenhouse")
    with db.transaction() as conn:
        for number, raw in enumerate(filled.turns["greenhouse"][:3]):
            conn.execute(
                """insert into segment_checks (session, before_raw_id, after_raw_id, episode_id, reason, score, threshold, fired)
                   values ('greenhouse', %s, %s, %s, 'topic-shift', %s, 0.42, false)""",
                (raw + 1, raw, id_, 0.5 + number / 10),
            )
    page = browser.page(f"/ui/episodes/{id_}")
    words = words_of(page)
    assert "3 notes" in words
    assert "not-grounded" in words
    assert "these words stand in no turn of the episode" in words
    assert "<mark>The greenhouse vents open at 24 degrees now.</mark>" in page
    assert "threshold 0.420" in page
    assert "3 checks" in words


def test_hostile_text_stays_text(reader: Browser) -> None:
    """A turn with a script, right-to-left marks and a million characters: shown clipped and escaped."""
    page = reader.page("/ui/episodes/5")
    assert "<script>document.title" not in page
    assert "&lt;script&gt;document.title" in page
    assert "more characters" in page
    assert len(page) < 200_000


def test_what_there_is_not_is_a_page(reader: Browser) -> None:
    """404 in one sentence."""
    assert reader.get("/ui/episodes/999").status_code == 404


def test_an_empty_store_says_what_would_fill_it(bare: Browser) -> None:
    """And no blank table."""
    assert "No episode yet." in words_of(bare.page("/ui/episodes"))


def test_the_queries_do_not_grow_with_the_rows(bare: Browser, reader: Browser) -> None:
    """Of the list and of one."""
    with count_queries() as few:
        bare.page("/ui/episodes")
    with count_queries() as many:
        reader.page("/ui/episodes")
    assert len(few) == len(many)
    with count_queries() as small:
        reader.page("/ui/episodes/4")
    with count_queries() as large:
        reader.page("/ui/episodes/5")
    assert len(small) == len(large)
