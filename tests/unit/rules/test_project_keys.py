"""Keys and names of a project, from what a capture says of its place."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus_memory.rules.project_keys import KEY_MAX, NAME_MAX, NEVER_BY_ITSELF, normal_remote, place_of


@pytest.mark.parametrize(
    "remote",
    [
        "git@github.com:Kim/api.git", "https://github.com/Kim/api", "https://github.com/Kim/api.git/",
        "https://kim:pa55@github.com/Kim/api.git", "ssh://git@github.com/Kim/api.git", "github.com:Kim/api",
        "ssh://git@ssh.github.com:443/Kim/api.git", "git://GitHub.com/Kim/api.git", " http://github.com:80/Kim/api ",
    ],
)  # fmt: skip
def test_one_repository_has_one_form(remote: str) -> None:
    """ssh and https, user, port and `.git` make no difference, and no password is kept."""
    assert normal_remote(remote) == "github.com/Kim/api"


@pytest.mark.parametrize(
    ("remote", "form"),
    [
        ("git@ssh.dev.azure.com:v3/org/team/api", "dev.azure.com/org/team/api"),
        ("https://org@dev.azure.com/org/team/_git/api", "dev.azure.com/org/team/api"),
        ("https://git.example:8443/a/b/c.git", "git.example:8443/a/b/c"),
        ("/srv/git/api.git", ""), ("file:///srv/git/api.git", ""), ("C:\\git\\api", ""), ("../api", ""),
        ("http://[bad/api", ""), ("https://host.example", ""), ("", ""), ("just words", ""),
    ],
)  # fmt: skip
def test_other_hosts_and_what_is_no_address(remote: str, form: str) -> None:
    """Ports of web servers count; folders and nonsense are no address."""
    assert normal_remote(remote) == form


@pytest.mark.parametrize(
    ("explicit", "repo", "cwd", "keys", "name", "method"),
    [
        ("garden", "git@github.com:kim/api.git", "/x/y", ("name:garden",), "garden", "explicit"),
        (None, {"remote": "git@github.com:Kim/api.git", "common_dir": "/home/kim/api/.git"}, "/x/y",
         ("remote:github.com/kim/api", "dir:h:/home/kim/api"), "api", "repo"),
        (None, {"remote": None, "common_dir": "/home/kim/api/.git"}, "/x/y", ("dir:h:/home/kim/api",), "api", "repo"),
        (None, {"remote": "/srv/git/api.git", "common_dir": "/home/kim/api/.git"}, "/x/y",
         ("dir:h:/srv/git/api",), "api", "repo"),
        (None, "/home/kim/api", "/x/y", ("dir:h:/home/kim/api",), "api", "repo"),
        (None, "C:\\code\\api", None, ("dir:h:C:/code/api",), "api", "repo"),
        (None, None, "/home/kim/garden/", ("cwd:garden",), "garden", "cwd"),
        (None, {"remote": 3, "common_dir": []}, "C:\\code\\garden", ("cwd:garden",), "garden", "cwd"),
        (None, "nonsense", "/home/kim/garden", ("cwd:garden",), "garden", "cwd"),
    ],
)  # fmt: skip
def test_the_surest_sign_gives_keys_and_name(
    explicit: str | None, repo: Any, cwd: str | None, keys: tuple[str, ...], name: str, method: str
) -> None:
    """Named outright, else the repository by address and folder, else the last part of the folder."""
    place = place_of(explicit, repo, cwd, "h")
    assert (place.keys, place.names[0], place.method) == (keys, name, method)


def test_longer_names_wait_for_repositories_of_one_name() -> None:
    """The owner, then the host, come before the short name."""
    names = place_of(None, "https://gitlab.example/team/sub/api.git", None, None).names
    assert names == ("api", "sub/api", "team/sub/api", "gitlab.example/team/sub/api")


@given(
    st.one_of(st.none(), st.text(max_size=300)),
    st.one_of(st.none(), st.text(max_size=600), st.fixed_dictionaries({"remote": st.text(), "common_dir": st.text()}),
              st.integers()),
    st.one_of(st.none(), st.text(max_size=300)),
)  # fmt: skip
def test_any_place_has_short_keys_and_is_never_global(explicit: str | None, repo: Any, cwd: str | None) -> None:
    """Whatever is given: keys fit an index, names are not empty, and a method says whether there are any."""
    place = place_of(explicit, repo, cwd, "h")
    assert all(0 < len(name) <= NAME_MAX for name in place.names)
    assert all(len(key) <= KEY_MAX + 65 for key in place.keys)
    assert bool(place.keys) == bool(place.names) == (place.method != "none")
    assert place.explicit or not NEVER_BY_ITSELF & set(place.names)
