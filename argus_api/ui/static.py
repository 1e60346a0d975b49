"""Our own files: the style sheet, htmx and a few scripts. Without sign-in, since the sign-in page needs them."""

from __future__ import annotations

import gzip
import mimetypes
from functools import cache
from typing import Final

from fastapi import APIRouter, Request
from starlette.responses import Response

from argus_api.ui.page import assets
from argus_memory.errors import NotFound

router = APIRouter()
YEAR: Final = 365 * 86400


@cache
def _gzipped(name: str) -> bytes:
    return gzip.compress(assets()[name][0], 9)


@router.get("/ui/static/{name}")
async def static_file(request: Request, name: str, v: str = "") -> Response:
    """The file; kept for good by a browser that asked for this very content."""
    if name not in assets():
        raise NotFound(f"there is no file {name[:100]!r}")
    content, mark = assets()[name]
    kept = f"public, max-age={YEAR}, immutable" if v == mark else "no-cache"
    kind = mimetypes.guess_type(name)[0] or "text/plain"
    headers = {"Cache-Control": kept, "X-Content-Type-Options": "nosniff", "Vary": "Accept-Encoding"}
    if "gzip" in request.headers.get("accept-encoding", ""):
        content = _gzipped(name)
        headers["Content-Encoding"] = "gzip"
    return Response(content, media_type=kind, headers=headers)
