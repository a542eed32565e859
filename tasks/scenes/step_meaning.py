"""Interprets the steps of a plan in terms of the question's descriptions.

Nothing is refused here; `grounding.py` does that.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from thoughtgraph.tasks.scenes.constraints import (
    IMPOSSIBLE,
    Analogy,
    Facts,
    HasWord,
    OtherThan,
    QueriedValue,
    Referents,
    RelatedTo,
    complete,
)
from thoughtgraph.tasks.scenes.interpreter import ExecutedStep, ResolvedArgument
from thoughtgraph.tasks.scenes.question_reading import read
from thoughtgraph.tools.scenes.part_lists import in_groups
from thoughtgraph.tools.scenes.scene import PartGroup
from thoughtgraph.tools.scenes.vocabulary import (
    ANY,
    KINDS,
    Style,
    canonical,
    number_of,
    relation_of,
)

_ONE_VALUE = {
    **{"count_object": "count", "exist": "exist", "count_part": "number", "query_part": "part"},
    **{"query_color": "color", "query_size": "size", "query_material": "material"},
    **{"query_category": "category", "query_shape": "category"},
}


class RelationBetween(NamedTuple):
    """The relation of two objects (get_relation)."""

    first: Referents
    second: Referents


class Combination(NamedTuple):
    """Two values in one tool, such as sum or more_than."""

    tool: str
    first: QueriedValue | None
    second: QueriedValue | None


Meaning = Facts | QueriedValue | RelationBetween | Combination


class PlanMeaning:
    """A parsed question with the meaning of each step of a plan."""

    def __init__(self, question: str, style: Style, steps: Iterable[ExecutedStep] = ()) -> None:
        self.reading = read(question, style)
        self._style: Style = style
        self.steps: list[ExecutedStep] = []
        self.meanings: list[Meaning] = []
        for step in steps:
            self.add(step)

    def add(self, step: ExecutedStep) -> None:
        """Adds a step that has run."""
        self.meanings.append(self.meaning(step))
        self.steps.append(step)

    def mentions(self, step: ExecutedStep, constant: str | int) -> bool:
        """Whether the question contains a constant of a step."""
        return words_of(step, constant) <= self.reading.content

    def earlier(self, constant: str | int) -> int | None:
        """Returns the last step whose value equals a constant."""
        number = number_of(constant)
        for at in reversed(range(len(self.steps))):
            value = self.steps[at]["value"]
            same_word = isinstance(value, str) and canonical(value) == canonical(str(constant))
            if same_word or (type(value) is int and value == number):
                return at
        return None

    def meaning(self, step: ExecutedStep) -> Meaning:
        """Returns the meaning of a step."""
        arguments = step["arguments"]
        match step["tool"]:
            case "filter_object" | "filter_category":
                return self.facts_of(arguments[1]) | self._filtered(step, [arguments[0]])
            case "filter_part":
                words = arguments[0]
                several = words if isinstance(words, list) else [words]
                return self.facts_of(arguments[1]) | self._filtered(step, several)
            case "exclude_object":
                return self.facts_of(arguments[1]) | {OtherThan(self.referents(arguments[0]))}
            case "intersection":
                return self.facts_of(arguments[0]) | self.facts_of(arguments[1])
            case "get_relation":
                return RelationBetween(self.referents(arguments[0]), self.referents(arguments[1]))
            case "query_relation":
                return self._related(arguments[0], arguments[1])
            case "filter_relation":
                return self._related(arguments[0], arguments[1]) | self.facts_of(arguments[2])
            case tool if tool in _ONE_VALUE:
                return self._queried(step)
        return Combination(step["tool"], self._value(arguments[0]), self._value(arguments[1]))

    def facts_of(self, argument: ResolvedArgument) -> Facts:
        """Returns the facts that a plan has established on objects."""
        meaning = self._meaning_of(argument)
        return meaning if isinstance(meaning, frozenset) else frozenset()

    def referents(self, argument: ResolvedArgument) -> Referents:
        """Returns the descriptions that the facts on objects complete."""
        facts = self.facts_of(argument)
        return frozenset(
            at for at, each in enumerate(self.reading.descriptions) if complete(facts, each)
        )

    def _meaning_of(self, argument: ResolvedArgument) -> Meaning | None:
        """Returns the meaning of an argument; empty for all objects, None for constants."""
        if not isinstance(argument, dict):
            return None
        return self.meanings[argument["step"]] if argument["step"] >= 0 else frozenset()

    def _value(self, argument: ResolvedArgument) -> QueriedValue | None:
        meaning = self._meaning_of(argument)
        return meaning if isinstance(meaning, QueriedValue) else None

    def _filtered(self, step: ExecutedStep, items: Sequence[ResolvedArgument]) -> Facts:
        """Returns the facts of a filter's words, numbers and values."""
        facts: set[HasWord] = set()
        parts: list[PartGroup] = []
        repeated: list[QueriedValue] = []
        for item in items:
            if value := self._repeated(step, item):
                repeated.append(value)
                continue
            count = number_of(item) if isinstance(item, str | int) else None
            word = canonical(str(item))
            kind = KINDS[self._style].get(word)
            if count is not None:
                parts.append(PartGroup(number=count))
            elif kind == "part":
                parts.append(PartGroup(part=word))
            elif kind == "color" and self._style == "ptr":
                parts.append(PartGroup(color=word))
            elif word != ANY:
                facts.add(HasWord(word))
        groups = in_groups(parts)
        if not repeated:
            return frozenset([*facts, *groups])
        # "The same … as" is one value, of the part named with it.
        part = repeated[0].what
        whole = len(repeated) == 1 and groups == ([PartGroup(part=part)] if part else [])
        return frozenset([*facts, repeated[0] if whole else IMPOSSIBLE])

    def _repeated(self, step: ExecutedStep, item: ResolvedArgument) -> QueriedValue | None:
        """Returns the value that an item refers to or, if not in the question, repeats."""
        if not isinstance(item, str | int):
            return self._value(item)
        at = None if self.mentions(step, item) else self.earlier(item)
        return None if at is None else self._value({"step": at})

    def _related(self, relation: ResolvedArgument, argument: ResolvedArgument) -> Facts:
        to, between = self.referents(argument), self._meaning_of(relation)
        if isinstance(between, RelationBetween):
            return frozenset([Analogy(*between, to)])
        return frozenset([RelatedTo(relation_of(str(relation)) or "?", to)])

    def _queried(self, step: ExecutedStep) -> QueriedValue:
        arguments = step["arguments"]
        objects = [each for each in arguments if isinstance(self._meaning_of(each), frozenset)]
        names = [canonical(each) for each in arguments if isinstance(each, str)]
        of = self.referents(objects[-1]) if objects else frozenset[int]()
        return QueriedValue(_ONE_VALUE[step["tool"]], names[0] if names else None, of)


def words_of(step: ExecutedStep, constant: str | int) -> set[str]:
    """Returns the content words of a constant; none for "thing", "a"."""
    if step["tool"] in ("query_relation", "filter_relation"):
        name = relation_of(str(constant))
        return {name} if name else set()
    number = number_of(constant)
    if number is not None:
        return {str(number)} - {"1"}
    return {canonical(str(constant))} - {ANY}


def constants(step: ExecutedStep) -> list[str | int]:
    """Returns the texts and numbers among a step's arguments."""
    flat = (each if isinstance(each, list) else [each] for each in step["arguments"])
    return [each for items in flat for each in items if isinstance(each, str | int)]
