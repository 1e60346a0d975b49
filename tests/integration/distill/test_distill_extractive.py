"""Distillation without a model: what is written, kept, taken away and left alone."""

from __future__ import annotations

from datetime import timedelta

import pytest

from argus_memory.db import Database
from argus_memory.settings import DISTILL_LEASE, Settings
from argus_memory.stages.distill import distill_pending
from tests.distill_rows import add_episode, add_item, requeue
from tests.memory_rows import add_space, at

NOW = at(600)
TALK = [
    ("user", "We decided to keep the seed list in Postgres 16."),
    ("assistant", "I'll look at the schema first."),
    ("assistant", "I added the table seeds. All 12 tests pass."),
    ("user", "thanks!"),
]


def state(db: Database, kind: str, unit_id: int) -> dict[str, object]:
    row = db.fetch_one("select * from distill_state where unit_kind = %s and unit_id = %s", (kind, unit_id))  # type: ignore[arg-type]
    assert row
    return row


def test_a_closed_episode_becomes_grounded_notes(db: Database, settings: Settings) -> None:
    """Notes name their speaker, stand on a span of one turn, and carry project, day and model."""
    episode, raw_ids = add_episode(db, TALK)
    report = distill_pending(db, settings, now=NOW)
    notes = db.fetch_all("select * from distilled_notes order by id")
    assert [(n["content"], n["raw_id"], n["category"], n["role"]) for n in notes] == [
        ("User: We decided to keep the seed list in Postgres 16.", raw_ids[0], "decision", "user"),
        ("Assistant: I added the table seeds.", raw_ids[2], "context", "assistant"),
        ("Assistant: All 12 tests pass.", raw_ids[2], "context", "assistant"),
    ]
    for note in notes:
        body = db.fetch_one("select body from raw_items where id = %(raw_id)s", note)
        assert body
        assert body["body"][note["source_start"] : note["source_end"]] == note["source_ref"]
        assert (note["model"], note["model_real"], note["confidence"]) == ("extractive-v1", None, 0.5)
        assert (note["project"], note["episode_id"], note["valid_from"]) == ("garden", episode, note["said_at"])
    assert (report.units_distilled, report.notes_created, report.pending) == (1, 3, 0)
    done = state(db, "episode", episode)
    assert (done["status"], done["notes_created"], done["claimed_by"]) == ("done", 3, None)
    assert db.fetch_one("select distilled_at from episodes") == {"distilled_at": NOW}
    assert db.fetch_one("select count(*) as n from llm_calls") == {"n": 0}


def test_new_notes_wait_for_their_vectors(db: Database, settings: Settings) -> None:
    """Every note written is queued for the active embedding space."""
    add_space(db)
    add_episode(db, TALK)
    distill_pending(db, settings, now=NOW)
    queued = db.fetch_one("select count(*) as n from embed_queue where target = 'note'")
    assert queued == {"n": 3}


def test_a_pass_leaves_its_counts_also_when_nothing_is_pending(db: Database, settings: Settings) -> None:
    """Each pass is one row in stage_passes; an idle one says zero."""
    distill_pending(db, settings, now=NOW)
    row = db.fetch_one("select stage, outcome, counts from stage_passes")
    assert row
    assert (row["stage"], row["outcome"]) == ("distill", "ok")
    assert row["counts"]["units_distilled"] == 0
    assert row["counts"]["pending"] == 0
    assert row["counts"]["stopped"] is None


def test_a_document_is_distilled_by_itself(db: Database, settings: Settings) -> None:
    """An item's notes hang on the raw item, without an episode and without a speaker."""
    item = add_item(db, "# Release notes\n\nThe API listens on port 8484 since version 2.1.0.")
    distill_pending(db, settings, now=NOW)
    note = db.fetch_one("select raw_id, episode_id, role, content from distilled_notes")
    assert note == {
        "raw_id": item,
        "episode_id": None,
        "role": None,
        "content": "Document: The API listens on port 8484 since version 2.1.0.",
    }


def test_a_near_duplicate_is_not_distilled_twice(db: Database, settings: Settings) -> None:
    """The copy is passed over and says of what it is a copy."""
    first = add_item(db, "The API listens on port 8484.")
    copy = add_item(db, "The API listens on port 8484!")
    with db.transaction() as conn:
        conn.execute(
            "insert into near_duplicates (raw_id, of_raw_id, similarity) values (%s, %s, 0.98)", (copy, first)
        )
    report = distill_pending(db, settings, now=NOW)
    assert (report.units_distilled, report.units_skipped) == (1, 1)
    passed = state(db, "item", copy)
    assert (passed["status"], passed["last_error"]) == (
        "skipped",
        f"a near-duplicate of item {first}, which is distilled",
    )
    assert db.fetch_one("select array_agg(raw_id) as ids from distilled_notes") == {"ids": [first]}


def test_health_probes_and_replaced_episodes_leave_no_notes(db: Database, settings: Settings) -> None:
    """Units that are not memory are closed with a reason, not distilled."""
    add_episode(db, TALK, project="argus-canary")
    old, _ = add_episode(db, TALK)
    with db.transaction() as conn:
        conn.execute("update episodes set replaced_at = now() where id = %s", (old,))
    report = distill_pending(db, settings, now=NOW)
    assert (report.units_skipped, report.notes_created) == (2, 0)
    assert state(db, "episode", old)["last_error"] == "the episode was replaced"


