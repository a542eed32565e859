"""What each scene tool computes (appendix A.3): pure functions of a view of a scene and values.

Where the paper's one line leaves a case open, the decision stands in the tool's docstring.
"""

from collections.abc import Sequence

from thoughtgraph.tools.scenes.part_lists import attributes_wanted, fits, parts_wanted
from thoughtgraph.tools.scenes.scene import Part
from thoughtgraph.tools.scenes.values import (
    Item,
    Objects,
    PlanError,
    Relations,
    Value,
    View,
    kind,
    number,
    objects,
    one,
    relations,
    shown,
    text,
    word_of,
)
from thoughtgraph.tools.scenes.vocabulary import ANY, canonical


def filter_object(view: View, category: Item, given: Item) -> Value:
    """Returns the objects of a category; "thing" leaves all."""
    word = word_of(view, category, "category")
    chosen = [i for i in objects(given) if word in (ANY, _category(view, i))]
    return _left(view, chosen, f"no object here is a {word}")


def filter_part(view: View, words: Item, given: Item) -> Value:
    """Returns the objects with a part (PTR) or with attributes (CLEVR).

    PTR: number, color and part hold jointly of one part: "six red drawer" is a part drawer that is
    red and counts 6. With several parts, modifiers belong to the next one, the last ones to the
    last part. Without a part, some part must satisfy the modifiers. A category is taken as such.
    """
    items: Sequence[Item] = words if isinstance(words, list) else [words]
    if not items:
        raise PlanError("E_TYPE", "the list of filter_part is empty")
    pool = objects(given)
    if view.scene.style == "clevr":
        wanted = attributes_wanted(view, items)
        have = {i: (*view.scene.objects[i].attributes, _category(view, i)) for i in pool}
        return _left(view, [i for i in pool if wanted <= {*have[i]}], "no object here is like that")
    category, groups = parts_wanted(view, items)
    chosen = [
        i
        for i in pool
        if category in (None, _category(view, i))
        and all(any(fits(g, *each) for each in _parts(view, i)) for g in groups)
    ]
    return _left(view, chosen, "no object here has that")


def exclude_object(view: View, excluded: Item, given: Item) -> Value:
    """Returns the second list without the objects of the first; it may be empty."""
    out = objects(excluded)
    if not out:
        raise PlanError("E_EMPTY", "there is no object to exclude")
    return tuple(i for i in objects(given) if i not in out)


def intersection(view: View, first: Item, second: Item) -> Value:
    """Returns the objects of both lists, in the order of the first; it may be empty."""
    also = objects(second)
    return tuple(i for i in objects(first) if i in also)


def query_relation(view: View, relation: Item, given: Item) -> Value:
    """Returns the objects that stand so to the object ("left": those left of it)."""
    names, at = relations(view, relation), one(view, given)
    return tuple(i for i in view.everything if _stands(view, names, at, i))


def get_relation(view: View, first: Item, second: Item) -> Value:
    """Returns how the second object stands to the first; E_EMPTY when no relation holds.

    That is PTR's reading; because relations are converse, `filter_relation` gives the same objects
    under the other reading.
    """
    a, b = one(view, first), one(view, second)
    if a == b:
        raise PlanError("E_TYPE", "an object stands in no relation to itself")
    table = view.scene.relationships
    found: Relations = frozenset(name for name, rows in table.items() if b in rows[a])
    if not found:
        raise PlanError("E_EMPTY", "the scene gives no relation between the two objects")
    return found


def filter_relation(view: View, relation: Item, given: Item, pool: Item) -> Value:
    """Returns the objects of the list that stand in all the relations to the object."""
    names, at = relations(view, relation), one(view, given)
    return tuple(i for i in objects(pool) if i != at and _stands(view, names, at, i))


def count_part(view: View, part: Item, given: Item) -> Value:
    """Returns how many of a part the object has; 0 when it lacks the part.

    Not an error: the paper tells of a model that counts the legs of a cart and is inconsistent.
    """
    _only(view, "ptr", "count_part")
    word, at = word_of(view, part, "part"), one(view, given)
    found = view.scene.objects[at].parts.get(word)
    return found.count if found else 0


def count_object(view: View, given: Item) -> Value:
    """Returns how many objects there are in the list."""
    return len(objects(given))


def exist(view: View, given: Item) -> Value:
    """Returns whether there is any object (the paper's "if the object list is null" is a slip)."""
    return bool(objects(given))


