"""What the steps of a plan say, in the terms of the question's descriptions.

Nothing is refused here; `grounding.py` does that.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from thoughtgraph.tasks.scenes.constraints import (
    Analogy,
    Combination,
    Constraints,
    Meaning,
    QueriedValue,
    Referents,
    RelatedTo,
    RelationBetween,
    SameValueAs,
    complete,
)
from thoughtgraph.tasks.scenes.interpreter import ExecutedStep, Given, Ref
from thoughtgraph.tasks.scenes.question_reading import Reading, read
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


@dataclass(frozen=True, slots=True)
class PlanMeaning:
    """A question as read, and what each step of a plan says in its terms."""

    reading: Reading
    style: Style
    steps: tuple[ExecutedStep, ...] = ()
    meanings: tuple[Meaning, ...] = ()

    def mentions(self, step: ExecutedStep, constant: str | int) -> bool:
        return bool(self.words_of(step, constant) <= self.reading.content)

    def words_of(self, step: ExecutedStep, constant: str | int) -> set[str]:
        """Returns the words of the question that a constant stands for; none for "thing", "a"."""
        if step.tool in ("query_relation", "filter_relation"):
            name = relation_of(str(constant))
            return {name} if name else set()
        number = number_of(constant)
        if number is not None:
            return {str(number)} if number != 1 else set()
        word = canonical(str(constant))
        return set() if word == ANY else {word}

    def earlier(self, constant: str | int) -> int | None:
        """Returns the last step whose value a constant repeats."""
        number = number_of(constant)
        for at in range(len(self.steps) - 1, -1, -1):
            value = self.steps[at].value
            same_word = isinstance(value, str) and canonical(value) == canonical(str(constant))
            if same_word or (type(value) is int and value == number):
                return at
        return None

    def meaning(self, step: ExecutedStep) -> Meaning:
        """Returns what a step says; nothing is refused here."""
        given = step.arguments
        match step.tool:
            case "filter_object" | "filter_category":
                return self.filtered(step, (given[0],), given[1])
            case "filter_part":
                words = given[0]
                several = words if isinstance(words, tuple) else (words,)
                return self.filtered(step, several, given[1])
            case "exclude_object":
                return self.described(given[1]).excluding(self.referents(given[0]))
            case "intersection":
                return self.described(given[0]).and_also(self.described(given[1]))
            case "get_relation":
                return RelationBetween(self.referents(given[0]), self.referents(given[1]))
            case "query_relation":
                return self.related(given[0], given[1])
            case "filter_relation":
                return self.related(given[0], given[1]).and_also(self.described(given[2]))
            case tool if tool in _ONE_VALUE:
                return self.about(step)
        return Combination(step.tool, self.value_of(given[0]), self.value_of(given[1]))

    def filtered(self, step: ExecutedStep, items: tuple[Given, ...], pool: Given) -> Constraints:
        found = self.described(pool)
        words: list[PartGroup] = []
        references: list[QueriedValue] = []
        for item in items:
            about = self.value_of(item) if isinstance(item, Ref) else self.repeated(step, item)
            if about:
                references.append(about)
                continue
            count = number_of(item) if isinstance(item, (str, int)) else None
            word = canonical(str(item))
            kind = KINDS[self.style].get(word)
            if count is not None:
                words.append(PartGroup(number=count))
            elif kind == "part":
                words.append(PartGroup(part=word))
            elif kind == "category":
                found = found.of_category(word)
            elif kind == "color" and self.style == "ptr":
                words.append(PartGroup(color=word))
            elif word != ANY:
                found = found.and_also(Constraints(words=frozenset([word])))
        groups = in_groups(words)
        if references:
            return found.and_also(_alike(references, groups))
        return found.and_also(Constraints(groups=frozenset(groups)))

    def repeated(self, step: ExecutedStep, constant: Given) -> QueriedValue | None:
        """Returns the value that a constant repeats, when the question does not say it."""
        if not isinstance(constant, (str, int)) or self.mentions(step, constant):
            return None
        at = self.earlier(constant)
        return None if at is None else self.value_of(Ref(at))

    def related(self, relation: Given, given: Given) -> Constraints:
        to = self.referents(given)
        if isinstance(relation, Ref):
            between = self.meanings[relation.step]
            known = isinstance(between, RelationBetween)
            return Constraints(like=frozenset([Analogy(between, to)] if known else []))  # type: ignore[arg-type]
        return Constraints(links=frozenset([RelatedTo(relation_of(str(relation)) or "?", to)]))

    def about(self, step: ExecutedStep) -> QueriedValue:
        objects = [each for each in step.arguments if isinstance(each, Ref) and self.holds(each)]
        names = [canonical(each) for each in step.arguments if isinstance(each, str)]
        of = self.referents(objects[-1]) if objects else frozenset[int]()
        return QueriedValue(_ONE_VALUE[step.tool], names[0] if names else None, of)

    def holds(self, ref: Ref) -> bool:
        return ref.step < 0 or isinstance(self.meanings[ref.step], Constraints)

    def described(self, given: Given) -> Constraints:
        meaning = self.meanings[given.step] if isinstance(given, Ref) and given.step >= 0 else None
        return meaning if isinstance(meaning, Constraints) else Constraints()

    def value_of(self, given: Given) -> QueriedValue | None:
        meaning = self.meanings[given.step] if isinstance(given, Ref) and given.step >= 0 else None
        return meaning if isinstance(meaning, QueriedValue) else None

    def referents(self, given: Given) -> Referents:
        """Returns the descriptions of the question that objects are, complete."""
        plan = self.described(given)
        return frozenset(
            at for at, each in enumerate(self.reading.descriptions) if complete(plan, each)
        )


@lru_cache(maxsize=256)
def plan_meaning(question: str, style: Style, steps: tuple[ExecutedStep, ...]) -> PlanMeaning:
    """Returns what steps say about a question; siblings in a search share what is before them."""
    if not steps:
        return PlanMeaning(read(question, style), style)
    before = plan_meaning(question, style, steps[:-1])
    meaning = before.meaning(steps[-1])
    return PlanMeaning(before.reading, style, steps, (*before.meanings, meaning))


def constants(step: ExecutedStep) -> Iterator[str | int]:
    """Yields the texts and numbers that a step itself names."""
    for given in step.arguments:
        if isinstance(given, Ref):
            continue
        for each in given if isinstance(given, tuple) else (given,):
            if not isinstance(each, Ref):
                yield each


def _alike(references: list[QueriedValue], groups: list[PartGroup]) -> Constraints:
    """Returns "the same … as": one value of a description, of the part that is named with it."""
    part = groups[0].part if groups else None
    plain = all(group == PartGroup(None, None, part) for group in groups)
    shared = [
        SameValueAs(each.kind, each.what, each.of) for each in references if each.what == part
    ]
    found = Constraints(shared=frozenset(shared))
    # Anything more than the one value is in no question of the templates: "?" matches nothing.
    whole = plain and len(groups) <= 1 and len(shared) == len(references) == 1
    return found if whole else found.and_also(Constraints(words=frozenset("?")))
