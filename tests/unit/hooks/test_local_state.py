"""What the hooks keep on the machine: what was missed, offsets, locks, settings, and the fitting of a context."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus_api.hooks.parts.base import Config, load_config, safe_name
from argus_api.hooks.parts.missed import missed_line, note_caught_up, note_dropped, note_missed, note_rejected
from argus_api.hooks.parts.offsets import (
    HookLock,
    forget_old_offsets,
    is_own,
    load_offset,
    mark_own,
    save_offset,
    still_same,
    tail_of,
)
from argus_api.hooks.parts.recall import CONTEXT_MAX, fitted, length16
from argus_memory.settings import read_env_file

AT = time.mktime((2026, 11, 30, 10, 2, 0, 0, 0, -1))  # local time, as it is said


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return Config(str(tmp_path), {})


def test_what_was_missed_is_said_in_one_line(config: Config) -> None:
    """Turns of all sessions together, since the first of them, with the reason, in local time."""
    note_missed(config, "a", 12, AT, "server unreachable")
    note_missed(config, "b", 2, AT + 900, "server unreachable")
    assert missed_line(config, AT + 3600) == "Argus: 14 turns since 10:02 not captured: server unreachable"
    note_missed(config, "a", 13, AT, "server unreachable")
    later = missed_line(config, AT + 86400)
    assert later == "Argus: 15 turns since 2026-11-30 10:02 not captured: server unreachable"


def test_what_is_over_is_said_once(config: Config) -> None:
    """Sent late, refused for good, dropped from the spool: once each, then forgotten; what still waits stays."""
    note_missed(config, "late", 1, AT, "server unreachable")
    note_caught_up(config, "late")
    note_missed(config, "waiting", 3, AT, "server busy or failing (503)")
    note_rejected(config, "waiting", 1, "the server answered 422")
    note_rejected(config, "waiting", 1, "the server answered 422")
    note_dropped(config, 4)
    said = missed_line(config, AT)
    assert "3 turns since 10:02 not captured: server busy or failing (503)" in said
    assert "1 turn since 10:02 not captured at the time (server unreachable), sent since" in said
    assert "2 turns refused by the server for good (the server answered 422)" in said
    assert "4 waiting prompts dropped" in said
    assert missed_line(config, AT) == "Argus: 3 turns since 10:02 not captured: server busy or failing (503)"


def test_nothing_missed_is_nothing_said(config: Config, tmp_path: Path) -> None:
    """No line, no file; and rubbish in the folder is passed over."""
    note_caught_up(config, "a")
    assert missed_line(config, AT) == ""
    (tmp_path / "hook-missed").mkdir()
    (tmp_path / "hook-missed" / "x.json").write_text("{broken")
    assert missed_line(config, AT) == ""


@given(st.text(max_size=200))
def test_a_session_id_cannot_leave_its_folder(session: str) -> None:
    """Whatever an event calls its session, the file name is plain."""
    name = safe_name(session)
    assert os.path.basename(name) == name
    assert name.isascii()
    assert not name.startswith(".")
    assert len(name) <= 100


def test_a_text_before_the_offset_is_known_again(config: Config, tmp_path: Path) -> None:
    """A file that only grew goes on; a shorter one, or one with other bytes there, does not."""
    path = tmp_path / "t.jsonl"
    path.write_bytes(b"x" * 300 + b"\n")
    fd = os.open(path, os.O_RDWR)
    saved = {"offset": 301, "tail": tail_of(fd, 301)}
    assert save_offset(config, "s", dict(saved))
    assert load_offset(config, "s")["tail"] == saved["tail"]
    os.pwrite(fd, b"more\n", 301)
    assert still_same(fd, 306, saved)
    assert not still_same(fd, 200, saved)
    os.pwrite(fd, b"y", 290)
    assert not still_same(fd, 306, saved)
    os.close(fd)


def test_offsets_of_sessions_long_gone_are_forgotten(config: Config, tmp_path: Path) -> None:
    """After 90 days without an event; locks and younger offsets stay."""
    for session in ("old", "young"):
        save_offset(config, session, {"offset": 1})
    mark_own(config, "argus")
    with HookLock(config, "x", 0.0):
        pass
    folder = tmp_path / "hook-offsets"
    for name in ("old.offset", "argus.own"):
        os.utime(folder / name, (AT, AT))
    os.utime(folder / "young.offset", (AT + 60 * 86400, AT + 60 * 86400))
    forget_old_offsets(config, AT + 91 * 86400)
    assert not is_own(config, "argus")
    assert sorted(path.name for path in folder.iterdir() if not path.name.startswith(".")) == ["young.offset"]
    assert any(path.name.startswith(".lock-") for path in folder.iterdir())


def test_a_lock_keeps_others_out_until_it_is_given_back(config: Config) -> None:
    """A second holder waits as long as it may; another name is free meanwhile."""
    order = []

    def second() -> None:
        with HookLock(config, "session", 5.0) as held:
            order.append(("second", held))

    with HookLock(config, "session", 0.0) as held:
        assert held
        with HookLock(config, "session", 0.05) as again:
            assert not again
        with HookLock(config, "another one", 0.0) as other:
            assert other
        thread = threading.Thread(target=second)
        thread.start()
        order.append(("first", True))
    thread.join()
    assert order == [("first", True), ("second", True)]


@given(st.text(alphabet="ab\n😀", max_size=30).map(lambda text: text * 900), st.sampled_from(["", "Argus: 3 turns"]))
def test_a_context_fits_and_keeps_its_last_line(text: str, line: str) -> None:
    """Never above the limit; either the text is whole, or whole lines are missing before the last one."""
    context = fitted(text, line)
    assert length16(context) <= CONTEXT_MAX
    if line:
        assert context.startswith(line)
    body = context[len(line) :].lstrip("\n") if line else context
    plain = text.strip("\n")
    assert body == plain.lstrip("\n") or not body or body.rsplit("\n", 1)[-1] == plain.rsplit("\n", 1)[-1]


def test_settings_come_from_the_environment_over_the_file(tmp_path: Path) -> None:
    """As the hub reads them: quotes and `export` are taken off, an empty variable counts as unset."""
    text = "# note\nexport ARGUS_CAPTURE_TOKEN='from the file'\nARGUS_API_PORT=9000\nARGUS_EXCLUDE=/a, ~/b ,\nbad\n"
    (tmp_path / "env").write_text(text)
    given_home = {"ARGUS_HOME": str(tmp_path), "ARGUS_API_URL": ""}
    config = load_config(given_home)
    assert (config.token, config.url) == ("from the file", "http://127.0.0.1:9000")
    assert config.exclude == ("/a", "~/b")
    assert config.token == read_env_file(tmp_path / "env")["ARGUS_CAPTURE_TOKEN"]
    other = load_config({**given_home, "ARGUS_API_URL": "https://hub.example/", "ARGUS_CAPTURE_TOKEN": "mine"})
    assert (other.url, other.token) == ("https://hub.example", "mine")
    everywhere = {"ARGUS_HOME": str(tmp_path / "none"), "ARGUS_API_HOST": "0.0.0.0"}
    assert load_config(everywhere).url == "http://127.0.0.1:8484"
