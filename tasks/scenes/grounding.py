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

from collections.abc import Iterable

from thoughtgraph.tasks.scenes.constraints import (
    Facts,
    QueriedValue,
    consistent,
    missing_relations,
    missing_words,
)
from thoughtgraph.tasks.scenes.interpreter import ExecutedStep, refs, value_of
from thoughtgraph.tasks.scenes.question_reading import Description, Query
from thoughtgraph.tasks.scenes.question_tokens import quoted
from thoughtgraph.tasks.scenes.step_meaning import Combination, PlanMeaning, constants, words_of
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
"""Arguments of a tool that must be complete descriptions."""


class Grounding:
    """Checks a plan against its question.

    Args:
        question: The question.
        style: The data set of its scene.
        steps: The steps that passed before.
    """

    def __init__(self, question: str, style: Style, steps: Iterable[ExecutedStep] = ()) -> None:
        self._question = question
        self._plan = PlanMeaning(question, style, steps)
        self._reading = self._plan.reading

    def check(self, step: ExecutedStep) -> None:
        """Checks the next step, which has run.

        Raises:
            PlanError: E_GROUND, the step says what the question does not.
        """
        for constant in constants(step):
            if not self._plan.mentions(step, constant) and self._plan.earlier(constant) is None:
                raise PlanError("E_GROUND", f"the question says nothing of {constant!a}")
        self._plan.add(step)
        if self._reading.exact:
            self._check_meaning(step)

    def end(self) -> None:
        """Checks a plan that has assigned its answer.

        Raises:
            PlanError: E_END, the plan is no answer to what the question asks.
        """
        steps = self._plan.steps
        used = {at for step in steps for at in self._uses(step)}
        for at, step in enumerate(steps[:-1]):
            if at not in used:
                raise PlanError("E_END", f"{step['target']} ({step['tool']}) is never used")
        if not self._reading.exact:
            self._check_end_by_words()
        elif self._reading.join is None:
            self._check_end(self._reading.queries[0])
        else:
            self._check_join(self._reading.join)

    def _uses(self, step: ExecutedStep) -> Iterable[int]:
        """Yields the steps whose values a step uses, by name or by repetition."""
        yield from refs(step)
        for constant in constants(step):
            at = self._plan.earlier(constant)
            if at is not None and not self._plan.mentions(step, constant):
                yield at

    def _check_meaning(self, step: ExecutedStep) -> None:
        """Raises E_GROUND when a step says what the question does not."""
        for at in _WHOLE.get(step["tool"], ()):
            argument = step["arguments"][at : at + 1]
            if argument and isinstance(argument[0], dict) and not self._plan.referents(argument[0]):
                raise PlanError("E_GROUND", self._incomplete(self._plan.facts_of(argument[0])))
        meaning, descriptions = self._plan.meanings[-1], self._reading.descriptions
        if isinstance(meaning, frozenset):
            if not any(consistent(meaning, each) for each in descriptions):
                raise PlanError("E_GROUND", "no description in the question is like that")
        elif isinstance(meaning, QueriedValue):
            shared = [each.shared for each in descriptions if each.shared]
            if not any(meaning.answers(query) for query in (*self._reading.queries, *shared)):
                what = _in_words(meaning.kind, meaning.what)
                raise PlanError("E_GROUND", f"the question does not ask {what} of that")

    def _incomplete(self, facts: Facts) -> str:
        """Says which part of its description the plan has left out."""
        descriptions = [each for each in self._reading.descriptions if consistent(facts, each)]
        if not descriptions:
            return "no description in the question is like that"
        description = min(descriptions, key=lambda each: _missing(facts, each))
        if left := missing_words(facts, description):
            return f"the question says {description.mention.text!a}, and {left!a} is not used yet"
        relation = missing_relations(facts, description)[0]
        return f"of {description.mention.text!a} the question also says {relation}"

    def _check_end(self, query: Query) -> None:
        meaning = self._plan.meanings[-1]
        if not isinstance(meaning, QueriedValue) or not meaning.answers(query):
            what = _in_words(query.kind, query.what and quoted(self._question, query.what))
            raise PlanError("E_END", f"the question asks {what}")

    def _check_join(self, join: str) -> None:
        meaning, queries = self._plan.meanings[-1], self._reading.queries
        order = _JOINS.get((join, meaning.tool)) if isinstance(meaning, Combination) else None
        if order is None or not isinstance(meaning, Combination):
            raise PlanError("E_END", f"the question asks for {join.replace('_', ' ')}")
        values = (meaning.first, meaning.second)
        forward, backward = _both(values, queries), _both(values[::-1], queries)
        if not ((order >= 0 and forward) or (order <= 0 and backward)):
            raise PlanError("E_END", "these are not the two values asked, in their order")

    def _check_end_by_words(self) -> None:
        steps = self._plan.steps
        used = {word for step in steps for each in constants(step) for word in words_of(step, each)}
        left = sorted(self._reading.content - used - {"1"})
        if left:
            raise PlanError("E_END", f"the question also says {quoted(self._question, left[0])!a}")
        value, opening = value_of(steps[-1]), self._reading.opening
        if opening == "number" and type(value) is not int:
            raise PlanError("E_END", "the question asks for a number")
        if opening == "truth" and not isinstance(value, bool):
            raise PlanError("E_END", "the question asks for yes or no")


def _both(values: tuple[QueriedValue | None, ...], queries: tuple[Query, ...]) -> bool:
    return all(value and value.answers(query) for value, query in zip(values, queries, strict=True))


def _missing(facts: Facts, description: Description) -> int:
    # A missing relation weighs more than a word: name the nearest description.
    words = missing_words(facts, description).split()
    return len(words) + 2 * len(missing_relations(facts, description))


def _in_words(kind: str, what: str | None) -> str:
    texts = {
        **{"count": "how many there are", "exist": "whether there is any"},
        **{"number": f"the number of {what!a}", "part": f"the {what} part"},
    }
    color = f"the color of {what!a}" if what else "the color"
    return texts.get(kind, color if kind == "color" else f"the {kind}")
