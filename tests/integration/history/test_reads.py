"""One note's history, the timeline of a project, and what changed about a subject."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from argus_memory.db import Database
from argus_memory.errors import NotFound, UsageError
from argus_memory.stages.acting import as_actor
from argus_memory.stages.recall_ledger import Injection, record_injection
from argus_memory.upkeep import decisions
from argus_memory.upkeep.history import EVER, read_diff, read_history, read_timeline
from tests.memory_rows import add_note, at

DAY = 24 * 60


def day(number: float) -> datetime:
    """Days after 2 March 2026, 9 o'clock."""
    return at(number * DAY)


def learn(db: Database, text: str, when: float, **more: Any) -> int:
    """A note whose creation is recorded at that day."""
    with db.transaction() as conn:
        conn.execute(f"alter table distilled_notes alter column created_at set default '{day(when).isoformat()}'::timestamptz")
    return add_note(db, text, said_at=day(when), **more)


def change(db: Database, note: int, when: float, setting: str, actor: str = "kim", **params: Any) -> None:
    with db.transaction() as conn:
        as_actor(conn, actor, now=day(when))
        conn.execute(f"update distilled_notes set {setting} where id = %(id)s", {"id": note, **params})


def supersede(db: Database, old: int, new: int, when: float) -> None:
    setting = "deleted_at = %(at)s, deleted_reason = 'superseded', superseded_by = %(new)s, valid_to = %(at)s"
    change(db, old, when, setting, at=day(when), new=new, actor="argus")


@pytest.fixture
def router(db: Database) -> dict[str, int]:
    """A router that changed: in the garden's project but for the last note."""
    ids = {
        "old": learn(db, "The router is a Fennel 3 in the hall.", 0),
        "kept": learn(db, "The router restarts every Sunday at four.", 0),
        "other": learn(db, "The tomatoes need water in the evening.", 0),
        "passing": learn(db, "The router stands in the cellar for now.", 10),
        "new": learn(db, "The Fennel 5 has taken the place in the hall.", 12),
        "loose": learn(db, "Somebody lent us a second router.", 13, project=None),
        "harbour": learn(db, "The router of the harbour is called tern.", 14, project="harbour"),
    }
    supersede(db, ids["old"], ids["new"], 12)
    change(db, ids["passing"], 15, "deleted_at = now(), deleted_reason = 'forgotten'")
    change(db, ids["kept"], 16, "confidence = 0.7")
    return ids


def test_a_history_tells_everything_of_a_note(db: Database) -> None:
    """Its events in order with who and when, decisions, verdicts, showings counted, and notes that went for it."""
    note = learn(db, "The seal is 12 mm.", 0)
    repeat = learn(db, "The seal has 12 mm.", 1)
    gone = "deleted_at = now(), deleted_reason = 'duplicate', superseded_by = %(stays)s"
    change(db, repeat, 2, gone, stays=note, actor="argus")
    change(db, note, 2, "confidence = 0.625", actor="argus")
    decisions.pin(db, note, "kim", now=day(3), reason="it matters")
    with db.transaction() as conn:
        conn.execute(
            "insert into dedup_log (note_id, other_id, verdict, model, status, reasoning, similarity)"
            " values (%s, %s, 'duplicate', 'rules', 'applied', 'the same', 0.97)",
            (repeat, note),
        )
        for when in (4, 5):
            record_injection(conn, Injection(True, day(when), note_ids=[note], note_scores=[1]))
    found = read_history(db, note, now=day(9))
    assert [(e["event"], e["actor"], e["at"]) for e in found.events] == [
        ("created", "argus", day(0)), ("merged", "argus", day(2)), ("reinforced", "argus", day(2)),
        ("pinned", "kim", day(3)),
    ]  # fmt: skip
    assert (found.events[1]["note_id"], found.events[1]["other_id"]) == (repeat, note)
    assert [(d["decision"], d["actor"], d["reason"]) for d in found.decisions] == [("pin", "kim", "it matters")]
    assert [(v["verdict"], v["status"]) for v in found.verdicts] == [("duplicate", "applied")]
    assert found.shown == {"times": 2, "first_at": day(4), "last_at": day(5)}
    assert (found.state, found.text) == ("live", "The seal is 12 mm.")
    assert read_history(db, repeat, now=day(9)).state == "duplicate"


