"""accept: from items to receipts, rows, and a trace of everything that is no row."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from argus_memory.db import Database
from argus_memory.errors import InvalidItem, UsageError
from argus_memory.records import Redaction
from argus_memory.rules.fence import CLOSE, OPEN, fence
from argus_memory.settings import CAPTURE_MAX_ITEMS, Settings, load_settings
from argus_memory.stages.capture import accept

from .items import NOW, item, turn

KEY = "sk-ant-api03-a1B2c3D4e5F6g7H8i9J0"


def rows(db: Database, table: str = "raw_items") -> list[dict[str, Any]]:
    return [dict(row) for row in db.fetch_all(f"select * from {table} order by 1")]


def test_a_turn_becomes_a_row_with_everything_it_came_with(db: Database, settings: Settings) -> None:
    """Body, session, folder, project and metadata are kept; the time is the one it was said at."""
    given = turn("The pump needs a new seal.", uuid="u-1", position=120, host="laptop", message_id="m-1")
    (receipt,) = accept(db, settings, [given], now=NOW)
    (row,) = rows(db)
    assert receipt.id == row["id"]
    assert not receipt.duplicate
    assert (row["body"], row["session"], row["cwd"]) == (given["body"], "s1", "/home/kim/garden")
    assert (row["project"], row["project_method"], row["project_confidence"]) == ("garden", "cwd", pytest.approx(0.6))
    assert row["metadata"] == given["metadata"]
    assert (row["said_at"], row["captured_at"]) == (datetime(2026, 11, 30, 10, tzinfo=UTC), NOW)
    assert (row["identity_key"], row["position"]) == ("uuid:u-1", 120)
    plain = "s1|2026-11-30T10:00:00.000Z|The pump needs a new seal."
    assert row["dedup_key"] == hashlib.md5(plain.encode()).hexdigest()


def test_a_turn_is_searchable_and_queued_at_once(db: Database, settings: Settings) -> None:
    """The capture's own transaction leaves search terms and the row of `turns`."""
    accept(db, settings, [turn("The pump needs a new seal.")], now=NOW)
    found = db.fetch_all("select raw_id from turns where tsv @@ to_tsquery('english', 'seal')")
    assert len(found) == 1


def test_ids_follow_the_order_of_the_request(db: Database, settings: Settings) -> None:
    """Receipts stand in the order of the items, and later items have higher ids."""
    receipts = accept(db, settings, [turn(f"Step {n}") for n in range(50)], now=NOW)
    ids = [receipt.id for receipt in receipts]
    assert ids == sorted(ids, key=lambda each: each or 0)
    assert [row["body"] for row in rows(db)] == [f"Step {n}" for n in range(50)]


def test_the_same_uuid_in_another_session_is_a_repeat(db: Database, settings: Settings) -> None:
    """A forked session repeats its turns under a new id: the first row stands for them."""
    (first,) = accept(db, settings, [turn("Said once.", uuid="u-1", session="a")], now=NOW)
    (again,) = accept(db, settings, [turn("Said once.", uuid="u-1", session="b")], now=NOW)
    assert (again.id, again.duplicate) == (first.id, True)
    assert len(rows(db)) == 1


def test_without_uuid_role_text_and_time_tell_a_repeat(db: Database, settings: Settings) -> None:
    """White space aside, the same words by the same speaker at the same moment are one turn in all sessions."""
    (first,) = accept(db, settings, [turn("Said  once.\n", session="a")], now=NOW)
    copy, other_role, other_time = accept(
        db,
        settings,
        [
            turn("Said once.", session="b", at="2026-11-30T11:00:00+01:00"),
            turn("Said once.", session="b", role="assistant"),
            turn("Said once.", session="b", at="2026-11-30T10:00:01Z"),
        ],
        now=NOW,
    )
    assert (copy.id, copy.duplicate) == (first.id, True)
    assert not other_role.duplicate
    assert not other_time.duplicate


