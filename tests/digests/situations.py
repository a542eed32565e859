"""What may happen to a search, and what is left of it: a digest of everything a user can see."""

import hashlib
import json
import random
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import pytest
from digests.searches import Search, own, published
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import InvalidUpdateError
from langgraph.types import Command
from support.clock import leaping
from support.scripted import Call, ScriptedChat, rng

import thoughtgraph as tg
from thoughtgraph import registry
from thoughtgraph.building import Graph
from thoughtgraph.errors import ModelError, ThoughtgraphError

SEEN = ("answer", "candidates", "ensembles", "outcome", "stop_reason", "limit", "verified", "votes")
THREAD: Any = {"configurable": {"thread_id": "1"}}
SECONDS = ("seconds", "mark", "cached_prompt_tokens")
MARKS = ("prompt", "draws", "only")
"""Fields by which a search remembers what it was told; digests are older than they."""
BETWEEN = ("select", "evaluate", "rollback", "call_tool", "propagate", "check")
"""Nodes before which a search is edited, where the method has them."""


def of_result(out: Mapping[str, Any], seen: list[Call]) -> dict[str, Any]:
    """What a search came to, without its clock and its name, and what it asked."""
    asked = sorted(json.dumps([c.role, c.prompt, c.n, c.draw, c.stop]) for c in seen)
    usage = {name: count for name, count in out.get("usage", {}).items() if name not in SECONDS}
    ends = {name: out.get(name) for name in (*SEEN, "error", "oracle")}
    tree = {key: _plain(thought) for key, thought in (out.get("tree") or {}).items()}
    return {**ends, "usage": usage, "tree": tree, "asked": asked}


def _plain(thought: Mapping[str, Any]) -> dict[str, Any]:
    """A thought without the marks that say where a search stands: it may be told otherwise."""
    return {name: value for name, value in thought.items() if name not in MARKS}


def digest(result: Mapping[str, Any]) -> str:
    """Four hexadecimal digits of a result."""
    text = json.dumps(result, sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:4]


def made(search: Search, **more: Any) -> tuple[Graph, ScriptedChat]:
    model = ScriptedChat(reply=search.reply)
    told = {"task": search.task, "model": model, "oracle": search.oracle, **more}
    return tg.build(search.method, **told), model


async def ran(search: Search, **context: Any) -> dict[str, Any]:
    """A search as it is."""
    graph, model = made(search)
    told = {**search.settings, "on_error": "report", **context}
    return of_result(await graph.ainvoke({"problem": search.problem}, context=told), model.seen)


async def limited(search: Search, seed: int) -> dict[str, Any]:
    """A search with a limit that is reached in the middle of a step, mostly."""
    draws = random.Random(seed)
    name = draws.choice(["requests", "requests", "tokens", "rounds", "thoughts", "depth"])
    most = {"requests": 14, "tokens": 900, "rounds": 4, "thoughts": 12, "depth": 4}[name]
    return await ran(search, **{f"limit_{name}": draws.randint(1, most)})


def late(search: Search, seed: int) -> dict[str, Any]:
    """A search whose time is up in its middle, by a clock that its answers drive."""
    graph, model = made(search)
    model.delay = lambda call: rng(seed, call.prompt, call.draw).choice([1.0, 2.0, 3.0])
    told = {**search.settings, "on_error": "report", "limit_seconds": seed % 9 + 0.5}
    with pytest.MonkeyPatch.context() as patch:
        out = leaping(graph.ainvoke({"problem": search.problem}, context=told), patch)
    return of_result(out, model.seen)


async def failing(search: Search, seed: int) -> dict[str, Any]:
    """A search whose endpoint refuses some requests for good."""

    def reply(call: Call) -> Any:
        if rng("fails", seed, call.prompt, call.draw).random() < 0.15:
            raise ModelError("the endpoint is down")
        return search.reply(call)

    return await ran(search._replace(reply=reply))


