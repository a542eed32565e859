"""G(p, s, k): what is asked for next thoughts, and what is read in the answers."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from thoughtgraph.generation import Expansion
from thoughtgraph.method import ChooseGenerator, ThoughtQuestion
from thoughtgraph.nodes.calls import Answer, Ask
from thoughtgraph.nodes.generators import generator_input, read_thoughts
from thoughtgraph.nodes.limits import thoughts_left
from thoughtgraph.run import Run
from thoughtgraph.state import SearchState
from thoughtgraph.task import Question
from thoughtgraph.tree import bounded


class Drafts(NamedTuple):
    """What is read of completions that were asked for next thoughts."""

    thoughts: Sequence[Mapping[str, Any]]
    """Partial thoughts, in the order of their creation."""
    malformed: int
    """Completions that hold none, or an output without an answer."""


def expansion(
    run: Run,
    state: SearchState,
    generator: ChooseGenerator,
    key: str,
    times: int,
    samples: int = 1,
) -> Ask[Drafts]:
    """Returns what to ask for the next thoughts of one partial solution.

    Args:
        generator: From the run's settings to the generator G.
        key: Id of the thought to expand.
        times: How often it was expanded before.
        samples: How many samples are asked for, where the search decides it.
    """
    given = generator_input(state, key, expansion=times, samples=samples)
    question = generator(state["settings"])(run, given)
    # A thought that cannot be kept is not paid for.
    most = max(1, thoughts_left(state))
    return Ask(_drafting(question), key, most=most, expansion=times)


def _drafting(question: ThoughtQuestion) -> Question[Drafts]:
    def read(texts: Sequence[str]) -> Drafts:
        return Drafts(*read_thoughts(question, texts))

    return Question(question.prompt, read, question.n)


def drafted(answers: Sequence[Answer[Drafts]]) -> list[Expansion]:
    """Returns what expansions gave, in the order in which they were asked for."""
    return [
        {
            "parent": answer.ask.about,
            "thoughts": [bounded(thought) for thought in answer.reading.thoughts],
            "usage": answer.usage,
            "short": answer.ask.sent < answer.ask.wanted,
        }
        for answer in answers
    ]