def test_what_has_no_time_is_told_apart_by_session_and_text(db: Database, settings: Settings) -> None:
    """Without uuid and timestamp only the same session makes the same words a repeat."""
    one, other, again = accept(
        db, settings, [turn("ok", at=None, session=session) for session in ("a", "b", "a")], now=NOW
    )
    assert not one.duplicate
    assert not other.duplicate
    assert (again.id, again.duplicate) == (one.id, True)


def test_repeats_within_one_request_are_found(db: Database, settings: Settings) -> None:
    """The second copy in a request gets the id of the first."""
    receipts = accept(db, settings, [turn("Twice."), turn("Other."), turn("Twice.")], now=NOW)
    assert receipts[2].id == receipts[0].id
    assert [receipt.duplicate for receipt in receipts] == [False, False, True]
    assert rows(db, "capture_outcomes")[0]["count"] == 1


def test_documents_of_one_time_and_text_are_not_one(db: Database, settings: Settings) -> None:
    """The hash of role, text and time is for turns alone; two pages are told apart by their session."""
    one, other = accept(
        db, settings, [item("A page.", kind="document", session=s, original_timestamp="2026-11-30") for s in "ab"],
        now=NOW,
    )  # fmt: skip
    assert one.id != other.id


def test_secrets_never_reach_a_row(db: Database, settings: Settings) -> None:
    """Body and metadata are masked before the insert; receipt and `redactions` name kind and count alone."""
    given = turn(f"Use {KEY} and {KEY[:-1]}x", env={"password": "hunter2hunter2"})
    (receipt,) = accept(db, settings, [given], now=NOW)
    assert receipt.redactions == (Redaction("anthropic-key", 2), Redaction("assignment", 1))
    (row,) = rows(db)
    assert row["body"] == "Use [redacted:anthropic-key] and [redacted:anthropic-key]"
    assert row["metadata"]["env"] == {"password": "[redacted:assignment]"}
    kept = [(each["raw_id"], each["kind"], each["count"]) for each in rows(db, "redactions")]
    assert kept == [(row["id"], "anthropic-key", 2), (row["id"], "assignment", 1)]
    dump = json.dumps([rows(db, table) for table in ("raw_items", "redactions", "turns")], default=str)
    assert KEY[8:] not in dump
    assert "hunter2" not in dump


def test_the_dedup_key_is_that_of_the_masked_body(db: Database, settings: Settings) -> None:
    """A repeat is one although its secret was masked, and is not counted as a redaction twice."""
    given = turn(f"Use {KEY}", at=None)
    (first,) = accept(db, settings, [given], now=NOW)
    (again,) = accept(db, settings, [given], now=NOW)
    assert again.id == first.id
    masked = "s1||Use [redacted:anthropic-key]"
    assert rows(db)[0]["dedup_key"] == hashlib.md5(masked.encode()).hexdigest()
    assert len(rows(db, "redactions")) == 1


def test_own_tokens_are_masked(db: Database, settings: Settings) -> None:
    """A person who pastes this installation's token does not store it."""
    accept(db, settings, [turn(f"the hook says {settings.capture_token} is wrong")], now=NOW)
    assert rows(db)[0]["body"] == "the hook says [redacted:argus-token] is wrong"


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (turn("API Error: 529 Overloaded", role="assistant"), "poison"),
        (turn("I'm sorry, but I can't help with that.", role="assistant"), "poison"),
        (turn(fence("The pump is in the shed.")), "own-text"),
        (turn("Words of a session of its own.", argus_session=True), "own-text"),
        (turn(KEY), "only-secret"),
        (turn("<private>all of it</private>"), "only-secret"),
        (turn("Hush.", cwd="/srv/hidden/deep/down"), "excluded"),
        (turn("Hush.", cwd="/work/tree", repo={"common_dir": "/srv/hidden/.git"}), "excluded"),
        (turn("Hush.", cwd=None, project="hidden"), "excluded"),
    ],
)
def test_what_is_not_stored_says_why_and_is_counted(
    db: Database, settings: Settings, given: dict[str, Any], reason: str
) -> None:
    """Poison, our own text, bare secrets and excluded folders leave a receipt and a count, and no row."""
    shut = load_settings({**as_environment(settings), "ARGUS_EXCLUDE": "/srv/hidden, hidden"})
    (receipt,) = accept(db, shut, [given], now=NOW)
    assert (receipt.id, receipt.duplicate, receipt.skipped) == (None, False, reason)
    assert rows(db) == []
    (outcome,) = rows(db, "capture_outcomes")
    assert (outcome["outcome"], outcome["reason"], outcome["count"]) == ("skipped", reason, 1)
    redacted = [(row["raw_id"], row["count"]) for row in rows(db, "redactions")]
    assert redacted == ([(None, 1)] if reason == "only-secret" else [])


