"""Folders kept out of memory: by globs and by an ignore file."""

from __future__ import annotations

from pathlib import Path

import pytest

from argus_memory.transcripts.exclude import excluded


@pytest.mark.parametrize(
    ("cwd", "glob", "out"),
    [
        ("/home/x/private", "/home/x/private", True),
        ("/home/x/private/deep/down", "/home/x/private", True),
        ("/home/x/private", "/home/x/private/", True),
        ("/home/x/private", "/home/x/private/*", True),
        ("/home/x/private/a", "/home/x/private/**", True),
        ("/home/x/privately", "/home/x/private", False),
        ("/home/x/work/private", "/home/*/private", True),
        ("/home/x/work", "/home/*/private", False),
        ("/srv/client-a/src", "client-*", True),
        ("/srv/my-client-a/src", "client-*", False),
        ("/srv/Private", "private", False),
        ("C:\\Users\\x\\secret\\a", "secret", True),
        ("C:\\Users\\x\\secret\\a", "C:/Users/x/secret", True),
        ("/", "*", False),
        ("/home/x", "", False),
        ("/home/x", " ", False),
    ],
)
def test_globs(cwd: str, glob: str, out: bool) -> None:
    """A glob keeps out the folder it matches and all below it; without a slash it matches a folder's name."""
    assert excluded(cwd, [glob]) is out


def test_the_home_is_filled_in(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A tilde stands for the home."""
    monkeypatch.setenv("HOME", str(tmp_path))
    assert excluded(f"{tmp_path}/diary/2026", ["~/diary"])
    assert not excluded(f"{tmp_path}/work", ["~/diary"])


def test_an_ignore_file_keeps_a_folder_out(tmp_path: Path) -> None:
    """`.argus-ignore` in the folder or above it is enough, whatever it holds; folders beside it are not touched."""
    inside = tmp_path / "private" / "deep"
    inside.mkdir(parents=True)
    (tmp_path / "private" / ".argus-ignore").touch()
    assert excluded(str(inside), [])
    assert excluded(str(tmp_path / "private"), [])
    assert excluded(str(tmp_path / "private" / "gone"), [])
    assert not excluded(str(tmp_path), [])


def test_a_link_into_a_kept_out_folder_is_kept_out(tmp_path: Path) -> None:
    """What a folder is, not by which name it was entered, decides; its own name counts as well."""
    (tmp_path / "private").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "private")
    assert excluded(str(tmp_path / "link"), ["private"])
    assert excluded(str(tmp_path / "link"), ["link"])


@pytest.mark.parametrize("cwd", [None, ""])
def test_no_folder_is_not_kept_out(cwd: str | None) -> None:
    """Where no folder is known, nothing can match it."""
    assert not excluded(cwd, ["*"])


def test_a_pattern_that_is_no_path_is_harmless() -> None:
    """Broken globs and odd paths match nothing and raise nothing."""
    assert not excluded("/home/x", ["[", "[!"])
    assert not excluded("\0/x", ["y"])
