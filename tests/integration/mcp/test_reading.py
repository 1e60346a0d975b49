"""search, get, expand, context: an index first, then the rest by id and cursor."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from argus_memory.upkeep.decisions import exclude, forget
from argus_memory.upkeep.redacting import redact
from tests.api_process import ApiProcess
from tests.integration.mcp.conftest import NEW, OLD, call, refusal
from tests.memory_rows import add_note, add_turn, at

NOW = datetime(2026, 6, 1, tzinfo=UTC)


@pytest.mark.parametrize("mode", [OLD, NEW])
def test_search_gives_an_index_that_get_reads(api: ApiProcess, mode: str) -> None:
    """A hit's id, given to get, brings the whole note with its source."""
    body = "We water the tomatoes at six in the morning, before the sun is on them."
    raw = add_turn(api.db, body, at(0), session=f"tomatoes-{mode}")
    note = add_note(api.db, body, raw_id=raw)
    found = call(api, "search", mode=mode, query="water tomatoes morning", kind="notes")
    assert f"note:{note}" in [hit["id"] for hit in found["hits"]]
    item = call(api, "get", mode=mode, ids=[f"note:{note}"])["items"][0]
    assert item["content"] == body
    assert item["turn"] == f"turn:{raw}"
    assert item["state"] == "live"


def test_search_goes_on_by_its_cursor(api: ApiProcess) -> None:
    """Pages of a search tell each hit once, and the last one has no cursor."""
    wanted = {f"note:{add_note(api.db, f'The quince tree number {n} stands by the wall', project='quinces')}" for n in range(7)}
    seen: list[str] = []
    cursor = None
    for _ in range(10):
        page = call(api, "search", query="quince tree wall", kind="notes", project="quinces", limit=3, cursor=cursor)
        seen += [hit["id"] for hit in page["hits"]]
        cursor = page.get("next")
        if cursor is None:
            break
    assert sorted(seen) == sorted(wanted)


def test_get_says_why_one_is_not_given(api: ApiProcess) -> None:
    """What never was, was forgotten, excluded or redacted, and an episode that never was: each under its own id."""
    forgotten = add_note(api.db, "The alarm code of the shed changes each spring", project="a1")
    excluded = add_note(api.db, "The neighbour plays the trombone on Sundays", project="a2")
    redacted = add_note(api.db, "The account at the seed dealer is in the name of Lindqvist", project="a3")
    kept = add_note(api.db, "The compost is turned in March", project="a4")
    forget(api.db, forgotten, "kim", now=NOW)
    exclude(api.db, excluded, "kim", now=NOW)
    redact(api.db, note_id=redacted, text=None, reason="not for keeping", actor="kim", now=NOW)
    ids = [f"note:{id_}" for id_ in (forgotten, excluded, redacted, 999_999, kept)] + ["episode:999999", "turn:999999"]
    items = call(api, "get", ids=ids)["items"]
    assert [item["id"] for item in items] == ids
    why = [item.get("not_given", "") for item in items]
    assert "forgotten by kim on 2026-06-01" in why[0]
    assert "restore" in why[0]
    assert "excluded" in why[1]
    assert "by kim" in why[1]
    assert "redacted" in why[2]
    assert "gone for good" in why[2]
    assert why[3] == "there is no note 999999"
    assert items[4]["content"] == "The compost is turned in March"
    assert why[5] == "there is no episode 999999"
    assert "999999" in why[6]
    assert not any(word in str(items) for word in ("alarm code", "trombone", "Lindqvist"))


def test_a_replaced_note_is_given_with_what_stands_in_its_place(api: ApiProcess) -> None:
    """A superseded note is history: it is shown, with its state and its successor."""
    old = add_note(api.db, "The fence is painted green", project="fence")
    new = add_note(api.db, "The fence is painted white", project="fence")
    api.db.fetch_all(
        "update distilled_notes set deleted_at = %(now)s, deleted_reason = 'superseded', superseded_by = %(new)s"
        " where id = %(old)s returning id",
        {"now": NOW, "old": old, "new": new},
    )
    item = call(api, "get", ids=[f"note:{old}"])["items"][0]
    assert item["state"] == "superseded"
    assert item["in_its_place"] == f"note:{new}"


