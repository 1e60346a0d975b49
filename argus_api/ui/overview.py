"""`/ui`: is it working? One row for each stage and for everything that watches, then tasks, then what waits."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote

from fastapi import APIRouter, Request
from starlette.responses import Response

from argus_api.hub import Here, utc_now
from argus_api.ui.page import render
from argus_api.ui.security import SignedIn
from argus_memory.settings import Settings
from argus_memory.tasks.config import default_zone_of, read_task_list
from argus_memory.upkeep.pages import overview

router = APIRouter()
GROUPS: Final = (
    ("memory", "Memory", "the way of a turn, stage by stage"),
    ("watch", "Watching", "what tells you when something stops"),
    ("ground", "Ground", "what all of it stands on"),
)
# What waits for a person: the page where it is decided, what it is, and the command that does the same.
WAITING: Final = {
    "held-merges": ("/ui/review", "merge of notes to decide", "merges of notes to decide", "argus review list"),
    "held-decisions": ("/ui/review", "decision of an agent to confirm", "decisions of agents to confirm",
                       "argus review list"),
    "proposals": ("/ui/review", "fact proposed by an agent", "facts proposed by agents", "argus review list"),
    "parked": ("/ui/parked", "unit parked after five failures", "units parked after five failures", "argus doctor"),
    "parked-texts": ("/ui/parked", "text that cannot be embedded", "texts that cannot be embedded", "argus doctor"),
    "no-shows": ("/ui/tasks", "task that did not run", "tasks that did not run", "argus alerts"),
    "alerts": ("/ui/alerts", "open alert", "open alerts", "argus alerts"),
    "deliveries": ("/ui/deliveries", "message not yet sent", "messages not yet sent", "argus deliveries"),
    "regenerations": ("/ui/health", "regeneration held: it would lose notes", "regenerations held",
                      "argus regenerate --list"),
}  # fmt: skip


@router.get("/ui")
def show(request: Request, hub: Here, session: SignedIn) -> Response:
    """The overview; the script of the page asks for it anew every 20 s."""
    now = utc_now()
    task_list = read_task_list(hub.settings.tasks_folder, default_zone=default_zone_of(hub.settings))
    page = overview.find_page(hub.db, hub.settings, task_list, now=now)
    return render(
        request,
        "overview.html",
        page=page,
        groups=GROUPS,
        tasks=overview.next_first(page.tasks, now),
        waiting=[(one, *_waiting(one.what, one.count)) for one in page.waiting],
        task_link=lambda name: task_link(hub.settings, name),
    )


def _waiting(what: str, count: int) -> tuple[str, str, str]:
    """Words, the page to decide on (empty where there is none yet), and the command."""
    from argus_api.ui.pages import has_page

    path, one, more, command = WAITING[what]
    return (one if count == 1 else more), (path if has_page(path) else ""), command


def task_link(settings: Settings, name: str) -> str:
    """The page of a task; without one, its asset in Dagster."""
    from argus_api.ui.pages import has_page

    if has_page("/ui/tasks/{name}"):
        return f"/ui/tasks/{quote(name, safe='')}"
    return f"http://127.0.0.1:{settings.dagster_port}/assets/task/{quote(name, safe='')}"
