"""Scene graphs: objects with their parts or attributes, and their spatial relations.

A scene comes from the ToMT format (Tree-of-Mixed-Thought, appendix A.2), where `objects` is a list
of one-key objects: `{"Chair0": {part: [color, count]}}` in PTR style, `{"cube0": [color, size,
material]}` in CLEVR style. An object is identified by its place in the list, never by its name: the
paper's own example uses one name twice.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

from pydantic import (
    AfterValidator,
    BaseModel,
    Discriminator,
    Field,
    StrictInt,
    Tag,
    ValidationError,
)

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
"""Objects that a scene may have (ours); CLEVR has at most 10, PTR 6."""
MOST_PARTS = 1000
"""Largest count of a part (ours)."""

_NUMBERED = re.compile(r"([A-Za-z][A-Za-z ]*?)[ _]?\d*")


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a piece of furniture.

    Attributes:
        color: The part's color; None where the data set gives none.
        count: How many such parts the object has.
    """

    color: str | None
    count: int


class PartGroup(NamedTuple):
    """A description of parts, such as "two red legs"; None fits any value."""

    number: int | None = None
    color: str | None = None
    part: str | None = None


@dataclass(frozen=True, slots=True)
class SceneObject:
    """One object of a scene.

    Attributes:
        name: The object's name in the scene, such as "Chair0"; names may repeat.
        category: The name without its number, as written: "Chair", "cube".
        parts: The object's parts by name; empty in CLEVR style.
        attributes: Color, size and material; empty in PTR style.
        position: The coordinates: x to the right, y to the back; None when unknown.
    """

    name: str
    category: str
    parts: Mapping[str, Part]
    attributes: tuple[str, ...] = ()
    position: tuple[float, float] | None = None

    def words(self) -> str:
        """Returns the object with its parts, for a reader: "Chair0: 4 red leg, 1 blue seat"."""
        parts = (f"{p.count} {p.color or ''} {name}" for name, p in self.parts.items())
        return f"{self.name}: {', '.join(' '.join(each.split()) for each in parts)}".rstrip(": ")


@dataclass(frozen=True, slots=True)
class Scene:
    """A scene graph.

    Attributes:
        style: The data set in whose style the scene is; it fixes vocabulary and tools.
        objects: The objects; an object's identity is its index.
        relationships: For each relation and object, the objects in this relation to it:
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
                for each object, is ours and optional. Other keys are ignored.
            style: The data set whose style the scene must have; None: either.

        Raises:
            ProblemError: The data is no such scene; one line says where it is wrong.
        """
        try:
            graph = _SceneGraph.model_validate(data)
        except ValidationError as error:
            raise ProblemError(_reason(error)) from error
        names = [(name, look) for entry in graph.objects for name, look in entry.items()]
        places: Sequence[tuple[float, float] | None] = graph.positions or [None] * len(names)
        if len(places) != len(names):
            raise ProblemError(f"positions has {len(places)} pairs for {len(names)} objects")
        styles: set[Style] = {"ptr" if isinstance(look, dict) else "clevr" for _, look in names}
        if len(styles) > 1:
            raise ProblemError(
                "objects must all have parts (ptr) or all have attributes (clevr); here some have "
                "parts, some attributes"
            )
        [own_style] = styles
        if style not in (None, own_style):
            raise ProblemError(
                f"this is a scene of task {own_style!r}, not of {style!r}; choose that task"
            )
        objects = tuple(
            _object(at, name, look, place)
            for at, ((name, look), place) in enumerate(zip(names, places, strict=True))
        )
        rows = {name: _rows(name, each, len(names)) for name, each in graph.relationships.items()}
        return cls(own_style, objects, rows)

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
        places = [list(each.position) for each in self.objects if each.position is not None]
        if len(places) == len(self.objects):  # all objects have one, or none has
            scene["positions"] = places
        return scene


def numbered(categories: list[str]) -> list[str]:
    """Returns the names that ToMT gives objects: a category and the count of earlier ones."""
    return [f"{name}{categories[:at].count(name)}" for at, name in enumerate(categories)]


def _one_of(words: Collection[str]) -> AfterValidator:
    """Returns a validator that brings a text to canonical form and checks it against words."""

    def validate(text: str) -> str:
        if (word := canonical(text)) not in words:
            raise ValueError(f"{text!r} is none of {', '.join(words)}")
        return word

    return AfterValidator(validate)


_Color = Annotated[str, _one_of(COLORS)]
_Count = Annotated[StrictInt, Field(ge=0, le=MOST_PARTS)]
_Parts = dict[Annotated[str, _one_of(PARTS)], tuple[_Color | None, _Count]]
_Attributes = tuple[_Color, Annotated[str, _one_of(SIZES)], Annotated[str, _one_of(MATERIALS)]]
_Look = Annotated[
    Annotated[_Parts, Tag("parts")] | Annotated[_Attributes, Tag("attributes")],
    Discriminator(lambda value: "parts" if isinstance(value, dict) else "attributes"),
]
_Coordinate = Annotated[float, Field(strict=True, gt=-1e6, lt=1e6, allow_inf_nan=False)]


class _SceneGraph(BaseModel):
    """A scene in the ToMT format; keys that are not named here are ignored."""

    objects: Annotated[
        list[Annotated[dict[str, _Look], Field(min_length=1, max_length=1)]],
        Field(min_length=1, max_length=MOST_OBJECTS),
    ]
    relationships: Annotated[
        dict[Annotated[str, _one_of(RELATIONS)], list[list[StrictInt]]], Field(min_length=1)
    ]
    positions: list[tuple[_Coordinate, _Coordinate]] | None = None


def _reason(error: ValidationError) -> str:
    """Returns one line that says where and how a scene is wrong."""
    first = error.errors()[0]
    where = ".".join(map(str, first["loc"])) or "the scene"
    reason = first.get("ctx", {}).get("error") or f"{first['msg']} (it is {first['input']!r:.60})"
    return f"{where}: {reason}".replace("\n", " ")


def _object(at: int, name: str, look: Any, position: tuple[float, float] | None) -> SceneObject:
    style: Style = "ptr" if isinstance(look, dict) else "clevr"
    match = _NUMBERED.fullmatch(name)
    category = match[1] if match else name
    if KINDS[style].get(canonical(category)) != "category":
        words = ", ".join(word for word, kind in KINDS[style].items() if kind == "category")
        raise ProblemError(f"objects.{at}: {category!r} is no category of {style} scenes ({words})")
    if not isinstance(look, dict):
        return SceneObject(name, category, {}, look, position)
    parts = {part: Part(color, count) for part, (color, count) in look.items()}
    return SceneObject(name, category, parts, position=position)


def _rows(name: str, rows: list[list[int]], count: int) -> tuple[tuple[int, ...], ...]:
    if len(rows) != count:
        raise ProblemError(
            f"relationships.{name} must have one list per object ({count}), not {len(rows)}"
        )
    for at, row in enumerate(rows):
        if len({*row}) < len(row) or not {*row} <= {*range(count)} - {at}:
            raise ProblemError(
                f"relationships.{name}.{at} names an object that is not in the scene, the object "
                "itself, or one object twice"
            )
    return tuple(tuple(sorted(row)) for row in rows)
