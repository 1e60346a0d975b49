"""Turns become episodes, in a real database."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from argus_memory.db import Database
from argus_memory.settings import Settings
from argus_memory.stages.segment import Due, SegmentReport, find_due, segment_pending
from tests.memory_rows import add_dialog, add_note, add_space, add_turn, add_vector, at

LATER = at(60 * 24 * 30)


def episodes(db: Database, session: str = "s1") -> list[dict[str, Any]]:
    """The session's live episodes in order, each with its raw ids."""
    return db.fetch_all(
        """select e.id, e.boundary_reason, e.project, e.turn_count, e.block_count,
                  array_agg(t.raw_id order by t.ordinal) as raw_ids
           from episodes e join turns t on t.episode_id = e.id
           where e.session = %(session)s and e.replaced_at is null
           group by e.id order by e.started_at, e.first_raw_id""",
        {"session": session},
    )


def mark(db: Database, kind: str, moment: datetime, session: str = "s1") -> None:
    with db.transaction() as conn:
        conn.execute(
            "insert into session_marks (session, source, mark, at) values (%s, 'claude-code', %s, %s)",
            (session, kind, moment),
        )


def reasons(db: Database, settings: Settings, now: datetime) -> dict[str, str]:
    return {due.session: due.reason for due in find_due(db, settings, now)}


def test_an_idle_tail_becomes_an_episode(db: Database, settings: Settings) -> None:
    """A conversation silent for longer than the setting is closed, queued for distillation, and leaves its traces."""
    ids = add_dialog(db, 3)
    report = segment_pending(db, settings, now=at(36))
    assert (report.sessions, report.episodes_closed, report.turns_closed) == (1, 1, 6)
    (episode,) = episodes(db)
    assert episode["raw_ids"] == ids
    assert (episode["boundary_reason"], episode["project"], episode["turn_count"]) == ("idle", "garden", 6)
    assert db.fetch_one("select unit_kind, unit_id, status, said_at from distill_state") == {
        "unit_kind": "episode",
        "unit_id": episode["id"],
        "status": "pending",
        "said_at": at(0),
    }
    assert db.fetch_all("select episode_id, event from episode_events") == [
        {"episode_id": episode["id"], "event": "closed"}
    ]


def test_a_live_tail_is_left_alone(db: Database, settings: Settings) -> None:
    """Turns of a conversation that goes on are in no episode, and nothing is due."""
    add_dialog(db, 3)
    assert find_due(db, settings, at(20)) == []
    assert segment_pending(db, settings, now=at(20)).episodes_closed == 0
    assert episodes(db) == []


def test_every_pass_is_recorded(db: Database, settings: Settings) -> None:
    """A pass that found nothing leaves a row with zeros."""
    segment_pending(db, settings, now=LATER, run_id="run-1")
    row = db.fetch_one("select stage, outcome, counts, run_id from stage_passes")
    assert row
    assert (row["stage"], row["outcome"], row["run_id"]) == ("segment", "ok", "run-1")
    assert row["counts"] == SegmentReport().counts()


def test_due_says_why(db: Database, settings: Settings) -> None:
    """Cap, gap, end mark, /clear, another session, silence and a late turn each make a tail due, by name."""
    add_dialog(db, 11, session="long", project="a")
    add_dialog(db, 1, session="pause", project="b")
    add_turn(db, "back again", at(33), session="pause", project="b")
    add_dialog(db, 1, start=20, session="ended", project="c")
    mark(db, "end", at(21.5), "ended")
    add_dialog(db, 1, start=20, session="cleared", project="d")
    mark(db, "clear", at(22), "cleared")
    add_dialog(db, 1, start=20, session="left", project="e")
    add_dialog(db, 1, start=25, session="next", project="e")
    add_dialog(db, 1, start=0, session="silent", project="f")
    add_dialog(db, 1, start=20, session="live", project="g")
    assert reasons(db, settings, at(34)) == {
        "long": "size-cap",
        "pause": "time-gap",
        "ended": "session-end",
        "cleared": "session-end",
        "left": "next-session",
        "silent": "idle",
    }
    segment_pending(db, settings, now=at(34))
    add_turn(db, "late", at(0.5), session="silent", project="f")
    assert reasons(db, settings, at(34)) == {"silent": "late-turn"}


