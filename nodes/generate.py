"""G(p, s, k): asks the model for next thoughts of one partial solution."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeVar

from langgraph.types import Send

from thoughtgraph.fan_out import Expansion, NodeInput, SendArg
from thoughtgraph.llm.port import Draw
from thoughtgraph.method import ChooseGenerator, ThoughtGenerator, ThoughtQuestion
from thoughtgraph.nodes.asker import Asker
from thoughtgraph.nodes.limits import requests_left, thoughts_left
from thoughtgraph.nodes.node import Node, fanned_out
from thoughtgraph.parts import Parts
from thoughtgraph.state import SearchState
from thoughtgraph.task import Answers, Proposes, Question, Samples
from thoughtgraph.tree import PROPOSAL_LIMIT, ROOT, bounded, cut

T = TypeVar("T")

LONG = 100_000
"""Letters of samples that are read in a millisecond or few, so that nobody need wait (ours)."""


def generate(parts: Parts, generator: ChooseGenerator) -> Node:
    """Makes the node that expands one thought; it runs as one task a thought.

    Args:
        generator: From the run's settings to the generator G.
    """

    async def node(given: NodeInput) -> dict[str, Any]:
        question = generator(given["settings"])(parts, given)
        n = question.n or 1
        asker, fit = Asker(parts, given), samples_allowed(given, n)
        draw = Draw(given["problem"], given["thought"], given["expansion"])
        samples = await asker.samples(question.prompt, role="generate", n=fit, draw=draw)
        if given.get("ahead") and asker.meter.error:
            samples = None  # its answer could not be kept: to be asked for when it is needed
        expansion: Expansion = {
            "parent": given["thought"],
            "served": samples is not None,
            "short": fit < n,
        }
        if samples is not None:
            thoughts, malformed = await _read(question, samples)
            expansion["thoughts"] = [bounded(thought) for thought in thoughts]
            for _ in range(malformed):
                asker.meter.parse_error("generate")
            expansion["usage"] = asker.meter.by_role()
        return asker.update(expansions=expansion)

    return fanned_out(node)


async def _read(
    question: ThoughtQuestion, samples: list[str]
) -> tuple[Sequence[Mapping[str, Any]], int]:
    """Reads in a thread what takes long: a server's event loop must not wait for it."""
    if sum(map(len, samples)) > LONG:
        return await asyncio.to_thread(read_thoughts, question, samples)
    return read_thoughts(question, samples)


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


def samples_allowed(given: NodeInput, n: int) -> int:
    """Returns how many of n samples to ask for: a thought that cannot be kept is not paid for."""
    return min(n, max(1, thoughts_left(given)))


def propose(n: int = 1) -> ThoughtGenerator:
    """Returns the generator of n lists of next thoughts, one a completion (ToT 3, "propose")."""

    def generator(parts: Parts, given: NodeInput) -> ThoughtQuestion:
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

    def generator(parts: Parts, given: NodeInput) -> ThoughtQuestion:
        options = given["settings"]
        question = parts.task_for(options, Samples).sample(given["problem"], given["path"], options)
        return one_thought_each(question, n, lambda thought, text: {**thought, "raw": cut(text)})

    return generator


def direct_answer(style: str, n: int) -> ThoughtGenerator:
    """Returns the generator of n whole answers, asked for directly; `style` is `io` or `cot`."""

    def generator(parts: Parts, given: NodeInput) -> ThoughtQuestion:
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


async def expand_root(state: SearchState) -> list[Send] | Literal["answer"]:
    """Routes to the one generation of a method that asks directly, if a request is allowed."""
    if not requests_left(state):
        return "answer"
    return [Send("generate", SendArg(thought=ROOT, expansion=0))]
