"""Scene graphs: objects with their parts or attributes, and who stands where.

A scene comes from the ToMT format (Tree-of-Mixed-Thought, appendix A.2), where `objects` is a list
of one-key objects: `{"Chair0": {part: [color, count]}}` in PTR style, `{"cube0": [color, size,
material]}` in CLEVR style. An object is its place in the list, never its name: the paper's own
example uses one name twice.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

from thoughtgraph.errors import ProblemError
from thoughtgraph.tools.scenes.vocabulary import (
    COLORS,
    KINDS,
    MATERIALS,
    PARTS,
    RELATIONS,
    SIZES,
    Style,
    canonical,
)

MOST_OBJECTS = 64
"""Objects of a scene that is read (ours); CLEVR has at most 10, PTR 6."""
MOST_PARTS = 1000
"""Largest count of a part that is read (ours)."""

_NUMBERED = re.compile(r"([A-Za-z][A-Za-z ]*?)[ _]?\d*")


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a piece of furniture.

    Attributes:
        color: Its color; None where the data set gives none.
        count: How many of it the object has.
    """

    color: str | None
    count: int


class PartGroup(NamedTuple):
    """A part as it is described, such as "two red legs"; what is None may be any."""

    number: int | None = None
    color: str | None = None
    part: str | None = None


@dataclass(frozen=True, slots=True)
class SceneObject:
    """One object of a scene.

    Attributes:
        name: Its name in the scene, such as "Chair0"; names may repeat.
        category: The name without its number, as written: "Chair", "cube".
        parts: Its parts by name; empty in CLEVR style.
        attributes: Color, size and material; empty in PTR style.
        position: Where it stands, x to the right and y to the back; None when unknown.
    """

    name: str
    category: str
    parts: Mapping[str, Part]
    attributes: tuple[str, ...] = ()
    position: tuple[float, float] | None = None

    def words(self) -> str:
        """Returns what it looks like, for a reader: "Chair0: 4 red leg, 1 blue seat"."""
        parts = (f"{p.count} {p.color or ''} {name}" for name, p in self.parts.items())
        return f"{self.name}: {', '.join(' '.join(each.split()) for each in parts)}".rstrip(": ")


@dataclass(frozen=True, slots=True)
class Scene:
    """A scene graph.

    Attributes:
        style: The data set it is like, which fixes vocabulary and tools.
        objects: The objects; an object's identity is its index.
        relationships: For each relation and object, the objects that stand so to it:
            `relationships["left"][2]` are the objects left of object 2, in increasing order.
    """

    style: Style
    objects: tuple[SceneObject, ...]
    relationships: Mapping[str, tuple[tuple[int, ...], ...]]

    @classmethod
    def from_json(cls, data: Any, style: Style | None = None) -> "Scene":
        """Reads a scene in the ToMT format.

        Args:
            data: The decoded JSON: `objects` and `relationships`; `positions`, a pair of numbers
                for each object, is ours and optional. Other keys are not looked at.
            style: The data set; seen from the first object when not given.

        Raises:
            ProblemError: The data is no such scene; one line says where it is wrong.
        """
        entries = _list(_key(data, "objects"), "objects")
        if not 1 <= len(entries) <= MOST_OBJECTS:
            raise ProblemError(f"a scene has 1 to {MOST_OBJECTS} objects, not {len(entries)}")
        places = _positions(data.get("positions"), len(entries))
        objects = tuple(
            _object(f"objects[{at}]", entry, style, place)
            for at, (entry, place) in enumerate(zip(entries, places, strict=True))
        )
        styles = {"ptr" if each.parts or not each.attributes else "clevr" for each in objects}
        if len(styles) > 1:
            raise ProblemError("a scene is of one style; this one has attributes and parts")
        relationships = _relationships(_key(data, "relationships"), len(objects))
        return cls("ptr" if "ptr" in styles else "clevr", objects, relationships)

    def to_json(self) -> dict[str, Any]:
        """Returns the scene in the ToMT format: plain JSON values that `from_json` reads."""
        scene: dict[str, Any] = {
            "relationships": {
                name: [list(row) for row in rows] for name, rows in self.relationships.items()
            },
            "objects": [
                {
                    each.name: list(each.attributes)
                    or {name: [part.color, part.count] for name, part in each.parts.items()}
                }
                for each in self.objects
            ],
        }
        places = [each.position for each in self.objects]
        if None not in places:
            scene["positions"] = [list(place) for place in places if place]
        return scene


def numbered(categories: list[str]) -> list[str]:
    """Returns names as ToMT gives them: a category and how many of it came before."""
    return [f"{name}{categories[:at].count(name)}" for at, name in enumerate(categories)]


