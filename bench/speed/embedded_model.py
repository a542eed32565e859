"""Compares searches on the embedded model with their requests sent to llama.cpp in the best order.

A recorder notes the requests of searches of one problem or several at once. A bare client sends the
requests again: first one by one in the original order, then concurrently, sorted so that prompts
with a common beginning are neighbours. The faster of the two is the best order. The server's prompt
cache is erased before each.
"""

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

import httpx
from langchain_core.callbacks import AsyncCallbackHandler
from langchain_core.messages import BaseMessage, convert_to_openai_messages

import thoughtgraph as tg
from thoughtgraph.bench.data import generated
from thoughtgraph.bench.speed.figures import Conditions, Figure, Unavailable
from thoughtgraph.errors import ModelUnavailable
from thoughtgraph.llm import local
from thoughtgraph.llm.local import SLOTS
from thoughtgraph.registry import task

SENT = ("temperature", "max_tokens", "seed", "n", "stop")
"""The parameters of a request besides its messages."""
SAMPLES = 8
"""Samples of `cot_sc` (ours): enough to show batched decoding, few enough to end in minutes."""
SIDE_BY_SIDE = 4
"""Number of concurrent searches of one method (ours)."""
PEN = "A pen costs 2 dollars and a pencil a quarter of that. What do 7 pens and 12 pencils cost?"


class MeasuredSearch(NamedTuple):
    """A search to measure, or several concurrent searches of one method."""

    method: str
    task: str
    problems: Sequence[Any]
    settings: dict[str, Any]


class RequestRecorder(AsyncCallbackHandler):
    """Records the requests of a search in the form that the server receives."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []

    async def on_chat_model_start(
        self,
        serialized: dict[str, Any],
        messages: list[list[BaseMessage]],
        *,
        run_id: UUID,
        **more: Any,
    ) -> None:
        """Records one request."""
        parameters = more.get("invocation_params", {})
        sampling = {name: parameters[name] for name in SENT if parameters.get(name) is not None}
        self.requests.append({"messages": convert_to_openai_messages(messages[0]), **sampling})


def searches(requests: int) -> Mapping[str, MeasuredSearch]:
    """Returns the searches to measure, with at most so many requests each."""
    limits = {"limit_requests": requests, "max_completion_tokens": 120}
    questions = [record.problem for record in generated(task("ptr"), ["sum"], SIDE_BY_SIDE, seed=3)]
    plans = {"shots": 3, "redraw": "question", "temperature": 1.0, **limits}
    votes = {"n_generate": SAMPLES, "wording": "chat", **limits}
    return {
        "cot_sc": MeasuredSearch("cot_sc", "gsm8k", [PEN], votes),
        "tot_bfs": MeasuredSearch("tot_bfs", "game24", ["4 9 10 13"], {"n_evaluate": 1, **limits}),
        "tomt_os": MeasuredSearch("tomt_os", "ptr", questions[:1], plans),
        "rollback": MeasuredSearch("rollback", "gsm8k", [PEN], limits),
        "four problems": MeasuredSearch("tomt_os", "ptr", questions, plans),
    }


async def measured(under: Conditions) -> Sequence[Figure]:
    """Returns the time of each search, also relative to its requests in the best order."""
    try:
        server = await asyncio.to_thread(local.serve, "local")
    except ModelUnavailable as error:
        raise Unavailable(str(error)) from error
    figures: list[Figure] = []
    key = {"Authorization": f"Bearer {server.key}"}
    async with httpx.AsyncClient(headers=key, timeout=None, trust_env=False) as client:
        for name, each in searches(under.repeats).items():
            requests, seconds = await timed_search(each)
            in_order = await timed_replay(client, server, requests, 1)
            concurrent = await timed_replay(client, server, sorted(requests, key=str), SLOTS)
            best = min(in_order, concurrent)
            figures += [
                Figure(f"{name}, requests", len(requests)),
                Figure(f"{name}, searched", seconds, "s"),
                Figure(f"{name}, times the best order", seconds / best, "x", most=1.15),
            ]
    return figures


async def timed_search(wanted: MeasuredSearch) -> tuple[Sequence[dict[str, Any]], float]:
    """Searches all problems concurrently; returns the requests and the seconds."""
    graph = tg.build(wanted.method, task=wanted.task, model="local")
    recorder = RequestRecorder()
    config: Any = {"callbacks": [recorder]}
    inputs = [{"problem": problem} for problem in wanted.problems]
    began = time.perf_counter()
    await asyncio.gather(*(graph.ainvoke(x, config, context=wanted.settings) for x in inputs))
    return recorder.requests, time.perf_counter() - began


async def timed_replay(
    client: httpx.AsyncClient,
    server: local.Endpoint,
    requests: Sequence[dict[str, Any]],
    at_once: int,
) -> float:
    """Sends requests to the server, its prompt cache erased; returns the seconds they take."""
    root = server.base_url.removesuffix("/v1")
    for slot in range(SLOTS):
        (await client.post(f"{root}/slots/{slot}?action=erase")).raise_for_status()
    queue = iter(requests)

    async def work() -> None:
        for body in queue:
            answer = await client.post(f"{server.base_url}/chat/completions", json=body)
            answer.raise_for_status()

    began = time.perf_counter()
    await asyncio.gather(*(work() for _ in range(at_once)))
    return time.perf_counter() - began
