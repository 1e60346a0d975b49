"""The floor under the extractive distiller's figures, on the labelled set of benchmarks/distiller."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

RUNNER = Path(__file__).resolve().parents[3] / "benchmarks" / "distiller" / "run.py"


@pytest.fixture(scope="module")
def runner() -> ModuleType:
    spec = importlib.util.spec_from_file_location("distiller_benchmark", RUNNER)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_the_set_is_large_enough_and_holds_anchors_only(runner: ModuleType) -> None:
    """At least 160 turns, at least 80 of them held out, no file in both halves, no anchor over twelve words."""
    labels = runner.read_labels()
    held = [label for label in labels if label.half == "held-out"]
    assert len(labels) >= 160
    assert len(held) >= 80
    assert not {label.file for label in held} & {label.file for label in labels if label.half == "dev"}
    assert max(len(fragment.split()) for label in labels for fragment in label.keep) <= 12
    assert len({(label.file, label.line, label.block) for label in labels}) == len(labels)


@pytest.mark.parametrize("half", ["dev", "held-out"])
def test_precision_recall_and_speakers(runner: ModuleType, shared_data: Path, half: str) -> None:
    """On both halves: 0.70 of the notes are right, 0.50 of what matters is kept, nobody is misnamed."""
    score = runner.measure(shared_data, [label for label in runner.read_labels() if label.half == half])
    assert score.precision >= 0.70, score.false_notes
    assert score.recall >= 0.50, score.missed
    assert score.wrong_speaker == 0
