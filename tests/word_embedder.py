"""An embedder for tests: a text's vector is the sum of its words' fixed random directions. No model, no weights."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

import numpy as np

from argus_memory.errors import ContentFailure, InfraFailure
from argus_memory.models.embedders import Vector, Vectors, check_vectors


class WordEmbedder:
    """Texts that share words are near. `down` raises InfraFailure; texts with `refused` in them raise ContentFailure
    for the whole batch, as servers do; `answers_dim` is the size it really answers. `batches` counts what was asked.
    """

    def __init__(self, dim: int = 64, *, model: str = "words", answers_dim: int | None = None) -> None:
        self.model, self.dim, self.checksum = model, dim, "test"
        self.answers_dim = answers_dim or dim
        self.down = False
        self.refused: str | None = None
        self.batches: list[list[str]] = []

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.batches.append(list(texts))
        if self.down:
            raise InfraFailure("the model server is away", status=503)
        if self.refused and any(self.refused in text for text in texts):
            raise ContentFailure("one of the texts was refused", status=422)
        vectors = np.array([self._vector(text) for text in texts], dtype=np.float32)
        return check_vectors(vectors, len(texts), self.dim, self.model)

    def embed_query(self, text: str) -> Vector:
        return np.asarray(self.embed([text])[0])

    def _vector(self, text: str) -> np.ndarray:
        words = re.findall(r"\w+", text.lower()) or [""]
        return np.sum([self._direction(word) for word in words], axis=0)

    def _direction(self, word: str) -> np.ndarray:
        seed = int.from_bytes(hashlib.sha256(f"{self.model} {word}".encode()).digest()[:4], "big")
        return np.random.default_rng(seed).normal(size=self.answers_dim)
