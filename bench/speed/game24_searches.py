"""Compares searches of Game of 24 on a server with a plain loop over the same chat model.

How close do searches come to the time of their dependent requests, and how many requests per second
do many of them send? The loop sends the same requests with the same dependencies and nothing around
them: no graph, no state, no limits, no counters. Loop and searches take turns, and medians count.
The first turn warms up connections and imports and does not count.
"""

import asyncio
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, NamedTuple

from langchain_core.messages import HumanMessage
from langchain_openai import ChatOpenAI
from openai import DefaultAsyncHttpxClient
from pydantic import SecretStr

import thoughtgraph as tg
from thoughtgraph.bench.questions.game24_puzzles import puzzles
from thoughtgraph.bench.speed.figures import Conditions, Figure
from thoughtgraph.bench.speed.game24_server import serving
from thoughtgraph.checkpoints import sqlite_saver
from thoughtgraph.task import Question
from thoughtgraph.tasks.game24.game24 import STEPS, Game24
from thoughtgraph.tree import Thought

PUZZLES = (
    *("4 5 6 10", "1 2 4 7", "2 5 8 11", "3 4 4 13", "6 7 8 9"),
    *("1 11 11 13", "1 8 10 11", "2 3 6 9", "1 3 5 9", "3 3 7 12"),
)
"""Ranks 901 to 910 of the public list: the first ten of the paper's hundred test puzzles."""
LEVELS = 8
"""Dependent requests of a search: a proposal and a valuation in each of four steps."""
TURNS = 3
"""Turns of the measurement of concurrent searches (ours)."""
LOOP, BFS, KEPT = "plain loop", "tot_bfs", "tot_bfs, SQLite"
OPTIONS = {"shots": 1, "strict_parse": True}
BREADTH, VALUATIONS = 5, 3

Run = Callable[[str], Awaitable[int]]
"""Searches a puzzle; returns the number of its requests."""


class Spent(NamedTuple):
    """The cost of searches."""

    seconds: float
    cpu: float
    """Seconds of processor time."""
    requests: float


async def one_by_one(under: Conditions) -> Sequence[Figure]:
    """Returns the time and the requests of puzzles that are searched one after the other."""
    costs = await _compared(PUZZLES, under.repeats, under.latency, at_once=False)
    path = LEVELS * under.latency * len(PUZZLES)
    requests = {name: each.requests / len(PUZZLES) for name, each in costs.items()}
    times = {name: each.seconds / costs[LOOP].seconds for name, each in costs.items()}
    return (
        *(Figure(f"{name}, times the path", s.seconds / path, "x") for name, s in costs.items()),
        Figure(f"{BFS}, times the loop", times[BFS], "x", most=1.05),
        Figure(f"{KEPT}, times the loop", times[KEPT], "x", most=1.08),
        Figure(f"{BFS}, requests beyond the loop's", requests[BFS] - requests[LOOP], most=0.0),
        Figure(f"{BFS}, requests", requests[BFS], "a puzzle"),
    )


