"""Files the command line keeps: tokens, private files, logs, the home's lock."""

from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus_cli.home import Home, HomeLock
from argus_cli.log_files import last_line, open_log, rotate
from argus_cli.private_file import write_private
from argus_cli.tokens import TOKENS, add_missing, ensure_tokens
from argus_memory.errors import AlreadyRunning, Unreachable
from argus_memory.settings import load_settings, read_env_file


def test_tokens_are_made_once_and_kept(tmp_path: Path) -> None:
    """The first call writes three different tokens that the settings accept; the second changes nothing."""
    env = tmp_path / "env"
    assert ensure_tokens(env, {}) == list(TOKENS)
    before = env.read_text()
    assert len(set(read_env_file(env).values())) == 3
    assert load_settings({"ARGUS_HOME": str(tmp_path)}).admin_token == read_env_file(env)["ARGUS_ADMIN_TOKEN"]
    assert ensure_tokens(env, {}) == []
    assert env.read_text() == before
    assert stat.S_IMODE(env.stat().st_mode) == 0o600


def test_a_token_of_the_environment_is_not_made_again(tmp_path: Path) -> None:
    """What the operator chose wins, and only the others are written."""
    assert ensure_tokens(tmp_path / "env", {"ARGUS_MCP_TOKEN": "chosen-by-the-operator"}) == [
        "ARGUS_CAPTURE_TOKEN",
        "ARGUS_ADMIN_TOKEN",
    ]


def test_an_open_env_file_is_closed(tmp_path: Path) -> None:
    """A file of mode 0644 loses what others could read."""
    env = tmp_path / "env"
    env.write_text("".join(f"{name}=0123456789abcdef\n" for name in TOKENS))
    env.chmod(0o644)
    ensure_tokens(env, {})
    assert stat.S_IMODE(env.stat().st_mode) == 0o600


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r"), max_size=200))
def test_the_persons_own_lines_survive(text: str) -> None:
    """Whatever stands in the env file stays in front, byte for byte."""
    made, _ = add_missing(text, {}, lambda: "t" * 20)
    assert made.startswith(text)
    assert made.endswith("ARGUS_ADMIN_TOKEN=" + "t" * 20 + "\n")


def test_a_private_file_is_replaced_whole_and_closed(tmp_path: Path) -> None:
    """The mode is 0600 also where the old file was open, and no scratch file stays."""
    path = tmp_path / "secret"
    path.write_text("old")
    path.chmod(0o644)
    write_private(path, "new")
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_a_log_is_cut_under_its_writer(tmp_path: Path) -> None:
    """Over the limit the log is copied and cut; the writer goes on at the top of the file, not past a hole."""
    path = tmp_path / "api.log"
    with open_log(path) as log:
        log.write(b"x" * 100 + b"\n")
        log.flush()
        assert rotate(path, max_bytes=50)
        log.write(b"after\n")
        log.flush()
    assert path.read_bytes() == b"after\n"
    assert (tmp_path / "api.log.1").read_bytes() == b"x" * 100 + b"\n"


def test_logs_keep_two_generations(tmp_path: Path) -> None:
    """The third cut drops the first one's copy; a small log is left alone."""
    path = tmp_path / "api.log"
    for word in ("one", "two", "three"):
        path.write_text(word * 10)
        assert rotate(path, max_bytes=5)
    assert not rotate(path, max_bytes=5)
    kept = {name.name: name.read_text()[:5] for name in tmp_path.iterdir()}
    assert kept == {"api.log": "", "api.log.1": "three", "api.log.2": "twotw"}


def test_the_last_line_explains_a_death(tmp_path: Path) -> None:
    """Blank lines at the end are passed over; a log that is not there gives nothing."""
    path = tmp_path / "x.log"
    path.write_text("Traceback\nImportError: no module\n\n")
    assert last_line(path) == "ImportError: no module"
    assert last_line(tmp_path / "none.log") == ""


def test_a_home_is_held_by_one_process(tmp_path: Path) -> None:
    """A second holder is refused with the first one's number; after the first has ended the home is free."""
    home = Home(tmp_path / "home")
    home.make()
    assert stat.S_IMODE(home.root.stat().st_mode) == 0o700
    assert home.holder() is None
    code = (
        "import sys, time; from pathlib import Path; from argus_cli.home import Home, HomeLock\n"
        "lock = HomeLock(Home(Path(sys.argv[1]))); print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(home.root)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        assert home.holder() == other.pid
        home.write_state({"pid": 1, "services": {}})
        assert home.read_state() == {}, "left by a supervisor that was killed; the holder is another command"
        home.write_state({"pid": other.pid, "services": {}})
        assert home.read_state() == {"pid": other.pid, "services": {}}
        with pytest.raises(AlreadyRunning, match=f"process {other.pid}"):
            HomeLock(home)
        other.kill()
    assert home.holder() is None
    assert home.read_state() == {}
    HomeLock(home).release()


def test_a_home_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    """A file in the way: one sentence with its name."""
    (tmp_path / "taken").write_text("")
    with pytest.raises(Unreachable, match="taken"):
        Home(tmp_path / "taken" / "home").make()
