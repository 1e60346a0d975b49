"""Rendering: one environment of templates, and what every page knows (navigation, viewer's zone, theme, message)."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime, tzinfo
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from fastapi import Request
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from starlette.responses import HTMLResponse, Response

from argus_api.hub import Hub, utc_now
from argus_api.ui import plots, words
from argus_api.ui.security import HEADERS, see_other, set_cookie
from argus_api.ui.sessions import FLASH_COOKIE, Session, key_of, read_flash, write_flash
from argus_memory.option_values import parse_zone
from argus_memory.settings import Settings
from argus_memory.tasks.config import default_zone_of

FOLDER: Final = Path(__file__).resolve().parent
ZONE_COOKIE: Final = "argus_tz"
THEME_COOKIE: Final = "argus_theme"
THEMES: Final = ("light", "dark")
FLASH_SECONDS: Final = 60
_TIME: Final = tuple(map(Markup, ('<time datetime="', '" title="', '">', "</time>")))


class Viewer:
    """Who looks: the zone times are shown in, whether it is their own, the theme, the moment."""

    def __init__(self, request: Request, settings: Settings, now: datetime) -> None:
        own = _zone(unquote(request.cookies.get(ZONE_COOKIE, ""))[:64])
        self.zone: tzinfo = own or hub_zone(settings)
        self.zone_is_own = own is not None
        self.zone_name = getattr(self.zone, "key", None) or now.astimezone(self.zone).tzname() or "UTC"
        theme = request.cookies.get(THEME_COOKIE, "")
        self.theme = theme if theme in THEMES else ""
        self.now = now

    def when(self, at: datetime | None, none: str = "never") -> Markup | str:
        """The moment in the viewer's zone, UTC on hover."""
        return none if at is None else self._time(at, words.local_text(at, self.zone))

    def ago(self, at: datetime | None, none: str = "never") -> Markup | str:
        """How long ago, or in how long; the moment on hover."""
        return none if at is None else self._time(at, words.age_text(at, self.now))

    def _time(self, at: datetime, text: str) -> Markup:
        return Markup("").join((_TIME[0], at.isoformat(), _TIME[1], words.utc_text(at), _TIME[2], text, _TIME[3]))


def render(request: Request, template: str, *, status: int = 200, **context: Any) -> Response:
    """The page of a template with `context`; the message that waited for it is shown and gone."""
    from argus_api.ui.pages import navigation  # it lists the routes, which render

    hub: Hub = request.app.state.hub
    viewer = Viewer(request, hub.settings, utc_now())
    session: Session | None = getattr(request.state, "session", None)
    waiting = request.cookies.get(FLASH_COOKIE)
    flash = read_flash(key_of(hub.settings.admin_token), waiting) if waiting else None
    text = environment().get_template(template).render(
        viewer=viewer,
        when=viewer.when,
        ago=viewer.ago,
        csrf=session.csrf if session else "",
        signed_in=session is not None,
        here=request.url.path,
        here_query=f"{request.url.path}{f'?{request.url.query}' if request.url.query else ''}",
        nav=navigation(request.url.path) if session else (),
        flash=flash,
        dagster_url=f"http://127.0.0.1:{hub.settings.dagster_port}",
        langfuse_url=hub.settings.langfuse_url,
        **context,
    )  # fmt: skip
    response = HTMLResponse(*compressed(request, text.encode("utf-8", "replace"), status))
    if waiting and session:
        response.delete_cookie(FLASH_COOKIE, path="/", httponly=True, samesite="strict")
    return response


def compressed(request: Request, content: bytes, status: int) -> tuple[bytes, int, dict[str, str]]:
    """Content, status and headers of an answer, gzipped where the caller takes that."""
    if "gzip" not in request.headers.get("accept-encoding", ""):
        return content, status, HEADERS
    return gzip.compress(content, 4), status, {**HEADERS, "Content-Encoding": "gzip", "Vary": "Accept-Encoding"}


def back(request: Request, path: str, message: str, *, bad: bool = False) -> Response:
    """After a change: 303 to `path`, where one line tells what happened."""
    hub: Hub = request.app.state.hub
    response = see_other(path)
    if (key := key_of(hub.settings.admin_token)) is not None:
        set_cookie(request, response, FLASH_COOKIE, write_flash(key, message, bad=bad), seconds=FLASH_SECONDS)
    return response


def error_page(request: Request, status: int, message: str) -> Response:
    """An error as a page: one sentence, and where to go."""
    from argus_api.ui.security import find_session

    request.state.session = find_session(request)
    sentence = message[:1].upper() + message[1:]
    return render(request, "error.html", status=status, status_code=status, sentence=sentence)


@cache
def environment() -> Environment:
    env = Environment(
        loader=FileSystemLoader(FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    env.globals.update(
        asset=asset,
        clip=words.clip,
        highlight=words.highlight,
        mark_all=words.mark_all,
        mark_span=words.mark_span,
        count=words.count_text,
        plots=plots,
        span=words.span_text,
    )
    env.filters.update(
        shown=words.show_text,
        line=words.one_line,
        coded=words.coded,
        typed=words.typed,
        money=words.money_text,
        bytes=words.bytes_text,
        number=lambda value: f"{value:,}",
        pretty=lambda value: json.dumps(value, indent=2, ensure_ascii=False, default=str),
        share=lambda value: f"{value:.0%}",
    )
    return env


@cache
def assets() -> Mapping[str, tuple[bytes, str]]:
    """Our own files by name: content, and a mark that changes with it."""
    found = {}
    for path in sorted((FOLDER / "static").iterdir()):
        content = path.read_bytes()
        found[path.name] = (content, hashlib.sha256(content).hexdigest()[:12])
    return found


def asset(name: str) -> str:
    """The address of one of our files; a browser keeps it until it changes."""
    return f"/ui/static/{name}?v={assets()[name][1]}"


def hub_zone(settings: Settings) -> tzinfo:
    """The zone of ARGUS_TIMEZONE, else this machine's."""
    return _zone(default_zone_of(settings)) or UTC


@lru_cache(maxsize=64)
def _zone(name: str) -> ZoneInfo | None:
    try:
        return ZoneInfo(parse_zone(name)) if name else None
    except (ValueError, ZoneInfoNotFoundError):
        return None