def test_due_is_newest_first_and_the_limit_holds(db: Database, settings: Settings) -> None:
    """A bounded pass takes the newest conversations, and counts what it left."""
    for number in range(3):
        add_dialog(db, 1, start=number * 10, session=f"s{number}", project=None)
    assert [due.session for due in find_due(db, settings, LATER)] == ["s2", "s1", "s0"]
    report = segment_pending(db, settings, now=LATER, limit=2)
    assert (report.sessions, report.left) == (2, 1)
    assert [due.session for due in find_due(db, settings, LATER)] == ["s0"]


def test_sessions_narrow_a_pass_down(db: Database, settings: Settings) -> None:
    """Named sessions alone are worked on."""
    add_dialog(db, 1, session="one")
    add_dialog(db, 1, session="two")
    segment_pending(db, settings, now=LATER, sessions=["two"])
    assert (episodes(db, "one"), len(episodes(db, "two"))) == ([], 1)


def test_due_names_the_day_and_the_work(db: Database, settings: Settings) -> None:
    """A due tail carries its first turn's UTC day and its newest turn, by which a sensor knows work it started."""
    ids = add_dialog(db, 2)
    assert find_due(db, settings, LATER) == [
        Due("s1", "garden", "idle", 4, at(0), at(3), ids[-1], vectors_missing_since=None)
    ]
    assert str(find_due(db, settings, LATER)[0].day) == "2026-03-02"


def test_the_size_cap_leaves_the_rest_as_live_tail(db: Database, settings: Settings) -> None:
    """Of a long live conversation the first twenty are closed and the rest stays open."""
    ids = add_dialog(db, 11)
    segment_pending(db, settings, now=at(22))
    assert [episode["raw_ids"] for episode in episodes(db)] == [ids[:20]]
    assert find_due(db, settings, at(22)) == []


def test_checks_are_written_once(db: Database, settings: Settings) -> None:
    """A tail that is looked at again writes no check a second time; closing it names the episode on them."""
    add_dialog(db, 11)
    segment_pending(db, settings, now=at(22))
    first = db.fetch_all("select * from segment_checks order by id")
    assert {row["reason"] for row in first} >= {"size-cap", "time-gap", "topic-shift", "idle"}
    assert {row["status"] for row in first if row["reason"] == "topic-shift"} == {"too-few-turns", "unavailable"}
    add_turn(db, "one more", at(23))
    segment_pending(db, settings, now=at(60))
    boundaries = db.fetch_all(
        """select after_raw_id, before_raw_id, reason, count(*) as n, count(episode_id) as known
           from segment_checks where before_raw_id is not null group by 1, 2, 3"""
    )
    assert {(row["n"], row["known"]) for row in boundaries if row["reason"] != "size-cap"} == {(1, 1)}


def test_a_late_turn_reopens_its_episode(db: Database, settings: Settings) -> None:
    """A turn said inside a closed span replaces that episode: logged, its unit skipped, its notes moved."""
    ids = add_dialog(db, 3)
    other = add_dialog(db, 2, start=100)
    segment_pending(db, settings, now=LATER)
    old, kept = episodes(db)
    note = add_note(db, "the beans are in the shed", raw_id=ids[0], episode_id=old["id"])
    late = add_turn(db, "said between, sent late", at(2.5))
    report = segment_pending(db, settings, now=LATER)
    assert (report.episodes_closed, report.episodes_replaced) == (1, 1)
    new, same = episodes(db)
    assert new["raw_ids"] == [*ids[:3], late, *ids[3:]]
    assert (same["id"], same["raw_ids"]) == (kept["id"], other)
    row = db.fetch_one("select replaced_reason from episodes where id = %(id)s", {"id": old["id"]})
    assert row == {"replaced_reason": "late-turn"}
    events = db.fetch_all(
        "select event, detail from episode_events where episode_id = %(id)s and event <> 'closed' order by id",
        {"id": old["id"]},
    )
    assert events == [
        {"event": "reopened", "detail": {"reason": "late-turn", "new_turns": [late]}},
        {"event": "replaced", "detail": {"reason": "late-turn", "by": [new["id"]]}},
    ]
    states = db.fetch_all("select unit_id, status from distill_state order by unit_id")
    assert [row["status"] for row in states] == ["skipped", "pending", "pending"]
    moved = db.fetch_one("select episode_id, deleted_at from distilled_notes where id = %(id)s", {"id": note})
    assert moved == {"episode_id": new["id"], "deleted_at": None}