def test_a_history_goes_on_when_the_fact_is_made_again(db: Database) -> None:
    """A later row of the same uid has the events of the earlier one before its own."""
    first = learn(db, "The seal is 12 mm.", 0, uid="u1")
    change(db, first, 1, "deleted_at = now(), deleted_reason = 'redistilled'")
    second = learn(db, "The seal is 12 mm.", 2, uid="u1")
    found = read_history(db, second, now=day(9))
    assert [(e["note_id"], e["event"]) for e in found.events] == [
        (first, "created"), (first, "redistilled"), (second, "created")
    ]  # fmt: skip


def test_no_such_note(db: Database) -> None:
    """A sentence that names the id."""
    with pytest.raises(NotFound, match="there is no note 99"):
        read_history(db, 99, now=day(0))


def test_a_timeline_is_one_projects(db: Database, router: dict[str, int]) -> None:
    """Newest first, without the events of other projects; those of none are counted."""
    found = read_timeline(db, since=EVER, until=day(99), project="garden")
    assert [(e["note_id"], e["event"]) for e in found.entries] == [
        (router["kept"], "reinforced"), (router["passing"], "forgotten"), (router["old"], "superseded"),
        (router["new"], "created"), (router["passing"], "created"), (router["other"], "created"),
        (router["kept"], "created"), (router["old"], "created"),
    ]  # fmt: skip
    assert (found.unattributed, found.more) == (1, False)
    assert found.entries[2]["other_id"] == router["new"]


def test_a_timeline_of_all_has_every_event(db: Database, router: dict[str, int]) -> None:
    """Also of no project and of others; showings are no lines."""
    with db.transaction() as conn:
        record_injection(conn, Injection(True, day(17), note_ids=[router["kept"]], note_scores=[1]))
    found = read_timeline(db, since=EVER, until=day(99))
    assert len(found.entries) == 7 + 3
    assert found.unattributed == 1


def test_a_timelines_window_and_limit(db: Database, router: dict[str, int]) -> None:
    """From `since` on, until before `until`; the limit counts what is left after that, and says that there is more."""
    found = read_timeline(db, since=day(12), until=day(15), project="garden")
    assert [e["event"] for e in found.entries] == ["superseded", "created"]
    found = read_timeline(db, since=EVER, until=day(99), project="garden", limit=2)
    assert ([e["event"] for e in found.entries], found.more) == (["reinforced", "forgotten"], True)
    found = read_timeline(db, since=EVER, until=day(99), project="garden", events=["superseded", "forgotten"], limit=2)
    assert ([e["event"] for e in found.entries], found.more) == (["forgotten", "superseded"], False)


def test_a_line_has_the_words_of_its_time(db: Database) -> None:
    """A note that was reworded later stands in the timeline as it was."""
    note = learn(db, "The seal is 12 mm.", 0)
    change(db, note, 2, "content = 'The seal is 14 mm.'")
    texts = [(e["event"], e["text"]) for e in read_timeline(db, since=EVER, until=day(9)).entries]
    assert texts == [("reworded", "The seal is 14 mm."), ("created", "The seal is 12 mm.")]


def test_no_such_project_is_not_nothing_recorded(db: Database, router: dict[str, int]) -> None:
    """An unknown project is refused with near names; a known one without events has an empty timeline."""
    with db.transaction() as conn:
        conn.execute("insert into projects (name, first_method) values ('cellar', 'explicit')")
    assert read_timeline(db, since=EVER, until=day(9), project="cellar").entries == ()
    with pytest.raises(NotFound, match="there is no project 'gardn'; did you mean garden"):
        read_timeline(db, since=EVER, until=day(9), project="gardn")
    with pytest.raises(NotFound, match="there is no project 'cellars'"):
        read_diff(db, "router", since=EVER, until=day(9), project="cellars")


