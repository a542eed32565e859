"""Searches of the embedded model, beside the same requests sent to llama.cpp in the best order.

What searches ask, one as `solve` makes it or several side by side as `bench` does, is noted, and
asked again by a bare client: one after the other, as it was asked, and all at once, sorted so that
prompts that begin alike follow each other. The faster of the two is the best order. Before each,
the server forgets all that it has read.
"""

import asyncio
import time
from collections.abc import Mapping, Sequence
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from uuid import UUID

import httpx
from langchain_core.callbacks import AsyncCallbackHandler
from langchain_core.messages import BaseMessage, convert_to_openai_messages

import thoughtgraph as tg
from thoughtgraph.bench.data import generated
from thoughtgraph.bench.data_formats import Record
from thoughtgraph.bench.result_files import ResultFolder, Row
from thoughtgraph.bench.runner import Batch, Search, Setup, Trial, run, trials
from thoughtgraph.bench.speed.measurement import (
    Conditions,
    Figure,
    Measurement,
    Readings,
    Unavailable,
)
from thoughtgraph.errors import ModelUnavailable, ThoughtgraphError
from thoughtgraph.llm import local
from thoughtgraph.llm.local import SLOTS
from thoughtgraph.registry import task

SENT = ("temperature", "max_tokens", "seed", "n", "stop")
"""What a request says besides its messages."""
SAMPLES = 8
"""Of `cot_sc` (ours): enough that decoding together shows, few enough to end in minutes."""
SIDE_BY_SIDE = 4
"""Problems that are searched at once, as `bench` does (ours)."""
PEN = "A pen costs 2 dollars and a pencil a quarter of that. What do 7 pens and 12 pencils cost?"


class MeasuredSearch(NamedTuple):
    """A search that is measured, or several of one method side by side."""

    name: str
    method: str
    task: str
    records: Sequence[Record]
    settings: dict[str, Any]


class RequestRecorder(AsyncCallbackHandler):
    """Notes the requests of a search, as the server gets them."""

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
        """Notes one request."""
        parameters = more.get("invocation_params", {})
        given = {name: parameters[name] for name in SENT if parameters.get(name) is not None}
        self.requests.append({"messages": convert_to_openai_messages(messages[0]), **given})


def searches(requests: int) -> Sequence[MeasuredSearch]:
    """Returns what is searched, with at most so many requests each."""
    most = {"limit_requests": requests, "max_completion_tokens": 120}
    questions = generated(task("ptr"), ["sum"], SIDE_BY_SIDE, seed=3)
    pen, puzzle = Record("pen", PEN, None), Record("puzzle", "4 9 10 13", None)
    plans = {"evaluator": "grounded", "shots": 3, "redraw": "question", "temperature": 1.0, **most}
    votes = {"n_generate": SAMPLES, "wording": "chat", **most}
    return (
        MeasuredSearch("cot_sc", "cot_sc", "gsm8k", [pen], votes),
        MeasuredSearch("tot_bfs", "tot_bfs", "game24", [puzzle], {"n_evaluate": 1, **most}),
        MeasuredSearch("tomt_os", "tomt_os", "ptr", questions[:1], plans),
        MeasuredSearch("rollback", "rollback", "gsm8k", [pen], most),
        MeasuredSearch("bench", "tomt_os", "ptr", questions, plans),
    )


async def measured(under: Conditions) -> Readings:
    """Returns how long each search takes, and in times of its requests in the best order."""
    try:
        server = await asyncio.to_thread(local.serve_named, "local")
    except ModelUnavailable as error:
        raise Unavailable(str(error)) from error
    readings: dict[str, float] = {}
    key = {"Authorization": f"Bearer {server.key}"}
    async with httpx.AsyncClient(headers=key, timeout=None, trust_env=False) as client:
        for each in searches(under.count):
            requests, seconds = await timed_search(each)
            in_order = await timed_replay(client, server, requests, 1)
            together = await timed_replay(client, server, sorted(requests, key=_prompt), SLOTS)
            readings |= {
                f"{each.name}, requests": len(requests),
                f"{each.name}, seconds": seconds,
                f"{each.name}, of them raw one by one": in_order,
                f"{each.name}, of them raw together": together,
                f"{each.name}, times the best": seconds / min(in_order, together),
            }
    return readings


async def timed_search(wanted: MeasuredSearch) -> tuple[Sequence[dict[str, Any]], float]:
    """Makes a search, or all by the loop of `bench`; returns what was asked, and the seconds."""
    graph: Any = tg.build(wanted.method, task=wanted.task, model="local")
    recorder = RequestRecorder()

    async def search(record: Record) -> Mapping[str, Any]:
        found: Mapping[str, Any] = await graph.ainvoke(
            {"problem": record.problem}, {"callbacks": [recorder]}, context=wanted.settings
        )
        return found

    began = time.perf_counter()
    if len(wanted.records) == 1:
        await search(wanted.records[0])
    else:
        await _side_by_side(wanted, lambda trial: search(trial.record))
    return recorder.requests, time.perf_counter() - began


async def _side_by_side(wanted: MeasuredSearch, search: Search) -> None:
    setup = Setup(wanted.task, wanted.method, "local", given=wanted.settings)
    with TemporaryDirectory() as place:
        folder = ResultFolder(place)
        folder.open()
        await run(
            trials([Batch([setup], wanted.records, [0])]),
            folder,
            search,
            lambda trial, answers: [],
            concurrency=len(wanted.records),
            tell=_succeeded,
        )
        folder.close()


def _succeeded(trial: Trial, row: Row) -> None:
    """Ends the measurement where a search failed: what is left of it would be too fast."""
    if error := row.get("error"):
        raise ThoughtgraphError(error)


async def timed_replay(
    client: httpx.AsyncClient,
    server: local.Endpoint,
    requests: Sequence[dict[str, Any]],
    at_once: int,
) -> float:
    """Sends requests to a server that has read nothing; returns the seconds they take."""
    root = server.base_url.removesuffix("/v1")
    for slot in range(SLOTS):
        (await client.post(f"{root}/slots/{slot}?action=erase")).raise_for_status()
    left = iter(requests)

    async def work() -> None:
        for body in left:
            answer = await client.post(f"{server.base_url}/chat/completions", json=body)
            answer.raise_for_status()

    began = time.perf_counter()
    await asyncio.gather(*(work() for _ in range(at_once)))
    return time.perf_counter() - began


def _prompt(request: dict[str, Any]) -> str:
    return str(request["messages"])


EMBEDDED = Measurement(
    "embedded",
    "searches of the embedded model, beside their requests in the best order",
    "12 requests each (--count) of at most 120 tokens; takes half an hour",
    tuple(
        figure
        for name in ("cot_sc", "tot_bfs", "tomt_os", "rollback", "bench")
        for figure in (
            Figure(f"{name}, requests", ""),
            Figure(f"{name}, seconds", "s"),
            Figure(f"{name}, of them raw one by one", "s"),
            Figure(f"{name}, of them raw together", "s"),
            Figure(f"{name}, times the best", "x", most=1.15),
        )
    ),
    count=12,
    quick=3,
    take=measured,
)
