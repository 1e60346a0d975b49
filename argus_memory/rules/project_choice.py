"""Which project an episode belongs to by its words alone: the nearest centroid, if it is near and alone. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Choice:
    """`similarity`: cosine with the project's centroid; `margin`: how much nearer it is than the next one."""

    project: str
    similarity: float
    margin: float


def nearest(cosines: Mapping[str, float]) -> Choice | None:
    """The nearest, whatever its distance; None without any project. Alone, its margin is its similarity."""
    ranked = sorted(cosines.items(), key=lambda pair: (-pair[1], pair[0]))
    if not ranked:
        return None
    (name, similarity), rest = ranked[0], ranked[1:]
    return Choice(name, similarity, similarity - (rest[0][1] if rest else 0.0))


def choose_project(cosines: Mapping[str, float], *, least: float, margin: float) -> Choice | None:
    """The nearest one, at least so near and so much nearer than the next; else nothing is claimed."""
    choice = nearest(cosines)
    return choice if choice and choice.similarity >= least and choice.margin >= margin else None


def find_mismatch(
    cosines: Mapping[str, float], project: str, *, least: float, margin: float
) -> Choice | None:
    """Another project that an episode is nearer to than to the one it is filed under, by the same two bounds."""
    choice = choose_project(cosines, least=least, margin=margin)
    return choice if choice and choice.project != project and project in cosines else None
