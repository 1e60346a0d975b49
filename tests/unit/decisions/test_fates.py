"""What decisions in force make of a fact."""

from __future__ import annotations

from argus_memory.rules.decided import Asked, InForce, judge_fate

FACT = Asked("u-garden", "key", "The spare key lies under the pot.", "garden")


def made(id_: int, decision: str, *, uid: str = "u-garden", exact: bool = True, content: str = FACT.content) -> InForce:
    return InForce(id_, decision, uid, content, None, None, exact)


def out(*decisions: InForce) -> int | None:
    found = judge_fate(FACT, decisions).out
    return found.id if found else None


def test_the_last_word_on_exactly_this_fact_counts() -> None:
    """Forgotten it is out, restored it is in, and what is only close to it then keeps nothing out."""
    near = made(9, "forget", uid="x", exact=False, content="Under the pot lies the spare key.")
    assert out(made(1, "forget")) == 1
    assert out(made(1, "forget"), made(2, "restore")) is None
    assert out(made(1, "forget"), made(2, "restore"), near) is None


def test_what_was_let_in_elsewhere_holds_until_something_is_said_here() -> None:
    """The same text restored under another project lets it in here too, unless the fact was forgotten here later."""
    let_in = made(5, "restore", uid="u-shop")
    words = "Under the pot lies the spare key."
    assert out(made(3, "forget", uid="x", exact=False, content=words), let_in) is None
    assert out(made(7, "forget", uid="x", exact=False, content=words), let_in) == 7


def test_other_facts_are_free() -> None:
    """A near decision on another fact keeps nothing out."""
    other = made(3, "forget", uid="x", exact=False, content="The spare key lies on the fridge.")
    assert out(other) is None
