"""A node asks side by side: each answer is kept as it arrives, for its own question alone."""

import asyncio
import random
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, cast

import pytest
from digests.searches import own
from digests.situations import made, of_result, ran
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END
from support.letters import LETTERS, breadth_first, comparable, die
from support.pools import SEEDS
from support.scripted import Call, ScriptedChat, rng
from support.searches import THREAD

import thoughtgraph as tg
from thoughtgraph import registry
from thoughtgraph.building import Graph, load
from thoughtgraph.llm.endpoints import port_for
from thoughtgraph.nodes.calls import Ask
from thoughtgraph.nodes.method_graph import method_graph
from thoughtgraph.nodes.step import Step
from thoughtgraph.run import Run
from thoughtgraph.state import SearchState
from thoughtgraph.task import Prompt, Question

WIDE: dict[str, Any] = {"steps": 3, "breadth": 4, "n_generate": 4, "n_evaluate": 1}


class Crash(RuntimeError):
    """The process ends here."""


def asked(calls: Sequence[Call]) -> Counter[tuple[Any, ...]]:
    return Counter((call.role, call.prompt, call.draw) for call in calls if call.texts)


def slow(seed: int) -> Callable[[Call], float]:
    """Every answer takes a time of its own."""
    return lambda call: rng(seed, call.prompt, call.draw).random() / 1_000


def search(seed: int, saver: Any, **more: Any) -> tuple[Graph, ScriptedChat]:
    model = ScriptedChat(reply=die(seed), delay=slow(seed), **more)
    return tg.build("tot_bfs", task=LETTERS, model=model, checkpointer=saver), model


async def first_run(graph: Graph, model: ScriptedChat, told: Any, most: int) -> None:
    """A run that ends outright when so many requests are answered."""

    def reply(call: Call) -> Any:
        if sum(bool(each.texts) for each in model.seen) >= most:
            raise Crash
        return usual(call)

    usual: Any = model.reply
    model.reply = reply
    try:
        await graph.ainvoke({"problem": "x"}, THREAD, context=told)
    except Crash:
        await asyncio.sleep(0)


@pytest.mark.parametrize("seeds", [range(6), pytest.param(range(6, 100), marks=pytest.mark.slow)])
async def test_after_a_crash_no_answer_is_paid_twice_or_used_for_another_question(
    seeds: range,
) -> None:
    for seed in seeds:
        told = {**breadth_first(seed), **WIDE}
        graph, model = search(seed, InMemorySaver())
        whole = await graph.ainvoke({"problem": "x"}, THREAD, context=told)
        draws, saver = random.Random(seed), InMemorySaver()
        broken, before = search(seed, saver)
        if len(model.seen) == 1:
            continue  # there is no middle
        await first_run(broken, before, told, draws.randrange(1, len(model.seen)))
        again, after = search(seed, saver)
        after.delay = slow(-seed)
        out = await again.ainvoke(None, THREAD)
        assert comparable(out) == {**comparable(whole), "settings": out["settings"]}
        twice = asked([*before.seen, *after.seen]) - asked(model.seen)
        assert twice.total() <= 1, "a request that was alone in its node"


@pytest.mark.parametrize("seeds", SEEDS)
@pytest.mark.parametrize("method", registry.METHODS)
async def test_a_run_that_raised_goes_on_as_if_nothing_had_failed(
    method: str, seeds: range
) -> None:
    """Every node of the superstep raises, so that none of them counts as done."""
    for seed in seeds:
        failing, searched = True, own(method, seed)

        def reply(call: Call) -> Any:
            if failing and rng("fails", seed, call.prompt, call.draw).random() < 0.2:  # noqa: B023
                raise tg.ModelError("the endpoint is down")
            return searched.reply(call)  # noqa: B023

        graph, model = made(searched._replace(reply=reply), checkpointer=InMemorySaver())
        begun: Any = {"problem": searched.problem}
        try:
            out = await graph.ainvoke(begun, THREAD, context=searched.settings)
        except tg.ModelError as error:
            assert error.result and error.result["stop_reason"] == "error"
            assert error.result["usage"]["requests"] == asked(model.seen).total()
            failing = False
            out = await graph.ainvoke(None, THREAD)
        whole = await ran(searched)
        assert (out["answer"], of_result(out, [])["tree"]) == (whole["answer"], whole["tree"])


@pytest.mark.parametrize("places", [1, 2, 3, 4, 10])
@pytest.mark.parametrize("saver", [None, InMemorySaver()])
async def test_any_number_of_places_gives_the_same_tree(places: int, saver: Any) -> None:
    free, _ = search(1, None)
    whole = await free.ainvoke({"problem": "x"}, context=WIDE)
    graph, model = search(1, saver)
    config: Any = {"configurable": {"thread_id": str(places)}, "max_concurrency": places}
    modes: Any = {"stream_mode": ["custom", "values"]}
    async with asyncio.timeout(60):
        stream = graph.astream({"problem": "x"}, config, context=WIDE, **modes)
        *_, last = [part async for part in stream]
    assert cast("Any", last)[1]["tree"] == whole["tree"]
    assert model.peak <= places


async def test_an_event_leaves_as_each_answer_arrives() -> None:
    graph, model = search(1, None)
    model.delay = lambda call: 0.0 if call is model.seen[0] else 0.05 * model.seen.index(call)
    waiting = []
    async for event in graph.astream({"problem": "x"}, context=WIDE, stream_mode="custom"):
        if event["event"] == "answered":
            waiting.append(sum(not call.texts for call in model.seen))
    assert max(waiting) > 0, "others are not answered yet"


async def test_an_answer_to_something_else_is_not_taken() -> None:
    """LangGraph knows the tasks of a node by their order, and gives each what that one returned."""
    order = [0, 1, 2]
    model = ScriptedChat(reply=lambda call: f"about {call.prompt}")
    run = Run(
        load("tot_bfs"),
        load("tot_bfs").settings,
        port_for,
        task=LETTERS,
        model=port_for(model),
    )
    readings = dict[int | None, str]()

    async def generate(step: Step, state: SearchState) -> dict[str, Any]:
        texts = [Question(Prompt(f"no. {at}"), lambda said: said[0]) for at in order]
        asks = [Ask(each, "0", expansion=at) for at, each in zip(order, texts, strict=True)]
        readings.update({each.ask.expansion: each.reading for each in await step.ask(asks)})
        if len(model.seen) == 3:
            raise Crash
        return step.update()

    graph = method_graph(run, generate)
    graph.add_edge("start", "generate")
    graph.add_edge("generate", END)
    compiled = graph.compile(checkpointer=InMemorySaver())
    with pytest.raises(Crash):
        await compiled.ainvoke({"problem": "x"}, THREAD)
    order.reverse()
    await compiled.ainvoke(None, THREAD)
    assert readings == {at: f"about no. {at}" for at in order}
    assert len(model.seen) == 5, "what stands at its place is not asked again"
    assert not run.ledgers
