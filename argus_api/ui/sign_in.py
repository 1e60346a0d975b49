"""Signing in with the admin token or a one-time link, signing out, and the look of the pages."""

from __future__ import annotations

import asyncio
import hmac
from typing import Final

from fastapi import APIRouter, Request
from starlette.responses import Response

from argus_api.hub import Here, utc_now
from argus_api.ui.page import THEME_COOKIE, THEMES, render
from argus_api.ui.security import (
    SIGN_IN,
    Sent,
    check_origin,
    find_session,
    read_form,
    safe_next,
    see_other,
    set_cookie,
    sign_in,
    sign_out,
)
from argus_api.ui.sessions import LIVES_FOR, key_of, open_session
from argus_memory.errors import UsageError
from argus_memory.upkeep.entry import use_code

router = APIRouter()
WRONG_SECONDS: Final = 1.0  # what a wrong token costs who guesses
OVER: Final = "Your session has ended, and nothing was changed. Sign in again, then repeat what you did."
USED: Final = "This link is used up or older than ten minutes: sign in with the admin token."
WRONG: Final = "This is not the admin token: it is ARGUS_ADMIN_TOKEN in the file env under the home."
UNSET: Final = "No admin token is set, so nobody can sign in: set ARGUS_ADMIN_TOKEN and start Argus again."


@router.get(SIGN_IN)
async def form(request: Request, next: str = "/ui", over: str = "", link: str = "") -> Response:  # noqa: A002
    """The form; who is signed in goes on at once."""
    if find_session(request) is not None:
        return see_other(safe_next(next))
    problem = USED if link else OVER if over else ""
    return render(request, "sign_in.html", next=safe_next(next), problem=problem)


@router.post(SIGN_IN)
async def enter_with_token(request: Request, hub: Here) -> Response:
    """A session for the admin token; 401 and the form again for anything else."""
    check_origin(request)
    fields = await read_form(request)
    goal, token = safe_next(fields.get("next", "/ui")), hub.settings.admin_token
    key = key_of(token)
    if token is None or key is None:
        return render(request, "sign_in.html", status=503, next=goal, problem=UNSET)
    if not hmac.compare_digest(fields.text("token").encode("utf-8", "replace"), token.encode()):
        await asyncio.sleep(WRONG_SECONDS)
        return render(request, "sign_in.html", status=401, next=goal, problem=WRONG)
    response = see_other(goal)
    sign_in(request, response, open_session(key, now=utc_now()))
    return response


@router.get("/ui/enter")
def enter_with_link(request: Request, hub: Here, code: str = "") -> Response:
    """What `argus up` prints: signs in once."""
    key = key_of(hub.settings.admin_token)
    if key is None or not use_code(hub.settings.home, code[:200], now=utc_now()):
        return see_other("/ui" if find_session(request) is not None else f"{SIGN_IN}?link=1")
    response = see_other("/ui")
    sign_in(request, response, open_session(key, now=utc_now()))
    return response


@router.post("/ui/sign-out")
async def leave(request: Request, form: Sent) -> Response:
    """Forget the session in this browser."""
    response = see_other(SIGN_IN)
    sign_out(response)
    return response


@router.post("/ui/theme")
async def set_theme(request: Request, form: Sent) -> Response:
    """`theme`: light, dark, or system, which follows the machine."""
    theme = form.text("theme")
    if theme not in (*THEMES, "system"):
        raise UsageError("theme: light, dark or system is needed")
    response = see_other(safe_next(form.get("back", "/ui")))
    if theme == "system":
        response.delete_cookie(THEME_COOKIE, path="/", httponly=True, samesite="strict")
    else:
        set_cookie(request, response, THEME_COOKIE, theme, seconds=int(LIVES_FOR.total_seconds()) * 12)
    return response
