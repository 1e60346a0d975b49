"""Changing a person's settings file: what is theirs stays, byte for byte where nothing of ours stands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus_cli.hooks_notify import unwire_notify, wire_notify
from argus_cli.hooks_wiring import CAPTURE_EVENTS, RECALL_EVENTS, ours_in, stands, unwire, wanted, wire
from argus_memory.errors import UsageError

WIRES = wanted("claude-code", Path("/usr/bin/python3.12"), Path("/home/ada/.argus/bin"), None)
OLD_HOME = Path("/home/ada/old place")
OLDER = wanted("claude-code", Path("/usr/bin/python3.9"), OLD_HOME / "bin", OLD_HOME)

scalars = st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=6)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
handlers = st.fixed_dictionaries({"type": st.just("command"), "command": st.sampled_from(["say done", "ls", ""])})
groups = st.fixed_dictionaries({"hooks": st.lists(handlers, max_size=2)}, optional={"matcher": st.text(max_size=4)})
events = st.sampled_from(["Stop", "PreToolUse", "SessionStart", "Other"])
documents = st.dictionaries(st.text(max_size=5).filter(lambda key: key != "hooks"), values, max_size=3).flatmap(
    lambda rest: st.one_of(
        st.just(rest),
        st.dictionaries(events, st.lists(groups, max_size=2), max_size=3).map(lambda hooks: {**rest, "hooks": hooks}),
    )
)
styles = st.sampled_from(
    [{"indent": 2}, {"indent": 4}, {"indent": "\t"}, {"indent": 0}, {}, {"separators": (",", ":")}]
)


def others(document: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in document.items() if key != "hooks"}


@given(documents, styles, st.sampled_from(["\n", "\r\n"]), st.sampled_from(["", "\n", "\n\n"]), st.booleans())
def test_wiring_adds_and_unwiring_takes_back(
    document: dict[str, Any], style: dict[str, Any], newline: str, end: str, ascii_only: bool
) -> None:
    """Whatever stands in the file and however it is written: our entries are added once, everything else keeps its
    value and order, a second time changes nothing, and taking them out gives the same document again."""
    text = (json.dumps(document, ensure_ascii=ascii_only, **style) + end).replace("\n", newline)
    wired = wire(text, WIRES, "settings.json")
    after = json.loads(wired)
    assert stands(after, WIRES)
    assert others(after) == others(document)
    assert list(others(after)) == list(others(document))
    for event, theirs in document.get("hooks", {}).items():
        assert after["hooks"][event][: len(theirs)] == theirs
    assert wire(wired, WIRES, "settings.json") == wired
    back = json.loads(unwire(wired, "settings.json"))
    # An event that was an empty list, or hooks that were an empty object, go with our entries: they said nothing.
    hooks = {event: theirs for event, theirs in document.get("hooks", {}).items() if theirs or event == "Other"}
    kept = {event: theirs for event, theirs in back.get("hooks", {}).items() if theirs}
    assert kept == {event: theirs for event, theirs in hooks.items() if theirs}
    assert others(back) == others(document)


@given(documents, styles)
def test_an_older_wiring_is_replaced(document: dict[str, Any], style: dict[str, Any]) -> None:
    """Another interpreter or folder: the old entries go, the new ones stand once."""
    old = wire(json.dumps(document, **style), OLDER, "settings.json")
    new = json.loads(wire(old, WIRES, "settings.json"))
    assert stands(new, WIRES)
    assert others(new) == others(document)


def test_only_the_places_that_change_are_written() -> None:
    """Odd spacing, key order and non-ASCII letters around our entries stay as they were."""
    text = '{ "z":1,\n   "größe" : [1,2 ,3],\n   "hooks":{"Stop":[ {"hooks":[]} ]}, "a": {"b":null}\n}'
    wired = wire(text, WIRES, "settings.json")
    assert wired.startswith('{ "z":1,\n   "größe" : [1,2 ,3],\n   "hooks":{"Stop":[ {"hooks":[]}')
    assert wired.endswith(', "a": {"b":null}\n}')


@pytest.mark.parametrize("text", ["", "  \n", "{}", "{ }\n", '{"hooks": {}}', '{"hooks": {"Stop": []}}'])
def test_an_empty_file_is_a_start(text: str) -> None:
    """Every event of both hooks, each with its time-out."""
    document = json.loads(wire(text, WIRES, "settings.json"))
    assert len(ours_in(document)) == len(CAPTURE_EVENTS) + len(RECALL_EVENTS)
    assert all(isinstance(entry["timeout"], int) for _, entry in ours_in(document))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{ // a comment\n}", "is not valid JSON"),
        ('{"a": 1,}', "is not valid JSON"),
        ("[1]", "does not hold a JSON object"),
        ('{"hooks": []}', "is not an object of lists"),
        ('{"hooks": {"Stop": {}}}', "is not an object of lists"),
    ],
)
def test_what_cannot_be_merged_is_refused_in_one_sentence(text: str, says: str) -> None:
    """The file's name, what is wrong and what to do."""
    with pytest.raises(UsageError, match=says) as caught:
        wire(text, WIRES, "settings.json")
    assert str(caught.value).startswith(("settings.json", '"hooks" in settings.json'))
    assert "\n" not in str(caught.value)


def test_a_group_shared_with_someone_else_loses_only_ours() -> None:
    """A person may have put our handler beside their own."""
    entry = WIRES[0].group()["hooks"][0]
    mine = {"type": "command", "command": "say done"}
    text = json.dumps({"hooks": {"Stop": [{"matcher": "", "hooks": [mine, entry]}, 7, {"odd": 1}]}})
    assert json.loads(unwire(text, "settings.json")) == {
        "hooks": {"Stop": [{"matcher": "", "hooks": [mine]}, 7, {"odd": 1}]}
    }


def test_codex_is_not_wired_for_events_it_lacks() -> None:
    """StopFailure is Claude Code's alone."""
    events = {entry.event for entry in wanted("codex", Path("/p"), Path("/b"), None)}
    assert "StopFailure" not in events
    assert {"SessionStart", "UserPromptSubmit", "Stop", "SubagentStop", "PreCompact", "SessionEnd"} <= events


COMMAND = ["/usr/bin/python3.12", "-I", "-S", "/home/ada/.argus/bin/capture_hook.py", "--target", "codex"]


@pytest.mark.parametrize(
    "text",
    ["", 'model = "x"\n', 'model = "x"', '[mcp.a]\nnotify = "theirs"\n', '# notes\n\nm = "x"\n\n[[a]]\nb = 1\n'],
)
def test_notify_is_added_before_the_first_table_and_taken_out_again(text: str) -> None:
    """TOML keys after a table belong to it; what else stands in the file stays."""
    import tomllib

    wired = wire_notify(text, COMMAND, "config.toml")
    assert tomllib.loads(wired)["notify"] == COMMAND
    assert wire_notify(wired, COMMAND, "config.toml") == wired
    newer = wire_notify(wired, [*COMMAND, "--home", "/x"], "config.toml")
    assert tomllib.loads(newer)["notify"][-1] == "/x"
    assert unwire_notify(wired, "config.toml").strip() == text.strip()
    assert tomllib.loads(unwire_notify(newer, "config.toml")) == tomllib.loads(text)


@pytest.mark.parametrize(
    ("text", "says"),
    [('notify = ["notify-send"]\n', "already runs another program"), ("a = = 1", "is not valid TOML")],
)
def test_another_notify_is_not_overwritten(text: str, says: str) -> None:
    """One program can be notified: a person's own stays."""
    with pytest.raises(UsageError, match=says):
        wire_notify(text, COMMAND, "config.toml")
