"""The lookup in the database finds every decision that the rule would hold against a fact."""

from __future__ import annotations

from argus_memory.db import Database
from argus_memory.rules.decided import Asked
from argus_memory.rules.rewording import repeats
from argus_memory.rules.uid import note_uid, text_key
from argus_memory.stages.decided import find_fates
from argus_memory.upkeep.decisions import forget
from tests.integration.decisions.test_decide import NOW
from tests.memory_rows import add_note
from tests.unit.decisions.pairs import DIFFERENT, REWORDED
from tests.unit.dedup.later_pairs import LATER
from tests.unit.dedup.pairs import DEV, HELD_OUT


def test_every_reworded_repeat_is_found(db: Database) -> None:
    """With all of them forgotten in one project, each labelled repeat is kept out."""
    for gone in dict.fromkeys(gone for gone, _ in REWORDED):
        forget(db, add_note(db, gone), "kim", now=NOW)
    facts = [Asked(note_uid("fact", said, "garden"), text_key(said), said, "garden") for _, said in REWORDED]
    with db.transaction() as conn:
        fates = find_fates(conn, facts)
    assert [said for (_, said), fate in zip(REWORDED, fates, strict=True) if fate.out is None] == []


def test_whatever_the_rule_binds_is_looked_at(db: Database) -> None:
    """Of every labelled pair of dedup that the rule calls a repeat, the one is kept out once the other is forgotten;
    they share too few words for that nowhere."""
    bound = [(one, other) for _, one, other in (*DEV, *HELD_OUT, *LATER) if repeats(one, other)]
    assert len(bound) > 60
    for gone in dict.fromkeys(gone for gone, _ in bound):
        forget(db, add_note(db, gone, uid=note_uid("fact", gone, "garden")), "kim", now=NOW)
    facts = [Asked(note_uid("fact", said, "garden"), text_key(said), said, "garden") for _, said in bound]
    with db.transaction() as conn:
        fates = find_fates(conn, facts)
    assert [said for (_, said), fate in zip(bound, fates, strict=True) if fate.out is None] == []


def test_another_project_and_another_fact_are_free(db: Database) -> None:
    """In other words it is only bound in its own project; a different fact in none."""
    gone, said = REWORDED[0]
    forget(db, add_note(db, gone), "kim", now=NOW)
    other = DIFFERENT[0][1]
    facts = [
        Asked("u1", text_key(said), said, "harbour"),
        Asked("u2", text_key(other), other, "garden"),
        Asked("u3", text_key(gone), gone, "harbour"),
    ]
    with db.transaction() as conn:
        fates = find_fates(conn, facts)
    assert [fate.out is None for fate in fates] == [True, True, False]
