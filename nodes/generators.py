"""G(p, s, k): the ways to ask for next thoughts of a partial solution."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from thoughtgraph.generation import GeneratorInput
from thoughtgraph.method import ThoughtGenerator, ThoughtQuestion
from thoughtgraph.parts import Parts
from thoughtgraph.task import Answers, Proposes, Question, Samples
from thoughtgraph.tree import PROPOSAL_LIMIT, cut

T = TypeVar("T")


def read_thoughts(
    question: ThoughtQuestion, samples: Sequence[str]
) -> tuple[Sequence[Mapping[str, Any]], int]:
    """Returns the thoughts, and how many completions hold none or are outputs without an answer."""
    thoughts = question.read(samples)
    known = {thought["text"] for thought in thoughts}
    others = [text for text in samples if text not in known]
    several = len(samples) > 1
    # Read alone, a completion shows whether it holds anything; that of one says so by itself.
    mute = [text for text in others if not thoughts or (several and not question.read([text]))]
    ends = [thought for thought in thoughts if thought.get("status") == "terminal"]
    return thoughts, len(mute) + sum(end.get("answer", "") is None for end in ends)


def propose(n: int = 1) -> ThoughtGenerator:
    """Returns the generator of n lists of next thoughts, one a completion (ToT 3, "propose")."""

    def generator(parts: Parts, given: GeneratorInput) -> ThoughtQuestion:
        options = given["settings"]
        task = parts.task_for(options, Proposes)
        question = task.propose(given["problem"], given["path"], options)

        def read(samples: Sequence[str]) -> list[Mapping[str, Any]]:
            proposals = question.read(samples)[:PROPOSAL_LIMIT]
            return [{"raw": cut(proposal["text"]), **proposal} for proposal in proposals]

        return Question(question.prompt, read, question.n or n)

    return generator


def sample(n: int) -> ThoughtGenerator:
    """Returns the generator of n independent next thoughts (ToT section 3, "sample")."""

    def generator(parts: Parts, given: GeneratorInput) -> ThoughtQuestion:
        options = given["settings"]
        question = parts.task_for(options, Samples).sample(given["problem"], given["path"], options)
        return one_thought_each(question, n, lambda thought, text: {**thought, "raw": cut(text)})

    return generator


def direct_answer(style: str, n: int) -> ThoughtGenerator:
    """Returns the generator of n whole answers, asked for directly; `style` is `io` or `cot`."""

    def generator(parts: Parts, given: GeneratorInput) -> ThoughtQuestion:
        options = given["settings"]
        question = parts.task_for(options, Answers).ask(given["problem"], style, options)
        return one_thought_each(question, n, _whole_answer)

    return generator


def _whole_answer(found: str | None, text: str) -> Mapping[str, Any]:
    return {"text": text, "answer": found, "status": "terminal"}


def one_thought_each(
    question: Question[Sequence[T]], n: int, thought: Callable[[T, str], Mapping[str, Any]]
) -> ThoughtQuestion:
    """Returns a question each of whose completions becomes a thought.

    Args:
        question: What the task asks; it reads a completion at a time.
        n: How many completions are asked for, where the task does not say it.
        thought: Makes the partial thought of what was read and of the completion.
    """

    def read(samples: Sequence[str]) -> list[Mapping[str, Any]]:
        found = zip(question.read(samples), samples, strict=True)
        return [thought(each, text) for each, text in found]

    return Question(question.prompt, read, question.n or n)
