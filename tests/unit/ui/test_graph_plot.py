"""The picture of the graph: links to notes, text as text, the same for the same graph."""

from __future__ import annotations

import re

from argus_api.ui.graph_plot import draw, kind_of
from argus_memory.rules.graph import HEIGHT, WIDTH, Edge, Graph, Node

NODES = (
    Node("n1", "Tomatoes <b>", 'note 1: <script>alert("x")</script>', pinned=True),
    Node("n2", "Dumps \u202egpj", "note 2", gone=True),
    Node("n3", "Vents", "note 3"),
    Node("t1", "relay", "relay"),
)
GRAPH = Graph(NODES, (Edge("n1", "n2", "supersedes"), Edge("n1", "n3", "similar"), Edge("n3", "t1", "mentions")))


def test_notes_lead_to_their_pages_and_things_nowhere() -> None:
    """A link a note; a thing that notes name has no page."""
    drawn = draw(GRAPH, "garden")
    assert re.findall(r'href="([^"]+)"', drawn) == ["/ui/notes/1", "/ui/notes/2", "/ui/notes/3"]
    assert [kind_of(node) for node in NODES] == ["pinned", "gone", "note", "thing"]


def test_text_is_text_and_style_is_the_sheets() -> None:
    """Nothing of a note becomes markup, what turns directions is visible, and no style stands inline."""
    drawn = draw(GRAPH, "<i>garden</i>")
    for never in ("<script", "<b>", "<i>", "style", "\u202e"):
        assert never not in drawn
    assert "⟨U+202E⟩" in drawn
    assert "4 nodes, 3 links" in drawn


def test_it_is_the_same_for_the_same_graph_and_within_its_frame() -> None:
    """Every node lies in the picture; two drawings are one; without nodes there is none."""
    drawn = draw(GRAPH, "garden")
    assert drawn == draw(GRAPH, "garden")
    spots = [(float(x), float(y)) for x, y in re.findall(r'cx="([\d.]+)" cy="([\d.]+)"', drawn)]
    assert len(spots) == 4
    assert all(0 < x < WIDTH and 0 < y < HEIGHT for x, y in spots)
    assert draw(Graph((), ()), "garden") == ""
