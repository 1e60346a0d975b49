"""`GET /hooks/download/{file}`: the two hooks, for a machine that has no Argus of its own.

The application includes this router with its check of the capture token; the files hold no secret.
"""

from __future__ import annotations

from pathlib import Path

from fastapi import APIRouter
from fastapi.responses import Response

from argus_memory.errors import NotFound

router = APIRouter(prefix="/hooks", tags=["hooks"])
FOLDER = Path(__file__).resolve().parent / "hooks"
DOWNLOADS = ("capture_hook.py", "recall_hook.py")


@router.get("/download/{file}")
def download_hook(file: str) -> Response:
    """The hook's text; any other name is not found."""
    if file not in DOWNLOADS:
        raise NotFound(f"there is no hook named {file!r}; ask for one of {', '.join(DOWNLOADS)}")
    headers = {"Content-Disposition": f'attachment; filename="{file}"', "X-Content-Type-Options": "nosniff"}
    return Response((FOLDER / file).read_bytes(), media_type="text/x-python", headers=headers)
