"""The functions of the scene tools (appendix A.3): pure functions of a view of a scene and values.

`values.read` reads the arguments beforehand. Where the paper's one line on a tool leaves a case
open, the tool's docstring states the decision.
"""

from collections.abc import Sequence

from thoughtgraph.tools.scenes.part_lists import attributes_wanted, fits, parts_wanted
from thoughtgraph.tools.scenes.scene import SceneObject
from thoughtgraph.tools.scenes.values import (
    Item,
    Objects,
    PlanError,
    Relations,
    View,
    kind,
    one,
    shown,
    text,
    word_of,
)
from thoughtgraph.tools.scenes.vocabulary import ANY, canonical


def filter_object(view: View, category: str, pool: Objects) -> Objects:
    """Returns the objects of a category; "thing" leaves all."""
    chosen = [i for i in pool if category in (ANY, _category(view, i))]
    return _pool(view, chosen, f"no object here is a {category}")


def filter_part(view: View, words: Item, pool: Objects) -> Objects:
    """Returns the objects with a part (PTR) or with attributes (CLEVR).

    PTR: number, color and part hold jointly of one part: "six red drawer" is a part drawer that is
    red and counts 6. With several parts, modifiers belong to the next one, the last ones to the
    last part. Without a part, some part must satisfy the modifiers. A category is taken as such.
    """
    items: Sequence[Item] = words if isinstance(words, list) else [words]
    if not items:
        raise PlanError("E_TYPE", "the list of filter_part is empty")
    if view.scene.style == "clevr":
        wanted = attributes_wanted(view, items)
        traits = {i: {*_object(view, i).attributes, _category(view, i)} for i in pool}
        return _pool(view, [i for i in pool if wanted <= traits[i]], "no object here is like that")
    category, groups = parts_wanted(view, items)
    chosen = [
        i
        for i in pool
        if category in (None, _category(view, i))
        and all(any(fits(g, *each) for each in _object(view, i).parts.items()) for g in groups)
    ]
    return _pool(view, chosen, "no object here has that")


def exclude_object(view: View, excluded: Objects, pool: Objects) -> Objects:
    """Returns the second list without the objects of the first; it may be empty."""
    if not excluded:
        raise PlanError("E_EMPTY", "there is no object to exclude")
    return tuple(i for i in pool if i not in excluded)


def intersection(view: View, first: Objects, second: Objects) -> Objects:
    """Returns the objects of both lists, in the order of the first; it may be empty."""
    return tuple(i for i in first if i in second)


def query_relation(view: View, names: Relations, at: int) -> Objects:
    """Returns the objects that stand so to the object ("left": those left of it)."""
    return tuple(i for i in view.everything if _is_related(view, names, at, i))


def get_relation(view: View, first: int, second: int) -> Relations:
    """Returns how the second object stands to the first; E_EMPTY when no relation holds.

    That is PTR's reading; because relations are converse, `filter_relation` gives the same objects
    under the other reading.
    """
    if first == second:
        raise PlanError("E_TYPE", "an object stands in no relation to itself")
    table = view.scene.relationships
    names = frozenset(name for name, rows in table.items() if second in rows[first])
    if not names:
        raise PlanError("E_EMPTY", "the scene gives no relation between the two objects")
    return names


def filter_relation(view: View, names: Relations, at: int, pool: Objects) -> Objects:
    """Returns the objects of the list that stand in all the relations to the object."""
    return tuple(i for i in pool if i != at and _is_related(view, names, at, i))


def count_part(view: View, part: str, at: int) -> int:
    """Returns how many of a part the object has; 0 when it lacks the part.

    Not an error: the paper tells of a model that counts the legs of a cart and is inconsistent.
    """
    entry = _object(view, at).parts.get(part)
    return entry.count if entry else 0


def count_object(view: View, pool: Objects) -> int:
    """Returns how many objects there are in the list."""
    return len(pool)


def exist(view: View, pool: Objects) -> bool:
    """Returns whether there is any object (the paper's "if the object list is null" is a slip)."""
    return bool(pool)


