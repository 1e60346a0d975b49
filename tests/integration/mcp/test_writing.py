"""remember, correct, forget, pin: what an agent may do alone, and what waits for a person."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from argus_memory.upkeep import held, proposals
from tests.api_process import ApiProcess
from tests.integration.mcp.conftest import NEW, OLD, call, refusal
from tests.memory_rows import add_note, add_turn, at

NOW = datetime(2026, 6, 1, tzinfo=UTC)


def note_row(api: ApiProcess, id_: int) -> dict[str, object]:
    row = api.db.fetch_one("select content, deleted_reason, superseded_by, pinned_at from distilled_notes where id = %(id)s", {"id": id_})
    assert row is not None
    return row


@pytest.mark.parametrize("mode", [OLD, NEW])
def test_a_persons_own_words_become_a_note(api: ApiProcess, mode: str) -> None:
    """Words that a person said in the session are a note at once, and it can be read by the id in the receipt."""
    words = f"The {mode} boiler is checked every second of May"
    add_turn(api.db, f"Please note: {words}.", datetime.now(UTC), session=f"boiler-{mode}", project=None)
    given = call(api, "remember", mode=mode, text=words, session=f"boiler-{mode}", category="procedure")
    assert given["outcome"] == "created"
    assert given["meaning"]
    item = call(api, "get", mode=mode, ids=[given["note"]])["items"][0]
    assert item["content"] == words
    assert item["category"] == "procedure"


def test_an_agents_own_conclusion_waits(api: ApiProcess) -> None:
    """What only the agent says is a proposal in its name, not a note; said again by the same key it is written once."""
    words = "The greenhouse heater trips the breaker when both fans run"
    given = call(api, "remember", text=words, project="greenhouse", uuid="k-1")
    assert given["outcome"] == "queued"
    assert "person" in given["meaning"]
    waiting = [each for each in proposals.list_proposals(api.db) if each["content"] == words]
    assert [each["actor"] for each in waiting] == ["claude-code"]
    assert call(api, "remember", text=words, project="greenhouse", uuid="k-1")["outcome"] == "no-op"


def test_a_doubtful_note_is_corrected_and_a_vouched_one_waits(api: ApiProcess) -> None:
    """An agent replaces what an agent guessed; what a person said is held, unchanged, with the agent's words."""
    guess = add_note(api.db, "The well pump draws 400 watts", project="well", role="assistant", confidence=0.4)
    done = call(api, "correct", note=f"note:{guess}", text="The well pump draws 600 watts", reason="read off its plate")
    assert done["outcome"] == "changed"
    assert done["note"] != f"note:{guess}"
    assert note_row(api, guess)["deleted_reason"] == "corrected"
    why = call(api, "get", ids=[f"note:{guess}"])["items"][0]["not_given"]
    assert done["note"] in why
    said = add_note(api.db, "The well is twelve metres deep", project="well", confidence=0.9)
    waits = call(api, "correct", note=said, text="The well is fourteen metres deep")
    assert waits["outcome"] == "held"
    assert note_row(api, said)["deleted_reason"] is None
    assert any(each.id == waits["waits_as"] and each.new_text for each in held.list_held_decisions(api.db))


def test_forget_and_pin_obey_the_same_rule(api: ApiProcess) -> None:
    """A doubtful note is forgotten at once; one a person said is held, as every pin is."""
    guess = add_note(api.db, "The hens like the radio on in the coop", project="hens", role="assistant", confidence=0.3)
    said = add_note(api.db, "The hens are shut in at dusk", project="hens", confidence=0.9)
    assert call(api, "forget", note=guess, reason="nobody said so")["outcome"] == "changed"
    assert note_row(api, guess)["deleted_reason"] == "forgotten"
    assert call(api, "forget", note=said)["outcome"] == "held"
    assert call(api, "pin", note=said)["outcome"] == "held"
    row = note_row(api, said)
    assert row["deleted_reason"] is None
    assert row["pinned_at"] is None
    asked = [each for each in held.list_held_decisions(api.db) if each.note_id == said]
    assert {(each.decision, each.actor) for each in asked} == {("forget", "claude-code"), ("pin", "claude-code")}
    assert call(api, "pin", note=said, pinned=False)["outcome"] == "no-op"


def test_a_secret_is_masked_and_nothing_but_a_secret_refused(api: ApiProcess) -> None:
    """remember goes through capture: what is only a secret is kept nowhere."""
    given = call(api, "remember", text="ghp_" + "a1B2" * 9)
    assert given["outcome"] == "refused"
    assert "secret" in given["detail"]


def test_writes_on_what_is_not_there_say_so(api: ApiProcess) -> None:
    """No note of that id, a turn's id, and a note that is gone: one sentence each."""
    gone = add_note(api.db, "The ladder is in the barn", project="barn", role="assistant", confidence=0.3)
    call(api, "forget", note=gone)
    assert refusal(api, "forget", note=999_999) == "there is no note 999999"
    assert "is no note" in refusal(api, "pin", note="turn:1")
    assert "was forgotten" in refusal(api, "correct", note=gone, text="The ladder is in the shed")
    assert refusal(api, "remember", text="   ") == "text: is empty"
    assert "2,000" in refusal(api, "remember", text="long " * 500)


def test_the_timeline_names_the_agent(api: ApiProcess) -> None:
    """What an agent changed stands in the timeline and in what_changed under its name, without what was taken away."""
    add_turn(api.db, "x", at(0), session="beehive", project="beehive")
    guess = add_note(api.db, "The beehive faces north at present", project="beehive", role="assistant", confidence=0.3)
    kept = add_note(api.db, "The beehive is opened in April only", project="beehive", role="assistant", confidence=0.3)
    call(api, "forget", agent="codex", note=guess)
    call(api, "correct", agent="codex", note=kept, text="The beehive is opened in May only")
    told = call(api, "timeline", project="beehive")["events"]
    assert ("forgotten", "codex") in [(event["event"], event["by"]) for event in told]
    assert "north" not in str(told)
    assert any("is forgotten now" in event.get("not_given", "") for event in told)
    changed = call(api, "what_changed", subject="beehive", since="2020-01-01", project="beehive")
    assert "north" not in str(changed)
    assert "May only" in str(changed)


def test_the_timeline_goes_on_by_cursor(api: ApiProcess) -> None:
    """Events of one and the same moment are told once each over the pages."""
    wanted = {f"note:{add_note(api.db, f'Row {n} of the vines was pruned', project='vines')}" for n in range(9)}
    api.db.fetch_all("select 1 as one")
    seen: list[str] = []
    cursor = None
    for _ in range(10):
        page = call(api, "timeline", project="vines", limit=2, cursor=cursor)
        seen += [event["note"] for event in page["events"]]
        cursor = page.get("next")
        if cursor is None:
            break
    assert sorted(seen) == sorted(wanted)
