"""The yardstick of the speed figures: Tree of Thoughts as a plain asyncio loop over one chat model.

It makes the same requests as the `tot_bfs` graph on Game of 24, in the same order of dependence,
through `ChatOpenAI.agenerate`, with nothing around them: no graph, no state, no limits, no
counters.
"""

import asyncio
from collections.abc import Awaitable, Callable

from langchain_core.messages import HumanMessage
from langchain_openai import ChatOpenAI

from thoughtgraph.task import Question
from thoughtgraph.tasks.game24.game24 import STEPS, Game24
from thoughtgraph.tree import Thought

TASK = Game24()
OPTIONS = {"shots": 1, "strict_parse": True}
BREADTH = 5
VALUATIONS = 3
Ask = Callable[[str, int], Awaitable[list[str]]]


def asker(model: ChatOpenAI) -> Ask:
    """Returns a function that asks a model directly for samples."""

    async def ask(prompt: str, n: int) -> list[str]:
        result = await model.agenerate(
            [[HumanMessage(prompt)]], n=n, temperature=0.7, max_tokens=1000
        )
        return [generation.text for generation in result.generations[0]]

    return ask


async def solve(ask: Ask, problem: str) -> list[str]:
    """Returns the outputs of a breadth-first search, best first."""
    known: dict[str, float] = {}
    states: list[list[Thought]] = [[]]
    for _ in range(STEPS):
        proposed = [TASK.propose(problem, path, OPTIONS) for path in states]
        texts = await asyncio.gather(*(ask(each.prompt.user, 1) for each in proposed))
        candidates = [
            [*path, Thought(text=draft["text"])]
            for path, question, text in zip(states, proposed, texts, strict=True)
            for draft in question.read(text)
        ]
        values = await _values(ask, problem, candidates, known)
        ranked = sorted(zip(candidates, values, strict=True), key=lambda pair: -pair[1])
        states = [path for path, _ in ranked[:BREADTH]]
    return [path[-1]["text"] for path in states]


async def _values(
    ask: Ask, problem: str, candidates: list[list[Thought]], known: dict[str, float]
) -> list[float]:
    """Returns the value of each candidate; one that stands there twice is worth nothing again."""
    judged = [TASK.value(problem, path, OPTIONS) for path in candidates]
    new = {each.prompt.user: each for each in judged if isinstance(each, Question)}
    new = {prompt: each for prompt, each in new.items() if prompt not in known}
    answers = await asyncio.gather(*(ask(prompt, VALUATIONS) for prompt in new))
    for (prompt, question), samples in zip(new.items(), answers, strict=True):
        known[prompt] = question.read(samples).value
    seen: set[str] = set()
    values: list[float] = []
    for each, path in zip(judged, candidates, strict=True):
        line = "\n".join(thought["text"] for thought in path)
        value = known[each.prompt.user] if isinstance(each, Question) else each.value
        values.append(0.0 if line in seen else value)
        seen.add(line)
    return values