async def edited(search: Search, seed: int) -> dict[str, Any]:
    """A search in which a person changes a value or prunes a thought, at a pause."""
    draws = random.Random(seed)
    graph, model = made(search, checkpointer=InMemorySaver())
    nodes = [node for node in BETWEEN if node in graph.get_graph().nodes]
    told: Any = {**search.settings, "on_error": "report"}
    paused: Any = {"interrupt_before": nodes}
    out = await graph.ainvoke({"problem": search.problem}, THREAD, context=told, **paused)
    for _ in range(draws.randint(0, 3)):
        if (await graph.aget_state(THREAD)).next:
            out = await graph.ainvoke(None, THREAD, **paused)
    state = await graph.aget_state(THREAD)
    if state.next:
        key = draws.choice([key for key in state.values["thoughts"] if key != "0"] or ["0"])
        changes: list[Any] = [{"value": float(draws.randint(0, 9))}, {"status": "pruned"}]
        # Not all methods choose by values, and not every thought may be pruned; after two nodes
        # side by side LangGraph wants to know which of them edits.
        for change in changes[draws.randint(0, 1) :]:
            with suppress(ThoughtgraphError, InvalidUpdateError):
                await graph.aupdate_state(THREAD, {"thoughts": {key: change}})
                break
        out = await graph.ainvoke(None, THREAD)
    return of_result(out, model.seen)


async def reviewed(search: Search, seed: int) -> dict[str, Any]:
    """A search that a person is shown, who drops, revalues, accepts or replaces."""
    graph, model = made(search, checkpointer=InMemorySaver())
    # Some methods choose nothing that a person could see.
    kinds = registry.settings(search.method).model_json_schema()["properties"]["review"]["enum"]
    review = "select" if "select" in kinds else "answer"
    told: Any = {**search.settings, "on_error": "report", "review": review}
    out = await graph.ainvoke({"problem": search.problem}, THREAD, context=told)
    for turn in range(60):
        if "__interrupt__" not in out:
            return of_result(out, model.seen)
        shown = out["__interrupt__"][0].value
        reply = _decided(shown, random.Random(f"{seed} {turn}"))
        out = await graph.ainvoke(Command(resume=reply), THREAD)
    return {"endless": True}


def _decided(shown: Mapping[str, Any], draws: random.Random) -> dict[str, Any]:
    """What a person replies to a review."""
    if "thoughts" not in shown:
        return draws.choice([{"accept": True}, {"answer": "7"}, {"answer": None}])
    keys = [thought["id"] for thought in shown["thoughts"]]
    one = draws.choice(keys)
    return draws.choice([{"accept": True}, {"drop": [one]}, {"values": {one: 3.0}}])


async def resumed(search: Search) -> dict[str, Any]:
    """A search that is stopped after every superstep, and goes on in another graph."""
    saver, seen = InMemorySaver(), list[Call]()
    asked: Any = {"problem": search.problem}
    told: Any = {**search.settings, "on_error": "report"}
    while True:
        graph, model = made(search, checkpointer=saver)
        out = await graph.ainvoke(asked, THREAD, context=told, interrupt_after="*")
        seen += model.seen
        if not (await graph.aget_state(THREAD)).next:
            assert out["usage"]["requests"] == len(seen), "each is counted once"
            assert out["usage"]["samples"] == sum(call.n for call in seen)
            return of_result(out, seen)
        asked = None


SITUATIONS: dict[str, Callable[..., Any]] = {
    "limits": limited,
    "failures": failing,
    "edits": edited,
    "reviews": reviewed,
}


async def result(method: str, cell: str, seed: int) -> dict[str, Any]:
    """What is left of one search; `cell` is a situation, `whole`, or a published task."""
    if cell in SITUATIONS:
        return dict(await SITUATIONS[cell](own(method, seed), seed))
    return await ran(own(method, seed) if cell == "whole" else published(method, cell, seed))
