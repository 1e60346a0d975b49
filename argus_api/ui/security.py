"""Who may see and change what the pages show: the admin, by a session's cookie or by the admin token itself.

Every change is a POST with the session's CSRF token, from a page of this hub (Origin, Sec-Fetch-Site). A caller with
the token in the header needs none: no other site can make a browser send that header.
"""

from __future__ import annotations

from typing import Annotated, Final
from urllib.parse import parse_qsl, quote, urlsplit

from fastapi import Depends, Request
from starlette.responses import RedirectResponse, Response

from argus_api.auth import Level, level_of
from argus_api.body import SMALL_MAX, read_body
from argus_api.errors import Forbidden
from argus_api.hub import Hub, utc_now
from argus_api.ui.sessions import COOKIE, FLASH_COOKIE, LIVES_FOR, Session, is_csrf, key_of, read_session
from argus_memory.errors import ArgusError, UsageError

SIGN_IN: Final = "/ui/sign-in"
CSRF_FIELD: Final = "csrf"
CSRF_HEADER: Final = "x-csrf-token"
HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
        " form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class SignedOut(ArgusError):
    """No session, or one that is over: the answer is the sign-in page, and nothing was done."""

    http_status = 303
    code = "signed_out"


class Form(dict[str, str]):
    """The fields of a form; of a field given twice the last counts."""

    def text(self, name: str) -> str:
        return self.get(name, "").strip()

    def need(self, name: str, what: str) -> str:
        """Raises UsageError where the field is blank."""
        if not (value := self.text(name)):
            raise UsageError(f"{what} is missing: nothing was done")
        return value


def find_session(request: Request) -> Session | None:
    hub: Hub = request.app.state.hub
    if level_of(request) >= Level.ADMIN:
        return Session("")
    return read_session(key_of(hub.settings.admin_token), request.cookies.get(COOKIE, ""), now=utc_now())


async def require_session(request: Request) -> Session:
    """Raises SignedOut."""
    if (session := find_session(request)) is None:
        raise SignedOut("sign in first")
    request.state.session = session
    return session


async def require_form(request: Request) -> Form:
    """The form of a change, once it is sure that a person of this session sent it. Raises SignedOut, Forbidden."""
    check_origin(request)
    session = await require_session(request)
    form = await read_form(request)
    if session.cookie and not is_csrf(session, request.headers.get(CSRF_HEADER) or form.get(CSRF_FIELD, "")):
        raise Forbidden("this form is not of your session, nothing was done: load the page again and repeat it")
    return form


async def read_form(request: Request) -> Form:
    """What a browser sends for a form without files. Raises UsageError for anything else."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    data = await read_body(request, SMALL_MAX)
    if data and kind != "application/x-www-form-urlencoded":
        raise UsageError(f"{kind or 'a body without a type'} is no form: nothing was done")
    try:
        return Form(parse_qsl(data.decode(), keep_blank_values=True, max_num_fields=100))
    except ValueError:
        raise UsageError("the form cannot be read: nothing was done") from None


def check_origin(request: Request) -> None:
    """Raises Forbidden for a request that a page of another site made."""
    origin = request.headers.get("origin")
    own = request.headers.get("host", "").lower()
    foreign = origin is not None and urlsplit(origin).netloc.lower() != own
    if foreign or request.headers.get("sec-fetch-site") in ("cross-site", "same-site"):
        raise Forbidden("this was sent by a page of another site: nothing was done")


def signed_out_answer(request: Request) -> Response:
    """To the sign-in page and, for a page that was asked for, back to it afterwards."""
    if request.method not in ("GET", "HEAD"):
        return see_other(f"{SIGN_IN}?over=1&next={quote(_page_before(request), safe='')}")
    query = f"?{request.url.query}" if request.url.query else ""
    over = "&over=1" if request.cookies.get(COOKIE) else ""
    return see_other(f"{SIGN_IN}?next={quote(request.url.path + query, safe='')}{over}")


def safe_next(path: str) -> str:
    """Where to go after signing in: a page of ours, else the overview."""
    parts = urlsplit(path)
    own = not parts.scheme and not parts.netloc and "\\" not in path and path.isprintable()
    return path if own and (parts.path == "/ui" or parts.path.startswith("/ui/")) else "/ui"


def see_other(path: str) -> RedirectResponse:
    return RedirectResponse(path, 303, headers=HEADERS)


def set_cookie(request: Request, response: Response, name: str, value: str, *, seconds: int) -> None:
    secure = request.url.scheme == "https"
    response.set_cookie(name, value, max_age=seconds, path="/", httponly=True, samesite="strict", secure=secure)


def sign_in(request: Request, response: Response, cookie: str) -> None:
    set_cookie(request, response, COOKIE, cookie, seconds=int(LIVES_FOR.total_seconds()))


def sign_out(response: Response) -> None:
    for name in (COOKIE, FLASH_COOKIE):
        response.delete_cookie(name, path="/", httponly=True, samesite="strict")


def _page_before(request: Request) -> str:
    """The page a form stood on, as the browser tells."""
    came = urlsplit(request.headers.get("referer", ""))
    if came.netloc.lower() != request.headers.get("host", "").lower():
        return "/ui"
    return safe_next(came.path + (f"?{came.query}" if came.query else ""))


SignedIn = Annotated[Session, Depends(require_session)]
Sent = Annotated[Form, Depends(require_form)]