def plus(view: View, first: Item, second: Item) -> Value:
    """Returns the sum of two numbers, given as such or in words."""
    return number(first) + number(second)


def minus(view: View, first: Item, second: Item) -> Value:
    """Returns how much larger the first number is; E_TYPE when it is smaller. Not in the paper."""
    difference = number(first) - number(second)
    if difference < 0:
        raise PlanError("E_TYPE", "the first number is smaller than the second")
    return difference


def more_than(view: View, first: Item, second: Item) -> Value:
    """Returns whether the first of two numbers is larger."""
    return number(first) > number(second)


def few_than(view: View, first: Item, second: Item) -> Value:
    """Returns whether the first number is smaller; `fewer_than` is the same tool."""
    return number(first) < number(second)


def equal(view: View, first: Item, second: Item) -> Value:
    """Returns whether two numbers, words, relations, or two single objects are the same."""
    match first, second:
        case bool(), _:
            pass
        case _, bool():
            pass
        case int(), int():
            return first == second
        case str(), str():
            return canonical(first) == canonical(second)
        case frozenset(), frozenset():
            return first == second
        case tuple(), tuple():
            return one(view, first) == one(view, second)
    raise PlanError("E_TYPE", f"{shown(first)} and {shown(second)} cannot be compared")


def query_category(view: View, given: Item) -> Value:
    """Returns the object's category as the scene writes it; a known noun returns itself."""
    if isinstance(given, str):
        word = text(given)
        if kind(view, word) not in ("category", "part"):
            raise PlanError("E_VOCAB", f"{word!a} is no category and no part")
        return word
    return view.scene.objects[one(view, given)].category


def query_shape(view: View, given: Item) -> Value:
    """Returns the object's shape (CLEVR). Not in the paper."""
    _only(view, "clevr", "query_shape")
    return view.scene.objects[one(view, given)].category


def query_color(view: View, first: Item, second: Item | None = None) -> Value:
    """Returns a color: of a part of the object (PTR, two arguments), of the object (CLEVR, one)."""
    if view.scene.style == "clevr":
        if second is not None:
            raise PlanError("E_ARITY", "in CLEVR scenes query_color takes one object")
        return view.scene.objects[one(view, first)].attributes[0]
    if second is None:
        raise PlanError("E_ARITY", "in PTR scenes query_color takes a part and an object")
    part, given = (first, second) if isinstance(first, str) else (second, first)
    word, at = word_of(view, part, "part"), one(view, given)
    found = view.scene.objects[at].parts.get(word)
    if found is None or found.color is None:
        name = view.scene.objects[at].name
        raise PlanError("E_PART", f"{name} has no {word} of a known color")
    return found.color


def query_part(view: View, color: Item, given: Item) -> Value:
    """Returns the one part of the object that has the color (PTR)."""
    _only(view, "ptr", "query_part")
    word, at = word_of(view, color, "color"), one(view, given)
    found = [name for name, part in _parts(view, at) if part.color == word]
    if len(found) == 1:
        return found[0]
    name = view.scene.objects[at].name
    if found:
        raise PlanError("E_AMBIG", f"{name} has {len(found)} {word} parts: {', '.join(found)}")
    raise PlanError("E_PART", f"{name} has no {word} part")


def query_size(view: View, given: Item) -> Value:
    """Returns the object's size, large or small (CLEVR)."""
    _only(view, "clevr", "query_size")
    return view.scene.objects[one(view, given)].attributes[1]


def query_material(view: View, given: Item) -> Value:
    """Returns the object's material, metal or rubber (CLEVR). Not in the paper."""
    _only(view, "clevr", "query_material")
    return view.scene.objects[one(view, given)].attributes[2]


def _only(view: View, style: str, tool: str) -> None:
    if view.scene.style != style:
        raise PlanError("E_SCHEMA", f"{tool} is a tool of {style} scenes")


def _category(view: View, at: int) -> str:
    return canonical(view.scene.objects[at].category)


def _parts(view: View, at: int) -> list[tuple[str, Part]]:
    return list(view.scene.objects[at].parts.items())


def _left(view: View, chosen: list[int], why: str) -> Objects:
    if not chosen and view.strict:
        raise PlanError("E_EMPTY", why)
    return tuple(chosen)


def _stands(view: View, names: Relations, at: int, other: int) -> bool:
    table = view.scene.relationships
    return all(name in table and other in table[name][at] for name in names)