def test_a_session_that_goes_on_after_its_end_mark_is_one_conversation(db: Database, settings: Settings) -> None:
    """An end mark closes at once; a resume within the gap is joined when it ends, one after it starts anew."""
    ids = add_dialog(db, 1)
    mark(db, "end", at(1.5))
    segment_pending(db, settings, now=at(2))
    assert [episode["boundary_reason"] for episode in episodes(db)] == ["session-end"]
    more = add_dialog(db, 1, start=10)
    assert find_due(db, settings, at(12)) == []
    segment_pending(db, settings, now=at(60))
    assert [episode["raw_ids"] for episode in episodes(db)] == [ids + more]
    apart = add_dialog(db, 1, start=100)
    segment_pending(db, settings, now=LATER)
    assert [episode["raw_ids"] for episode in episodes(db)] == [ids + more, apart]


def test_notes_of_an_episode_that_is_open_again_stay_live(db: Database, settings: Settings) -> None:
    """When a late turn makes a closed span live again, its notes wait, live, for the episode that follows."""
    ids = add_dialog(db, 2)
    mark(db, "end", at(4))
    segment_pending(db, settings, now=at(5))
    note = add_note(db, "compost goes out on Monday", raw_id=ids[0], episode_id=episodes(db)[0]["id"])
    add_turn(db, "late", at(1.5))
    add_turn(db, "resumed", at(6))
    assert segment_pending(db, settings, now=at(7)).episodes_replaced == 1
    assert episodes(db) == []
    assert db.fetch_one("select deleted_at from distilled_notes where id = %(id)s", {"id": note}) == {
        "deleted_at": None
    }
    segment_pending(db, settings, now=LATER)
    assert db.fetch_one("select episode_id from distilled_notes where id = %(id)s", {"id": note}) == {
        "episode_id": episodes(db)[0]["id"]
    }


def test_the_episodes_project_is_where_most_turns_are(db: Database, settings: Settings) -> None:
    """The project most turns name wins, with the method and folder of its first turn."""
    add_turn(db, "first", at(0), project="shed")
    add_turn(db, "second", at(1), project="garden")
    add_turn(db, "third", at(2), project="garden")
    segment_pending(db, settings, now=LATER)
    assert db.fetch_one("select project, project_method, cwd from episodes") == {
        "project": "garden",
        "project_method": "cwd",
        "cwd": "/home/kim/garden",
    }


def test_turns_without_session_are_apart_by_project(db: Database, settings: Settings) -> None:
    """Turns that name no session form one conversation for each source and project."""
    for project in ("garden", "shed"):
        with db.transaction() as conn:
            conn.execute(
                """insert into raw_items (source, kind, body, project, dedup_key, said_at)
                   values ('telegram', 'turn', 'hello', %s, %s, %s)""",
                (project, project, at(0)),
            )
    assert segment_pending(db, settings, now=LATER).episodes_closed == 2


def test_the_health_probe_makes_no_episodes(db: Database, settings: Settings) -> None:
    """Turns of the canary project are never due."""
    add_dialog(db, 2, project="argus-canary")
    assert find_due(db, settings, LATER) == []


# --- vectors ------------------------------------------------------------------------------------------------


def test_a_topic_shift_cuts_where_vectors_say_so(db: Database, settings: Settings) -> None:
    """With vectors and a threshold of the active space a prompt on something else starts an episode."""
    space = add_space(db, topic_shift=0.4)
    ids = add_dialog(db, 4)
    for number, raw_id in enumerate(ids):
        add_vector(db, space, "turn", raw_id, [1, 0] if number < 4 else [0, 1])
    segment_pending(db, settings, now=LATER)
    assert [(e["boundary_reason"], e["raw_ids"]) for e in episodes(db)] == [
        ("topic-shift", ids[:4]),
        ("idle", ids[4:]),
    ]
    row = db.fetch_one("select score, threshold from segment_checks where reason = 'topic-shift' and fired")
    assert row == {"score": pytest.approx(0), "threshold": pytest.approx(0.4)}


