"""G(p, s, k): asks the model for next thoughts of one partial solution."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from langgraph.types import Send

from thoughtgraph.jobs import Draft, Job, Order
from thoughtgraph.llm.port import Draw
from thoughtgraph.method import Choose, Thoughts, Way
from thoughtgraph.nodes.ask import Asker
from thoughtgraph.nodes.chart import Node
from thoughtgraph.nodes.jobs import fanned_out
from thoughtgraph.nodes.limits import grants
from thoughtgraph.parts import Parts
from thoughtgraph.settings import limits_of
from thoughtgraph.state import SearchState
from thoughtgraph.task import Answers, Proposes, Question, Samples
from thoughtgraph.tree import PROPOSAL_LIMIT, ROOT, bounded, cut
from thoughtgraph.usage import remaining_thoughts

LONG = 100_000
"""Letters of samples that are read in a millisecond or few, so that nobody need wait (ours)."""


def generate(parts: Parts, way: Choose) -> Node:
    """Makes the node that expands one thought; it runs as one task a thought.

    Args:
        parts: The graph's objects.
        way: From the run's settings to the way thoughts are generated.

    Returns:
        The node: from an `Order` to one `Draft`.
    """

    async def node(job: Job) -> dict[str, Any]:
        question = way(job["settings"])(parts, job)
        n = question.n or 1
        asker, fit = Asker(parts, job), fitting(job, n)
        draw = Draw(job["problem"], job["thought"], job["expansion"])
        samples = await asker.samples(question.prompt, role="generate", n=fit, draw=draw)
        if job.get("ahead") and asker.meter.error:
            samples = None  # its answer could not be kept: to be asked for when it is needed
        draft: Draft = {"parent": job["thought"], "served": samples is not None, "short": fit < n}
        if samples is not None:
            thoughts, malformed = await _read(question, samples)
            draft["thoughts"] = [bounded(thought) for thought in thoughts]
            for _ in range(malformed):
                asker.meter.parse_error("generate")
            draft["usage"] = asker.meter.by_role()
        return asker.update(drafts=draft)

    return fanned_out(node)


async def _read(question: Thoughts, samples: list[str]) -> tuple[Sequence[Mapping[str, Any]], int]:
    """Reads in a thread what takes long: a server's event loop must not wait for it."""
    if sum(map(len, samples)) > LONG:
        return await asyncio.to_thread(_found, question, samples)
    return _found(question, samples)


def _found(question: Thoughts, samples: list[str]) -> tuple[Sequence[Mapping[str, Any]], int]:
    """Returns the thoughts, and how many completions hold none or are outputs without an answer."""
    thoughts = question.read(samples)
    known = {thought["text"] for thought in thoughts}
    others = [text for text in samples if text not in known]
    several = len(samples) > 1
    mute = [text for text in others if not thoughts or (several and not question.read([text]))]
    ends = [thought for thought in thoughts if thought.get("status") == "terminal"]
    return thoughts, len(mute) + sum(end.get("answer", "") is None for end in ends)


def fitting(job: Job, n: int) -> int:
    """Returns how many of n samples to ask for: a thought that cannot be kept is not paid for."""
    return min(n, max(1, remaining_thoughts(limits_of(job["settings"]), job["usage"])))


def propose(parts: Parts, job: Job) -> Thoughts:
    """Asks for a list of next thoughts in one completion (ToT section 3, "propose")."""
    options = job["settings"]
    question = parts.task_for(options, Proposes).propose(job["problem"], job["path"], options)

    def read(samples: Sequence[str]) -> list[Mapping[str, Any]]:
        drafts = question.read(samples)[:PROPOSAL_LIMIT]
        return [{"raw": cut(draft["text"]), **draft} for draft in drafts]

    return Question(question.prompt, read, question.n or options.get("proposal_samples", 1))


def sample(parts: Parts, job: Job) -> Thoughts:
    """Asks for k independent next thoughts (ToT section 3, "sample")."""
    options = job["settings"]
    question = parts.task_for(options, Samples).sample(job["problem"], job["path"], options)

    def read(samples: Sequence[str]) -> list[Mapping[str, Any]]:
        thoughts = zip(question.read(samples), samples, strict=True)
        return [{**thought, "raw": cut(text)} for thought, text in thoughts]

    return Question(question.prompt, read, question.n or options["n_generate"])


def ask(style: str) -> Way:
    """Returns the way that asks outright for whole answers, `style` being `io` or `cot`."""

    def way(parts: Parts, job: Job) -> Thoughts:
        options = job["settings"]
        question = parts.task_for(options, Answers).ask(job["problem"], style, options)

        def read(samples: Sequence[str]) -> list[Mapping[str, Any]]:
            answers = zip(question.read(samples), samples, strict=True)
            return [
                {"text": text, "answer": found, "status": "terminal"} for found, text in answers
            ]

        return Question(question.prompt, read, question.n or options["n_generate"])

    return way


WAYS: dict[str, Way] = {"propose": propose, "sample": sample}


async def expand_root(state: SearchState) -> list[Send] | Literal["answer"]:
    """Routes to the one generation of a method that asks outright, if a request is allowed."""
    if not grants(state):
        return "answer"
    return [Send("generate", Order(thought=ROOT, expansion=0))]
