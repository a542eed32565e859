"""What the list of filter_part asks for: groups of number, color and part, or attributes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from thoughtgraph.tools.scenes.scene import Part
from thoughtgraph.tools.scenes.values import Item, PlanError, View, kind, number, text
from thoughtgraph.tools.scenes.vocabulary import ANY, number_of


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is asked of one part: how many, which color, which part; None = any."""

    number: int | None = None
    color: str | None = None
    part: str | None = None

    def fits(self, name: str, part: Part) -> bool:
        """Whether a part of that name is as wanted."""
        return (
            self.part in (None, name)
            and self.color in (None, part.color)
            and self.number in (None, part.count)
        )

    def and_also(self, other: "Wanted") -> "Wanted":
        """Returns both together; E_TYPE when they give one thing twice."""
        if None not in (self.number, other.number) or None not in (self.color, other.color):
            raise PlanError("E_TYPE", "one part cannot have two colors or two numbers")
        number = other.number if self.number is None else self.number
        return Wanted(number, self.color or other.color, self.part or other.part)


def parts_wanted(view: View, items: Sequence[Item]) -> tuple[str | None, list[Wanted]]:
    """Returns the category and the groups that a PTR list asks for.

    Modifiers belong to the next part, those after the last part to it.
    """
    category: str | None = None
    groups: list[Wanted] = []
    modifiers = Wanted()
    for item in items:
        found = _modifier(view, item)
        if isinstance(found, Wanted):
            modifiers = modifiers.and_also(found)
        elif found == ANY:
            continue
        elif kind(view, found) == "category":
            category = found
        else:
            groups.append(replace(modifiers, part=found))
            modifiers = Wanted()
    if modifiers != Wanted():
        groups = [*groups[:-1], groups[-1].and_also(modifiers)] if groups else [modifiers]
    return category, groups


def attributes_wanted(view: View, items: Sequence[Item]) -> set[str]:
    """Returns the words that a CLEVR list asks for: attributes, a shape."""
    words: set[str] = set()
    for item in items:
        if isinstance(item, int) or (isinstance(item, str) and number_of(item) is not None):
            raise PlanError("E_SCHEMA", "objects of CLEVR scenes have no numbered parts")
        word = text(item)
        if word != ANY:
            kind(view, word)
            words.add(word)
    return words


def _modifier(view: View, item: Item) -> Wanted | str:
    """Returns a number or color as a modifier, a part or category as its word."""
    if not isinstance(item, str):
        return Wanted(number=number(item))
    count = number_of(item)
    if count is not None:
        return Wanted(number=count)
    word = text(item)
    if word != ANY and kind(view, word) == "color":
        return Wanted(color=word)
    return word
