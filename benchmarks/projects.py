"""Which cosine tells that an episode without a folder belongs to a project: calibration and what comes of it.

    python -m benchmarks.projects PATH_TO_LOCOMO_JSON

Each conversation of LoCoMo stands for a project, each of its sessions for an episode; the embedded model makes the
vectors, names of speakers taken off. The centroids are of the sessions with even numbers of all conversations but the
one that is left out in turn; asked are the odd ones: of conversations that have a centroid (right, wrong or left
alone), and of the one left out, which must be left alone. The first half of the conversations sets the two numbers,
the other half is only counted.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from argus_memory.models.embedders import MINILM, find_named_embedder
from argus_memory.rules.project_choice import choose_project

WRONG = 0.02  # of all that were asked, at most


def sessions_of(path: Path) -> list[list[list[str]]]:
    """Conversation → session → its turns."""
    found = []
    for sample in json.loads(path.read_text("utf-8")):
        conversation: dict[str, Any] = sample["conversation"]
        numbers = sorted(
            int(key.split("_")[1]) for key in conversation if key.startswith("session_") and key.count("_") == 1
        )
        found.append([[turn["text"] for turn in conversation[f"session_{n}"]] for n in numbers])
    return found


def main() -> None:
    embedder = find_named_embedder(MINILM)
    sums = [
        [np.asarray(embedder.embed(turns)).sum(axis=0) for turns in sessions if turns]
        for sessions in sessions_of(Path(sys.argv[1]))
    ]
    names = [str(number) for number in range(len(sums))]
    asked: list[tuple[int, str | None, dict[str, float]]] = []
    for out in (None, *range(len(sums))):
        centroids = {
            names[n]: np.sum(own[::2], axis=0) for n, own in enumerate(sums) if n != out
        }
        units = {name: vector / np.linalg.norm(vector) for name, vector in centroids.items()}
        for n, own in enumerate(sums):
            if out is not None and n != out:
                continue
            for episode in own[1::2]:
                cosines = {name: float(unit @ episode / np.linalg.norm(episode)) for name, unit in units.items()}
                asked.append((n, names[n] if out is None else None, cosines))
    half = (len(sums) + 1) // 2
    best: tuple[float, float, float] | None = None
    for least in np.arange(0.4, 0.95, 0.01):
        for margin in np.arange(0.0, 0.2, 0.01):
            right, wrong, _, total = count([one for one in asked if one[0] < half], least, margin)
            if wrong <= WRONG * total and (best is None or right > best[2]):
                best = (float(least), float(margin), float(right))
    assert best is not None
    for least in (0.75, 0.80, 0.85, 0.90):
        for margin in (0.02, 0.05, 0.08, 0.12):
            shown = [count([one for one in asked if one[0] in part], least, margin)
                     for part in (range(half), range(half, len(sums)))]  # fmt: skip
            print(f"  {least:.2f} {margin:.2f}  " + "   ".join(
                f"right {right / known:.2f} wrong {wrong / total:.3f}" for right, wrong, known, total in shown))
    print(f"set on the first {half}: least cosine {best[0]:.2f}, margin {best[1]:.2f}")
    for label, part in (("first half", range(half)), ("other half", range(half, len(sums)))):
        right, wrong, known, total = count([one for one in asked if one[0] in part], best[0], best[1])
        print(f"{label}: right {right / known:.2f} of {known} with a project, wrong {wrong / total:.3f} of {total}")


def count(
    asked: list[tuple[int, str | None, dict[str, float]]], least: float, margin: float
) -> tuple[int, int, int, int]:
    """(right, wrong, those that have a project, all)."""
    right = wrong = 0
    for _, truth, cosines in asked:
        chosen = choose_project(cosines, least=least, margin=margin)
        name = chosen.project if chosen else None
        right += name is not None and name == truth
        wrong += name is not None and name != truth
    return right, wrong, sum(truth is not None for _, truth, _ in asked), len(asked)


if __name__ == "__main__":
    main()
