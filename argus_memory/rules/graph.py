"""A graph of notes: what links them, and its texts for Mermaid and SVG. Pure, and the same for the same notes.

    similar      near in meaning                        mentions     two notes or more name the same thing
    supersedes   the one stands in the other's place

What a note says is text and never markup: both forms escape it.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from argus_memory.rules.file_names import find_files
from argus_memory.rules.recall_text import clip, one_line
from argus_memory.rules.rewording import read

LABEL_CHARS: Final = 40
THINGS_MAX: Final = 40  # named things that become nodes of their own, the most named first
NAMED_BY_MOST: Final = 0.5  # a thing that more than half of the notes name links nothing
WIDTH, HEIGHT, MARGIN = 1200, 800, 70
_CODE: Final = re.compile(r"`([^`\s]{3,60})`")
_NAME: Final = re.compile(r"[A-ZÀ-ÖØ-Þ][\w-]*")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")

Kind = Literal["similar", "supersedes", "mentions"]


@dataclass(frozen=True, slots=True)
class Node:
    """`id`: `n12` a note, `t3` a thing that notes name; `gone`: superseded."""

    id: str
    label: str
    title: str
    gone: bool = False
    pinned: bool = False


@dataclass(frozen=True, slots=True)
class Edge:
    one: str
    other: str
    kind: Kind
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Graph:
    """`left_out`: notes beyond the limit."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    left_out: int = 0


def things_of(text: str) -> frozenset[str]:
    """Names, files and `code` that a note names."""
    text = one_line(text)[:2000]
    found = {*_CODE.findall(text), *find_files(text)}
    stems = read(text).names
    named = {word for word in _NAME.findall(text) if any(word.casefold().startswith(stem) for stem in stems)}
    return frozenset(found | named)


def mentions(notes: Sequence[tuple[int, str]]) -> tuple[list[Node], list[Edge]]:
    """A node for each thing that at least two notes name, and the edges to it."""
    named: dict[str, list[int]] = {}
    for note_id, text in notes:
        for thing in sorted(things_of(text)):
            named.setdefault(thing, []).append(note_id)
    most = max(2, int(NAMED_BY_MOST * len(notes)))
    shared = [(thing, ids) for thing, ids in named.items() if 2 <= len(ids) <= most]
    shared.sort(key=lambda pair: (-len(pair[1]), pair[0]))
    nodes, edges = [], []
    for number, (thing, ids) in enumerate(shared[:THINGS_MAX], 1):
        nodes.append(Node(f"t{number}", label_of(thing), thing))
        edges += [Edge(f"n{note_id}", f"t{number}", "mentions") for note_id in ids]
    return nodes, edges


def label_of(text: str) -> str:
    return clip(one_line(_CONTROL.sub(" ", text)), LABEL_CHARS)


def as_mermaid(graph: Graph) -> str:
    """A flowchart; a label is quoted, with what Mermaid would read as markup written as entities."""
    lines = ["flowchart LR"]
    for node in graph.nodes:
        shape = ('(["', '"])') if node.id.startswith("t") else ('["', '"]')
        lines.append(f"  {node.id}{shape[0]}{_entities(node.label)}{shape[1]}")
    arrows = {"similar": "---", "supersedes": "-->|supersedes|", "mentions": "-.-"}
    lines += [f"  {edge.one} {arrows[edge.kind]} {edge.other}" for edge in graph.edges]
    gone = [node.id for node in graph.nodes if node.gone]
    if gone:
        lines += ["  classDef gone stroke-dasharray: 4 3,opacity:0.6", f"  class {','.join(gone)} gone"]
    if graph.left_out:
        lines.append(f"  %% {graph.left_out} notes are left out")
    return "\n".join(lines) + "\n"


def _entities(text: str) -> str:
    """Letters, digits and plain punctuation stay; everything else becomes #code; as Mermaid's manual has it."""
    return "".join(c if c.isalnum() or c in " .,:!?-+/_'" else f"#{ord(c)};" for c in text)


