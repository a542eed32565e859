"""The meaning of a question, and its gold answer by set logic directly on the scene.

A question consists of references to objects, which may refer to each other, and of asks about them.
Answers do not use the tools of `thoughtgraph.tools`, so they are an independent check of the gold
plans.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

from thoughtgraph.tools.scenes.scene import Scene, SceneObject


class NotUnique(Exception):
    """A reference that must mean exactly one object means none or several."""


class Group(NamedTuple):
    """A part in a description of PTR, optionally with its number and color."""

    number: int | None
    color: str | None
    part: str


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference to the objects that meet all of its conditions.

    Attributes:
        noun: The category (PTR) or shape (CLEVR); None for "thing".
        attributes: Size, color and material words, in this order (CLEVR).
        group: A part that the object has (PTR).
        links: Relations to other references: ("left", 0) = left of reference 0.
        same: (attribute, part, r): an object other than reference r with its attribute (of a part).
        like: (a, b, c): the object has the relations to reference c that b has to a.
    """

    noun: str | None = None
    attributes: tuple[str, ...] = ()
    group: Group | None = None
    links: tuple[tuple[str, int], ...] = ()
    same: tuple[str, str | None, int] | None = None
    like: tuple[int, int, int] | None = None


class Ask(NamedTuple):
    """A query about one reference.

    `kind` is count, exist, category, color, size, material, number (of a part) or part (by color).
    `what` is the part or the color that some kinds need.
    """

    kind: str
    of: int
    what: str | None = None


class Asked(NamedTuple):
    """The query of a whole question: one ask, or two asks and their join.

    `join` is None, sum, more_by, fewer_by, equal, more or fewer.
    """

    join: str | None
    asks: tuple[Ask, ...]


def answer(scene: Scene, references: tuple[Reference, ...], wanted: Asked) -> str:
    """Returns the gold answer: yes or no, digits, or a word in lower case.

    Raises:
        NotUnique: A reference that must mean one object means none or several.
        ValueError: A difference is negative, or the object lacks the part or color in question.
    """
    values = [_value_of(scene, references, each) for each in wanted.asks]
    match wanted.join:
        case None:
            result = values[0]
        case "sum":
            result = sum(values)
        case "more_by" | "fewer_by":
            first, second = values if wanted.join == "more_by" else reversed(values)
            if first < second:
                raise ValueError("the difference is negative")
            result = first - second
        case "equal":
            result = values[0] == values[1]
        case "more":
            result = values[0] > values[1]
        case _:
            result = values[0] < values[1]
    if isinstance(result, bool):
        return "yes" if result else "no"
    return str(result).lower()


def referents(scene: Scene, references: tuple[Reference, ...], at: int) -> frozenset[int]:
    """Returns the objects that reference `at` means."""
    reference, table = references[at], scene.relationships
    objects = set(matching(scene, reference))
    for name, other in reference.links:
        objects &= set(table[name][sole_referent(scene, references, other)])
    if reference.same:
        attribute, part, other = reference.same
        index = sole_referent(scene, references, other)
        wanted = attribute_of(scene.objects[index], attribute, part)
        objects &= {
            i for i, o in enumerate(scene.objects) if attribute_of(o, attribute, part) == wanted
        }
        objects.discard(index)
    if reference.like:
        a, b, c = (sole_referent(scene, references, each) for each in reference.like)
        names = [name for name, rows in table.items() if b in rows[a]]
        objects &= {i for i in objects if names and all(i in table[name][c] for name in names)}
    return frozenset(objects)


def matching(scene: Scene, reference: Reference) -> frozenset[int]:
    """Returns the objects that a reference's words fit, whatever their relations."""
    return frozenset(i for i, each in enumerate(scene.objects) if _fits(each, reference))


def sole_referent(scene: Scene, references: tuple[Reference, ...], at: int) -> int:
    """Returns the only object that reference `at` means, else raises `NotUnique`."""
    objects = referents(scene, references, at)
    if len(objects) != 1:
        raise NotUnique(f"reference {at} means {len(objects)} objects")
    return next(iter(objects))


def attribute_of(each: SceneObject, attribute: str, part: str | None) -> Any:
    """Returns an object's category, color, size or material, or a part's color or number."""
    if attribute == "category":
        return each.category.lower()
    if part is None:
        return each.attributes[("color", "size", "material").index(attribute)]
    own = each.parts.get(part)
    if own is None:
        return 0 if attribute == "number" else None
    return own.count if attribute == "number" else own.color


def _fits(each: SceneObject, reference: Reference) -> bool:
    if reference.noun not in (None, each.category.lower()):
        return False
    if not set(reference.attributes) <= set(each.attributes):
        return False
    if reference.group is None:
        return True
    number, color, part = reference.group
    own = each.parts.get(part)
    return own is not None and number in (None, own.count) and color in (None, own.color)


def _value_of(scene: Scene, references: tuple[Reference, ...], ask: Ask) -> Any:
    if ask.kind in ("count", "exist"):
        objects = referents(scene, references, ask.of)
        return len(objects) if ask.kind == "count" else bool(objects)
    target = scene.objects[sole_referent(scene, references, ask.of)]
    if ask.kind == "part":
        names = [name for name, part in target.parts.items() if part.color == ask.what]
        if len(names) != 1:
            raise ValueError(f"{len(names)} parts have the color")
        return names[0]
    value = attribute_of(target, ask.kind, ask.what)
    if value is None:
        raise ValueError("the object lacks the part")
    return value