async def at_once(under: Conditions) -> Sequence[Figure]:
    """Returns the requests per second of many concurrent searches, relative to the loop's."""
    all_puzzles = puzzles()
    problems = all_puzzles[:: len(all_puzzles) // under.repeats][: under.repeats]
    costs = await _compared(problems, TURNS, 0.0, at_once=True)
    rate = {name: each.requests / each.seconds for name, each in costs.items()}
    cpu = {name: 1000 * each.cpu / each.requests for name, each in costs.items()}
    return (
        *(Figure(f"{name}, requests", each, "1/s") for name, each in rate.items()),
        Figure(f"{BFS}, of the loop's", rate[BFS] / rate[LOOP], "share", least=0.70),
        Figure(f"{KEPT}, of the loop's", rate[KEPT] / rate[LOOP], "share", least=0.55),
        *(Figure(f"{name}, CPU time", each, "ms/request") for name, each in cpu.items()),
        Figure(f"{BFS}, CPU time, times the loop's", cpu[BFS] / cpu[LOOP], "x", most=1.65),
    )


async def _compared(
    problems: Sequence[str], turns: int, latency: float, *, at_once: bool
) -> dict[str, Spent]:
    """Returns the cost of searching all problems by loop or search: medians of several turns."""
    costs: dict[str, list[Spent]] = {}
    for turn in range(turns + 1):
        async with AsyncExitStack() as stack:
            address = stack.enter_context(serving(latency))
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            saver = await stack.enter_async_context(sqlite_saver(folder / "runs.sqlite"))
            client = await stack.enter_async_context(DefaultAsyncHttpxClient())
            runs: Mapping[str, Run] = {
                LOOP: _plain_loop(_chat_model(address, http_async_client=client)),
                BFS: _search(_chat_model(address)),
                KEPT: _search(_chat_model(address), saver),
            }
            for label, run in runs.items():
                spent = await _timed(run, problems, at_once)
                costs.setdefault(label, []).extend([spent] if turn else [])
    return {
        label: Spent(*map(statistics.median, zip(*each, strict=True)))
        for label, each in costs.items()
    }


def _chat_model(address: str, **parts: Any) -> ChatOpenAI:
    """Returns LangChain's own chat model for a server, without retries of its own."""
    return ChatOpenAI(
        model="game24", base_url=address, api_key=SecretStr("none"), max_retries=0, **parts
    )


async def _timed(run: Run, problems: Sequence[str], at_once: bool) -> Spent:
    began, cpu = time.perf_counter(), time.process_time()
    if at_once:
        requests = await asyncio.gather(*map(run, problems))
    else:
        requests = [await run(problem) for problem in problems]
    return Spent(time.perf_counter() - began, time.process_time() - cpu, sum(requests))


def _search(model: ChatOpenAI, saver: Any = None) -> Run:
    uncapped = tg.Rates(concurrency=None)
    graph = tg.build("tot_bfs", task="game24", model=model, checkpointer=saver, rates=uncapped)

    async def run(problem: str) -> int:
        thread: Any = {"configurable": {"thread_id": problem}}
        result = await graph.ainvoke({"problem": problem}, thread)
        return int(result["usage"]["requests"])

    return run


def _plain_loop(model: ChatOpenAI) -> Run:
    async def run(problem: str) -> int:
        loop = PlainLoop(model, problem)
        await loop.solve()
        return loop.requests

    return run


class PlainLoop:
    """Tree of Thoughts as a plain loop over one chat model, on one puzzle."""

    def __init__(self, model: ChatOpenAI, problem: str) -> None:
        self.requests = 0
        self._model, self._problem = model, problem
        self._task = Game24()
        self._values: dict[str, float] = {}

    async def solve(self) -> list[str]:
        """Returns the outputs of a breadth-first search, best first."""
        states: list[list[Thought]] = [[]]
        for _ in range(STEPS):
            proposed = [self._task.propose(self._problem, path, OPTIONS) for path in states]
            texts = await asyncio.gather(*(self._ask(each.prompt.user, 1) for each in proposed))
            candidates = [
                [*path, Thought(text=draft["text"])]
                for path, question, text in zip(states, proposed, texts, strict=True)
                for draft in question.read(text)
            ]
            values = await self._valued(candidates)
            ranked = sorted(zip(candidates, values, strict=True), key=lambda pair: -pair[1])
            states = [path for path, _ in ranked[:BREADTH]]
        return [path[-1]["text"] for path in states]

    async def _ask(self, prompt: str, n: int) -> list[str]:
        self.requests += 1
        result = await self._model.agenerate(
            [[HumanMessage(prompt)]], n=n, temperature=0.7, max_tokens=1000
        )
        return [generation.text for generation in result.generations[0]]

    async def _valued(self, candidates: list[list[Thought]]) -> list[float]:
        """Returns the value of each candidate; a duplicate of an earlier one is worth 0."""
        questions = [self._task.value(self._problem, path, OPTIONS) for path in candidates]
        new = {each.prompt.user: each for each in questions if isinstance(each, Question)}
        new = {prompt: each for prompt, each in new.items() if prompt not in self._values}
        answers = await asyncio.gather(*(self._ask(prompt, VALUATIONS) for prompt in new))
        for (prompt, question), samples in zip(new.items(), answers, strict=True):
            self._values[prompt] = question.read(samples).value
        values: dict[str, float] = {}
        lines = ["\n".join(thought["text"] for thought in path) for path in candidates]
        for line, each in zip(lines, questions, strict=True):
            value = self._values[each.prompt.user] if isinstance(each, Question) else each.value
            values.setdefault(line, value)
        return [values.pop(line, 0.0) for line in lines]
