"""Searches of Game of 24 on a server, beside a plain loop over the same chat model.

How close do they come to the time of their dependent requests, and how many requests a second do
many of them send? The loop makes the same requests in the same order of dependence, with nothing
around them: no graph, no state, no limits, no counters. All that is compared takes turns, and
medians are compared. The first turn warms connections and imports up and is not counted.
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
"""Dependent requests of a search: four steps, each proposed and valued."""
TURNS = 3
"""Turns of many searches at once (ours)."""
LOOP, BFS, KEPT = "plain loop", "tot_bfs", "tot_bfs, SQLite"
OPTIONS = {"shots": 1, "strict_parse": True}
BREADTH, VALUATIONS = 5, 3

Run = Callable[[str], Awaitable[int]]
"""Searches a puzzle; returns how many requests that took."""


class Spent(NamedTuple):
    """What searches took."""

    seconds: float
    cpu: float
    """Seconds of the processor."""
    requests: float


async def one_by_one(under: Conditions) -> Sequence[Figure]:
    """Returns the time of puzzles one after the other, and what they asked for."""
    took = await _compared(PUZZLES, under.repeats, under.latency, at_once=False)
    path = LEVELS * under.latency * len(PUZZLES)
    requests = {name: each.requests / len(PUZZLES) for name, each in took.items()}
    times = {name: each.seconds / took[LOOP].seconds for name, each in took.items()}
    return (
        *(Figure(f"{name}, times the path", s.seconds / path, "x") for name, s in took.items()),
        Figure(f"{BFS}, times the loop", times[BFS], "x", most=1.05),
        Figure(f"{KEPT}, times the loop", times[KEPT], "x", most=1.08),
        Figure(f"{BFS}, requests beyond the loop's", requests[BFS] - requests[LOOP], most=0.0),
        Figure(f"{BFS}, requests", requests[BFS], "a puzzle"),
    )


async def at_once(under: Conditions) -> Sequence[Figure]:
    """Returns the requests a second of many searches at once, beside the loop's."""
    every = puzzles()
    problems = every[:: len(every) // under.repeats][: under.repeats]
    took = await _compared(problems, TURNS, 0.0, at_once=True)
    rate = {name: each.requests / each.seconds for name, each in took.items()}
    cpu = {name: 1000 * each.cpu / each.requests for name, each in took.items()}
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
    """Returns what searching all problems takes: the medians of several turns."""
    taken: dict[str, list[Spent]] = {}
    for turn in range(turns + 1):
        async with AsyncExitStack() as opened:
            address = opened.enter_context(serving(latency))
            folder = Path(opened.enter_context(tempfile.TemporaryDirectory()))
            saver = await opened.enter_async_context(sqlite_saver(folder / "runs.sqlite"))
            client = await opened.enter_async_context(DefaultAsyncHttpxClient())
            runs: Mapping[str, Run] = {
                LOOP: _plain_loop(_chat_model(address, http_async_client=client)),
                BFS: _search(_chat_model(address)),
                KEPT: _search(_chat_model(address), saver),
            }
            for label, run in runs.items():
                spent = await _timed(run, problems, at_once)
                taken.setdefault(label, []).extend([spent] if turn else [])
    return {
        label: Spent(*map(statistics.median, zip(*each, strict=True)))
        for label, each in taken.items()
    }


def _chat_model(address: str, **parts: Any) -> ChatOpenAI:
    """Returns LangChain's own model of a server, which repeats nothing by itself."""
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
        out = await graph.ainvoke({"problem": problem}, thread)
        return int(out["usage"]["requests"])

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
        """Returns the value of each candidate; one that is there twice is worth nothing again."""
        judged = [self._task.value(self._problem, path, OPTIONS) for path in candidates]
        new = {each.prompt.user: each for each in judged if isinstance(each, Question)}
        new = {prompt: each for prompt, each in new.items() if prompt not in self._values}
        answers = await asyncio.gather(*(self._ask(prompt, VALUATIONS) for prompt in new))
        for (prompt, question), samples in zip(new.items(), answers, strict=True):
            self._values[prompt] = question.read(samples).value
        values: dict[str, float] = {}
        lines = ["\n".join(thought["text"] for thought in path) for path in candidates]
        for line, each in zip(lines, judged, strict=True):
            value = self._values[each.prompt.user] if isinstance(each, Question) else each.value
            values.setdefault(line, value)
        return [values.pop(line, 0.0) for line in lines]