def as_environment(settings: Settings) -> dict[str, str]:
    return {
        "ARGUS_HOME": str(settings.home),
        "ARGUS_DATABASE_URL": settings.database_url or "",
        "ARGUS_CAPTURE_TOKEN": settings.capture_token or "",
    }


def test_an_ignore_file_keeps_a_folder_out(db: Database, settings: Settings, tmp_path: Path) -> None:
    """`.argus-ignore` in a folder above keeps out what is said below it."""
    (tmp_path / ".argus-ignore").touch()
    (receipt,) = accept(db, settings, [turn("Hush.", cwd=str(tmp_path / "a" / "b"))], now=NOW)
    assert receipt.skipped == "excluded"


@pytest.mark.parametrize("text", ["API Error: 529 Overloaded", "I can't help with that."])
def test_a_person_who_quotes_an_error_is_kept(db: Database, settings: Settings, text: str) -> None:
    """Only assistant turns are judged for poison."""
    (receipt,) = accept(db, settings, [turn(text)], now=NOW)
    assert receipt.skipped is None


def test_only_the_fenced_part_is_cut_out(db: Database, settings: Settings) -> None:
    """What a person says around injected text stays; the injected text is gone."""
    accept(db, settings, [turn(f"Before.\n{fence('Injected.')}\nAfter.")], now=NOW)
    assert rows(db)[0]["body"] == "Before.\nAfter."


def test_a_fence_that_was_cut_off_goes_to_the_end(db: Database, settings: Settings) -> None:
    """Without its last line the fence takes what follows with it; a closing line alone takes nothing."""
    accept(db, settings, [turn(f"Before.\n{OPEN}\nInjected."), turn(f"Kept.\n{CLOSE}")], now=NOW)
    assert [row["body"] for row in rows(db)] == ["Before.", f"Kept.\n{CLOSE}"]


def test_nul_and_lone_surrogates_are_replaced_everywhere(db: Database, settings: Settings) -> None:
    """What Postgres cannot hold becomes U+FFFD in body, session, folder and metadata."""
    given = turn("a\0b\ud83dc", session="s\0", cwd="/home/kim/gar\udc00den", host="h\0", **{"k\0": ["v\udfff"]})
    accept(db, settings, [given], now=NOW)
    (row,) = rows(db)
    assert (row["body"], row["session"], row["cwd"]) == ("a\ufffdb\ufffdc", "s\ufffd", "/home/kim/gar\ufffdden")
    assert row["metadata"]["k\ufffd"] == ["v\ufffd"]


