"""The yardstick of the speed figures: Tree of Thoughts as a plain asyncio loop over one chat model.

It makes the same requests as the `tot_bfs` graph on Game of 24, in the same order of dependence,
through `ChatOpenAI.agenerate`, with nothing around them: no graph, no state, no limits, no
counters.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable

from langchain_core.messages import HumanMessage
from langchain_openai import ChatOpenAI

from thoughtgraph.llm.retry import Retry
from thoughtgraph.task import Prompt, Question
from thoughtgraph.tasks.game24.game24 import STEPS, Game24
from thoughtgraph.tree import Thought

TASK = Game24()
OPTIONS = {"shots": 1, "strict_parse": True}
Ask = Callable[[Prompt, int], Awaitable[list[str]]]


def asker(model: ChatOpenAI, retry: Retry | None = None) -> Ask:
    """Returns a function that asks a model directly, with retries if `retry` is given."""

    async def ask(prompt: Prompt, n: int) -> list[str]:
        async def call() -> list[str]:
            result = await model.agenerate(
                [[HumanMessage(prompt.user)]], n=n, temperature=0.7, max_tokens=1000
            )
            return [generation.text for generation in result.generations[0]]

        if retry is None:
            return await call()
        return await retry.loop(endpoint="plain", retried=lambda failure: None)(call)

    return ask


async def solve(ask: Ask, problem: str, *, breadth: int = 5, n_evaluate: int = 3) -> list[str]:
    """Returns the outputs of a breadth-first search, best first."""
    known: dict[str, float] = {}
    states: list[list[Thought]] = [[]]
    for _ in range(STEPS):
        proposed = [TASK.propose(problem, path, OPTIONS) for path in states]
        texts = await asyncio.gather(*(ask(each.prompt, 1) for each in proposed))
        candidates = [
            [*path, Thought(text=draft["text"])]
            for path, question, text in zip(states, proposed, texts, strict=True)
            for draft in question.read(text)
        ]
        values = await _values(ask, problem, candidates, known, n_evaluate)
        ranked = sorted(zip(candidates, values, strict=True), key=lambda pair: -pair[1])
        states = [path for path, _ in ranked[:breadth]]
    return [path[-1]["text"] for path in states]


async def _values(
    ask: Ask, problem: str, candidates: list[list[Thought]], known: dict[str, float], n: int
) -> list[float]:
    questions = [TASK.value(problem, path, OPTIONS) for path in candidates]
    new = {
        question.prompt.user: question
        for question in questions
        if isinstance(question, Question) and question.prompt.user not in known
    }
    answers = await asyncio.gather(*(ask(question.prompt, n) for question in new.values()))
    for (user, asked), samples in zip(new.items(), answers, strict=True):
        known[user] = asked.read(samples).value
    seen: set[str] = set()
    values: list[float] = []
    for question, path in zip(questions, candidates, strict=True):
        line = "\n".join(thought["text"] for thought in path)
        if line in seen:
            values.append(0.0)
        else:
            values.append(
                known[question.prompt.user] if isinstance(question, Question) else question.value
            )
        seen.add(line)
    return values


def address(specifier: str) -> tuple[str, str]:
    """Splits `http://HOST:PORT/v1#NAME` into the base address and the model's name."""
    found = re.fullmatch(r"(https?://[^#]+)#(.+)", specifier)
    if found is None:
        raise SystemExit(f"{specifier!r} is no endpoint; write http://HOST:PORT/v1#NAME")
    return found[1], found[2]
