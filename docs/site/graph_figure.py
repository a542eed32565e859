"""The drawing of a method's compiled graph: Mermaid for GitHub, SVG in the page for the site.

We draw the SVG ourselves, as the site runs no scripts. Nodes form a column in the order of the
wiring. An arrow to the next node goes straight down; an arrow that skips nodes bends to the right,
and an arrow back to the left. Conditional edges are dashed. The colour is that of the page's text.
"""

from collections.abc import Sequence
from functools import cache
from html import escape
from typing import Any, NamedTuple

import thoughtgraph as tg

WIDTH, HEIGHT, GAP = 130, 30, 30
"""Size of a node, and the gap between two nodes."""
BULGE = 18
"""How far an arrow swings out for each row that it crosses."""
INSET = 8
"""How far from a node's corner an arrow begins and ends."""
MARGIN = 16
ENDS = {"__start__": "START", "__end__": "END"}


class Arrow(NamedTuple):
    """One arrow between nodes, which are numbered from the top."""

    source: int
    target: int
    conditional: bool

    @property
    def swing(self) -> int:
        """How far the arrow swings out to the right; negative: to the left; 0: straight down."""
        rows = self.target - self.source
        return 0 if rows == 1 else BULGE * (rows or 1)


@cache
def _graph(method: str) -> Any:
    model = tg.ScriptedChat(reply={})
    return tg.build(method, model=model).get_graph()


def mermaid(method: str) -> str:
    """Returns a method's graph as a block of Mermaid, which GitHub draws."""
    return f"```mermaid\n{_graph(method).draw_mermaid(with_styles=False).strip()}\n```"


def figure(method: str) -> str:
    """Returns a method's graph as HTML for a page of the site."""
    graph = _graph(method)
    names = list(map(str, graph.nodes))
    arrows = sorted(
        Arrow(names.index(edge.source), names.index(edge.target), edge.conditional)
        for edge in graph.edges
    )
    return f"```{{raw}} html\n{_svg(method, [ENDS.get(name, name) for name in names], arrows)}\n```"


def _svg(method: str, names: Sequence[str], arrows: Sequence[Arrow]) -> str:
    left, right = (max(sign * arrow.swing for arrow in arrows) for sign in (-1, 1))
    middle = MARGIN + max(left, 0) + WIDTH // 2
    width = middle + WIDTH // 2 + max(right, 0) + MARGIN
    height = _top(len(names)) - GAP + MARGIN
    description = "; ".join(f"{names[a.source]} to {names[a.target]}" for a in arrows)
    lines = [
        f'<svg class="graph" role="img" viewBox="0 0 {width} {height}" width="{width}" '
        f'aria-label="{escape(f"The graph of {method}, its arrows: {description}")}">',
        f'<defs><marker id="tip-{method}" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" '
        'markerHeight="8" orient="auto"><path d="M0 0 8 4 0 8z" fill="currentColor"/></marker>'
        "</defs>",
    ]
    for arrow in arrows:
        dashed = ' stroke-dasharray="4 3"' if arrow.conditional else ""
        lines.append(
            f'<path d="{_path(arrow, middle)}" fill="none" stroke="currentColor"{dashed} '
            f'marker-end="url(#tip-{method})"/>'
        )
    for row, name in enumerate(names):
        lines += [
            f'<rect x="{middle - WIDTH // 2}" y="{_top(row)}" width="{WIDTH}" height="{HEIGHT}" '
            'rx="6" fill="none" stroke="currentColor"/>',
            f'<text x="{middle}" y="{_top(row) + HEIGHT // 2 + 5}" text-anchor="middle" '
            f'fill="currentColor">{escape(name)}</text>',
        ]
    return "\n".join([*lines, "</svg>"])


def _top(row: int) -> int:
    return MARGIN + row * (HEIGHT + GAP)


def _path(arrow: Arrow, middle: int) -> str:
    begin, end = _top(arrow.source) + HEIGHT, _top(arrow.target)
    if not arrow.swing:
        return f"M{middle} {begin}V{end}"
    begin, end = begin - INSET, end + INSET
    if arrow.swing < 0:
        begin, end = _top(arrow.source) + INSET, _top(arrow.target) + HEIGHT - INSET
    side = WIDTH // 2 if arrow.swing > 0 else -WIDTH // 2
    edge, away = middle + side, middle + side + arrow.swing * 4 // 3
    return f"M{edge} {begin}C{away} {begin} {away} {end} {edge} {end}"
