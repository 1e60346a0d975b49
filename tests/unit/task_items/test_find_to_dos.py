"""Which sentence names a to-do, what it asks for and until when."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus_memory.rules.due_dates import find_due
from argus_memory.rules.task_items import find_to_dos, task_item_uid

SAID = datetime(2026, 12, 1, 9, 0, tzinfo=UTC)  # a Tuesday

NAMED = [
    ("user", "I must renew the certificate by Friday.", "renew the certificate by Friday"),
    ("user", "We still need to move the photo archive to the new disk.", "move the photo archive to the new disk"),
    ("user", "Don't forget to call the plumber tomorrow!", "call the plumber tomorrow"),
    ("user", "Remind me to water the tomatoes on Sunday", "water the tomatoes on Sunday"),
    (None, "User: We have to migrate the garden database to the new host.", "migrate the garden database to the new host"),
    (None, "TODO: rotate the access logs", "rotate the access logs"),
    (None, "Action item: ask the landlord about the boiler", "ask the landlord about the boiler"),
    (None, "- [ ] order a filter for the pump", "order a filter for the pump"),
    (None, "2. [ ] label the fuse box", "label the fuse box"),
    (None, "The backup script needs to be rewritten in Go.", "The backup script needs to be rewritten in Go"),
    (None, "Our domain still has to be transferred.", "Our domain still has to be transferred"),
    ("assistant", "You still need to set the API key in the settings page.", "set the API key in the settings page"),
]  # fmt: skip
NONE = [
    ("user", "Should we renew the certificate?"),
    ("user", "If we need to scale, we add workers."),
    ("user", "I don't need to pay that invoice."),
    ("user", "We had to restart the router twice."),
    ("user", "You must not delete the archive."),
    ("user", "We should have renewed the certificate."),
    ("user", "Maybe we need to look for another host."),
    ("user", "We need to be careful with the garden pump."),
    ("user", "I must say the new kitchen looks great."),
    ("user", "fix it"),
    ("assistant", "I need to check the configuration file first."),
    (None, "The port must be a number between 1 and 65535."),
    (None, "The name must match the folder."),
    (None, "- [x] order a filter for the pump"),
    (None, "Tests need to be in the tests folder."),
    (None, "We always have to restart it after an update."),
]


@pytest.mark.parametrize(("speaker", "sentence", "what"), NAMED)
def test_a_sentence_that_leaves_something_to_do_names_it(speaker: str | None, sentence: str, what: str) -> None:
    """Each form of a to-do is found, with the action and what it is about."""
    assert [found.what for found in find_to_dos(sentence, SAID, speaker=speaker)] == [what]


@pytest.mark.parametrize(("speaker", "sentence"), NONE)
def test_rules_questions_conditions_and_the_past_are_no_to_dos(speaker: str | None, sentence: str) -> None:
    """What asks, supposes, forbids, describes or is over leaves nothing to do."""
    assert find_to_dos(sentence, SAID, speaker=speaker) == []


def test_a_text_gives_each_of_its_to_dos_once_and_none_from_code() -> None:
    """Prose is read sentence by sentence, code blocks are passed over, a repeat counts once."""
    text = (
        "We moved house. I must cancel the old contract. And I must cancel the old contract!\n"
        "```\n# TODO: rotate the access logs\n```\n- [ ] measure the windows for curtains\n"
    )
    assert [found.what for found in find_to_dos(text, SAID, speaker="user")] == [
        "cancel the old contract",
        "measure the windows for curtains",
    ]


@given(st.text())
def test_any_text_gives_to_dos_whose_quotations_stand_in_it(text: str) -> None:
    """No text breaks the rule, and each quotation is a slice of the text."""
    for found in find_to_dos(text, SAID):
        assert found.quote in text


@pytest.mark.parametrize(
    ("sentence", "due"),
    [
        ("by Friday", date(2026, 12, 4)),
        ("before next Tuesday", date(2026, 12, 8)),
        ("until 2027-01-31", date(2027, 1, 31)),
        ("by March 3", date(2027, 3, 3)),
        ("by the 24th of December", date(2026, 12, 24)),
        ("tomorrow", date(2026, 12, 2)),
        ("in two weeks", date(2026, 12, 15)),
        ("by the end of the month", date(2026, 12, 31)),
        ("by 2026-02-31", None),
        ("before the meeting", None),
        ("on may 99", None),
        ("soon", None),
    ],
)
def test_a_day_is_read_from_the_sentence_or_left_open(sentence: str, due: date | None) -> None:
    """Named days count from the day it was said; what names no day stays without one."""
    assert find_due(f"I must renew it {sentence}", SAID) == due


def test_the_same_to_do_said_in_another_order_is_the_same_one() -> None:
    """The uid hangs on the words and the project, not on order, time words or endings."""
    one = task_item_uid("renew the certificate by Friday", "garden")
    assert one == task_item_uid("the certificate must be renewed", "garden")
    assert one != task_item_uid("renew the certificate by Friday", "kitchen")
    assert one != task_item_uid("renew the passport", "garden")
