"""What a step of a plan says, in the terms of a question: descriptions, values asked, relations.

A plan's objects are a conjunction of constraints, and so is a description in a question.
`Constraints` gathers the former; `consistent` and `complete` hold it against the latter.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

from thoughtgraph.tasks.scenes.question_reading import Description
from thoughtgraph.tools.scenes.scene import PartGroup
from thoughtgraph.tools.scenes.vocabulary import canonical

Referents = frozenset[int]
"""The descriptions of the question that something may be; several when they read the same."""


class RelatedTo(NamedTuple):
    """Stands in a relation to one of the referents."""

    name: str
    to: Referents


class SameValueAs(NamedTuple):
    """Shares an attribute (and part) with one of the referents."""

    attribute: str
    part: str | None
    to: Referents


class RelationBetween(NamedTuple):
    """The relation of two objects (get_relation)."""

    first: Referents
    second: Referents


class Analogy(NamedTuple):
    """Stands to one of the referents as another relation says."""

    relation: RelationBetween
    to: Referents


@dataclass(frozen=True, slots=True)
class Constraints:
    """The constraints that a plan has put together on objects."""

    category: str | None = None
    words: frozenset[str] = frozenset()
    groups: frozenset[PartGroup] = frozenset()
    links: frozenset[RelatedTo] = frozenset()
    shared: frozenset[SameValueAs] = frozenset()
    like: frozenset[Analogy] = frozenset()
    without: frozenset[Referents] = frozenset()

    def and_also(self, other: "Constraints") -> "Constraints":
        """Returns both sets of constraints together."""
        # Two categories at once fit no description: "?" is a word that no question has.
        clash = None not in (self.category, other.category) and self.category != other.category
        return Constraints(
            "?" if clash else self.category or other.category,
            self.words | other.words,
            self.groups | other.groups,
            self.links | other.links,
            self.shared | other.shared,
            self.like | other.like,
            self.without | other.without,
        )

    def of_category(self, category: str) -> "Constraints":
        """Returns the constraints with a category."""
        return self.and_also(Constraints(category))

    def excluding(self, referents: Referents) -> "Constraints":
        """Returns the constraints without an object, which may be any of the referents."""
        return replace(self, without=self.without | {referents})


class QueriedValue(NamedTuple):
    """A value asked of a description: its count, a color, the number of a part."""

    kind: str
    what: str | None
    of: Referents


class Combination(NamedTuple):
    """Two values in one tool, such as sum or more_than."""

    tool: str
    first: QueriedValue | None
    second: QueriedValue | None


Meaning = Constraints | QueriedValue | RelationBetween | Combination | None


def consistent(plan: Constraints, description: Description) -> bool:
    """Whether everything a plan has put together is part of a question's description."""
    mention = description.mention
    return (
        plan.category in (None, mention.category)
        and plan.words <= mention.words
        and all(mention.group and _part_of(each, mention.group) for each in plan.groups)
        and all(any(_linked(each, one) for one in description.relations) for each in plan.links)
        and all(_shares(each, description) for each in plan.shared)
        and all(_analogous(each, description) for each in plan.like)
        and all(description.shared and description.shared.other in each for each in plan.without)
    )


def complete(plan: Constraints, description: Description) -> bool:
    """Whether a plan has put together all of a question's description."""
    return (
        consistent(plan, description)
        and missing_words(plan, description) is None
        and not missing_relations(plan, description)
    )


def missing_words(plan: Constraints, description: Description) -> str | None:
    """Returns the question's words of a description that the plan has not used; None for none."""
    mention = description.mention
    unused = mention.words - plan.words
    unused |= {mention.category} if mention.category and not plan.category else set()
    left = [word for word in mention.text.split() if canonical(word) in unused]
    if mention.group and not any(_whole_group(each, description) for each in plan.groups):
        left.append(mention.text.partition(" with ")[2])
    return " ".join(left) or None


def missing_relations(plan: Constraints, description: Description) -> list[str]:
    """Returns the relations of a description that the plan has not used: "it also says …"."""
    ends = [
        f"{name!r} of another description"
        for name, other in description.relations
        if not any(_linked(each, (name, other)) for each in plan.links)
    ]
    if description.shared and not plan.shared:
        ends.append(f"with which other one it shares its {description.shared.attribute}")
    if description.shared and not plan.without:
        ends.append("that the other one is left out")
    if description.like and not plan.like:
        ends.append("the same positional relation")
    return ends


def _part_of(given: PartGroup, wanted: PartGroup) -> bool:
    return all(one in (None, other) for one, other in zip(given, wanted, strict=True))


def _whole_group(given: PartGroup, description: Description) -> bool:
    wanted = description.mention.group
    optional = description.mention.some and given.number is None
    return (
        wanted is not None
        and given[1:] == wanted[1:]
        and (optional or given.number == wanted.number)
    )


def _linked(link: RelatedTo, relation: tuple[str, int]) -> bool:
    return link.name == relation[0] and relation[1] in link.to


def _shares(given: SameValueAs, description: Description) -> bool:
    wanted = description.shared
    return wanted is not None and (given[:2] == wanted[:2] and wanted.other in given.to)


def _analogous(given: Analogy, description: Description) -> bool:
    wanted = description.like
    return wanted is not None and all(
        one in referents
        for one, referents in zip(
            wanted, (given.relation.first, given.relation.second, given.to), strict=True
        )
    )