@pytest.mark.parametrize(
    ("stamp", "said", "problem"),
    [
        ("2026-11-30T10:00:00", "2026-11-30T10:00:00+00:00", None),
        ("2026-11-30T10:00:00+02:00", "2026-11-30T08:00:00+00:00", None),
        (1795946400, "2026-11-29T10:00:00+00:00", None),
        ("2027-01-01T00:00:00Z", NOW.isoformat(), "in the future"),
        ((NOW + timedelta(seconds=20)).isoformat(), NOW.isoformat(), None),
        ("yesterday, after lunch", NOW.isoformat(), "unreadable"),
        (None, NOW.isoformat(), None),
    ],
)
def test_a_turn_is_never_lost_over_its_timestamp(
    db: Database, settings: Settings, stamp: Any, said: str, problem: str | None
) -> None:
    """No zone means UTC, the future is clipped to now, and what is no time is stored with the time of capture."""
    accept(db, settings, [turn("Said at some time.", at=stamp)], now=NOW)
    (row,) = rows(db)
    assert row["said_at"].isoformat() == said
    assert (row["metadata"].get("timestamp_problem") or "").startswith(problem or "")
    assert ("timestamp_problem" in row["metadata"]) is (problem is not None)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"source": "Claude Code"}, "source"), ({"source": None}, "source"), ({"kind": "thought"}, "kind"),
        ({"body": ""}, "body"), ({"body": " \n"}, "body"), ({"body": 7}, "body"), ({"body": None}, "body"),
        ({"body": "x" * 5_000_000}, "body"), ({"session": 5}, "session"), ({"session": "s" * 3000}, "session"),
        ({"cwd": ["/x"]}, "cwd"), ({"project": "p" * 300}, "project"), ({"metadata": []}, "metadata"),
        ({"metadata": {"role": "tool"}}, "metadata.role"), ({"metadata": {"role": 1}}, "metadata.role"),
        ({"metadata": {"repo": 3}}, "metadata.repo"), ({"metadata": {"uuid": {}}}, "metadata.uuid"),
        ({"metadata": {"original_timestamp": [1]}}, "metadata.original_timestamp"),
        ({"metadata": {"position": "12"}}, "metadata.position"), ({"metadata": {"host": 1}}, "metadata.host"),
        ({"metadata": {"a": json.loads("[" * 900 + "]" * 900)}}, "metadata"),
    ],
)  # fmt: skip
def test_one_malformed_item_refuses_the_request(
    db: Database, settings: Settings, change: dict[str, Any], field: str
) -> None:
    """The error names field and index, nothing of the request is stored, and the refusal is counted."""
    items = [turn("Fine."), {**turn("Not so fine."), **change}, turn("Fine as well.")]
    with pytest.raises(InvalidItem) as caught:
        accept(db, settings, items, now=NOW)
    assert (caught.value.field, caught.value.index) == (field, 1)
    assert str(caught.value).startswith(f"items[1].{field}: ")
    assert rows(db) == []
    (outcome,) = rows(db, "capture_outcomes")
    assert (outcome["outcome"], outcome["reason"]) == ("refused", field)


def test_what_is_no_object_is_refused(db: Database, settings: Settings) -> None:
    """A list of words is no list of items."""
    with pytest.raises(InvalidItem, match=r"items\[1\]\.item: is text"):
        accept(db, settings, [turn("Fine."), "not an item"], now=NOW)


def test_more_items_than_a_request_may_hold_are_refused(db: Database, settings: Settings) -> None:
    """1,001 items are one too many, said before anything is done."""
    with pytest.raises(UsageError, match="at most 1000"):
        accept(db, settings, [turn("x")] * (CAPTURE_MAX_ITEMS + 1), now=NOW)


def test_numbers_beyond_64_bits_and_unknown_fields_are_kept(db: Database, settings: Settings) -> None:
    """Metadata may hold any JSON; a field this version does not know lands there as well."""
    accept(db, settings, [{**turn("Big.", big=2**80), "flavour": "mint"}], now=NOW)
    metadata = rows(db)[0]["metadata"]
    assert (metadata["big"], metadata["flavour"]) == (2**80, "mint")


def test_the_health_probe_is_captured_and_nothing_else(db: Database, settings: Settings) -> None:
    """Canaries are rows, but never a project, and never queued to be distilled."""
    canary = {"source": "argus", "project": "argus-canary", "cwd": None, "session": "argus-canary"}
    accept(db, settings, [{**turn("probe"), **canary}, {**item("probe", kind="event"), **canary}], now=NOW)
    assert len(rows(db)) == 2
    assert rows(db, "distill_state") == []
    assert [row["name"] for row in rows(db, "projects")] == ["global"]


def test_nothing_to_do_writes_nothing(db: Database, settings: Settings) -> None:
    """An empty request has no receipts and no trace."""
    assert accept(db, settings, [], now=NOW) == []
    assert rows(db, "capture_outcomes") == []