def test_the_newest_units_come_first_and_the_batch_is_bounded(db: Database, settings: Settings) -> None:
    """With room for one unit the most recent is taken; the report says what is left."""
    old, _ = add_episode(db, TALK, start=0)
    new, _ = add_episode(db, TALK, start=100)
    report = distill_pending(db, settings, now=NOW, limit=1)
    assert (state(db, "episode", new)["status"], state(db, "episode", old)["status"]) == ("done", "pending")
    assert report.pending == 1


def test_named_units_are_the_only_ones_taken(db: Database, settings: Settings) -> None:
    """With `units` given the rest stays pending, however new it is."""
    one, _ = add_episode(db, TALK, start=0)
    other, _ = add_episode(db, TALK, start=100)
    distill_pending(db, settings, now=NOW, units=[("episode", one)])
    assert (state(db, "episode", one)["status"], state(db, "episode", other)["status"]) == ("done", "pending")


def test_the_same_fact_made_again_keeps_its_row(db: Database, settings: Settings) -> None:
    """Distilled anew, a note with the same uid keeps id, confidence and counts; nothing is doubled."""
    episode, _ = add_episode(db, TALK)
    distill_pending(db, settings, now=NOW)
    with db.transaction() as conn:
        conn.execute("update distilled_notes set confidence = 0.9, shown_count = 7")
    before = db.fetch_all("select id, uid, confidence, shown_count, deleted_at from distilled_notes order by id")
    requeue(db, "episode", episode)
    report = distill_pending(db, settings, now=NOW + timedelta(hours=1))
    after = db.fetch_all("select id, uid, confidence, shown_count, deleted_at from distilled_notes order by id")
    assert after == before
    assert (report.notes_created, report.notes_kept, report.notes_tombstoned) == (0, 3, 0)


def test_notes_that_are_not_made_again_are_tombstoned(db: Database, settings: Settings) -> None:
    """A live note of the unit that the new distillation does not bring is tombstoned, never deleted."""
    episode, raw_ids = add_episode(db, TALK)
    distill_pending(db, settings, now=NOW)
    with db.transaction() as conn:
        conn.execute("update distilled_notes set uid = 'another' where raw_id = %s", (raw_ids[0],))
    requeue(db, "episode", episode)
    later = NOW + timedelta(hours=1)
    report = distill_pending(db, settings, now=later)
    gone = db.fetch_one("select deleted_at, deleted_reason from distilled_notes where uid = 'another'")
    assert gone == {"deleted_at": later, "deleted_reason": "redistilled"}
    assert (report.notes_created, report.notes_kept, report.notes_tombstoned) == (1, 2, 1)


def test_what_a_person_took_away_is_not_made_again(db: Database, settings: Settings) -> None:
    """A fact that was forgotten stays forgotten when its unit is distilled anew; the rejection says why."""
    episode, raw_ids = add_episode(db, TALK)
    distill_pending(db, settings, now=NOW)
    with db.transaction() as conn:
        conn.execute(
            "update distilled_notes set deleted_at = now(), deleted_reason = 'forgotten' where raw_id = %s",
            (raw_ids[0],),
        )
    requeue(db, "episode", episode)
    report = distill_pending(db, settings, now=NOW)
    live = db.fetch_all("select raw_id from distilled_notes where deleted_at is null")
    assert raw_ids[0] not in {row["raw_id"] for row in live}
    assert report.notes_rejected == 1
    rejection = db.fetch_one("select reason, detail from gate_rejections")
    assert rejection == {"reason": "taken-away", "detail": "the same fact was tombstoned before: forgotten"}


def test_a_claimed_unit_is_left_to_its_run_until_the_lease_ends(db: Database, settings: Settings) -> None:
    """Another run's unit is not touched; after the lease it counts as abandoned and is taken."""
    episode, _ = add_episode(db, TALK)
    with db.transaction() as conn:
        conn.execute("update distill_state set claimed_at = %s, claimed_by = 'other'", (NOW,))
    assert distill_pending(db, settings, now=NOW + DISTILL_LEASE).units_distilled == 0
    late = NOW + DISTILL_LEASE + timedelta(seconds=1)
    assert distill_pending(db, settings, now=late).units_distilled == 1
    assert state(db, "episode", episode)["status"] == "done"


def test_a_unit_whose_row_is_locked_is_passed_by(db: Database, settings: Settings) -> None:
    """A run that meets a row another transaction holds goes on to the next unit instead of waiting."""
    held, _ = add_episode(db, TALK, start=100)
    free, _ = add_episode(db, TALK, start=0)
    with db.transaction() as conn:
        conn.execute("select 1 from distill_state where unit_id = %s for update", (held,))
        assert distill_pending(db, settings, now=NOW).units_distilled == 1
    assert (state(db, "episode", held)["status"], state(db, "episode", free)["status"]) == ("pending", "done")


def test_a_fault_in_one_unit_does_not_stop_the_others(
    db: Database, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An unforeseen error counts against its unit alone and is on record; five park it."""
    from argus_memory.models import extractive

    bad, _ = add_episode(db, [("user", "We decided to break it.")], start=100)
    good, _ = add_episode(db, TALK, start=0)
    real = extractive.extract

    def breaks(turns: object, **more: object) -> object:
        if "break it" in turns[0].text:  # type: ignore[index]
            raise RuntimeError("a planted fault")
        return real(turns, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(extractive, "extract", breaks)
    report = distill_pending(db, settings, now=NOW)
    assert (report.units_distilled, report.content_failures, state(db, "episode", good)["status"]) == (1, 1, "done")
    failed = state(db, "episode", bad)
    assert (failed["status"], failed["content_failures"], failed["last_error_class"]) == ("pending", 1, "content")
    assert "a planted fault" in str(failed["last_error"])
