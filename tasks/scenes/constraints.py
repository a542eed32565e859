"""Compares what a plan says of objects with the question's descriptions.

The objects of a step are a set of facts, and a description says some facts, too. `consistent` and
`complete` compare the two.
"""

from typing import NamedTuple

from thoughtgraph.tasks.scenes.question_reading import Description, Query
from thoughtgraph.tools.scenes.scene import PartGroup
from thoughtgraph.tools.scenes.vocabulary import canonical

Referents = frozenset[int]
"""Descriptions that something may be; several if they read the same."""


class HasWord(NamedTuple):
    """Is of a category, or has an attribute of CLEVR: a color, a size, a material."""

    word: str


class RelatedTo(NamedTuple):
    """Stands in a relation to one of the referents."""

    name: str
    to: Referents


class Analogy(NamedTuple):
    """Stands to the third as the second stands to the first."""

    first: Referents
    second: Referents
    third: Referents


class OtherThan(NamedTuple):
    """Is none of the referents."""

    referents: Referents


class QueriedValue(NamedTuple):
    """A value of a description (count, color, a part's number); as a fact: is shared."""

    kind: str
    what: str | None
    of: Referents

    def answers(self, query: Query) -> bool:
        """Whether it is the queried value."""
        return self[:2] == query[:2] and query.of in self.of


Fact = HasWord | PartGroup | RelatedTo | QueriedValue | Analogy | OtherThan
Facts = frozenset[Fact]
"""What a plan has established on objects."""
IMPOSSIBLE = HasWord("?")
"""A fact that holds for no description."""


def consistent(facts: Facts, description: Description) -> bool:
    """Whether all facts are part of a description."""
    return all(_says(description, fact) for fact in facts)


def complete(facts: Facts, description: Description) -> bool:
    """Whether the facts make up a whole description."""
    missing = missing_words(facts, description) or missing_relations(facts, description)
    return not missing and consistent(facts, description)


def missing_words(facts: Facts, description: Description) -> str:
    """Returns the words of a description that the facts lack."""
    mention = description.mention
    used = {fact.word for fact in facts if isinstance(fact, HasWord)}
    unused = {*mention.words, mention.category} - used
    left = [word for word in mention.text.split() if canonical(word) in unused]
    if group := mention.group:
        whole = {group, group._replace(number=None) if mention.some else group}
        left += [] if whole & facts else [mention.text.partition(" with ")[2]]
    return " ".join(left)


def missing_relations(facts: Facts, description: Description) -> list[str]:
    """Returns the relations of a description that the facts lack: "it also says …"."""
    related = [fact for fact in facts if isinstance(fact, RelatedTo)]
    ends = [
        f"{name!r} of another description"
        for name, other in description.relations
        if not any(fact.name == name and other in fact.to for fact in related)
    ]
    kinds = {type(fact) for fact in facts}
    if description.shared and QueriedValue not in kinds:
        ends.append(f"with which other one it shares its {description.shared.kind}")
    if description.shared and OtherThan not in kinds:
        ends.append("that the other one is left out")
    if description.like and Analogy not in kinds:
        ends.append("the same positional relation")
    return ends


def _says(description: Description, fact: Fact) -> bool:
    """Whether a fact holds for a description."""
    mention, shared, like = description.mention, description.shared, description.like
    match fact:
        case HasWord(word):
            return word == mention.category or word in mention.words
        case PartGroup():
            pairs = zip(fact, mention.group or (), strict=False)
            return mention.group is not None and all(one in (None, other) for one, other in pairs)
        case RelatedTo(name, to):
            return any(one == name and other in to for one, other in description.relations)
        case QueriedValue():
            return shared is not None and fact.answers(shared)
        case OtherThan(referents):
            return shared is not None and shared.of in referents
        case Analogy():
            return like is not None and all(a in b for a, b in zip(like, fact, strict=True))
