"""Two at once, a day that is captured into, spans that would be cut otherwise, and the nightly reconcile."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest

from argus_memory.db import Database
from argus_memory.errors import Conflict
from argus_memory.records import Unit
from argus_memory.settings import Settings
from argus_memory.stages.segment import segment_pending
from argus_memory.upkeep.reconcile import due_days, reconcile
from argus_memory.upkeep.regenerate_lock import one_at_a_time
from argus_memory.upkeep.regenerate_read import Days
from argus_memory.upkeep.regeneration import regenerate
from tests.integration.regenerate.conftest import FACTS, Diary, StubModel
from tests.memory_rows import add_turn, at

TABS, PUMP, MARA, POSTGRES = FACTS


def test_of_two_at_once_the_second_is_refused(diary: Diary) -> None:
    """While one waits for its model another is told so, and the first ends as if alone."""
    asked, go_on = threading.Event(), threading.Event()

    def wait(_unit: Unit) -> None:
        asked.set()
        assert go_on.wait(20)

    diary.model.before = wait
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(diary.regenerate)
        assert asked.wait(20)
        try:
            with pytest.raises(Conflict, match="another regeneration is at work"):
                diary.regenerate()
        finally:
            go_on.set()
        assert first.result(20).status == "switched"
    assert [row["status"] for row in diary.db.fetch_all("select status from regenerations")] == ["switched"] * 2


def test_what_a_dead_process_left_running_is_abandoned(diary: Diary) -> None:
    """The row of a process that died says so as soon as the next one starts."""
    with diary.db.transaction() as conn:
        conn.execute("update regenerations set status = 'running', finished_at = null")
    diary.regenerate()
    rows = diary.db.fetch_all("select status from regenerations order by id")
    assert [row["status"] for row in rows] == ["abandoned", "switched"]


@pytest.fixture
def talk(db: Database, settings: Settings) -> Diary:
    """One session of two turns, closed by the real stage and made by the stub."""
    for n, text in enumerate(FACTS[:2]):
        add_turn(db, text, at(n), session="talk")
    segment_pending(db, settings, now=at(120))
    unit = db.fetch_one("select id from episodes")
    assert unit
    with db.transaction() as conn:
        conn.execute("update distill_state set status = 'done', distilled_at = said_at")
    made = Diary(db, settings, StubModel(), [unit["id"]], at(120))
    assert made.regenerate().counts["did_added"] == 2
    return made


def test_a_day_that_is_captured_into_keeps_its_live_tail(talk: Diary) -> None:
    """Turns captured while the model answers are left to segmentation; the day's closed episode is switched."""
    talk.model.before = lambda _unit: void(add_turn(talk.db, MARA, at(200), session="talk"))
    talk.model.more = {PUMP: "The pump has a gauge."}
    done = talk.regenerate()
    assert (done.status, done.counts["did_switched"], done.counts["did_added"]) == ("switched", 1, 1)
    tail = talk.db.fetch_all("select episode_id from turns where session = 'talk' order by said_at")
    assert tail[-1]["episode_id"] is None
    segment_pending(talk.db, talk.settings, now=at(400))
    assert len(talk.notes()) == 3


def test_an_episode_replaced_meanwhile_has_moved_on(talk: Diary) -> None:
    """A late turn reopens the episode while its notes are made anew: the switch leaves it alone, no note is lost."""

    def late(_unit: Unit) -> None:
        add_turn(talk.db, MARA, at(0.5), session="talk")
        segment_pending(talk.db, talk.settings, now=at(300))

    talk.model.before = late
    talk.model.more = {PUMP: "The pump has a gauge."}
    done = talk.regenerate()
    assert (done.status, done.counts["did_moved_on"], done.counts.get("did_switched", 0)) == ("switched", 1, 0)
    rows = talk.db.fetch_all("select content from distilled_notes where deleted_at is null order by content")
    assert sorted(row["content"] for row in rows) == sorted((TABS, PUMP))


def test_a_session_with_turns_to_close_is_left_to_segmentation(talk: Diary) -> None:
    """A late turn that waits: the episode's notes are made anew as it stands, and nothing is cut."""
    add_turn(talk.db, MARA, at(0.5), session="talk")
    done = talk.regenerate()
    assert (done.status, done.counts["sessions_left"], done.counts["recut"]) == ("switched", 1, 0)


