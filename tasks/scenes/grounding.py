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

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from thoughtgraph.tasks.scenes.described import (
    About,
    Described,
    Joined,
    Meaning,
    loose_ends,
    partly,
    words_left,
)
from thoughtgraph.tasks.scenes.interpreter import Done, Ref
from thoughtgraph.tasks.scenes.question_reading import Ask, Thing
from thoughtgraph.tasks.scenes.step_meaning import Sense, constants, sense_of
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
    steps: tuple[Done, ...] = ()

    def after(self, steps: Sequence[Done]) -> "Grounding":
        """Checks further steps, which ran, and returns the grounding with them.

        Raises:
            PlanError: E_GROUND, a step says what the question does not.
        """
        known = self.steps
        for step in steps:
            sense = sense_of(self.question, self.style, known)
            _check_words(sense, step)
            known = (*known, step)
            if sense.reading.exact:
                _check(sense, step, sense_of(self.question, self.style, known).meanings[-1])
        return Grounding(self.question, self.style, known)

    def end(self) -> None:
        """Checks a plan that has assigned its answer.

        Raises:
            PlanError: E_END, the plan is no answer to what the question asks.
        """
        sense = sense_of(self.question, self.style, self.steps)
        used = {at for step in self.steps for at in _uses(sense, step)}
        for at, step in enumerate(self.steps[:-1]):
            if at not in used:
                raise PlanError("E_END", f"{step.target} ({step.tool}) is never used")
        if sense.reading.exact:
            _check_end(sense)
        else:
            _check_end_by_words(sense)


def _uses(sense: Sense, step: Done) -> list[int]:
    """Returns the steps whose values a step uses, by name or by repeating the value."""
    repeated = (sense.earlier(each) for each in constants(step) if not sense.says(step, each))
    return [*step.refs(), *(at for at in repeated if at is not None)]


def _check_words(sense: Sense, step: Done) -> None:
    for constant in constants(step):
        if not sense.says(step, constant) and sense.earlier(constant) is None:
            raise PlanError("E_GROUND", f"the question says nothing of {constant!a}")


def _check(sense: Sense, step: Done, meaning: Meaning) -> None:
    """Raises E_GROUND when a step says what the question does not."""
    for given in _one_of(step):
        if not sense.places(given):
            raise PlanError("E_GROUND", _incomplete(sense, sense.described(given)))
    if isinstance(meaning, Described):
        if not any(partly(meaning, each) for each in sense.reading.things):
            raise PlanError("E_GROUND", "no description in the question is like that")
    elif isinstance(meaning, About) and not any(_asked(sense, meaning)):
        wanted = _in_words(meaning.kind, meaning.what)
        raise PlanError("E_GROUND", f"the question does not ask {wanted} of that")


def _asked(sense: Sense, about: About) -> Iterator[bool]:
    for ask in sense.reading.asks:
        yield _answers(about, ask)
    for thing in sense.reading.things:
        if thing.shared:
            yield _answers(about, Ask(*thing.shared))


def _incomplete(sense: Sense, plan: Described) -> str:
    """Returns what of its description the plan has left out."""
    things = [each for each in sense.reading.things if partly(plan, each)]
    if not things:
        return "no description in the question is like that"
    thing = min(things, key=lambda each: _missing(plan, each))
    left = words_left(plan, thing)
    if left:
        return f"the question says {thing.mention.text!a}, and {left!a} is not used yet"
    return f"of {thing.mention.text!a} the question also says {loose_ends(plan, thing)[0]}"


def _check_end(sense: Sense) -> None:
    join, asks = sense.reading.join, sense.reading.asks
    meaning = sense.meanings[-1]
    if join is None:
        if not isinstance(meaning, About) or not _answers(meaning, asks[0]):
            raise PlanError("E_END", f"the question asks {_in_words(*asks[0][:2])}")
        return
    order = _JOINS.get((join, meaning.tool)) if isinstance(meaning, Joined) else None
    if order is None or not isinstance(meaning, Joined):
        raise PlanError("E_END", f"the question asks for {join.replace('_', ' ')}")
    first, second = meaning.first, meaning.second
    forward, backward = _both((first, second), asks), _both((second, first), asks)
    if not ((order >= 0 and forward) or (order <= 0 and backward)):
        raise PlanError("E_END", "these are not the two values asked, in their order")


def _check_end_by_words(sense: Sense) -> None:
    used: set[str] = set()
    for step in sense.steps:
        for constant in constants(step):
            used |= sense.words_of(step, constant)
    left = sorted(sense.reading.content - used - {"1"})
    if left:
        raise PlanError("E_END", f"the question also says {left[0]!a}")
    value = sense.steps[-1].value
    fits = {"number": type(value) is int, "truth": isinstance(value, bool)}
    if not fits.get(sense.reading.opening, True):
        wanted = {"number": "a number", "truth": "yes or no"}[sense.reading.opening]
        raise PlanError("E_END", f"the question asks for {wanted}")


def _one_of(step: Done) -> list[Ref]:
    """Returns the arguments of a step that must be whole descriptions."""
    places = _WHOLE.get(step.tool, ())
    given = [step.arguments[at] for at in places if at < len(step.arguments)]
    return [each for each in given if isinstance(each, Ref)]


def _answers(about: About, ask: Ask) -> bool:
    return about.kind == ask.kind and about.what == ask.what and ask.of in about.of


def _both(pair: tuple[About | None, About | None], asks: tuple[Ask, ...]) -> bool:
    return all(about and _answers(about, ask) for about, ask in zip(pair, asks, strict=True))


def _missing(plan: Described, thing: Thing) -> int:
    return len((words_left(plan, thing) or "").split()) + 2 * len(loose_ends(plan, thing))


def _in_words(kind: str, what: str | None) -> str:
    texts = {
        **{"count": "how many there are", "exist": "whether there is any"},
        **{"number": f"the number of {what!a}", "part": f"the {what} part"},
    }
    color = f"the color of {what!a}" if what else "the color"
    return texts.get(kind, color if kind == "color" else f"the {kind}")
