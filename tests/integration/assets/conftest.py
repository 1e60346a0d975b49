"""An instance of Dagster in memory, and the memory resource on the test's database, with an embedder of words."""

from __future__ import annotations

from collections.abc import Iterator

import dagster as dg
import pytest

from argus_assets.resources import MemoryResource
from argus_memory.settings import Settings
from argus_memory.upkeep import process, regenerate
from tests.dagster_runs import WordEmbedder, environment_of, memory_resource


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as made:
        yield made


@pytest.fixture
def embedder(monkeypatch: pytest.MonkeyPatch) -> WordEmbedder:
    made = WordEmbedder()
    for module in (process, regenerate):
        monkeypatch.setattr(module, "open_embedder", lambda _db, _settings: made)
    return made


@pytest.fixture
def memory(settings: Settings, embedder: WordEmbedder) -> Iterator[MemoryResource]:
    with memory_resource(settings) as made:
        yield made


@pytest.fixture
def run_environment(settings: Settings, embedder: WordEmbedder) -> Iterator[None]:
    """What a run's own process would find in its environment."""
    with environment_of(settings):
        yield
