"""G(p, s, k): the ways to ask for next thoughts of a partial solution."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from thoughtgraph.generation import GeneratorInput
from thoughtgraph.method import ThoughtGenerator, ThoughtQuestion
from thoughtgraph.run import Run
from thoughtgraph.state import SearchState
from thoughtgraph.task import Answers, Proposes, Question, Samples
from thoughtgraph.tree import PROPOSAL_LIMIT, cut, path_to

T = TypeVar("T")


def generator_input(
    state: SearchState,
    thought: str,
    *,
    expansion: int = 0,
    samples: int = 1,
    experiences: Sequence[str] = (),
) -> GeneratorInput:
    """Returns what a generator is given.

    Args:
        state: The state.
        thought: Id of the thought to expand.
        expansion: How often it was expanded before.
        samples: How many samples are asked for, where the search decides it.
        experiences: Ids of the last thoughts of the paths that the prompt is to contain, in order.
    """
    tree = state["thoughts"]
    return {
        "thought": thought,
        "expansion": expansion,
        "samples": samples,
        "problem": state["problem"],
        "run": state["run"],
        "settings": state["settings"],
        "path": path_to(tree, thought),
        "lessons": [path_to(tree, key) for key in experiences],
    }


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

    def generator(run: Run, given: GeneratorInput) -> ThoughtQuestion:
        options = given["settings"]
        task = run.task_for(options, Proposes)
        question = task.propose(given["problem"], given["path"], options)

        def read(samples: Sequence[str]) -> list[Mapping[str, Any]]:
            proposals = question.read(samples)[:PROPOSAL_LIMIT]
            return [{"raw": cut(proposal["text"]), **proposal} for proposal in proposals]

        return Question(question.prompt, read, question.n or n)

    return generator


def sample(n: int) -> ThoughtGenerator:
    """Returns the generator of n independent next thoughts (ToT section 3, "sample")."""

    def generator(run: Run, given: GeneratorInput) -> ThoughtQuestion:
        options = given["settings"]
        question = run.task_for(options, Samples).sample(given["problem"], given["path"], options)
        return one_thought_each(question, n, lambda thought, text: {**thought, "raw": cut(text)})

    return generator


def direct_answer(style: str, n: int) -> ThoughtGenerator:
    """Returns the generator of n whole answers, asked for directly; `style` is `io` or `cot`."""

    def generator(run: Run, given: GeneratorInput) -> ThoughtQuestion:
        options = given["settings"]
        question = run.task_for(options, Answers).ask(given["problem"], style, options)
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
