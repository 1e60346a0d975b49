"""Adding up batches, and what a stage's work looks like in the asset catalogue."""

from __future__ import annotations

from datetime import UTC, date, datetime

from hypothesis import given
from hypothesis import strategies as st

from argus_assets.defs.memory.partitions import FIRST_DAY, materializations
from argus_memory.upkeep.process import DayWork, StageWork, add_counts, compare_days
from argus_memory.upkeep.process_all import report_of_works

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
DAYS = st.dictionaries(st.dates(date(2026, 1, 1), date(2026, 1, 20)), st.integers(1, 50))


def test_counts_of_batches_are_added_up() -> None:
    """What was done is a sum, by key where it is a mapping; what is left and words are the last batch's."""
    parts = [
        {"notes": 2, "left": 9, "verdicts": {"distinct": 1}, "stopped": None, "went_live": False},
        {"notes": 3, "left": 4, "verdicts": {"distinct": 2, "refine": 1}, "stopped": "away", "went_live": True},
    ]
    assert add_counts(parts) == {
        "notes": 5,
        "left": 4,
        "verdicts": {"distinct": 3, "refine": 1},
        "stopped": "away",
        "went_live": True,
    }


@given(DAYS, DAYS)
def test_days_tell_what_was_done_and_left(before: dict[date, int], after: dict[date, int]) -> None:
    """A day is named exactly when less waits there than before, and its two counts are what waited before."""
    days = compare_days(before, after)
    for day, waited in before.items():
        if waited > after.get(day, 0):
            assert days[day].done + days[day].left == waited
        else:
            assert day not in days
    assert days.keys() <= before.keys()


def test_one_event_a_day_the_newest_with_all_counts() -> None:
    """Each touched day has an event; the newest comes last, with the counts of the whole pass, zeros too."""
    work = StageWork(
        "distilled_notes",
        {"notes_created": 4, "parked": 0},
        {date(2026, 3, 1): DayWork(2, 0), date(2026, 2, 27): DayWork(1, 5)},
        batches=1,
    )
    old, new = materializations("distilled_notes", work, NOW, by_day=True)
    assert (old.partition, new.partition) == ("2026-02-27", "2026-03-01")
    assert {name: value.value for name, value in old.metadata.items()} == {"done": 1, "left": 5}
    assert new.metadata["notes_created"].value == 4
    assert new.metadata["parked"].value == 0
    assert (new.metadata["done"].value, new.metadata["left"].value) == (2, 0)


def test_a_pass_without_work_stands_under_today() -> None:
    """A pass that found nothing leaves one event with zeros on today's partition."""
    (event,) = materializations("episodes", StageWork("episodes", {"episodes_closed": 0}), NOW, by_day=True)
    assert event.partition == "2026-03-02"
    assert event.metadata["episodes_closed"].value == 0
    assert event.metadata["done"].value == 0


def test_days_before_the_calendar_are_no_partition() -> None:
    """Work on what was said before the first partition is counted, though no day is named for it."""
    work = StageWork("distilled_notes", {"notes_created": 1}, {date(2009, 5, 1): DayWork(1, 0)})
    (event,) = materializations("distilled_notes", work, NOW, by_day=True)
    assert event.partition is not None
    assert event.partition >= FIRST_DAY
    assert event.metadata["notes_created"].value == 1


def test_an_asset_without_days_has_one_event() -> None:
    """dedup_log and projects are materialized whole."""
    (event,) = materializations("dedup_log", StageWork("dedup_log", {"verdicts": {}}), NOW, by_day=False)
    assert event.partition is None


def test_the_report_has_the_contracts_counts() -> None:
    """One go through the stages is the contract's ProcessReport, `parked` being that of distillation."""
    report = report_of_works(
        [
            StageWork("turn_embeddings", {"turns_embedded": 7, "items_parked": 2, "waiting": 1}, seconds=1.5),
            StageWork("episodes", {"episodes_closed": 2}),
            StageWork("distilled_notes", {"units_distilled": 2, "notes_created": 3, "parked": 1}),
            StageWork("note_embeddings", {"notes_embedded": 3, "turns_embedded": 0, "items_parked": 2}, seconds=0.5),
            StageWork("dedup_log", {"verdicts": {"distinct": 2}, "held": 1}),
        ]
    )
    assert (report.turns_embedded, report.notes_embedded, report.episodes_closed) == (7, 3, 2)
    assert (report.units_distilled, report.notes_created, report.parked, report.held) == (2, 3, 1, 1)
    assert report.dedup == {"distinct": 2}
    assert report.seconds == {"embed": 2.0, "segment": 0.0, "distill": 0.0, "dedup": 0.0, "task_items": 0.0, "impact": 0.0, "note_files": 0.0, "projects": 0.0}
