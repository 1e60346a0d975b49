"""The graph of notes as a picture within a page: each note leads to its page; colours are the style sheet's. Pure."""

from __future__ import annotations

from typing import Final

from markupsafe import Markup

from argus_api.ui.words import one_line
from argus_memory.rules.graph import HEIGHT, MARGIN, WIDTH, Graph, Node, place

SMALL: Final = 60  # nodes, beyond which labels are short
STEPS: Final = 120  # of the layout: half of what a picture for a file takes, and looks the same at these sizes
SIDE: Final = 150  # room for labels at the left and the right


def draw(graph: Graph, heading: str) -> Markup:
    """An SVG of WIDTH × HEIGHT; blank without nodes. The page tells the same in words below it."""
    if not graph.nodes:
        return Markup("")
    spots = {
        node.id: (SIDE + x * (WIDTH - 2 * SIDE), MARGIN + y * (HEIGHT - 2 * MARGIN))
        for node, (x, y) in zip(graph.nodes, place(graph, steps=STEPS).tolist(), strict=True)
    }
    parts = []
    for edge in graph.edges:
        (x1, y1), (x2, y2) = spots[edge.one], spots[edge.other]
        parts.append(
            Markup('<line class="g-{}" x1="{:.0f}" y1="{:.0f}" x2="{:.0f}" y2="{:.0f}"/>').format(
                edge.kind, x1, y1, x2, y2
            )
        )
    parts += [_draw_node(node, spots[node.id], 18 if len(graph.nodes) > SMALL else 30) for node in graph.nodes]
    label = f"{heading}: {len(graph.nodes)} nodes, {len(graph.edges)} links; the list below tells them in words"
    return Markup('<svg class="graph" role="group" aria-label="{}" viewBox="0 0 {} {}">{}</svg>').format(
        label, WIDTH, HEIGHT, Markup("").join(parts)
    )


def kind_of(node: Node) -> str:
    """thing, gone, pinned or note."""
    return "thing" if node.id.startswith("t") else "gone" if node.gone else "pinned" if node.pinned else "note"


def _draw_node(node: Node, spot: tuple[float, float], chars: int) -> Markup:
    x, y = spot
    left = x >= WIDTH / 2
    drawn = Markup(
        '<title>{}</title><circle cx="{:.0f}" cy="{:.0f}" r="7"/>'
        '<text x="{:.0f}" y="{:.0f}" text-anchor="{}">{}</text>'
    ).format(one_line(node.title, 300), x, y, x + (-12 if left else 12), y + 5, "end" if left else "start",
             one_line(node.label, chars))  # fmt: skip
    kind = kind_of(node)
    if kind == "thing":
        return Markup('<g class="g-thing">{}</g>').format(drawn)
    return Markup('<a class="g-{}" href="/ui/notes/{}">{}</a>').format(kind, node.id[1:], drawn)
