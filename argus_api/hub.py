"""What the routes work with: settings, database, embedder, tokens; one of each a process."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated

from fastapi import Depends, Request

from argus_api.auth import Tokens
from argus_memory.db import Database
from argus_memory.errors import ArgusError, InfraFailure
from argus_memory.models.embedders import Embedder, Vector, Vectors
from argus_memory.settings import Settings

log = logging.getLogger(__name__)

FINISH_SECONDS = 5.0  # the embedded model takes 0.4; a model server that hangs must not hold up the stop


class WarmEmbedder:
    """The configured embedder, loaded in a thread of its own at the start.

    Until then it fails as a model that is away does, so that recall goes by keywords, says so, and waits for nothing.
    """

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self._ready = threading.Event()

    @property
    def model(self) -> str:
        return self._inner.model

    @property
    def dim(self) -> int:
        return self._inner.dim

    @property
    def checksum(self) -> str:
        return self._inner.checksum

    @property
    def is_ready(self) -> bool:
        return self._ready.is_set()

    def start(self) -> None:
        threading.Thread(target=self._warm, name="warm-embedder", daemon=True).start()

    def finish(self) -> None:
        """Wait for the loading: an interpreter that ends while a native runtime is loading aborts the process."""
        self._ready.wait(FINISH_SECONDS)

    def embed(self, texts: Sequence[str]) -> Vectors:
        self._check()
        return self._inner.embed(texts)

    def embed_query(self, text: str) -> Vector:
        self._check()
        return self._inner.embed_query(text)

    def _check(self) -> None:
        if not self._ready.is_set():
            raise InfraFailure(f"{self.model} is still being loaded")

    def _warm(self) -> None:
        try:
            self._inner.embed_query("warm")
        except ArgusError as error:  # each later call tries again and says so itself
            log.warning("the embedder %s does not work yet: %s", self.model, error)
        finally:
            self._ready.set()


@dataclass(frozen=True, slots=True)
class Hub:
    """`processing` is held while work of the stages is done in this process."""

    settings: Settings
    db: Database
    embedder: WarmEmbedder
    tokens: Tokens
    processing: threading.Lock = field(default_factory=threading.Lock)


async def get_hub(request: Request) -> Hub:
    hub: Hub = request.app.state.hub
    return hub


def utc_now() -> datetime:
    return datetime.now(UTC)


Here = Annotated[Hub, Depends(get_hub)]
