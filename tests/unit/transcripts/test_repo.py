"""The repository of a folder, read from git's own files: real repositories made by git."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from argus_memory.transcripts.common import strip_credentials
from argus_memory.transcripts.repo import remote_in, resolve_repo


def git(folder: Path, *words: str) -> None:
    settings = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "HOME": str(folder)}
    names = ["-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "protocol.file.allow=always"]
    subprocess.run(
        ["git", *names, "-C", str(folder), *words], check=True, capture_output=True, env={**os.environ, **settings}
    )


def head(folder: Path) -> str:
    done = subprocess.run(["git", "-C", str(folder), "rev-parse", "HEAD"], check=True, capture_output=True)
    return done.stdout.decode().strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with one commit and a remote whose address holds a password."""
    folder = tmp_path / "harbour"
    folder.mkdir()
    git(folder, "init", "-q")
    git(folder, "commit", "-q", "--allow-empty", "-m", "first")
    git(folder, "remote", "add", "upstream", "https://example.org/other.git")
    git(folder, "remote", "add", "origin", "https://me:secret@example.org/harbour.git")
    return folder


def test_a_folder_below_a_repository_is_of_it(repository: Path) -> None:
    """Any folder inside gives origin's address, without credentials, and the common folder."""
    inside = repository / "src" / "pier"
    inside.mkdir(parents=True)
    expected = {
        "remote": "https://example.org/harbour.git", "common_dir": os.path.realpath(repository / ".git"),
        "commit": head(repository),
    }  # fmt: skip
    assert resolve_repo(str(inside)) == resolve_repo(str(repository)) == expected


def test_worktrees_are_one_repository(repository: Path, tmp_path: Path) -> None:
    """A worktree's `.git` file leads to the same common folder and remote."""
    git(repository, "worktree", "add", "-q", str(tmp_path / "elsewhere"))
    assert resolve_repo(str(tmp_path / "elsewhere")) == resolve_repo(str(repository))


def test_a_worktree_of_a_bare_repository_is_resolved(repository: Path, tmp_path: Path) -> None:
    """The common folder may be a bare repository."""
    git(tmp_path, "clone", "-q", "--bare", str(repository), str(tmp_path / "bare.git"))
    git(tmp_path / "bare.git", "worktree", "add", "-q", str(tmp_path / "tree"))
    found = resolve_repo(str(tmp_path / "tree"))
    assert found is not None
    assert found["common_dir"] == os.path.realpath(tmp_path / "bare.git")


def test_a_submodule_is_a_repository_of_its_own(repository: Path, tmp_path: Path) -> None:
    """A submodule's `.git` file leads below the outer repository's folder, with the submodule's remote."""
    outer = tmp_path / "outer"
    outer.mkdir()
    git(outer, "init", "-q")
    git(outer, "submodule", "--quiet", "add", str(repository), "inner")
    found = resolve_repo(str(outer / "inner"))
    assert found == {
        "remote": str(repository),
        "common_dir": os.path.realpath(outer / ".git" / "modules" / "inner"),
        "commit": head(repository),
    }


def test_a_repository_without_remote_has_its_folder(tmp_path: Path) -> None:
    """The common folder alone tells two local repositories apart."""
    git(tmp_path, "init", "-q")
    assert resolve_repo(str(tmp_path)) == {"remote": None, "common_dir": os.path.realpath(tmp_path / ".git")}


def test_a_link_leads_to_the_repository_it_points_at(repository: Path, tmp_path: Path) -> None:
    """A folder reached by a symbolic link is of the repository it lies in."""
    (tmp_path / "link").symlink_to(repository)
    assert resolve_repo(str(tmp_path / "link")) == resolve_repo(str(repository))


@pytest.mark.parametrize("cwd", ["", "relative/folder", "/nowhere/at/all", "\0"])
def test_a_folder_that_is_not_here_has_none(cwd: str) -> None:
    """Folders of other machines, deleted ones and no folder at all are not guessed at."""
    assert resolve_repo(cwd) is None


def test_a_deleted_folder_is_not_taken_for_its_parents(repository: Path) -> None:
    """A worktree that was removed is not the repository around the place where it stood."""
    assert resolve_repo(str(repository / "gone")) is None


def test_a_folder_outside_any_repository_has_none(tmp_path: Path) -> None:
    """Without a `.git` on the way up there is no repository; a broken one is none either."""
    assert resolve_repo(str(tmp_path)) is None
    (tmp_path / ".git").write_text("gitdir: /nowhere/at/all\n")
    assert resolve_repo(str(tmp_path)) is None
    (tmp_path / ".git").write_bytes(b"\xff\xfe nonsense")
    assert resolve_repo(str(tmp_path)) is None


@pytest.mark.parametrize(
    ("config", "remote"),
    [
        ('[remote "origin"]\n\turl = git@example.org:me/x.git\n', "git@example.org:me/x.git"),
        ('[remote "b"]\nurl=https://example.org/b\n[remote "origin"]\n URL = "https://example.org/o"\n', "https://example.org/o"),
        ('[remote "b"]\nurl=https://example.org/b\n[remote "c"]\nurl=https://example.org/c\n', "https://example.org/b"),
        ('[branch "x"]\nurl = https://example.org/no\n', None),
        ("", None),
        ("[broken\nurl = x", None),
    ],
)  # fmt: skip
def test_the_remote_of_a_config(config: str, remote: str | None) -> None:
    """Origin's address, else the first remote's."""
    assert remote_in(config) == remote


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("https://user:token@example.org/x.git", "https://example.org/x.git"),
        ("https://token@example.org:8443/x", "https://example.org:8443/x"),
        ("ssh://git@example.org:22/x", "ssh://example.org:22/x"),
        ("https://example.org/x?access_token=secret#y", "https://example.org/x"),
        ("https://a@b:c@example.org/x@y", "https://example.org/x@y"),
        ("git@example.org:me/x.git", "git@example.org:me/x.git"),
        ("/srv/git/x.git", "/srv/git/x.git"),
    ],
)
def test_credentials_are_taken_out_of_an_address(given: str, kept: str) -> None:
    """User, password and query of an address never leave the machine."""
    assert strip_credentials(given) == kept
