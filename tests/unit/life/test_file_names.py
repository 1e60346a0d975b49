"""Which files a text names, and where they lie in a repository."""

from __future__ import annotations

import pytest

from argus_memory.rules.file_names import FILES_MAX, find_files, within


@pytest.mark.parametrize(
    ("text", "files"),
    [
        ("The pump is driven by `src/pump.py`, see docs/pump.md.", ("src/pump.py", "docs/pump.md")),
        ("Change ./config.ini and Makefile; then ci/Dockerfile", ("config.ini", "Makefile", "ci/Dockerfile")),
        ("In /home/kim/garden/pump.py line 4", ("/home/kim/garden/pump.py",)),
        ("Version 2.1.0 of example.com runs on 10.0.0.1", ()),
        ("See https://example.org/a/b.html and mail kim@example.md", ()),
        ("pump.py and pump.py again", ("pump.py",)),
        ("", ()),
    ],
)
def test_files_as_they_are_written(text: str, files: tuple[str, ...]) -> None:
    """Paths and file names with a known ending, each once; versions, hosts, addresses and mail are none."""
    assert find_files(text) == files


def test_a_list_of_files_is_cut() -> None:
    """A text that is a listing names no more than its first few."""
    assert len(find_files(" ".join(f"f{n}.py" for n in range(50)))) == FILES_MAX


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("src/pump.py", "src/pump.py"), ("/home/kim/garden/src/pump.py", "src/pump.py"), ("/etc/passwd.txt", None),
        ("../other/pump.py", None), ("~/notes.md", None), ("/home/kim/garden2/a.py", None),
    ],
)  # fmt: skip
def test_only_what_lies_in_the_repository(path: str, found: str | None) -> None:
    """An absolute path is made one below the repository; what lies or leads outside is none."""
    assert within(path, "/home/kim/garden") == found