def place(graph: Graph, *, steps: int = 220) -> np.ndarray:
    """Where the nodes stand, shape (nodes, 2), 0 to 1.

    Springs and repulsion as in Fruchterman and Reingold, "Graph drawing by force-directed placement" (1991), from a
    circle in the order of the nodes and without chance.
    """
    count = len(graph.nodes)
    angles = np.linspace(0, 2 * np.pi, max(1, count), endpoint=False)
    at = np.stack([np.cos(angles), np.sin(angles)], axis=1) * (0.5 + 0.1 * (np.arange(count) % 5))[:, None]
    index = {node.id: number for number, node in enumerate(graph.nodes)}
    links = np.array([[index[edge.one], index[edge.other]] for edge in graph.edges], dtype=int).reshape(-1, 2)
    ideal = 1.6 / np.sqrt(max(1, count))
    for step in range(steps if count > 1 else 0):
        apart = at[:, None, :] - at[None, :, :]
        distance = np.maximum(np.sqrt((apart**2).sum(axis=2)), 1e-3)
        push = (apart / distance[..., None] * (ideal**2 / distance)[..., None]).sum(axis=1)
        if len(links):
            pull = at[links[:, 0]] - at[links[:, 1]]
            pull *= (np.sqrt((pull**2).sum(axis=1)) / ideal)[:, None]
            np.add.at(push, links[:, 0], -pull)
            np.add.at(push, links[:, 1], pull)
        push -= 0.6 * at  # what is linked to nothing must not drift away
        length = np.maximum(np.sqrt((push**2).sum(axis=1)), 1e-6)[:, None]
        at = at + push / length * np.minimum(length, 0.12 * (1 - step / steps) + 0.002)
    low, high = at.min(axis=0, initial=0.0), at.max(axis=0, initial=0.0)
    return np.asarray((at - low) / np.maximum(high - low, 1e-9))


def as_svg(graph: Graph, *, heading: str = "Notes") -> str:
    """A picture of WIDTH × HEIGHT; light or dark as its reader has it; each node bears its text as a title."""
    spots = place(graph)
    spot = {
        node.id: (MARGIN + x * (WIDTH - 2 * MARGIN), MARGIN + y * (HEIGHT - 2 * MARGIN))
        for node, (x, y) in zip(graph.nodes, spots, strict=True)
    }
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img"'
        f' aria-label="{html.escape(heading)}: {len(graph.nodes)} nodes, {len(graph.edges)} links">',
        f"<style>{_STYLE}</style>",
        f'<rect class="ground" width="{WIDTH}" height="{HEIGHT}"/>',
    ]
    for edge in graph.edges:
        (x1, y1), (x2, y2) = spot[edge.one], spot[edge.other]
        lines.append(f'<line class="{edge.kind}" x1="{x1:.0f}" y1="{y1:.0f}" x2="{x2:.0f}" y2="{y2:.0f}"/>')
    small = len(graph.nodes) > 60
    for node in graph.nodes:
        x, y = spot[node.id]
        kind = "thing" if node.id.startswith("t") else "gone" if node.gone else "pinned" if node.pinned else "note"
        label = clip(node.label, 18 if small else 32)
        anchor = "start" if x < WIDTH / 2 else "end"
        shift = 10 if anchor == "start" else -10
        lines.append(
            f'<g class="{kind}"><title>{html.escape(_plain(node.title))}</title>'
            f'<circle cx="{x:.0f}" cy="{y:.0f}" r="{4 if small else 6}"/>'
            f'<text x="{x + shift:.0f}" y="{y + 4:.0f}" text-anchor="{anchor}"'
            f' font-size="{9 if small else 12}">{html.escape(_plain(label))}</text></g>'
        )
    left = f"; {graph.left_out} more are left out" if graph.left_out else ""
    legend = f"{html.escape(heading)}: solid: near in meaning, dotted: both name it, orange: supersedes{left}"
    lines += [f'<text class="legend" x="16" y="{HEIGHT - 14}" font-size="13">{legend}</text>', "</svg>"]
    return "\n".join(lines) + "\n"


def _plain(text: str) -> str:
    """Without what XML or a reader of right-to-left marks would stumble over."""
    return _CONTROL.sub(" ", text)


_STYLE: Final = (
    "text{font-family:system-ui,sans-serif;fill:#1b1f24;paint-order:stroke;stroke:#fff;stroke-width:3px}"
    ".ground{fill:#fff}line{stroke:#8a94a3;stroke-width:1.2}.mentions{stroke-dasharray:2 4}"
    ".supersedes{stroke:#b3541e;stroke-width:2}.note circle{fill:#2f6fb0}.pinned circle{fill:#1a7f4b}"
    ".gone circle{fill:#b0b6bf}.gone text{fill:#5b6470}.thing circle{fill:#fff;stroke:#6b4fa0;stroke-width:2}"
    "@media(prefers-color-scheme:dark){text{fill:#e6e9ee;stroke:#12161b}.ground{fill:#12161b}line{stroke:#6d7887}"
    ".note circle{fill:#6cb0f5}.pinned circle{fill:#4cc38a}.gone text{fill:#a3acb8}.supersedes{stroke:#f0914e}"
    ".thing circle{fill:#12161b;stroke:#b79cf0}}"
)
