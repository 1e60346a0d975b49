"""The words of messages and of the digest."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from argus_memory.rules.message_parts import utf8_length, utf16_length
from argus_memory.settings import load_settings
from argus_memory.watch.digest_text import DigestFacts, digest_body, digest_title
from argus_memory.watch.message_text import (
    CAPTION_MAX,
    NOTE_MAX,
    NTFY_MAX,
    PARTS_MAX,
    TELEGRAM_MAX,
    Message,
    as_html,
    as_plain,
    hide_secrets,
    ntfy_parts,
    telegram_parts,
    with_notes,
)
from argus_memory.watch.ntfy import encode_header

NOW = datetime(2026, 5, 4, 9, 0, tzinfo=UTC)
MESSAGE = Message(1, "k", "deliver", "main", "Title", "body", None, NOW)
NOTES = ["n" * 400] * 3


@given(st.text(st.sampled_from("word \n🦉<&"), max_size=9000), st.text(max_size=600), st.none() | st.just("https://a.test/" + "x" * 480))
def test_every_part_fits_with_all_its_notes(body: str, title: str, link: str | None) -> None:
    """As Telegram counts: without markup; a caption is shorter, ntfy counts bytes."""
    message = replace(MESSAGE, title=title, body=body, link=link)
    parts = telegram_parts(message)
    assert 1 <= len(parts) <= PARTS_MAX
    for part in parts:
        limit = CAPTION_MAX if part.form == "file" else TELEGRAM_MAX
        assert 0 < utf16_length(as_plain(part, NOTES)) <= limit
    assert all(utf8_length(with_notes(part, NOTES).text) <= NTFY_MAX for part in ntfy_parts(message))


def test_everything_written_is_escaped() -> None:
    """Title, notes, text and link hold no markup of their own."""
    message = replace(MESSAGE, title="a<b", body="x & <i>y</i>", link="https://a.test/?a=1&b=2")
    (part,) = telegram_parts(message)
    assert as_html(part, ["n < m"]) == (
        "<i>n &lt; m</i>\n<b>a&lt;b</b>\nx &amp; &lt;i&gt;y&lt;/i&gt;\n\nhttps://a.test/?a=1&amp;b=2"
    )


def test_a_title_too_long_for_its_line_stands_in_the_text() -> None:
    """Nothing of it is lost."""
    message = replace(MESSAGE, title="long " * 100)
    assert "long " * 99 in telegram_parts(message)[0].text


def test_kind_and_severity_show_at_a_glance() -> None:
    """Alerts, warnings, recoveries and reminders differ in their first character."""
    shown = [
        replace(MESSAGE, kind=kind, severity=severity).heading[0]
        for kind, severity in (("alert", "error"), ("alert", "warn"), ("recovery", "error"), ("reminder", "error"))
    ]
    assert shown == ["🔴", "🟡", "🟢", "🟠"]


def test_own_secrets_and_secret_forms_are_hidden() -> None:
    """The token of the bot, the webhook's address, and anything that has a key's form."""
    settings = load_settings({
        "ARGUS_HOME": "/tmp/argus-none",
        "ARGUS_TELEGRAM_TOKEN": "plain-looking-value",
        "ARGUS_WEBHOOK_URL": "https://hooks.test/services/abcdef",
    })  # fmt: skip
    hidden = hide_secrets("POST https://hooks.test/services/abcdef with plain-looking-value failed", settings)
    assert "abcdef" not in hidden
    assert "plain-looking" not in hidden
    assert hidden.endswith("failed")


def test_a_title_travels_in_a_header() -> None:
    """ASCII as it is on one line; anything else in the form that ntfy decodes."""
    assert encode_header("two\r\nlines: x") == "two lines: x"
    assert encode_header("Grüße") == "=?UTF-8?B?R3LDvMOfZQ==?="


def test_notes_are_shortened() -> None:
    """A note of any length leaves room for the text."""
    assert len(as_plain(telegram_parts(MESSAGE)[0], ["n" * 999]).splitlines()[0]) == NOTE_MAX


EMPTY = DigestFacts(
    now=NOW, zone=UTC, ran=[], missed=[], held={"held": 0, "since": None}, parked={"units": 0, "texts": 0}, alerts=[],
    outbox="nothing waits", costs={"calls": 0, "usd": None, "unknown": 0},
    canaries={"ok": 0, "failed": 0, "last": None, "step": None}, levels=[],
)  # fmt: skip


def test_an_empty_day_says_so_in_each_line() -> None:
    """No section is left out."""
    assert digest_title(EMPTY) == "Argus, Monday 4 May: 0 runs ok"
    assert digest_body(EMPTY).splitlines() == [
        "Ran: no task in the last day.", "Did not run: nothing that was due.", "Held for review: nothing.",
        "Parked: nothing.", "Open alerts: none.", "Messages: nothing waits.", "Cost: Argus called no model.",
        "Canary: none was sent yet.", "Service levels: none was measured yet.",
    ]  # fmt: skip


def test_a_bad_day_names_each_thing() -> None:
    """What failed, what did not run, what waits, and a cost of which a part is not known."""
    facts = replace(
        EMPTY,
        ran=[
            {"task": "backup", "ok": 0, "failed": 1, "skipped": 0, "running": 0, "reason": "exit code 3"},
            {"task": "heartbeat", "ok": 24, "failed": 0, "skipped": 1, "running": 1, "reason": None},
        ],
        missed=[{"task": "sweep", "missed": 2, "last_due_at": NOW - timedelta(hours=1), "reason": "no run known"}],
        held={"held": 2, "since": NOW - timedelta(days=3)},
        parked={"units": 1, "texts": 4},
        alerts=[{"id": 7, "title": "backup failed", "opened_at": NOW - timedelta(minutes=90)}],
        costs={"calls": 12, "usd": 0.0341, "unknown": 3},
        canaries={"ok": 23, "failed": 1, "last": "failed", "step": "recall"},
        levels=[{"slo": "capture-rate", "value": 0.91, "threshold": 0.99, "status": "failed"}],
    )
    assert digest_title(facts) == "Argus, Monday 4 May: 24 runs ok, 1 failed, 2 missed, 1 alert open"
    assert digest_body(facts).splitlines() == [
        "Ran: 24 ok, 1 skipped, 1 still running (heartbeat 24).",
        "Failed: backup, 1 of 1: exit code 3",
        "Did not run: sweep, 2 times, last due Mon 08:00: no run known",
        "Held for review: 2, the oldest for 3 days (`argus review list`).",
        "Parked: 1 undistilled after repeated failures, 4 texts without a vector.",
        "Open alert 7, for 1 h 30 min: backup failed",
        "Messages: nothing waits.",
        "Cost: 0.0341 USD for 9 calls, unknown for 3 calls.",
        "Canary: 23 arrived, 1 did not; the last one: failed at recall.",
        "Service level broken: capture-rate is 0.91, 0.99 is asked",
    ]


def test_unknown_cost_is_never_nothing() -> None:
    """With no known cost at all no sum is shown."""
    body = digest_body(replace(EMPTY, costs={"calls": 3, "usd": None, "unknown": 3}))
    assert "Cost: unknown for 3 calls." in body.splitlines()


def test_what_scripts_tell_of_their_cost_is_a_line_of_its_own() -> None:
    """A script's own figure is shown, apart from the calls that Argus made."""
    body = digest_body(replace(EMPTY, costs={**EMPTY.costs, "told_runs": 8, "told_usd": 0.016}))
    assert "Cost: Argus called no model." in body
    assert "Cost told by scripts: 0.0160 USD in 8 runs, calls through Argus included." in body
