"""Which project a capture belongs to, and that recall finds the same one without registering anything."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from argus_memory.db import Database
from argus_memory.rules.project_keys import place_of
from argus_memory.settings import Settings
from argus_memory.stages.capture import accept
from argus_memory.stages.projects import Attribution, find_project, resolve_places, resolve_project

from .items import NOW, turn

Where = dict[str, Any]
EMPTY: Where = {"explicit": None, "repo": None, "cwd": None, "host": None}


def at(**known: Any) -> Where:
    return {**EMPTY, **known}


def resolve(db: Database, **known: Any) -> Attribution:
    with db.transaction() as conn:
        return resolve_project(conn, **at(**known))


def find(db: Database, **known: Any) -> str | None:
    with db.transaction() as conn:
        return find_project(conn, **at(**known))


def names(db: Database) -> list[str]:
    return [row["name"] for row in db.fetch_all("select name from projects order by name")]


def clone(owner: str, name: str = "api", folder: str = "/home/kim/api") -> Where:
    return {"remote": f"git@github.com:{owner}/{name}.git", "common_dir": f"{folder}/.git"}


def test_explicit_wins_over_repository_and_folder(db: Database) -> None:
    """What the caller names is taken as it is, with full confidence; `global` can be named."""
    assert resolve(db, explicit="garden", repo=clone("kim"), cwd="/x/y") == Attribution("garden", "explicit", 1.0)
    assert resolve(db, explicit="global").project == "global"


def test_worktrees_are_one_project(db: Database) -> None:
    """Other folders of one repository have its name, with an address and without."""
    assert resolve(db, repo=clone("kim"), cwd="/home/kim/api", host="a").project == "api"
    assert resolve(db, repo=clone("kim"), cwd="/tmp/api-fix", host="b").project == "api"
    bare = {"common_dir": "/home/kim/notes/.git"}
    assert resolve(db, repo=bare, cwd="/home/kim/notes", host="a").project == "notes"
    assert resolve(db, repo=bare, cwd="/tmp/other", host="a").project == "notes"


def test_two_repositories_of_one_name_are_two(db: Database) -> None:
    """The second `api` is shown with its owner, and both keep their names."""
    for _ in range(2):
        assert resolve(db, repo=clone("kim", folder="/a")).project == "api"
        assert resolve(db, repo=clone("bo", folder="/b")).project == "bo/api"
        assert resolve(db, repo={"common_dir": "/srv/c/api/.git"}, host="h").project == "c/api"
    assert find(db, repo="https://github.com/bo/api") == "bo/api"


def test_the_same_address_in_every_spelling_is_one(db: Database) -> None:
    """ssh, https, with a user and without `.git`: one repository, one project."""
    for remote in ("git@github.com:Kim/api.git", "https://github.com/kim/API", "ssh://git@ssh.github.com:443/kim/api/"):
        assert resolve(db, repo=remote).project == "api"
    assert names(db) == ["api", "global"]


def test_a_repository_that_gets_an_address_stays_the_same(db: Database) -> None:
    """First only a folder, later pushed somewhere; then named by its address alone from another machine."""
    assert resolve(db, repo={"common_dir": "/home/kim/api/.git"}, host="a").project == "api"
    assert resolve(db, repo=clone("kim"), host="a").project == "api"
    assert resolve(db, repo="https://github.com/kim/api", host="b").project == "api"


def test_a_folder_is_found_by_a_caller_that_names_no_machine(db: Database) -> None:
    """Recall's hook sends the repository without its machine: one of that folder is the one, of two none is."""
    bare = {"remote": None, "common_dir": "/home/kim/api/.git"}
    resolve(db, repo=clone("bo", folder="/b"), host="a")
    assert resolve(db, repo=bare, host="a").project == "kim/api"
    assert find(db, repo=bare, cwd="/home/kim/api") == "kim/api"
    assert resolve(db, repo=bare).project == "kim/api"
    assert resolve(db, repo=bare, host="b").project == "kim/api"
    other = {"common_dir": "/tmp/work/.git"}
    assert resolve(db, repo=other, host="a").project == "work"
    assert resolve(db, repo=other, host="b").project == "tmp/work"
    assert find(db, repo=other) not in ("work", "tmp/work")


def test_a_folder_given_to_another_repository_follows_it(db: Database) -> None:
    """A clone deleted and another put in its place: the folder means the new one from then on."""
    resolve(db, repo=clone("kim", "old", "/tmp/work"), host="a")
    assert resolve(db, repo=clone("kim", "new", "/tmp/work"), host="a").project == "new"
    assert resolve(db, repo={"common_dir": "/tmp/work/.git"}, host="a").project == "new"
    assert resolve(db, repo="https://github.com/kim/old").project == "old"


def test_a_folder_name_and_its_repository_are_one(db: Database) -> None:
    """What was captured before the repository was known stays in its project."""
    assert resolve(db, cwd="/home/kim/api") == Attribution("api", "cwd", 0.6)
    assert resolve(db, repo=clone("kim"), cwd="/home/kim/api").project == "api"
    assert resolve(db, repo=clone("bo"), cwd="/home/bo/api").project == "bo/api"


@pytest.mark.parametrize("where", [{"cwd": "/srv/global"}, {"repo": "git@github.com:kim/global.git"}])
def test_global_is_never_assigned_by_itself(db: Database, where: Where) -> None:
    """A folder or repository of that name is shown with what stands before it."""
    found = resolve(db, **where).project
    assert found is not None
    assert found != "global"
    assert found.endswith("/global")


def test_nothing_to_go_by_is_no_project(db: Database) -> None:
    """The root folder, a relative repository, nothing at all."""
    for where in ({}, {"cwd": "/"}, {"repo": "../api"}, {"cwd": "/global"}):
        assert resolve(db, **where) == Attribution(None, "none", 0.0)
        assert find(db, **where) is None


def test_finding_registers_nothing_and_names_what_capture_would(db: Database) -> None:
    """Recall in a place nobody captured from gives the name it will have."""
    places = [at(repo=clone("kim")), at(cwd="/x/shed"), at(explicit="attic"), at(repo=clone("bo"))]
    resolve(db, **places[0])
    before = names(db)
    found = [find(db, **place) for place in places]
    assert names(db) == before
    assert found == [resolve(db, **place).project for place in places] == ["api", "shed", "attic", "bo/api"]


def test_parts_too_long_for_an_index_are_taken(db: Database, settings: Settings) -> None:
    """A folder of 4,000 characters and an address of as many are stored, and are told apart."""
    deep = "/x/" + "d" * 3900
    accept(db, settings, [turn("a", cwd=deep), turn("b", repo={"common_dir": deep + "a/.git"}, host="h"),
                          turn("c", repo={"common_dir": deep + "b/.git"}, host="h")], now=NOW)  # fmt: skip
    found = [row["project"] for row in db.fetch_all("select project from raw_items order by id")]
    assert len(set(found)) == 3


def test_parallel_registrations_agree(db: Database) -> None:
    """Eight threads that meet two new repositories of one name give each one name."""
    places = [place_of(None, f"git@github.com:{owner}/api.git", None, None) for owner in ("kim", "bo")]

    def work(number: int) -> tuple[str | None, ...]:
        order = places if number % 2 else places[::-1]
        with db.transaction() as conn:
            conn.execute("select 1")
        found = resolve_places(db, order)
        return tuple(found[place].project for place in places)

    with ThreadPoolExecutor(8) as pool:
        answers = set(pool.map(work, range(16)))
    assert len(answers) == 1
    assert len(set(answers.pop())) == 2
    assert len(names(db)) == 3