def test_a_projects_earlier_names_belong_to_it(db: Database) -> None:
    """Aliases and projects merged into it: all their events are its own, by whichever name it is asked for."""
    learn(db, "The pump is blue.", 0, project="yard")
    learn(db, "The seal is 12 mm.", 1, project="garden")
    with db.transaction() as conn:
        conn.execute("insert into projects (name, first_method) values ('garden', 'cwd')")
        conn.execute(
            "insert into projects (name, first_method, merged_into) select 'yard', 'cwd', id from projects where name = 'garden'"
        )
        conn.execute(
            "insert into project_aliases (alias, project_id, at, actor) select 'plot', id, now(), 'kim' from projects"
            " where name = 'garden'"
        )
    for name in ("garden", "plot", "yard"):
        assert len(read_timeline(db, since=EVER, until=day(9), project=name).entries) == 2


def test_a_diff_tells_what_changed_about_a_subject(db: Database, router: dict[str, int]) -> None:
    """What changed about the router: both texts of what was superseded, though the new one does not say router."""
    found = read_diff(db, "routers", since=day(5), until=day(99))
    assert [(c.note_id, c.other_id, c.before, c.after) for c in found.changed] == [
        (router["old"], router["new"], "The router is a Fennel 3 in the hall.", "The Fennel 5 has taken the place in the hall.")
    ]  # fmt: skip
    assert [(c.note_id, c.event, c.actor) for c in found.passed] == [(router["passing"], "forgotten", "kim")]
    assert [c.note_id for c in found.added] == [router["harbour"], router["loose"]]
    assert [c.note_id for c in found.corroborated] == [router["kept"]]
    assert (found.removed, found.unattributed, found.left_off) == ((), 1, 0)


def test_a_diff_of_a_project_counts_what_belongs_to_none(db: Database, router: dict[str, int]) -> None:
    """Lines of no known project are counted, not hidden and not mixed in."""
    found = read_diff(db, "router", since=day(5), until=day(99), project="garden")
    assert (found.added, found.unattributed) == ((), 1)
    assert [c.note_id for c in found.changed] == [router["old"]]


def test_a_diff_ends_where_it_is_told_to(db: Database, router: dict[str, int]) -> None:
    """Up to day 11 only the passing note is news, and nothing was changed yet."""
    found = read_diff(db, "router", since=day(5), until=day(11))
    assert [c.note_id for c in found.added] == [router["passing"]]
    assert (found.changed, found.removed, found.passed, found.corroborated) == ((), (), (), ())


def test_a_subject_asks_for_all_its_words(db: Database, router: dict[str, int]) -> None:
    """Two words narrow; without a word to look for the subject is refused."""
    found = read_diff(db, "harbour router", since=EVER, until=day(99))
    assert [c.note_id for c in found.added] == [router["harbour"]]
    for nothing in ("", "...", "the of"):
        with pytest.raises(UsageError, match="no word to look for"):
            read_diff(db, nothing, since=EVER, until=day(99))


def test_quotes_in_a_subject_are_words(db: Database) -> None:
    """Marks that a search knows are no syntax here."""
    note = learn(db, "Kim's router is called O'Tern & co.", 1)
    found = read_diff(db, "kim's & o'tern !", since=EVER, until=day(9))
    assert [c.note_id for c in found.added] == [note]


def test_a_window_that_ends_before_it_begins_is_refused(db: Database) -> None:
    """For both, in a sentence."""
    for ask in (lambda: read_timeline(db, since=day(2), until=day(1)), lambda: read_diff(db, "x", since=day(2), until=day(1))):
        with pytest.raises(UsageError, match=r"until: .* is before since"):
            ask()
