"""G(p, s, k): requests next thoughts of partial solutions and adds them to the tree."""

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
"""A question whose completions are read as partial thoughts; it says how many to request."""
PROPOSAL_LIMIT = 300
"""Most proposals kept of one expansion (ours), several times what the published prompts yield."""


class Drafts(NamedTuple):
    """The thoughts that were read from the completions of one expansion."""

    thoughts: Sequence[Mapping[str, Any]]
    """Partial thoughts, in the order of their creation."""
    malformed: int
    """Number of completions without a thought, and of outputs without an answer."""


class Placed(NamedTuple):
    """Expansions as they go into the tree."""

    new: Tree
    """The new thoughts, in the order of their creation."""
    parents: Tree
    """The changes to the expanded thoughts."""
    complete: bool
    """Whether no thought is missing because of the limit on thoughts."""

    @property
    def tree(self) -> Tree:
        """The update of the tree."""
        return {**self.parents, **self.new}


def expansion(step: Step, key: str, question: ThoughtQuestion, times: int = 0) -> Ask[Drafts]:
    """Returns the request for the next thoughts of one partial solution.

    Args:
        step: This run of the node.
        key: Id of the thought to expand.
        question: The question of the method's generator.
        times: How often the thought was expanded before.
    """

    def read(texts: Sequence[str]) -> Drafts:
        return read_thoughts(question, texts)

    # Samples beyond the limit on thoughts are not requested, so nobody pays for them.
    most = max(1, thoughts_left(step.state))
    return Ask(Question(question.prompt, read, question.n), key, most=most, expansion=times)


def read_thoughts(question: ThoughtQuestion, samples: Sequence[str]) -> Drafts:
    """Reads thoughts from completions, and counts the malformed ones; see `Drafts`."""
    thoughts = question.read(samples)
    thought_texts = {thought["text"] for thought in thoughts}
    others = [text for text in samples if text not in thought_texts]
    several = len(samples) > 1
    # Each other completion is read alone to see if it holds a thought; a single one just was.
    empty = [text for text in others if not thoughts or (several and not question.read([text]))]
    outputs = [thought for thought in thoughts if thought.get("status") == "terminal"]
    return Drafts(thoughts, len(empty) + sum(each.get("answer", "") is None for each in outputs))


def drafted(answers: Sequence[Answer[Drafts]]) -> list[Children]:
    """Returns the children of each expansion, in the order of the requests."""
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
    """Returns a question for n lists of thoughts, one per completion (ToT section 3, "propose")."""
    problem, path, settings = step.at(key)
    question = step.task(Proposes).propose(problem, path, settings)

    def read(samples: Sequence[str]) -> list[Mapping[str, Any]]:
        proposals = question.read(samples)[:PROPOSAL_LIMIT]
        return [{"raw": cut(proposal["text"]), **proposal} for proposal in proposals]

    return Question(question.prompt, read, question.n or n)


def sample(step: Step, key: str, n: int) -> ThoughtQuestion:
    """Returns a question for n independent next thoughts (ToT section 3, "sample")."""
    question = step.task(Samples).sample(*step.at(key))
    return one_thought_each(question, n, lambda thought, text: {**thought, "raw": cut(text)})


def direct_answer(step: Step, style: str, n: int) -> ThoughtQuestion:
    """Returns a question for n whole answers; `style` is `io` or `cot`."""
    state = step.state
    question = step.task(Answers).ask(state["problem"], style, state["settings"])
    return one_thought_each(
        question, n, lambda result, text: {"text": text, "answer": result, "status": "terminal"}
    )


def one_thought_each(
    question: Question[Sequence[T]], n: int, thought: Callable[[T, str], Mapping[str, Any]]
) -> ThoughtQuestion:
    """Returns a question of which each completion becomes a thought.

    Args:
        question: The task's question, which reads each completion on its own.
        n: Number of completions to request, unless the task sets it.
        thought: From the reading of a completion and its text to the partial thought.
    """

    def read(samples: Sequence[str]) -> list[Mapping[str, Any]]:
        pairs = zip(question.read(samples), samples, strict=True)
        return [thought(each, text) for each, text in pairs]

    return Question(question.prompt, read, question.n or n)


def place(state: SearchState, expansions: Sequence[Children]) -> Placed:
    """Makes thoughts of expansions, in their order, as many as the limit on thoughts allows.

    The usage of an expansion is added to that of the expanded thought, which may be expanded
    several times.
    """
    room = thoughts_left(state)
    new: Tree = {}
    parents: Tree = {}
    for expansion in expansions:
        parent = expansion["parent"]
        drafts = expansion["thoughts"][: max(0, room - len(new))]
        new |= grow(state["thoughts"], parent, drafts, offset=len(new))
        # A draw with replacement may expand one thought several times in a step.
        before = parents.get(parent, state["thoughts"][parent])
        parents[parent] = {"status": "expanded", "usage": _added_usage(before, expansion["usage"])}
    wanted = sum(len(expansion["thoughts"]) for expansion in expansions)
    short = any(expansion.get("short") for expansion in expansions)
    return Placed(new, parents, complete=wanted == len(new) and not short)


def place_below(
    state: SearchState,
    parent: str,
    thoughts: Sequence[Mapping[str, Any]],
    usage: dict[str, dict[str, float]],
) -> Placed:
    """Makes thoughts of the expansion of one thought."""
    children = Children(parent=parent, thoughts=[dict(each) for each in thoughts], usage=usage)
    return place(state, [children])


def with_times(state: SearchState, placed: Placed) -> Tree:
    """Returns the update of the tree, in which each parent counts one more expansion."""
    counts: Tree = {key: {"expansions": times_expanded(state, key) + 1} for key in placed.parents}
    return merge_thoughts(placed.tree, [counts])


def times_expanded(state: SearchState, key: str) -> int:
    """Returns how often a thought was expanded, in methods that expand thoughts repeatedly."""
    return state["thoughts"][key].get("expansions", 0)


def _added_usage(
    thought: Thought, usage: Mapping[str, dict[str, float]]
) -> dict[str, dict[str, float]]:
    """Returns the usage of a thought so far plus a new one, for the roles of the new one.

    The reducer of the tree keeps the usage of the other roles.
    """
    before = thought.get("usage", {})
    return {role: add_counts(before.get(role, {}), spent) for role, spent in usage.items()}
