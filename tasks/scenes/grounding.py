"""Whether a plan says what its question says: the profile `grounded` (ours).

A plan that runs may still be invented: a weak model counts drawers where the question speaks of
doors, or takes the chair where the question says the table left of it. Seen from the question alone
much of that shows, step by step, without a model and without the answer:

* A word or number in a step comes from the question (after synonyms, plurals and number words) or
  is the value of an earlier step.
* A filter restates a description of the question: what it has put together so far must be part of
  one description there, number, color and part of one group ("two red legs") together.
* Where a description is used (related to, counted, asked), it must be whole: all its words, its
  relations to the other descriptions, "the same … as" with the other one left out.
* A relation is queried of the description that the question names after it.
* What is queried is what the question asks, of the description it asks it of.
* The last step ends as the question begins: "how many" in a number, "are there" in exist, "more …
  than" in the comparison in that order; and every step before has been used.

Questions in the words of the public templates are read exactly (`question_reading.py`). Of others
only words are known; then the first point is checked, and at the end that all words of the
question were used and that the kind of answer fits the question's opening.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from thoughtgraph.tasks.scenes.constraints import (
    Combination,
    Constraints,
    Meaning,
    QueriedValue,
    consistent,
    missing_relations,
    missing_words,
)
from thoughtgraph.tasks.scenes.interpreter import ExecutedStep, Ref
from thoughtgraph.tasks.scenes.question_reading import Description, Query
from thoughtgraph.tasks.scenes.question_tokens import quoted
from thoughtgraph.tasks.scenes.step_meaning import PlanMeaning, constants, plan_meaning
from thoughtgraph.tools.scenes.values import PlanError
from thoughtgraph.tools.scenes.vocabulary import Style

_JOINS = {
    **{("sum", "sum"): 0, ("equal", "equal"): 0},
    **{("more", "more_than"): 1, ("more", "few_than"): -1, ("more", "fewer_than"): -1},
    **{("fewer", "few_than"): 1, ("fewer", "fewer_than"): 1, ("fewer", "more_than"): -1},
    **{("more_by", "minus"): 1, ("fewer_by", "minus"): -1},
}
"""Which tool may join what is asked, and how the arguments stand: as asked, reversed, either."""

_WHOLE = {
    **{"query_relation": (1,), "filter_relation": (1,), "get_relation": (0, 1)},
    **{"exclude_object": (0,), "count_part": (1,), "query_part": (1,), "query_color": (0, 1)},
    **dict.fromkeys(
        ("count_object", "exist", "query_size", "query_material", "query_category", "query_shape"),
        (0,),
    ),
}


@dataclass(frozen=True, slots=True)
class Grounding:
    """A question, and the steps of a plan that are held against it."""

    question: str
    style: Style
    steps: tuple[ExecutedStep, ...] = ()

    def after(self, step: ExecutedStep) -> "Grounding":
        """Checks a further step, which ran, and returns the grounding with it.

        Raises:
            PlanError: E_GROUND, the step says what the question does not.
        """
        sense = plan_meaning(self.question, self.style, self.steps)
        _check_words(sense, step)
        known = (*self.steps, step)
        if sense.reading.exact:
            _check(sense, step, plan_meaning(self.question, self.style, known).meanings[-1])
        return Grounding(self.question, self.style, known)

    def end(self) -> None:
        """Checks a plan that has assigned its answer.

        Raises:
            PlanError: E_END, the plan is no answer to what the question asks.
        """
        sense = plan_meaning(self.question, self.style, self.steps)
        used = {at for step in self.steps for at in _uses(sense, step)}
        for at, step in enumerate(self.steps[:-1]):
            if at not in used:
                raise PlanError("E_END", f"{step.target} ({step.tool}) is never used")
        if sense.reading.exact:
            _check_end(sense, self.question)
        else:
            _check_end_by_words(sense, self.question)


def _uses(sense: PlanMeaning, step: ExecutedStep) -> list[int]:
    """Returns the steps whose values a step uses, by name or by repeating the value."""
    repeated = (sense.earlier(each) for each in constants(step) if not sense.mentions(step, each))
    return [*step.refs(), *(at for at in repeated if at is not None)]


def _check_words(sense: PlanMeaning, step: ExecutedStep) -> None:
    for constant in constants(step):
        if not sense.mentions(step, constant) and sense.earlier(constant) is None:
            raise PlanError("E_GROUND", f"the question says nothing of {constant!a}")


def _check(sense: PlanMeaning, step: ExecutedStep, meaning: Meaning) -> None:
    """Raises E_GROUND when a step says what the question does not."""
    for given in _one_of(step):
        if not sense.referents(given):
            raise PlanError("E_GROUND", _incomplete(sense, sense.described(given)))
    if isinstance(meaning, Constraints):
        if not any(consistent(meaning, each) for each in sense.reading.descriptions):
            raise PlanError("E_GROUND", "no description in the question is like that")
    elif isinstance(meaning, QueriedValue) and not any(_asked(sense, meaning)):
        wanted = _in_words(meaning.kind, meaning.what)
        raise PlanError("E_GROUND", f"the question does not ask {wanted} of that")


def _asked(sense: PlanMeaning, about: QueriedValue) -> Iterator[bool]:
    for query in sense.reading.queries:
        yield _answers(about, query)
    for description in sense.reading.descriptions:
        if description.shared:
            yield _answers(about, Query(*description.shared))


def _incomplete(sense: PlanMeaning, plan: Constraints) -> str:
    """Returns what of its description the plan has left out."""
    descriptions = [each for each in sense.reading.descriptions if consistent(plan, each)]
    if not descriptions:
        return "no description in the question is like that"
    description = min(descriptions, key=lambda each: _missing(plan, each))
    left = missing_words(plan, description)
    if left:
        return f"the question says {description.mention.text!a}, and {left!a} is not used yet"
    relation = missing_relations(plan, description)[0]
    return f"of {description.mention.text!a} the question also says {relation}"


def _check_end(sense: PlanMeaning, question: str) -> None:
    join, queries = sense.reading.join, sense.reading.queries
    meaning = sense.meanings[-1]
    if join is None:
        if not isinstance(meaning, QueriedValue) or not _answers(meaning, queries[0]):
            kind, what, _ = queries[0]
            asked = _in_words(kind, what and quoted(question, what))
            raise PlanError("E_END", f"the question asks {asked}")
        return
    order = _JOINS.get((join, meaning.tool)) if isinstance(meaning, Combination) else None
    if order is None or not isinstance(meaning, Combination):
        raise PlanError("E_END", f"the question asks for {join.replace('_', ' ')}")
    first, second = meaning.first, meaning.second
    forward, backward = _both((first, second), queries), _both((second, first), queries)
    if not ((order >= 0 and forward) or (order <= 0 and backward)):
        raise PlanError("E_END", "these are not the two values asked, in their order")


def _check_end_by_words(sense: PlanMeaning, question: str) -> None:
    used: set[str] = set()
    for step in sense.steps:
        for constant in constants(step):
            used |= sense.words_of(step, constant)
    left = sorted(sense.reading.content - used - {"1"})
    if left:
        raise PlanError("E_END", f"the question also says {quoted(question, left[0])!a}")
    value = sense.steps[-1].value
    fits = {"number": type(value) is int, "truth": isinstance(value, bool)}
    if not fits.get(sense.reading.opening, True):
        wanted = {"number": "a number", "truth": "yes or no"}[sense.reading.opening]
        raise PlanError("E_END", f"the question asks for {wanted}")


def _one_of(step: ExecutedStep) -> list[Ref]:
    """Returns the arguments of a step that must be whole descriptions."""
    positions = _WHOLE.get(step.tool, ())
    given = [step.arguments[at] for at in positions if at < len(step.arguments)]
    return [each for each in given if isinstance(each, Ref)]


def _answers(about: QueriedValue, query: Query) -> bool:
    return about.kind == query.kind and about.what == query.what and query.of in about.of


def _both(
    pair: tuple[QueriedValue | None, QueriedValue | None], queries: tuple[Query, ...]
) -> bool:
    return all(about and _answers(about, query) for about, query in zip(pair, queries, strict=True))


def _missing(plan: Constraints, description: Description) -> int:
    # A relation left out says more than a word does: the nearest description is to be named.
    return len((missing_words(plan, description) or "").split()) + 2 * len(
        missing_relations(plan, description)
    )


def _in_words(kind: str, what: str | None) -> str:
    texts = {
        **{"count": "how many there are", "exist": "whether there is any"},
        **{"number": f"the number of {what!a}", "part": f"the {what} part"},
    }
    color = f"the color of {what!a}" if what else "the color"
    return texts.get(kind, color if kind == "color" else f"the {kind}")
