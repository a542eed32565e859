"""Reads the list of filter_part: groups of number, color and part, or attributes."""

from collections.abc import Iterable, Sequence

from thoughtgraph.tools.scenes.scene import Part, PartGroup
from thoughtgraph.tools.scenes.values import Item, PlanError, View, kind, number, text
from thoughtgraph.tools.scenes.vocabulary import ANY, number_of

NONE = PartGroup()


def fits(wanted: PartGroup, name: str, part: Part) -> bool:
    """Returns whether a part of that name fits the description."""
    return all(
        w in (None, has) for w, has in zip(wanted, (part.count, part.color, name), strict=True)
    )


def in_groups(words: Iterable[PartGroup]) -> list[PartGroup]:
    """Joins words of one value each into groups, each of a part and its modifiers.

    Modifiers belong to the next part; modifiers after the last part belong to the last part.

    Raises:
        PlanError: E_TYPE, one part has two numbers or two colors.
    """
    groups: list[PartGroup] = []
    modifiers = NONE
    for word in words:
        modifiers = _joined(modifiers, word)
        if word.part is not None:
            groups.append(modifiers)
            modifiers = NONE
    if modifiers != NONE:
        groups = [*groups[:-1], _joined(groups[-1], modifiers)] if groups else [modifiers]
    return groups


def _joined(one: PartGroup, other: PartGroup) -> PartGroup:
    if None not in (one.number, other.number) or None not in (one.color, other.color):
        raise PlanError("E_TYPE", "one part cannot have two colors or two numbers")
    number = other.number if one.number is None else one.number
    return PartGroup(number, one.color or other.color, one.part or other.part)


def parts_wanted(view: View, items: Sequence[Item]) -> tuple[str | None, list[PartGroup]]:
    """Returns the last category of a PTR list, if any, and its groups."""
    words = [_word(view, item) for item in items]
    categories = [word for word in words if isinstance(word, str) and word != ANY]
    groups = in_groups(word for word in words if isinstance(word, PartGroup))
    return categories[-1] if categories else None, groups


def attributes_wanted(view: View, items: Sequence[Item]) -> set[str]:
    """Returns the words of a CLEVR list: attributes and shapes."""
    words: set[str] = set()
    for item in items:
        if isinstance(item, int) or (isinstance(item, str) and number_of(item) is not None):
            raise PlanError("E_SCHEMA", "objects of CLEVR scenes have no numbered parts")
        word = text(item)
        if word != ANY:
            kind(view, word)
            words.add(word)
    return words


def _word(view: View, item: Item) -> PartGroup | str:
    """Returns a number, color or part as a group, and a category or "thing" as its word."""
    if not isinstance(item, str):
        return PartGroup(number=number(item))
    count = number_of(item)
    if count is not None:
        return PartGroup(number=count)
    word = text(item)
    if word == ANY or (word_kind := kind(view, word)) == "category":
        return word
    return PartGroup(color=word) if word_kind == "color" else PartGroup(part=word)
