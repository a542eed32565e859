"""Draws a scene as SVG: the floor from above with its objects.

x grows to the right and y to the back, as the relations have it. Objects are at their positions if
the scene gives them, else where their relations put them. The colors of text and lines follow the
reader's light or dark theme.
"""

from collections.abc import Iterator
from html import escape
from math import hypot
from textwrap import wrap

from thoughtgraph.tools.scenes.scene import Scene, SceneObject

WIDTH, FLOOR, MARGIN, LINE = 760, 420, 70, 15
"""Pixels: the picture's width, the floor's height, its border, a line of text."""

ROW, INDENT = 95, 32
"""Characters per line, so that wide fonts fit; indent of continuation lines in pixels."""

_INKS = {
    **{"gray": "#8a8a8a", "red": "#c0392b", "blue": "#2f6fd0", "green": "#2e8b57"},
    **{"brown": "#8b5a2b", "purple": "#8e44ad", "cyan": "#1fa7b8", "yellow": "#d4ac0d"},
}
_STYLE = (
    "text{font:12px system-ui,sans-serif;fill:#222}"
    ".name{font-weight:600;font-size:13px}.floor{fill:#f4f4f2;stroke:#bbb}"
    ".edge{stroke:#222;stroke-width:1.5}.axis{fill:#777;font-style:italic}"
    "@media(prefers-color-scheme:dark){text{fill:#e8e8e8}.floor{fill:#24262b;stroke:#555}"
    ".edge{stroke:#e8e8e8}.axis{fill:#aaa}}"
)


def svg(scene: Scene) -> str:
    """Returns the scene as an SVG document.

    Each object is drawn as its shape with its name. A line below the floor describes it: its parts
    with their colors and counts (PTR), or its attributes (CLEVR).
    """
    places = _places(scene)
    lines = _lines(scene)
    height = FLOOR + LINE * (len(lines) + 2)
    body = "".join([*_floor(), *_objects(scene, places), *lines])
    names = escape(", ".join(each.name for each in scene.objects))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'width="{WIDTH}" height="{height}" role="img" aria-label="scene: {names}">'
        f"<style>{_STYLE}</style>{body}</svg>\n"
    )


def layout(scene: Scene) -> list[tuple[float, float]]:
    """Returns the position of each object, x to the right and y to the back.

    These are the scene's positions if every object has one. Else x counts the objects to the left
    minus those to the right, and y those in front minus those behind. The places agree with the
    relations as far as these are orders.
    """
    positions = [each.position for each in scene.objects if each.position]
    if len(positions) == len(scene.objects):
        return positions
    return [
        (_rank(scene, "left", "right", at), _rank(scene, "front", "behind", at))
        for at in range(len(scene.objects))
    ]


def _rank(scene: Scene, before: str, after: str, at: int) -> float:
    """Returns the number of objects before an object minus those after it."""
    table = scene.relationships
    return float(sum(len(table[n][at]) * s for n, s in ((before, 1), (after, -1)) if n in table))


def _places(scene: Scene) -> list[tuple[float, float]]:
    """Returns the positions in pixels, with the back at the top, without overlap."""
    points = layout(scene)
    columns = _scaled([x for x, _ in points], MARGIN, WIDTH - MARGIN)
    rows = _scaled([-y for _, y in points], MARGIN, FLOOR - MARGIN)
    placed: list[tuple[float, float]] = []
    for x, y in zip(columns, rows, strict=True):
        # Objects at the same place are moved down and to the right.
        while any(hypot(x - a, y - b) < 34 for a, b in placed):
            x, y = x + 13, y + 29
        placed.append((round(x, 1), round(y, 1)))
    return placed


def _scaled(values: list[float], low: float, high: float) -> list[float]:
    least, most = min(values), max(values)
    if least == most:
        return [(low + high) / 2] * len(values)
    return [low + (high - low) * (value - least) / (most - least) for value in values]


def _floor() -> Iterator[str]:
    yield f'<rect class="floor" x="8" y="8" width="{WIDTH - 16}" height="{FLOOR - 16}" rx="8"/>'
    middle = WIDTH // 2
    for x, y, anchor, word in (
        (16, FLOOR // 2, "start", "left"),
        (WIDTH - 16, FLOOR // 2, "end", "right"),
        (middle, 24, "middle", "behind"),
        (middle, FLOOR - 14, "middle", "front"),
    ):
        yield f'<text class="axis" x="{x}" y="{y}" text-anchor="{anchor}">{word}</text>'


def _objects(scene: Scene, places: list[tuple[float, float]]) -> Iterator[str]:
    for each, (x, y) in zip(scene.objects, places, strict=True):
        size = 9 if "small" in each.attributes else 15
        ink = _INKS.get(each.attributes[0] if each.attributes else "", "none")
        yield f'<g transform="translate({x} {y})">{_shape(each, size, ink)}'
        yield f'<text class="name" x="0" y="{size + 15}" text-anchor="middle">'
        yield f"{escape(each.name)}</text></g>"


def _shape(each: SceneObject, size: int, ink: str) -> str:
    if each.parts or not each.attributes:
        return _furniture(each, size)
    look = f'class="edge" fill="{ink}"' + (
        ' fill-opacity="0.55"' if "metal" in each.attributes else ""
    )
    if each.category == "sphere":
        return f'<circle r="{size}" {look}/>'
    corner = size // 2 if each.category == "cylinder" else 0
    side = 2 * size
    return f'<rect x="{-size}" y="{-size}" width="{side}" height="{side}" rx="{corner}" {look}/>'


def _furniture(each: SceneObject, size: int) -> str:
    """Returns a bar with one field per part, in the color of the part."""
    inks = [_INKS.get(part.color or "", "none") for part in each.parts.values()] or ["none"]
    width = 12
    left = -len(inks) * width / 2
    fields = (
        f'<rect class="edge" x="{left + at * width}" y="{-size}" width="{width}" '
        f'height="{2 * size}" fill="{ink}"/>'
        for at, ink in enumerate(inks)
    )
    return "".join(fields)


def _lines(scene: Scene) -> list[str]:
    """Returns the lines of text below the floor, which describe the objects."""
    texts = (
        each.words() if each.parts else f"{each.name}: {' '.join(each.attributes)}"
        for each in scene.objects
    )
    rows = [(bool(at), row) for words in texts for at, row in enumerate(wrap(words, ROW))]
    return [
        f'<text x="{INDENT if goes_on else 16}" y="{FLOOR + LINE * (at + 1)}">{escape(row)}</text>'
        for at, (goes_on, row) in enumerate(rows)
    ]
