"""Every error as `{"error": {"code", "message"}}`: one table of what becomes which status.

The message is one sentence for a person. What went wrong unexpectedly is told to the log, not to the caller: an
exception's text may hold what somebody said.
"""

from __future__ import annotations

import logging
from typing import Any

import psycopg
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from argus_api.answers import answer
from argus_memory.errors import ArgusError, InvalidItem

log = logging.getLogger(__name__)

WORDS = {404: "not_found", 405: "method_not_allowed"}
UNEXPECTED = "an unexpected error stopped this call; nothing of it was kept, and the API's log tells more"


class BadRequest(ArgusError):
    """What came is not JSON at all."""

    exit_code = 2
    http_status = 400
    code = "bad_request"


class Unauthorized(ArgusError):
    http_status = 401
    code = "unauthorized"


class Forbidden(ArgusError):
    http_status = 403
    code = "forbidden"


class TooLarge(ArgusError):
    exit_code = 2
    http_status = 413
    code = "too_large"


class WrongHost(ArgusError):
    http_status = 421
    code = "wrong_host"


def error_answer(status: int, code: str, message: str, **more: Any) -> Response:
    return answer({"error": {"code": code, "message": message, **more}}, status)


def error_reply(request: Request, status: int, code: str, message: str, **more: Any) -> Response:
    """The error as JSON; below /ui as a page of one sentence, once the application has pages."""
    page = getattr(request.app.state, "error_page", None)
    if page is not None and is_page(request.url.path):
        shown: Response = page(request, status, message)
        return shown
    return error_answer(status, code, message, **more)


def is_page(path: str) -> bool:
    """Whether a person looks at what is answered there."""
    return path == "/ui" or path.startswith("/ui/")


def add_error_handlers(app: FastAPI) -> None:
    """Teach the application the table."""
    app.add_exception_handler(ArgusError, _argus_error)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(RequestValidationError, _validation_error)
    app.add_exception_handler(psycopg.Error, _database_error)
    app.add_exception_handler(ClientDisconnect, _gone)
    app.add_exception_handler(Exception, _unexpected)


async def _argus_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, ArgusError)
    if error.code == "signed_out":
        to_sign_in: Response = request.app.state.signed_out_answer(request)
        return to_sign_in
    more: dict[str, Any] = {}
    if isinstance(error, InvalidItem):
        more = {"field": error.field, "index": error.index}
    reply = error_reply(request, error.http_status, error.code, str(error), **more)
    if isinstance(error, Unauthorized):
        reply.headers["WWW-Authenticate"] = "Bearer"
    if isinstance(error, TooLarge):
        reply.headers["Connection"] = "close"  # what was not read is still on its way
    return reply


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    message = {
        404: f"there is nothing at {request.url.path}",
        405: f"{request.url.path} does not take {request.method}",
    }.get(error.status_code, str(error.detail))
    reply = error_reply(request, error.status_code, WORDS.get(error.status_code, "error"), message)
    reply.headers.update(error.headers or {})
    return reply


async def _validation_error(request: Request, error: Exception) -> Response:
    """A parameter of the address that does not fit: the first one, in a sentence."""
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    name = ".".join(str(part) for part in first["loc"][1:]) or str(first["loc"][0])
    problem = str(first["msg"])
    return error_reply(request, 422, "invalid", f"{name}: {problem[:1].lower()}{problem[1:]}", field=name)


async def _database_error(request: Request, error: Exception) -> Response:
    if isinstance(error, psycopg.errors.QueryCanceled | psycopg.errors.LockNotAvailable):
        return error_reply(request, 503, "busy", "the database was too busy; nothing was kept, try again")
    if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
        return error_reply(request, 503, "unreachable", "the database went away; nothing was kept, try again")
    if isinstance(error, psycopg.errors.UndefinedTable | psycopg.errors.UndefinedColumn):
        message = "the database is not at this version's schema: `argus up` brings it there"
        return error_reply(request, 503, "not_migrated", message)
    return await _unexpected(request, error)


async def _gone(request: Request, error: Exception) -> Response:
    return error_reply(request, 400, "disconnected", "the connection ended before the request was whole")


async def _unexpected(request: Request, error: Exception) -> Response:
    log.error("%s %s failed", request.method, request.url.path, exc_info=error)
    return error_reply(request, 500, "internal", UNEXPECTED)
