"""What becomes of a sentence's text: emphasis goes, paths and code stay as they were said."""

from __future__ import annotations

import pytest

from argus_memory.models.extractive import plain
from argus_memory.models.extractive_drops import is_noise


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("Deleted all Python source files (`src/*.py`)", "Deleted all Python source files (`src/*.py`)"),
        ("We copy src/*.py and sync.metrics.* by hand", "We copy src/*.py and sync.metrics.* by hand"),
        ("`__init__` and __all__ stay", "`__init__` and __all__ stay"),
        ("**Decision:** use the *second* queue.", "Decision: use the second queue."),
        ("The area is a * b * c", "The area is a * b * c"),
    ],
)
def test_emphasis_goes_and_paths_stay(said: str, kept: str) -> None:
    """Stars and underscores are taken off where they are emphasis, never out of a path, a glob or code."""
    assert plain(said) == kept


@pytest.mark.parametrize("text", ["Now run quality checks:", "You want the layout to be:", "The pump has identifi..."])
def test_what_was_cut_off_or_stands_elsewhere_is_no_note(text: str) -> None:
    """A short line that only announces, and one that was cut off, are dropped."""
    assert is_noise(text)
