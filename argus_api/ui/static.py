"""Our own files: the style sheet, htmx and a few scripts. Without sign-in, since the sign-in page needs them."""

from __future__ import annotations

import mimetypes
from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from argus_api.ui.page import assets
from argus_memory.errors import NotFound

router = APIRouter()
YEAR: Final = 365 * 86400


@router.get("/ui/static/{name}")
async def static_file(name: str, v: str = "") -> Response:
    """The file; kept for good by a browser that asked for this very content."""
    if name not in assets():
        raise NotFound(f"there is no file {name[:100]!r}")
    content, mark = assets()[name]
    kept = f"public, max-age={YEAR}, immutable" if v == mark else "no-cache"
    kind = mimetypes.guess_type(name)[0] or "text/plain"
    return Response(content, media_type=kind, headers={"Cache-Control": kept, "X-Content-Type-Options": "nosniff"})
