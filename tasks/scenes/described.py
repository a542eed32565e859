"""What a step of a plan says, in the terms of a question: descriptions, values asked, relations.

A plan's objects are a conjunction of conditions, and so is a description in a question. `Described`
gathers the former; `partly` and `wholly` hold it against the latter.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

from thoughtgraph.tasks.scenes.question_reading import Thing
from thoughtgraph.tools.scenes.scene import PartGroup

Places = frozenset[int]
"""Which descriptions of the question something may be; several when they read the same."""


class Link(NamedTuple):
    """Stands in a relation to one of the places."""

    name: str
    to: Places


class Alike(NamedTuple):
    """Shares an attribute (and part) with one of the places."""

    attribute: str
    part: str | None
    to: Places


class Between(NamedTuple):
    """The relation of two objects (get_relation)."""

    first: Places
    second: Places


class Analogy(NamedTuple):
    """Stands to one of the places as another relation says."""

    relation: Between
    to: Places


@dataclass(frozen=True, slots=True)
class Described:
    """The conditions that a plan has put together on objects."""

    category: str | None = None
    words: frozenset[str] = frozenset()
    groups: frozenset[PartGroup] = frozenset()
    links: frozenset[Link] = frozenset()
    shared: frozenset[Alike] = frozenset()
    like: frozenset[Analogy] = frozenset()
    without: frozenset[Places] = frozenset()

    def and_also(self, other: "Described") -> "Described":
        """Returns both sets of conditions together."""
        clash = None not in (self.category, other.category) and self.category != other.category
        return Described(
            "?" if clash else self.category or other.category,
            self.words | other.words,
            self.groups | other.groups,
            self.links | other.links,
            self.shared | other.shared,
            self.like | other.like,
            self.without | other.without,
        )

    def of_category(self, category: str) -> "Described":
        """Returns the conditions with a category."""
        return self.and_also(Described(category))

    def left_out(self, places: Places) -> "Described":
        """Returns the conditions without the object that may be at the places."""
        return replace(self, without=self.without | {places})


class About(NamedTuple):
    """A value asked of a description: its count, a color, the number of a part."""

    kind: str
    what: str | None
    of: Places


class Joined(NamedTuple):
    """Two values in one tool, such as sum or more_than."""

    tool: str
    first: About | None
    second: About | None


Meaning = Described | About | Between | Joined | None


def partly(plan: Described, thing: Thing) -> bool:
    """Whether everything a plan has put together is part of a question's description."""
    mention = thing.mention
    return (
        plan.category in (None, mention.category)
        and plan.words <= mention.words
        and all(mention.group and _part_of(each, mention.group) for each in plan.groups)
        and all(any(_linked(each, one) for one in thing.relations) for each in plan.links)
        and all(_shares(each, thing) for each in plan.shared)
        and all(_analogous(each, thing) for each in plan.like)
        and all(thing.shared and thing.shared.other in each for each in plan.without)
    )


def wholly(plan: Described, thing: Thing) -> bool:
    """Whether a plan has put together all of a question's description."""
    return partly(plan, thing) and words_left(plan, thing) is None and not loose_ends(plan, thing)


def words_left(plan: Described, thing: Thing) -> str | None:
    """Returns the words of a description that the plan has not used; None when it used all."""
    mention = thing.mention
    left = [mention.category] if mention.category and not plan.category else []
    left += sorted(mention.words - plan.words)
    if mention.group and not any(_whole_group(each, thing) for each in plan.groups):
        left.append(mention.text.partition(" with ")[2])
    return " ".join(left) or None


def loose_ends(plan: Described, thing: Thing) -> list[str]:
    """Returns the relations of a description that the plan has not used, in words."""
    ends = [
        f"{name!r} of another description"
        for name, other in thing.relations
        if not any(_linked(each, (name, other)) for each in plan.links)
    ]
    if thing.shared and not plan.shared:
        ends.append(f"the same {thing.shared.attribute}")
    if thing.shared and not plan.without:
        ends.append("the other one left out")
    if thing.like and not plan.like:
        ends.append("the same positional relation")
    return ends


def _part_of(given: PartGroup, wanted: PartGroup) -> bool:
    return all(one in (None, other) for one, other in zip(given, wanted, strict=True))


def _whole_group(given: PartGroup, thing: Thing) -> bool:
    wanted = thing.mention.group
    optional = thing.mention.some and given.number is None
    return (
        wanted is not None
        and given[1:] == wanted[1:]
        and (optional or given.number == wanted.number)
    )


def _linked(link: Link, relation: tuple[str, int]) -> bool:
    return link.name == relation[0] and relation[1] in link.to


def _shares(given: Alike, thing: Thing) -> bool:
    wanted = thing.shared
    return wanted is not None and (given[:2] == wanted[:2] and wanted.other in given.to)


def _analogous(given: Analogy, thing: Thing) -> bool:
    wanted = thing.like
    return wanted is not None and all(
        one in places
        for one, places in zip(
            wanted, (given.relation.first, given.relation.second, given.to), strict=True
        )
    )