def plus(view: View, first: int, second: int) -> int:
    """Returns the sum of two numbers, given as such or in words."""
    return first + second


def minus(view: View, first: int, second: int) -> int:
    """Returns how much larger the first number is; E_TYPE when it is smaller. Not in the paper."""
    if first < second:
        raise PlanError("E_TYPE", "the first number is smaller than the second")
    return first - second


def more_than(view: View, first: int, second: int) -> bool:
    """Returns whether the first of two numbers is larger."""
    return first > second


def few_than(view: View, first: int, second: int) -> bool:
    """Returns whether the first number is smaller; `fewer_than` is the same tool."""
    return first < second


def equal(view: View, first: Item, second: Item) -> bool:
    """Returns whether two numbers, words, relations, or two single objects are the same."""
    match first, second:
        case (bool(), _) | (_, bool()):
            pass
        case (int(), int()) | (frozenset(), frozenset()):
            return first == second
        case str(), str():
            return canonical(first) == canonical(second)
        case tuple(), tuple():
            return one(view, first) == one(view, second)
    raise PlanError("E_TYPE", f"{shown(first)} and {shown(second)} cannot be compared")


def query_category(view: View, item: Item) -> str:
    """Returns the object's category as the scene writes it; a known noun returns itself."""
    if isinstance(item, str):
        word = text(item)
        if kind(view, word) not in ("category", "part"):
            raise PlanError("E_VOCAB", f"{word!a} is no category and no part")
        return word
    return _object(view, one(view, item)).category


def query_shape(view: View, at: int) -> str:
    """Returns the object's shape (CLEVR). Not in the paper."""
    return _object(view, at).category


def query_color(view: View, first: Item, second: Item | None = None) -> str:
    """Returns a color: of a part of the object (PTR, two arguments), of the object (CLEVR, one)."""
    if view.scene.style == "clevr":
        if second is not None:
            raise PlanError("E_ARITY", "in CLEVR scenes query_color takes one object")
        return _object(view, one(view, first)).attributes[0]
    if second is None:
        raise PlanError("E_ARITY", "in PTR scenes query_color takes a part and an object")
    part, item = (first, second) if isinstance(first, str) else (second, first)
    word, obj = word_of(view, part, "part"), _object(view, one(view, item))
    entry = obj.parts.get(word)
    if entry is None:
        raise PlanError("E_PART", f"{obj.name} has no {word}")
    if entry.color is None:
        raise PlanError("E_PART", f"the color of the {word} of {obj.name} is not known")
    return entry.color


def query_part(view: View, color: str, at: int) -> str:
    """Returns the name of the object's one part of this color (PTR)."""
    obj = _object(view, at)
    parts = [name for name, part in obj.parts.items() if part.color == color]
    if len(parts) > 1:
        raise PlanError("E_AMBIG", f"{obj.name} has {len(parts)} {color} parts: {', '.join(parts)}")
    if not parts:
        raise PlanError("E_PART", f"{obj.name} has no {color} part")
    return parts[0]


def query_size(view: View, at: int) -> str:
    """Returns the object's size, large or small (CLEVR)."""
    return _object(view, at).attributes[1]


def query_material(view: View, at: int) -> str:
    """Returns the object's material, metal or rubber (CLEVR). Not in the paper."""
    return _object(view, at).attributes[2]


def _object(view: View, at: int) -> SceneObject:
    return view.scene.objects[at]


def _category(view: View, at: int) -> str:
    return canonical(view.scene.objects[at].category)


def _pool(view: View, chosen: list[int], why: str) -> Objects:
    """Returns the objects that a filter leaves; E_EMPTY for none on a strict view."""
    if not chosen and view.strict:
        raise PlanError("E_EMPTY", why)
    return tuple(chosen)


def _is_related(view: View, names: Relations, at: int, other: int) -> bool:
    table = view.scene.relationships
    return all(name in table and other in table[name][at] for name in names)