def _object(
    where: str, entry: Any, style: Style | None, position: tuple[float, float] | None
) -> SceneObject:
    if not isinstance(entry, dict) or len(entry) != 1:
        raise ProblemError(f'{where} is not an object with one key such as "Chair0"')
    ((name, content),) = entry.items()
    named = _NUMBERED.fullmatch(name)
    category = named[1] if named else name
    found: Style = "ptr" if isinstance(content, dict) else "clevr"
    if style not in (None, found):
        raise ProblemError(f"{where} is not in {style} style")
    if KINDS[found].get(canonical(category)) != "category":
        known = ", ".join(word for word, kind in KINDS[found].items() if kind == "category")
        raise ProblemError(f"{where}: {category!r} is no category of {found} scenes ({known})")
    if isinstance(content, dict):
        parts = dict(_part(where, part, given) for part, given in content.items())
        return SceneObject(name, category, parts, position=position)
    return SceneObject(name, category, {}, _attributes(where, content), position)


def _part(where: str, name: str, given: Any) -> tuple[str, Part]:
    word = canonical(name)
    if word not in PARTS:
        raise ProblemError(f"{where}: {name!r} is no known part")
    if not isinstance(given, (list, tuple)) or len(given) != 2:
        raise ProblemError(f"{where}: part {name!r} is not [color, count]")
    color, count = given
    if color is not None and (not isinstance(color, str) or canonical(color) not in COLORS):
        raise ProblemError(f"{where}: {color!r} is no known color of part {name!r}")
    if type(count) is not int or not 0 <= count <= MOST_PARTS:
        raise ProblemError(f"{where}: {count!r} is no count of part {name!r}")
    return word, Part(canonical(color) if color is not None else None, count)


def _attributes(where: str, given: Any) -> tuple[str, ...]:
    words = _list(given, where)
    if len(words) != 3 or not all(isinstance(word, str) for word in words):
        raise ProblemError(f"{where} is not [color, size, material]")
    plain = tuple(canonical(word) for word in words)
    for word, known in zip(plain, (COLORS, SIZES, MATERIALS), strict=True):
        if word not in known:
            raise ProblemError(f"{where}: {word!r} is none of {', '.join(known)}")
    return plain


def _relationships(given: Any, count: int) -> dict[str, tuple[tuple[int, ...], ...]]:
    if not isinstance(given, dict) or not given:
        raise ProblemError("relationships is not an object of lists by relation")
    read: dict[str, tuple[tuple[int, ...], ...]] = {}
    for name, rows in given.items():
        if name not in RELATIONS:
            raise ProblemError(f"unknown relation {name!r}; known: {', '.join(RELATIONS)}")
        lists = _list(rows, f"relationships.{name}")
        if len(lists) != count:
            raise ProblemError(f"relationships.{name} has {len(lists)} lists for {count} objects")
        read[name] = tuple(
            _row(f"relationships.{name}[{at}]", at, row, count) for at, row in enumerate(lists)
        )
    return read


def _row(where: str, at: int, given: Any, count: int) -> tuple[int, ...]:
    row = _list(given, where)
    if not all(type(each) is int and 0 <= each < count for each in row):
        raise ProblemError(f"{where} names an object that is not in the scene")
    ordered = sorted(row)
    if at in row or any(a == b for a, b in pairwise(ordered)):
        raise ProblemError(f"{where} names the object itself, or one object twice")
    return tuple(ordered)


def _positions(given: Any, count: int) -> list[tuple[float, float] | None]:
    if given is None:
        return [None] * count
    pairs = _list(given, "positions")
    if len(pairs) != count:
        raise ProblemError(f"positions has {len(pairs)} pairs for {count} objects")
    return [_pair(f"positions[{at}]", pair) for at, pair in enumerate(pairs)]


def _pair(where: str, given: Any) -> tuple[float, float]:
    pair = _list(given, where)
    plain = all(type(each) in (int, float) and abs(each) < 1e6 for each in pair)
    if len(pair) != 2 or not plain:
        raise ProblemError(f"{where} is not a pair of numbers")
    return float(pair[0]), float(pair[1])


def _key(data: Any, key: str) -> Any:
    if not isinstance(data, dict) or key not in data:
        raise ProblemError(f'the scene has no "{key}"; it needs "objects" and "relationships"')
    return data[key]


def _list(given: Any, where: str) -> list[Any]:
    if not isinstance(given, (list, tuple)):
        raise ProblemError(f"{where} is no list")
    return list(given)
