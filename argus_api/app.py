"""The API: capture, recall, reads, review, processing and health over HTTP. `create_app()` is what uvicorn calls.

    request → AccessLog → HostCheck → the route's token → the body, bounded → argus_memory → JSON
                                                   └ any error → {"error": {"code", "message"}}   (errors.py)

No Dagster, and nothing heavy, is imported here: a run is launched over HTTP (process_routes.py).
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from argus_api import (
    ask_routes,
    decision_routes,
    deliver_routes,
    health_routes,
    history_routes,
    hook_event_routes,
    hook_routes,
    memory_routes,
    metrics,
    note_routes,
    process_routes,
    project_routes,
    recall_routes,
    receive_routes,
    regeneration_routes,
    review_routes,
    task_routes,
)
from argus_api.access_log import AccessLog, write_to_stderr
from argus_api.auth import Level, Tokens, require
from argus_api.capture_routes import capture
from argus_api.errors import add_error_handlers
from argus_api.host_check import HostCheck, own_names
from argus_api.hub import Hub, WarmEmbedder
from argus_api.mcp.mount import add_mcp
from argus_api.sender import SenderThread
from argus_api.ui.pages import add_pages
from argus_api.watchdog import Watchdog
from argus_memory.db import Database
from argus_memory.errors import Unreachable
from argus_memory.settings import Settings, load_settings
from argus_memory.stages.spaces import open_embedder


def create_app(settings: Settings | None = None) -> FastAPI:
    """The application for `settings` (those of the environment unless given).

    Raises SettingError on a bad value and Unreachable where no database is named. A database that is named but away
    stops nothing: calls answer 503 until it is back.
    """
    settings = settings or load_settings()
    if settings.database_url is None:
        raise Unreachable("ARGUS_DATABASE_URL is not set: `argus up` starts the API with the address of its database")
    db = Database(settings.database_url)
    hub = Hub(settings, db, WarmEmbedder(open_embedder(db, settings)), Tokens.of(settings))

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        db.open()
        hub.embedder.start()
        watchdog = Watchdog(settings, db.dsn)
        watchdog.start()
        sender = SenderThread(db, settings)
        sender.start()
        async with mcp.open():
            yield
        sender.stop()
        watchdog.stop()
        hub.embedder.finish()
        db.close()

    app = FastAPI(title="Argus", lifespan=lifespan, docs_url=None, redoc_url=None, openapi_url=None)
    app.state.hub = hub
    app.router.redirect_slashes = False
    app.add_middleware(HostCheck, names=own_names(settings))
    app.add_middleware(AccessLog)  # added last: it stands around the others
    write_to_stderr()
    add_error_handlers(app)
    app.add_route("/capture", capture, methods=["POST"])
    app.include_router(recall_routes.router)
    app.include_router(note_routes.router)
    app.include_router(history_routes.router)
    app.include_router(memory_routes.router)
    app.include_router(project_routes.router)
    app.include_router(receive_routes.router)  # before the decisions, whose path would take its words
    app.include_router(decision_routes.router)
    app.include_router(review_routes.router)
    app.include_router(regeneration_routes.router)
    app.include_router(process_routes.router)
    app.include_router(health_routes.router)
    app.include_router(metrics.router)
    app.include_router(deliver_routes.router)
    app.include_router(ask_routes.router)
    app.include_router(task_routes.router)
    app.include_router(hook_routes.router, dependencies=[require(Level.CAPTURE)])
    app.include_router(hook_event_routes.router)
    mcp = add_mcp(app, hub)
    add_pages(app)
    return app
