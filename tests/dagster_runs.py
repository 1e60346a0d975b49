"""Dagster in tests: the definitions on a test's database, with an instance of their own."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from unittest import mock

import dagster as dg
import numpy as np
from numpy.typing import NDArray

from argus_assets.resources import MemoryResource
from argus_memory.settings import Settings


class WordEmbedder:
    """Unit vectors from the words of a text, without a model: texts with the same words are near each other."""

    model, dim, checksum = "words", 16, "test"

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.stack([self.embed_query(text) for text in texts])

    def embed_query(self, text: str) -> NDArray[np.float32]:
        vector = np.full(self.dim, 0.01, dtype=np.float32)
        for word in text.lower().split():
            vector[sum(word.encode()) % self.dim] += 1
        return vector / np.float32(np.linalg.norm(vector))


@contextmanager
def environment_of(settings: Settings, **more: str) -> Iterator[None]:
    """The variables a service of the hub would have, and no others of Argus."""
    given = {name: value for name, value in os.environ.items() if not name.startswith("ARGUS_")}
    given |= {"ARGUS_HOME": str(settings.home), "ARGUS_DATABASE_URL": settings.database_url or "", **more}
    with mock.patch.dict(os.environ, given, clear=True):
        yield


@contextmanager
def memory_resource(settings: Settings) -> Iterator[MemoryResource]:
    """The resource as a run gets it."""
    with environment_of(settings), MemoryResource().yield_for_execution(dg.build_init_resource_context()) as memory:
        yield memory
