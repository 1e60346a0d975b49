"""Labels that others name are bounded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from argus_memory.watch.metrics import REST, fold

ROW = st.fixed_dictionaries({
    "stage": st.sampled_from(["distill", "dedup"]),
    "model": st.sampled_from([*"abcdefgh", REST]),
    "n": st.integers(1, 9),
    "usd": st.none() | st.integers(0, 9),
})  # fmt: skip


@given(st.lists(ROW, max_size=30, unique_by=lambda row: (row["stage"], row["model"])), st.integers(1, 5))
def test_names_are_bounded_and_nothing_is_lost(rows: list[Mapping[str, Any]], most: int) -> None:
    """At most `most` names and the rest, each pair of labels once, with the same sums."""
    found = fold(rows, "model", most)
    assert len({row["model"] for row in found} - {REST}) <= most
    assert len({(row["stage"], row["model"]) for row in found}) == len(found)
    assert sum(row["n"] for row in found) == sum(row["n"] for row in rows)
    assert sum(row["usd"] or 0 for row in found) == sum(row["usd"] or 0 for row in rows)


def test_what_is_known_in_none_stays_unknown() -> None:
    """A cost that no row knows is not 0 in their sum."""
    rows = [{"model": name, "n": n, "usd": None} for name, n in (("a", 5), ("b", 1), ("c", 1))]
    assert fold(rows, "model", 1) == [{"model": "a", "n": 5, "usd": None}, {"model": REST, "n": 2, "usd": None}]