def test_a_due_tail_waits_for_vectors_and_then_goes_without(db: Database, settings: Settings) -> None:
    """For ten minutes it waits and says so; then gap and cap decide, and the check says unavailable."""
    add_space(db, topic_shift=0.4)
    add_dialog(db, 4)
    row = db.fetch_one("select min(queued_at) as at from embed_queue")
    assert row
    now = row["at"] + timedelta(minutes=9)
    assert find_due(db, settings, now)[0].vectors_missing_since == row["at"]
    report = segment_pending(db, settings, now=now)
    assert (report.waiting, report.episodes_closed) == (1, 0)
    report = segment_pending(db, settings, now=now + timedelta(minutes=2))
    assert (report.waiting, report.episodes_closed, report.unavailable) == (0, 1, 2)


def test_vectors_that_come_later_change_no_closed_episode(db: Database, settings: Settings) -> None:
    """What was cut without vectors stays so, also when the conversation is looked at again."""
    space = add_space(db, topic_shift=0.4)
    ids = add_dialog(db, 4)
    patient = datetime.now(UTC) + timedelta(hours=1)
    segment_pending(db, settings, now=patient)
    (before,) = episodes(db)
    for number, raw_id in enumerate(ids):
        add_vector(db, space, "turn", raw_id, [1, 0] if number < 4 else [0, 1])
    add_vector(db, space, "turn", add_turn(db, "goes on", at(9)), [0, 1])
    segment_pending(db, settings, now=patient)
    (after,) = episodes(db)
    assert after["raw_ids"][:8] == before["raw_ids"]


# --- two at once, and faults ----------------------------------------------------------------------------------


def test_two_runs_never_work_on_one_session(db: Database, settings: Settings) -> None:
    """A session that another run has claimed is left to it, and counted."""
    add_dialog(db, 2)
    with db.transaction() as conn:
        conn.execute("select pg_advisory_xact_lock(hashtext('argus segment'), hashtext('s1'))")
        assert segment_pending(db, settings, now=LATER).busy == 1
    assert segment_pending(db, settings, now=LATER).episodes_closed == 1


def test_parallel_passes_make_each_episode_once(db: Database, settings: Settings) -> None:
    """Four passes at once over twenty sessions close twenty episodes in all."""
    for number in range(20):
        add_dialog(db, 1, session=f"s{number}", project=None)
    reports: list[SegmentReport] = []

    def work() -> None:
        reports.append(segment_pending(db, settings, now=LATER))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(reports) == 4
    assert sum(report.episodes_closed for report in reports) == 20
    assert db.fetch_one("select count(*) as n from episodes") == {"n": 20}


def test_an_episode_in_distillation_is_not_replaced_under_it(db: Database, settings: Settings) -> None:
    """A late turn waits while a run holds the episode's unit, and is taken in the next pass."""
    add_dialog(db, 2)
    segment_pending(db, settings, now=LATER)
    add_turn(db, "late", at(1.5))
    with db.transaction() as conn:
        conn.execute("select 1 from distill_state for update")
        report = segment_pending(db, settings, now=LATER)
        assert (report.busy, report.episodes_replaced) == (1, 0)
    assert segment_pending(db, settings, now=LATER).episodes_replaced == 1


def test_a_session_that_fails_does_not_stop_the_others(db: Database, settings: Settings, dsn: str) -> None:
    """Its transaction is rolled back and counted, the pass is recorded as failed, the rest is closed."""
    add_dialog(db, 1, session="good", project=None)
    add_dialog(db, 1, start=5, session="bad", project=None)
    with psycopg.connect(dsn, autocommit=True) as admin:
        admin.execute("alter table episodes add constraint planted check (session <> 'bad')")
    report = segment_pending(db, settings, now=LATER)
    assert (report.failed, report.episodes_closed, len(episodes(db, "good"))) == (1, 1, 1)
    row = db.fetch_one("select outcome, error from stage_passes")
    assert row
    assert row["outcome"] == "failed"
    assert "planted" in row["error"]


def test_a_short_idle_setting_still_gives_the_same_episodes(db: Database, settings: Settings) -> None:
    """With ARGUS_IDLE_CLOSE of two minutes a conversation closes early, and what follows soon is joined to it."""
    quick = replace(settings, idle_close=timedelta(minutes=2))
    ids = add_dialog(db, 1)
    segment_pending(db, quick, now=at(4))
    assert [episode["raw_ids"] for episode in episodes(db)] == [ids]
    more = add_dialog(db, 1, start=6)
    segment_pending(db, quick, now=at(20))
    assert [episode["raw_ids"] for episode in episodes(db)] == [ids + more]
