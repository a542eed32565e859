"""G(p, s, k): asks for next thoughts of partial solutions, and places them in the tree."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from thoughtgraph.nodes.calls import Answer, Ask
from thoughtgraph.nodes.limits import thoughts_left
from thoughtgraph.nodes.step import Step
from thoughtgraph.state import Children, SearchState
from thoughtgraph.task import Answers, Proposes, Question, Samples
from thoughtgraph.tree import Thought, Tree, bounded, cut, grow, merge_thoughts
from thoughtgraph.usage import add_counts

T = TypeVar("T")

ThoughtQuestion = Question[Sequence[Mapping[str, Any]]]
"""What is read as partial thoughts; it says how many completions are asked for."""
PROPOSAL_LIMIT = 300
"""Thoughts that one expansion may propose (ours): several times what the published prompts give."""


class Drafts(NamedTuple):
    """What is read of completions that were asked for next thoughts."""

    thoughts: Sequence[Mapping[str, Any]]
    """Partial thoughts, in the order of their creation."""
    malformed: int
    """Completions that hold none, or an output without an answer."""


class Placed(NamedTuple):
    """What expansions become."""

    new: Tree
    """The new thoughts, in the order of their creation."""
    parents: Tree
    """The changes to the thoughts that were expanded."""
    complete: bool
    """Whether the limit on thoughts kept none of them out of the tree."""

    @property
    def tree(self) -> Tree:
        """What is to be written to the tree."""
        return {**self.parents, **self.new}


def expansion(step: Step, key: str, question: ThoughtQuestion, times: int = 0) -> Ask[Drafts]:
    """Returns a request for the next thoughts of one partial solution.

    Args:
        step: This run of the node.
        key: Id of the thought to expand.
        question: What its generator asks.
        times: How often it was expanded before.
    """

    def read(texts: Sequence[str]) -> Drafts:
        return read_thoughts(question, texts)

    # A thought that cannot be kept is not paid for.
    most = max(1, thoughts_left(step.state))
    return Ask(Question(question.prompt, read, question.n), key, most=most, expansion=times)


def read_thoughts(question: ThoughtQuestion, samples: Sequence[str]) -> Drafts:
    """Returns the thoughts, and how many completions hold none or are outputs without an answer."""
    thoughts = question.read(samples)
    known = {thought["text"] for thought in thoughts}
    others = [text for text in samples if text not in known]
    several = len(samples) > 1
    # Read alone, a completion shows whether it holds anything; that of one says so by itself.
    mute = [text for text in others if not thoughts or (several and not question.read([text]))]
    ends = [thought for thought in thoughts if thought.get("status") == "terminal"]
    return Drafts(thoughts, len(mute) + sum(end.get("answer", "") is None for end in ends))


def drafted(answers: Sequence[Answer[Drafts]]) -> list[Children]:
    """Returns what expansions gave, in the order in which they were asked for."""
    return [
        {
            "parent": answer.ask.about,
            "thoughts": [bounded(thought) for thought in answer.reading.thoughts],
            "usage": answer.usage,
            "short": answer.ask.sent < (answer.ask.question.n or 1),
        }
        for answer in answers
    ]


def propose(step: Step, key: str, n: int = 1) -> ThoughtQuestion:
    """Asks for n lists of next thoughts, one a completion (ToT section 3, "propose")."""
    problem, path, settings = step.at(key)
    question = step.task(Proposes).propose(problem, path, settings)

    def read(samples: Sequence[str]) -> list[Mapping[str, Any]]:
        proposals = question.read(samples)[:PROPOSAL_LIMIT]
        return [{"raw": cut(proposal["text"]), **proposal} for proposal in proposals]

    return Question(question.prompt, read, question.n or n)


def sample(step: Step, key: str, n: int) -> ThoughtQuestion:
    """Asks for n independent next thoughts (ToT section 3, "sample")."""
    question = step.task(Samples).sample(*step.at(key))
    return one_thought_each(question, n, lambda thought, text: {**thought, "raw": cut(text)})


def direct_answer(step: Step, style: str, n: int) -> ThoughtQuestion:
    """Asks for n whole answers directly; `style` is `io` or `cot`."""
    state = step.state
    question = step.task(Answers).ask(state["problem"], style, state["settings"])
    return one_thought_each(
        question, n, lambda result, text: {"text": text, "answer": result, "status": "terminal"}
    )


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
        pairs = zip(question.read(samples), samples, strict=True)
        return [thought(each, text) for each, text in pairs]

    return Question(question.prompt, read, question.n or n)


def place(state: SearchState, expansions: Sequence[Children]) -> Placed:
    """Places the thoughts of expansions in their order, as many as the limit allows.

    What an expansion cost is added to what the expanded thought has cost, for a thought may be
    expanded several times.
    """
    room = thoughts_left(state)
    new: Tree = {}
    parents: Tree = {}
    for expansion in expansions:
        parent = expansion["parent"]
        kept = expansion["thoughts"][: max(0, room - len(new))]
        new |= grow(state["thoughts"], parent, kept, offset=len(new))
        # A draw with replacement may expand one thought several times in a step.
        before = parents.get(parent, state["thoughts"][parent])
        parents[parent] = {"status": "expanded", "usage": _added_cost(before, expansion["usage"])}
    wanted = sum(len(expansion["thoughts"]) for expansion in expansions)
    short = any(expansion.get("short") for expansion in expansions)
    return Placed(new, parents, complete=wanted == len(new) and not short)


def place_below(
    state: SearchState,
    parent: str,
    thoughts: Sequence[Mapping[str, Any]],
    usage: dict[str, dict[str, float]],
) -> Placed:
    """Places the thoughts that follow one thought."""
    made = Children(parent=parent, thoughts=[dict(each) for each in thoughts], usage=usage)
    return place(state, [made])


def with_times(state: SearchState, placed: Placed) -> Tree:
    """Returns what is to be written, with how often the expanded thoughts were: once more."""
    times: Tree = {key: {"expansions": times_expanded(state, key) + 1} for key in placed.parents}
    return merge_thoughts(placed.tree, [times])


def times_expanded(state: SearchState, key: str) -> int:
    """Returns how often a thought was expanded, in methods that may do so again."""
    return state["thoughts"][key].get("expansions", 0)


def _added_cost(
    thought: Thought, usage: Mapping[str, dict[str, float]]
) -> dict[str, dict[str, float]]:
    """Returns what a thought has cost in all, of the roles whose cost something adds to.

    The reducer of the tree keeps the other roles.
    """
    before = thought.get("usage", {})
    return {role: add_counts(before.get(role, {}), spent) for role, spent in usage.items()}
