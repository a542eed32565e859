"""Draws random scenes in the style of CLEVR and of PTR, for questions generated offline.

PTR's structural rules and weights are the data set's own. The frequencies of parts are ours, as the
public files do not state them. Every draw uses the caller's generator.
"""

from collections.abc import Callable
from random import Random
from typing import Any

from thoughtgraph.tools.scenes.scene import Scene, numbered
from thoughtgraph.tools.scenes.vocabulary import COLORS, MATERIALS, SHAPES, SIZES, Style

Counts = dict[str, int]

CATEGORY_WEIGHTS = {"Chair": 0.3, "Table": 0.3, "Bed": 0.15, "Refrigerator": 0.15, "Cart": 0.1}
"""The probability of each category in PTR."""
PTR_REACH, PTR_APART, PTR_MARGIN = 6.0, 1.5, 0.2
"""Half the side of the floor, the least distance of objects, the least offset of a relation."""
CLEVR_REACH, CLEVR_MARGIN = 3.0, 0.2


def random_scene(style: Style, rng: Random) -> Scene:
    """Returns a scene: 3 to 6 pieces of furniture (PTR) or 3 to 10 solids (CLEVR)."""
    return _ptr_scene(rng) if style == "ptr" else _clevr_scene(rng)


def _ptr_scene(rng: Random) -> Scene:
    count = rng.randint(3, 6)
    weights = list(CATEGORY_WEIGHTS.values())
    categories = rng.choices(list(CATEGORY_WEIGHTS), weights, k=count)
    contents = [
        {part: [rng.choice(COLORS), many] for part, many in _PARTS[category](rng).items()}
        for category in categories
    ]

    def apart(a: tuple[float, float], b: tuple[float, float]) -> bool:
        return (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 > PTR_APART**2

    places = _places(rng, count, PTR_REACH, apart)
    return _scene(categories, contents, places, PTR_MARGIN, ("above", "below"))


def _clevr_scene(rng: Random) -> Scene:
    count = rng.randint(3, 10)
    shapes = [rng.choice(SHAPES) for _ in range(count)]
    contents = [
        [rng.choice(COLORS), rng.choice(SIZES), rng.choice(MATERIALS)] for _ in range(count)
    ]

    def apart(a: tuple[float, float], b: tuple[float, float]) -> bool:
        return all(abs(x - y) > CLEVR_MARGIN for x, y in zip(a, b, strict=True))

    return _scene(shapes, contents, _places(rng, count, CLEVR_REACH, apart), 0.0, ())


def _places(
    rng: Random,
    count: int,
    reach: float,
    apart: Callable[[tuple[float, float], tuple[float, float]], bool],
) -> list[tuple[float, float]]:
    places: list[tuple[float, float]] = []
    while len(places) < count:
        place = (round(rng.uniform(-reach, reach), 2), round(rng.uniform(-reach, reach), 2))
        if all(apart(place, other) for other in places):
            places.append(place)
    return places


def _scene(
    categories: list[str],
    contents: list[Any],
    places: list[tuple[float, float]],
    margin: float,
    unused: tuple[str, ...],
) -> Scene:
    indices = range(len(places))

    def rows(axis: int, sign: int) -> list[list[int]]:
        return [
            [j for j in indices if j != i and sign * (places[j][axis] - places[i][axis]) > margin]
            for i in indices
        ]

    relationships = {
        **{"left": rows(0, -1), "right": rows(0, 1), "front": rows(1, -1), "behind": rows(1, 1)},
        **{name: [[] for _ in indices] for name in unused},
    }
    names = numbered(categories)
    return Scene.from_json(
        {
            "relationships": relationships,
            "objects": [{n: content} for n, content in zip(names, contents, strict=True)],
            "positions": [list(place) for place in places],
        }
    )


def _chair(rng: Random) -> Counts:
    parts: Counts = {"seat": 1, "back": 1}
    base = rng.choice(("leg", "swivel", "pedestal"))
    if base == "pedestal":
        parts |= {"pedestal": 1, "central support": 1}
    else:
        parts["leg"] = 4 if base == "leg" else rng.randint(3, 6)
    if base == "swivel":
        parts["central support"] = 1
        if rng.random() < 0.5:
            parts["wheel"] = parts["leg"]
    if base == "leg" and rng.random() < 0.4:
        parts["leg bar"] = rng.randint(1, 8)
    arms = rng.random()
    if arms < 0.3:
        parts["arm"] = 2
    elif arms < 0.6:
        parts["arm horizontal bar"] = 2
        if rng.random() < 0.6:
            parts["arm vertical bar"] = rng.choice((2, 4, 6))
    return parts


def _table(rng: Random) -> Counts:
    parts: Counts = {"top": 1}
    if rng.random() < 0.7:
        parts["leg"] = rng.randint(2, 6)
    else:
        parts["pedestal"] = 1
        if rng.random() < 0.5:
            parts["central support"] = 1
    for part, share, most in (("drawer", 0.4, 6), ("door", 0.3, 4), ("shelf", 0.3, 3)):
        if rng.random() < share:
            parts[part] = rng.randint(1, most)
    if "leg" in parts and rng.random() < 0.3:
        parts["leg bar"] = rng.randint(1, 6)
    return parts


def _bed(rng: Random) -> Counts:
    parts: Counts = {"sleep area": 1}
    if rng.random() < 0.6:
        parts["back"] = 1
    if rng.random() < 0.7:
        parts["leg"] = rng.randint(2, 8)
    if rng.random() < 0.4:
        parts["leg bar"] = rng.randint(1, 8)
    return parts


def _refrigerator(rng: Random) -> Counts:
    return {"body": 1, "door": rng.randint(1, 4)}


def _cart(rng: Random) -> Counts:
    return {"body": 1, "wheel": rng.randint(2, 6)}


_PARTS: dict[str, Callable[[Random], Counts]] = {
    "Chair": _chair,
    "Table": _table,
    "Bed": _bed,
    "Refrigerator": _refrigerator,
    "Cart": _cart,
}
