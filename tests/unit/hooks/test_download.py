"""Downloading the hooks from a hub."""

from __future__ import annotations

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from argus_api.hook_routes import DOWNLOADS, FOLDER, router
from argus_memory.errors import NotFound

app = FastAPI()
app.include_router(router)
client = TestClient(app)


@pytest.mark.parametrize("name", DOWNLOADS)
def test_a_hook_comes_as_it_is_installed(name: str) -> None:
    """The same bytes that `argus hooks install` copies."""
    answer = client.get(f"/hooks/download/{name}")
    assert answer.status_code == 200
    assert answer.content == (FOLDER / name).read_bytes()
    assert answer.headers["content-type"].startswith("text/x-python")


@pytest.mark.parametrize("name", ["build.py", "__init__.py", "..%2f..%2fapp.py", "capture_hook.pyc"])
def test_nothing_else_is_served(name: str) -> None:
    """Only the two names; no path leads elsewhere."""
    if "%2f" in name:  # no route of this shape
        assert client.get(f"/hooks/download/{name}").status_code == 404
    else:
        with pytest.raises(NotFound, match=r"capture_hook\.py"):
            client.get(f"/hooks/download/{name}")
