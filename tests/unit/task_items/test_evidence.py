"""What said later settles a to-do, and how far it moves."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus_memory.rules.task_evidence import Sign, Status, decide_move, find_sign, is_stale

WHAT = "renew the certificate of the mail server"
SAID = datetime(2026, 12, 1, 9, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "I renewed the mail server certificate this morning.",
        "The certificate of the mail server is done.",
        "- [x] renew the certificate of the mail server",
        "The mail server's certificate has been renewed, all green.",
    ],
)
def test_a_past_form_or_a_word_of_completion_is_a_sign_of_done(text: str) -> None:
    """The to-do's words with its verb in the past, a tick or "done" say that it is done."""
    sign = find_sign(WHAT, text)
    assert sign is not None
    assert sign.done


@pytest.mark.parametrize(
    "text",
    [
        "I will renew the certificate of the mail server tomorrow.",
        "Did you renew the certificate of the mail server?",
        "I renewed my passport.",
        "The certificate of the mail server costs nothing.",
        "Once the certificate of the mail server is done, tell me.",
        "Let me renew the certificate of the mail server.",
    ],
)
def test_plans_questions_and_other_things_are_no_sign(text: str) -> None:
    """What is still to come, asked, or about something else proves nothing."""
    assert find_sign(WHAT, text) is None


@pytest.mark.parametrize(
    "text",
    [
        "The mail server certificate has not been renewed yet.",
        "We still have to renew the certificate of the mail server.",
        "I couldn't renew the certificate on the mail server.",
    ],
)
def test_not_yet_is_a_sign_of_still_open(text: str) -> None:
    """A claim is taken back by words that say it is not done."""
    sign = find_sign(WHAT, text)
    assert sign is not None
    assert not sign.done


def test_a_commit_is_known_by_how_git_prints_it() -> None:
    """A printed commit whose message holds the to-do's words is a sign with its hash."""
    sign = find_sign("rotate the access logs", "Done:\n[main 1a2b3c4d] Rotate access logs weekly\n 1 file changed")
    assert sign is not None
    assert sign.commit == "1a2b3c4d"


DONE = Sign(True, "q", 1.0)
OPEN = Sign(False, "q", 1.0)


@pytest.mark.parametrize(
    ("status", "sign", "evidence", "source", "steps"),
    [
        ("open", DONE, "turn", "s1", ("claimed-done",)),
        ("claimed-done", DONE, "turn", "s1", None),  # the same session says it again
        ("claimed-done", DONE, "turn", "s2", ("verified",)),
        ("open", DONE, "run", "run 4", ("claimed-done", "verified")),
        ("stale", DONE, "turn", "s2", ("claimed-done",)),
        ("claimed-done", OPEN, "turn", "s2", ("open",)),
        ("open", OPEN, "turn", "s2", None),
        ("verified", OPEN, "turn", "s2", None),
        ("dropped", DONE, "run", "run 4", None),
    ],
)
def test_each_sign_moves_a_status_as_far_as_it_proves(
    status: Status, sign: Sign, evidence: str, source: str, steps: tuple[str, ...] | None
) -> None:
    """One voice claims, a second or a machine's record verifies, "not yet" reopens, a settled one stays."""
    move = decide_move(status, sign, evidence, source=source, claimed_by=["s1"])  # type: ignore[arg-type]
    assert (move.to if move else None) == steps


def test_what_nobody_spoke_of_for_long_is_stale() -> None:
    """Two months without a sign, or two weeks past its day, make an unsettled to-do stale and no other."""
    assert not is_stale("open", SAID, None, SAID + timedelta(days=59))
    assert is_stale("open", SAID, None, SAID + timedelta(days=61))
    assert is_stale("claimed-done", SAID, date(2026, 12, 5), SAID + timedelta(days=20))
    assert not is_stale("open", SAID, date(2027, 5, 1), SAID + timedelta(days=90))
    assert not is_stale("verified", SAID, None, SAID + timedelta(days=900))


@given(st.text(), st.text())
def test_no_pair_of_texts_breaks_the_rule(what: str, text: str) -> None:
    """Any to-do against any text gives a sign whose share is between 0 and 1, or none."""
    sign = find_sign(what, text)
    assert sign is None or 0 < sign.score <= 1
