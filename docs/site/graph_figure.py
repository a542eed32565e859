"""The drawing of a method's compiled graph: Mermaid for GitHub, SVG in the page for the site.

The SVG is ours: nodes in a column in the order of the wiring, an arrow to the next one straight
down, one that skips nodes on the right, one that goes back on the left. What is dashed depends on
the state. It takes its colour from the page and needs no script.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cache
from html import escape
from typing import Any, NamedTuple

import thoughtgraph as tg

WIDTH, HEIGHT, GAP = 130, 30, 30
"""Of a node, and between two."""
LANE = 20
"""Between two arrows side by side."""
MARGIN = 16
ENDS = {"__start__": "START", "__end__": "END"}


class Arrow(NamedTuple):
    """One arrow between nodes, which are numbered from the top."""

    source: int
    target: int
    conditional: bool

    @property
    def span(self) -> range:
        """The rows it passes."""
        return range(min(self.source, self.target), max(self.source, self.target) + 1)


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
    right = _lanes(a for a in arrows if a.target > a.source + 1 or a.target == a.source)
    left = _lanes(a for a in arrows if a.target < a.source)
    middle = MARGIN + LANE * (1 + max(left.values(), default=0)) + WIDTH // 2
    width = middle + WIDTH // 2 + LANE * (1 + max(right.values(), default=0)) + MARGIN
    height = len(names) * (HEIGHT + GAP) - GAP + 2 * MARGIN
    told = "; ".join(f"{names[a.source]} to {names[a.target]}" for a in arrows)
    ports = _ports(arrows)
    lines = [
        f'<svg class="graph" role="img" viewBox="0 0 {width} {height}" width="{width}" '
        f'aria-label="{escape(f"The graph of {method}, its arrows: {told}")}">',
        f'<defs><marker id="tip-{method}" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" '
        'markerHeight="8" orient="auto"><path d="M0 0 8 4 0 8z" fill="currentColor"/></marker>'
        "</defs>",
    ]
    for arrow in arrows:
        lane = right.get(arrow, left.get(arrow))
        side = 1 if arrow in right else -1
        path = _way(arrow, middle, side, lane, ports)
        dashed = ' stroke-dasharray="4 3"' if arrow.conditional else ""
        lines.append(
            f'<path d="{path}" fill="none" stroke="currentColor"{dashed} '
            f'marker-end="url(#tip-{method})"/>'
        )
    for row, name in enumerate(names):
        top = MARGIN + row * (HEIGHT + GAP)
        lines += [
            f'<rect x="{middle - WIDTH // 2}" y="{top}" width="{WIDTH}" height="{HEIGHT}" rx="6" '
            'fill="none" stroke="currentColor"/>',
            f'<text x="{middle}" y="{top + HEIGHT // 2 + 5}" text-anchor="middle" '
            f'fill="currentColor">{escape(name)}</text>',
        ]
    return "\n".join([*lines, "</svg>"])


def _lanes(arrows: Iterable[Arrow]) -> dict[Arrow, int]:
    """Gives arrows that pass the same rows lanes of their own, the shortest ones the nearest."""
    lanes: dict[Arrow, int] = {}
    for arrow in sorted(arrows, key=lambda a: (len(a.span), a)):
        taken = {lanes[o] for o in lanes if set(o.span) & set(arrow.span)}
        lanes[arrow] = next(at for at in range(1, len(lanes) + 2) if at not in taken)
    return lanes


def _ports(arrows: Sequence[Arrow]) -> dict[tuple[Arrow, bool], int]:
    """Says how far from its node's middle each end of an arrow is, so that none lie on another."""
    at: dict[tuple[int, bool], list[tuple[Arrow, bool]]] = defaultdict(list)
    for arrow in arrows:
        if arrow.target != arrow.source + 1:
            side = arrow.target >= arrow.source
            at[arrow.source, side].append((arrow, True))
            at[arrow.target, side].append((arrow, False))
    ports: dict[tuple[Arrow, bool], int] = {}
    for ends in at.values():
        # Those that come from above or go there are nearer to the top.
        ends.sort(key=lambda end: end[0].target if end[1] else end[0].source)
        step = (HEIGHT - 8) // max(1, len(ends))
        for place, end in enumerate(ends):
            ports[end] = (2 * place - len(ends) + 1) * step // 2
    return ports


def _way(
    arrow: Arrow, middle: int, side: int, lane: int | None, ports: dict[tuple[Arrow, bool], int]
) -> str:
    def top(row: int) -> int:
        return MARGIN + row * (HEIGHT + GAP)

    if lane is None:
        return f"M{middle} {top(arrow.source) + HEIGHT}V{top(arrow.target)}"
    edge = middle + side * WIDTH // 2
    away = edge + side * lane * LANE
    begin = top(arrow.source) + HEIGHT // 2 + ports[arrow, True]
    end = top(arrow.target) + HEIGHT // 2 + ports[arrow, False]
    return f"M{edge} {begin}H{away}V{end}H{edge}"