def test_spans_that_would_be_cut_otherwise_are_cut(db: Database, settings: Settings) -> None:
    """After a change of the rules two episodes become one: notes move to it with all they earned, in the switch."""
    for n, text in enumerate(FACTS[:2]):
        add_turn(db, text, at(n), session="talk")
        segment_pending(db, settings, now=at(n + 0.5), sessions=["talk"])
        with db.transaction() as conn:
            conn.execute(
                """with made as (
                       insert into episodes (session, source, project, first_raw_id, last_raw_id, turn_count, block_count,
                                             started_at, ended_at, boundary_reason, content_key)
                       select session, source, project, raw_id, raw_id, 1, 1, said_at, said_at, 'size-cap', raw_id::text
                       from turns where episode_id is null returning *),
                   queued as (
                       insert into distill_state (unit_kind, unit_id, project, said_at, status, distilled_at)
                       select 'episode', id, project, started_at, 'done', started_at from made)
                   update turns t set episode_id = m.id, ordinal = 1 from made m where t.raw_id = m.first_raw_id"""
            )
    diary = Diary(db, settings, StubModel(), [], at(120))
    days = Days(at(0).date(), at(0).date())
    # Made as they were cut then: an idle limit that separates nothing keeps the later one open, so nothing is recut.
    shown = diary.regenerate("dry-run")
    assert (shown.counts["recut"], shown.counts["added"]) == (1, 2)
    assert db.fetch_one("select count(*)::int as n from episodes where replaced_at is null") == {"n": 2}
    done = diary.regenerate()
    assert (done.status, done.counts["did_switched"]) == ("switched", 1)
    episodes = db.fetch_all("select id, turn_count from episodes where replaced_at is null")
    assert [row["turn_count"] for row in episodes] == [2]
    notes = db.fetch_all("select distinct episode_id from distilled_notes where deleted_at is null")
    assert notes == [{"episode_id": episodes[0]["id"]}]
    assert db.fetch_all("select from distill_state where status = 'pending'") == []
    again = regenerate(db, settings, days, actor="test", clock=lambda: at(130), maker=diary.model)
    assert (again.counts["recut"], again.counts["unchanged"], again.loss) == (0, 2, 0.0)


def test_reconcile_tells_drift_and_changes_nothing(diary: Diary) -> None:
    """Days never looked at come first; the drift is the share not made again; the notes and states stand."""
    notes = diary.db.fetch_all("select * from distilled_notes order by id")
    diary.model.says = lambda line: line if line == TABS else None
    first = reconcile(diary.db, diary.settings, clock=lambda: diary.now, maker=diary.model)
    diary.now += timedelta(days=1)
    second = reconcile(diary.db, diary.settings, clock=lambda: diary.now, maker=diary.model)
    assert (first.days, second.days) == ((at(1440).date(),), (at(0).date(),))
    assert [run.status for run in first.runs] == ["shown"]
    assert (first.drift, second.drift) == (0.75, 0.75)
    assert diary.db.fetch_all("select * from distilled_notes order by id") == notes
    assert due_days(diary.db, diary.now.date()) == [at(1440).date()]
    assert due_days(diary.db, at(0).date()) == [], "young days are still captured into"


def test_reconcile_switches_above_the_operators_threshold(diary: Diary) -> None:
    """ARGUS_RECONCILE_ABOVE lets it switch a day that drifted that far; the guard holds all the same."""
    diary.model.says = lambda line: None if line == TABS else line
    bold = replace(diary.settings, reconcile_above=0.2)
    done = reconcile(diary.db, bold, clock=lambda: diary.now, maker=diary.model)
    assert [run.status for run in done.runs] == ["switched"]
    diary.model.says = lambda _line: None
    diary.now += timedelta(days=1)
    done = reconcile(diary.db, bold, clock=lambda: diary.now, maker=diary.model)
    assert [run.status for run in done.runs] == ["held"]


def void(_value: object) -> None:
    """For a lambda that is called for what it does."""


def test_the_next_one_may_begin_right_after(diary: Diary) -> None:
    """Twenty in a row never meet the lock of the one before, which the server frees a moment after its connection."""
    for _ in range(20):
        with one_at_a_time(diary.db):
            pass
