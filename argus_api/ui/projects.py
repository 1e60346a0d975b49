"""`/ui/projects`: the registry, one project, filing, and changes; a rename or merge is counted before it is done."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote

from fastapi import APIRouter, Request
from starlette.responses import Response

from argus_api.hub import Here, utc_now
from argus_api.ui.changes import ACTOR, change, sentence
from argus_api.ui.lists import Listing
from argus_api.ui.page import back, render
from argus_api.ui.security import Sent, SignedIn
from argus_api.ui.words import count_text
from argus_memory.errors import Conflict, NotFound, UsageError
from argus_memory.rules.storable import storable
from argus_memory.upkeep import projects
from argus_memory.upkeep.pages import projects as pages
from argus_memory.upkeep.pages import timeline

router = APIRouter()
LIST: Final = Listing(pages.SORTS, ("words",))
AGREED: Final = "agreed"
METHODS: Final = {
    "explicit": "named outright", "repo": "by its repository", "cwd": "by its folder", "classified": "by its words",
    "assigned": "by a person", "kept": "a person kept it", "none": "no project",
}  # fmt: skip
ID_MAX: Final = 2**63


@router.get("/ui/projects")
def show(request: Request, hub: Here, session: SignedIn) -> Response:
    """Every project with its counts; what reads as if filed wrongly; what was changed."""
    from argus_api.ui.pages import has_page

    view = LIST.read(request)
    page = pages.find_registry(hub.db, view["words"], wanted=view.wanted, now=utc_now())
    return render(
        request, "projects.html", view=view, page=page, methods=METHODS, path_of=path_of,
        episodes_page=has_page("/ui/episodes/{id}"),
    )  # fmt: skip


@router.get("/ui/projects/{name:path}")
def show_one(request: Request, hub: Here, session: SignedIn, name: str) -> Response:
    """What makes a project, what leads to it, and how its episodes came to it."""
    from argus_api.ui.pages import has_page

    page = pages.find_project(hub.db, storable(name), now=utc_now())
    return render(
        request, "project.html", page=page, project=page.project, methods=METHODS, path_of=path_of,
        episodes_page=has_page("/ui/episodes/{id}"),
        others=[one for one in timeline.find_projects(hub.db) if one not in (page.project["name"], "global")],
    )  # fmt: skip


@router.post("/ui/projects/{verb}")
def change_one(request: Request, hub: Here, form: Sent, verb: str) -> Response:
    """rename and merge ask first; alias, unalias, undo and assign are taken back as easily as they are done."""
    if verb in ("rename", "merge"):
        return _change_name(request, hub, form, verb)
    if verb not in ("alias", "unalias", "undo", "assign"):
        raise NotFound(f"a project cannot be told to {verb[:40]}")
    goal = "/ui/projects"
    if name := storable(form.text("back")):
        goal = path_of(name)

    def act() -> str:
        now = utc_now()
        if verb == "undo":
            return _words(projects.undo(hub.db, _number(form.need("change", "the change")), ACTOR, now=now))
        if verb == "assign":
            to = storable(form.text("to")) or None
            return _words(projects.assign(hub.db, _number(form.need("episode", "the episode")), to, ACTOR, now=now))
        alias = storable(form.need("alias", "the other name"))
        if verb == "unalias":
            return _words(projects.remove_alias(hub.db, alias, ACTOR, now=now))
        return _words(projects.add_alias(hub.db, storable(form.need("name", "the project")), alias, ACTOR, now=now))

    return change(request, goal, act)


def _change_name(request: Request, hub: Here, form: Sent, verb: str) -> Response:
    """Without `agreed`: what would follow, and nothing is done."""
    name = storable(form.need("name", "the project"))
    to = storable(form.text("to"))
    problem = ""
    if form.text("sure") == AGREED:
        try:
            do = projects.rename if verb == "rename" else projects.merge
            receipt = do(hub.db, name, to, ACTOR, now=utc_now())
            return back(request, path_of(receipt.other or name), _words(receipt))
        except (Conflict, UsageError) as error:
            problem = sentence(str(error))
    found, moves = pages.count_moves(hub.db, name)
    if verb == "merge" and not problem:
        to, _ = pages.count_moves(hub.db, to)
    return render(
        request, "project_change.html", status=409 if problem else 200, verb=verb, name=found, to=to, moves=moves,
        problem=problem, agreed=AGREED, path_of=path_of,
    )  # fmt: skip


def path_of(name: str) -> str:
    """The page of a project; a name may hold a slash."""
    return f"/ui/projects/{quote(name, safe='/')}"


def _words(receipt: projects.ProjectReceipt) -> str:
    """What was done and moved, and how to take it back."""
    moved = ", ".join(count_text(number, kind) for kind, number in receipt.moved.items() if number)
    tail = f" ({moved})" if moved else ""
    own, other = receipt.project or "no project", receipt.other
    match receipt.change:
        case "renamed":
            return f"Renamed {own} to {other}{tail}; the old name goes on leading to it, and Undo takes it back."
        case "merged":
            return f"Merged {own} into {other}{tail}; Undo takes it back whole."
        case "undone":
            return f"Taken back: {own}{f' and {other}' if other else ''} as before{tail}."
        case "assigned":
            return f"Filed under {own}: no machine files it otherwise."
        case _:
            return f"Changed: the names that lead to {own}, {other}."


def _number(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) >= ID_MAX:
        raise UsageError(f"{text[:40]!r} is no number")
    return int(text)