def test_a_long_turn_goes_on_by_cursor(api: ApiProcess) -> None:
    """A turn of 20,000 characters comes in parts that put together are the turn, each within an agent's limits."""
    body = "".join(f"Step {n}: turn the lever and wait. " for n in range(600))
    raw = add_turn(api.db, body, at(3), session="lever")
    parts: list[str] = []
    page = call(api, "get", ids=[f"turn:{raw}", "note:999999"])
    while True:
        parts += [item["text"] for item in page["items"] if "text" in item]
        assert len(str(page)) < 20_000
        if "next" not in page:
            break
        page = call(api, "get", cursor=page["next"])
    assert "".join(parts) == body
    assert page["items"][-1]["id"] == "note:999999"


def test_expand_shows_the_words_around_a_quotation(api: ApiProcess) -> None:
    """The source of a note is the quotation with what was said before and after it, verbatim."""
    quotation = "the pump is serviced in October"
    body = f"Before we go: {quotation}, as every year. Then it rests."
    raw = add_turn(api.db, body, at(5), session="pump")
    note = add_note(api.db, quotation, raw_id=raw)
    start = body.index(quotation)
    api.db.fetch_all(
        "update distilled_notes set source_start = %(start)s, source_end = %(end)s where id = %(id)s returning id",
        {"start": start, "end": start + len(quotation), "id": note},
    )
    shown = call(api, "expand", note=note)
    assert (shown["before"], shown["quotation"], shown["after"]) == ("Before we go: ", quotation, ", as every year. Then it rests.")
    assert shown["turn"] == f"turn:{raw}"
    assert shown["session"] == "pump"
    assert shown["said_by"] == "user"


def test_expand_refuses_what_was_taken_away(api: ApiProcess) -> None:
    """The source of a forgotten note is not told by the way of its note."""
    note = add_note(api.db, "The spare key lies under the third pot", project="pots")
    forget(api.db, note, "kim", now=NOW)
    assert "was forgotten by kim" in refusal(api, "expand", note=f"note:{note}")


def test_context_is_what_a_hook_would_give(api: ApiProcess) -> None:
    """The text is the one of /recall/context, fenced as data."""
    add_note(api.db, "Deliveries to the orchard come on Tuesdays", project="orchard")
    shown = call(api, "context", project="orchard")
    with api.client() as client:
        plain = client.get("/recall/context", params={"project": "orchard"}).json()
    assert shown["text"] == plain["text"]
    assert "Tuesdays" in shown["text"]
    assert "nothing is on record" in call(api, "context", project="never-seen")["found"]


def test_a_withheld_turn_is_not_found_and_not_given(api: ApiProcess) -> None:
    """A turn that says what was forgotten is neither a hit nor readable by its id."""
    words = "The marmalade recipe needs seven bitter oranges"
    raw = add_turn(api.db, words, at(7), session="marmalade", project="kitchen")
    note = add_note(api.db, words, raw_id=raw, project="kitchen")
    forget(api.db, note, "kim", now=NOW)
    found = call(api, "search", query="marmalade bitter oranges", project="kitchen")
    assert f"turn:{raw}" not in [hit["id"] for hit in found["hits"]]
    assert "withheld" in call(api, "get", ids=[f"turn:{raw}"])["items"][0]["not_given"]


@pytest.mark.parametrize("mode", [OLD, NEW])
def test_before_a_step_what_led_nowhere_is_told(api: ApiProcess, mode: str) -> None:
    """A dead end of another project comes by its id with its words, and where nothing is on record it says so."""
    words = f"Tried to run the {mode} websockets behind nginx, it failed because idle connections were closed."
    note = add_note(api.db, words, project="lab")
    with api.db.transaction() as conn:
        conn.execute("update distilled_notes set tags = array['dead-end'] where id = %s", (note,))
    told = call(api, "before_you_try", mode=mode, plan=f"put the {mode} websockets behind nginx")
    assert f"note:{note}" in told["dead_ends"]
    assert "idle connections" in told["text"]
    nothing = call(api, "before_you_try", mode=mode, plan="knit a pullover for the goose")
    assert nothing["dead_ends"] == []
    assert nothing["found"] == "nothing is on record about it"
