"""What a question means, and its answer by set logic straight on the scene.

A question is a few references to objects, which may refer to each other, and what is asked of them.
The answers are computed here without any tool of `thoughtgraph.tools`, so that they check gold
plans rather than repeat them.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

from thoughtgraph.tools.scenes.scene import Scene, SceneObject


class NotUnique(Exception):
    """A reference that must mean one object means none or several."""


class Group(NamedTuple):
    """A part as a PTR description has it: how many, which color, which part."""

    number: int | None
    color: str | None
    part: str


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference to objects: all conditions hold together.

    Attributes:
        noun: The category or shape; None for "thing".
        attributes: Size, color and material words, in this order (CLEVR).
        group: The part it has (PTR).
        links: Relations to other references: ("left", 0) = left of reference 0.
        same: Shares this attribute (and part) with another reference and is not it.
        like: Stands to reference c as b stands to a, for (a, b, c).
    """

    noun: str | None = None
    attributes: tuple[str, ...] = ()
    group: Group | None = None
    links: tuple[tuple[str, int], ...] = ()
    same: tuple[str, str | None, int] | None = None
    like: tuple[int, int, int] | None = None


class Ask(NamedTuple):
    """One thing asked of one reference.

    `kind` is count, exist, category, color, size, material, number (of a part) or part (by color);
    `what` is the part or the color where the kind needs one.
    """

    kind: str
    of: int
    what: str | None = None


class Asked(NamedTuple):
    """The whole question: one ask, or two and how they are joined.

    `join` is None, sum, more_by, fewer_by, equal, more or fewer.
    """

    join: str | None
    asks: tuple[Ask, ...]


def answer(scene: Scene, references: tuple[Reference, ...], wanted: Asked) -> str:
    """Returns the answer: yes or no, digits, a word in lower case.

    Raises:
        NotUnique: A reference that must mean one object does not.
        ValueError: A difference is negative, or a part or color is not as the question presumes.
    """
    values = [_asked(scene, references, each) for each in wanted.asks]
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
        it = sole_referent(scene, references, other)
        wanted = attribute_of(scene.objects[it], attribute, part)
        objects &= {
            i for i, o in enumerate(scene.objects) if attribute_of(o, attribute, part) == wanted
        }
        objects.discard(it)
    if reference.like:
        a, b, c = (sole_referent(scene, references, each) for each in reference.like)
        names = [name for name, rows in table.items() if b in rows[a]]
        objects &= {i for i in objects if names and all(i in table[name][c] for name in names)}
    return frozenset(objects)


def matching(scene: Scene, reference: Reference) -> frozenset[int]:
    """Returns the objects that a reference's own words fit, wherever they stand."""
    return frozenset(i for i, each in enumerate(scene.objects) if _fits(each, reference))


def sole_referent(scene: Scene, references: tuple[Reference, ...], at: int) -> int:
    """Returns the one object that reference `at` means."""
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
    has = each.parts.get(part)
    if has is None:
        return 0 if attribute == "number" else None
    return has.count if attribute == "number" else has.color


def _fits(each: SceneObject, reference: Reference) -> bool:
    if reference.noun not in (None, each.category.lower()):
        return False
    if not set(reference.attributes) <= set(each.attributes):
        return False
    if reference.group is None:
        return True
    number, color, part = reference.group
    has = each.parts.get(part)
    return has is not None and number in (None, has.count) and color in (None, has.color)


def _asked(scene: Scene, references: tuple[Reference, ...], ask: Ask) -> Any:
    if ask.kind in ("count", "exist"):
        objects = referents(scene, references, ask.of)
        return len(objects) if ask.kind == "count" else bool(objects)
    it = scene.objects[sole_referent(scene, references, ask.of)]
    if ask.kind == "part":
        names = [name for name, part in it.parts.items() if part.color == ask.what]
        if len(names) != 1:
            raise ValueError(f"{len(names)} parts have the color")
        return names[0]
    value = attribute_of(it, ask.kind, ask.what)
    if value is None:
        raise ValueError("the object lacks the part")
    return value
