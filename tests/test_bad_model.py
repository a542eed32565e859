"""Whatever the model or its endpoint does, a run ends in bounded time and says why in one line."""

import asyncio
import inspect
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import START, StateGraph
from support.fake_server import FakeServer, Fault, Seen, after
from support.players import play
from support.pools import few

import thoughtgraph as tg
from thoughtgraph import registry
from thoughtgraph.llm.answer_cache import SqliteCache
from thoughtgraph.llm.limiter import Limiter
from thoughtgraph.llm.port import ChatPort
from thoughtgraph.state import SearchOutput

PROBLEM = {"problem": "4 9 10 13"}
SMALL: dict[str, dict[str, Any]] = {
    "io": {"n_generate": 2},
    "cot": {"n_generate": 2},
    "cot_sc": {"n_generate": 5},
    "refine": {"refinements": 3},
    "tot_bfs": {"breadth": 2},
    "tot_dfs": {"max_records": 6, "max_per_state": 2},
}
METHODS = tuple(SMALL)
ENDS = ("dead_end", "exhausted", "round_limit", "step_limit", "budget", "finished")
QUICK = tg.Retry(give_up_after=0.3, first_wait=0.01, longest_wait=0.05)
SHORT = 2.0
"""A timeout that a living server keeps to on a busy machine."""
LARGEST = 1_000_000
"""Bytes that the tree of a small search may take whatever was said; its checkpoints: ten times."""
ENDLESS = {"max_completion_tokens": 100_000}
"""So many tokens are asked for that 400,000 letters of each completion are read."""
BOUND = 20.0
"""Seconds any of these runs may take on a busy machine; most take a fraction of one."""


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer(play) as running:
        yield running


def graph(server: FakeServer, method: str = "tot_bfs", **settings: Any) -> Any:
    asked = ChatPort(server.chat(), **{"retry": QUICK, "timeout": 30.0, **settings})
    return tg.build(method, task="game24", model=asked, oracle=method == "refine")


async def run(running: Any, **context: Any) -> dict[str, Any]:
    async with asyncio.timeout(BOUND):
        told = {**SMALL[running.name], "on_error": "report", **context}
        out: dict[str, Any] = await running.ainvoke(PROBLEM, context=told)
    assert json.dumps(out)
    return out


def judged(out: dict[str, Any]) -> list[str]:
    return [key for key, thought in out["tree"].items() if "value" in thought]


TEXTS = {
    "empty": "",
    "blank": " \n\t\n" * 50,
    "a megabyte": "x" * 1_000_000,
    "a megabyte of lines": "4 + 9 = 12 (left: 10 12 13) no\n" * 33_000,
    "a megabyte of brackets": "(" * 500_000 + ")" * 500_000,
    "binary": "\x00\x01\x1b[2J\ufffd\u202e\ud83d\ude00\x7f" * 40,
    "another language": "Je ne sais pas. 四加九等于十三。 Четыре плюс девять — тринадцать.",
    "a refusal": "I'm sorry, but I can't help with that request.",
    "JSON": json.dumps({"steps": [{"left": [10, 13, 13], "equation": "4 + 9 = 13"}]}, indent=1),
    "code": "```python\nprint(__import__('os').getcwd())\n```",
    "nothing but digits": "9" * 10_000,
    "a huge power": "Answer: 9 ** 9 ** 9 ** 9 = 24",
    "a division by zero": "4 / 0 = 0 (left: 0 10 13)\nAnswer: 4 / 0",
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", TEXTS)
async def test_a_run_survives_any_text(server: FakeServer, method: str, name: str) -> None:
    server.reply = lambda seen: TEXTS[name]
    out = await run(graph(server, method), **ENDLESS)
    assert out["stop_reason"] in ENDS, "P3"
    assert out["error"] == ""
    assert 1 <= out["usage"]["requests"] <= 60
    assert len(json.dumps(out)) < LARGEST


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("task", ["question", "creative_writing", "game24"])
async def test_a_long_sample_makes_neither_tree_nor_checkpoints_large(
    server: FakeServer, task: str, method: str, tmp_path: Path
) -> None:
    server.reply = lambda seen: f"{'x' * 199_000} the answer is\nAnswer: {'9 + ' * 50_000}1"
    file = tmp_path / "checkpoints.sqlite"
    able = (task != "question" or method != "refine") and (task == "game24" or method != "tot_dfs")
    if not able:
        pytest.skip(f"{method} does not take {task}")
    async with AsyncSqliteSaver.from_conn_string(str(file)) as saver:
        told = method == "refine" and task == "game24"
        running = tg.build(method, task=task, model=server.chat(), oracle=told, checkpointer=saver)
        thread: Any = {"configurable": {"thread_id": "1"}}
        small = {**SMALL[method], **ENDLESS, "limit_requests": 20}
        given = {"problem": PROBLEM["problem"] if task == "game24" else "One? Two. Three. Four."}
        out = await running.ainvoke(given, thread, context=small)
    assert out["stop_reason"] in ENDS
    assert len(json.dumps(out)) < LARGEST
    assert file.stat().st_size < 10 * LARGEST


SHORT_ONES = {
    "cot_sc": ("math", {"n_generate": 40}),
    "tot_bfs": ("game24", {}),
    "tot_dfs": ("crosswords", {}),
    "tomt_os": ("clevr", {}),
    "rollback": ("gsm8k", {}),
    "refine": ("creative_writing", {}),
}


@pytest.mark.parametrize("method", few(SHORT_ONES, 2))
@pytest.mark.parametrize(
    "pump", ["\\boxed{", "\n", "obj1 = f(1)\n", "4 + 9 = 13 (left: 10 13 13)\n"]
)
async def test_no_reader_is_given_more_than_was_asked_for(
    server: FakeServer, method: str, pump: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Forty samples of a megabyte kept a server's event loop busy for many seconds."""
    name, settings = SHORT_ONES[method]
    kind, longest = type(registry.task(name)), 0

    def watched(call: Any) -> Any:
        def read(*given: Any, **more: Any) -> Any:
            nonlocal longest
            texts = [each for each in (*given, *more.values()) if isinstance(each, str)]
            texts += [text for each in given if isinstance(each, list) for text in each]
            longest = max(longest, *(len(text) for text in texts if isinstance(text, str)), 0)
            return call(*given, **more)

        return read

    for own, call in inspect.getmembers(kind, inspect.isfunction):
        if not own.startswith("_") and own not in ("read", "ask"):
            monkeypatch.setattr(kind, own, watched(call))
    many = 1_000_000 // len(json.dumps(pump))  # a line break takes two letters of JSON
    server.reply = lambda seen: pump * many
    running = tg.build(method, task=name, model=server.chat())
    small = {**settings, "max_completion_tokens": 50, "limit_requests": 6}
    out = await running.ainvoke({"problem": registry.TASKS[name].example}, context=small)
    assert out["stop_reason"] != "error", out["error"]
    assert 0 < longest <= max(5 * 50 * 16 + 100, len(out["problem"])), "at most five in one text"


@pytest.mark.parametrize("name", ["empty", "a refusal", "JSON", "another language"])
async def test_malformed_verdicts_are_counted(server: FakeServer, name: str) -> None:
    def reply(seen: Seen) -> str:
        return TEXTS[name] if "valuate" in seen.prompt else play(seen)

    server.reply = reply
    out = await run(graph(server))
    assert out["usage"]["parse_errors"]["value"] > 0
    assert out["stop_reason"] in ("finished", "dead_end")


@pytest.mark.parametrize("method", ["tot_bfs", "tot_dfs"])
@pytest.mark.parametrize("name", ["empty", "a refusal", "JSON", "another language", "binary"])
async def test_malformed_proposals_are_counted(server: FakeServer, method: str, name: str) -> None:
    server.reply = lambda seen: TEXTS[name]
    out = await run(graph(server, method))
    assert out["usage"]["parse_errors"] == {"generate": 1}
    assert (out["stop_reason"], out["usage"]["requests"]) == ("dead_end", 1)


async def test_one_malformed_proposal_of_several_is_counted_and_the_others_used(
    server: FakeServer,
) -> None:
    server.reply = lambda seen: ["no idea", "h1. apple (low)", "", "v1. angle (high)", "{}"]
    running = tg.build("tot_dfs", task="crosswords", model=server.chat())
    clues = "\n".join(f"clue {at}" for at in range(10))
    out = await running.ainvoke({"problem": clues}, context={"limit_requests": 1})
    assert out["usage"]["parse_errors"] == {"generate": 3}
    assert out["usage"]["thoughts"] == 2


FAULTS = {
    "refuses the key": (Fault(401), "OPENAI_API_KEY"),
    "has no such model": (Fault(404), "/v1"),
    "fails for ever": (Fault(500), "server keeps failing"),
    "limits for ever": (Fault(429, headers={"Retry-After": "60"}), "THOUGHTGRAPH_RPM"),
    "drops connections": (Fault(drop=True), "server running"),
    "cuts answers off": (Fault(truncate=True), "fake at http"),
    "answers with a page": (Fault(body="<html>", headers={"Content-Type": "text/html"}), "chat"),
    "is slow": (Fault(hang=True), "too slow"),
}


@pytest.mark.parametrize("method", few(METHODS, 2))
@pytest.mark.parametrize("name", FAULTS)
async def test_a_failing_endpoint_ends_the_run(server: FakeServer, method: str, name: str) -> None:
    fault, remedy = FAULTS[name]
    server.fault = lambda seen: fault
    out = await run(graph(server, method, timeout=SHORT))
    assert out["stop_reason"] == "error"
    assert remedy in out["error"] and out["error"].isprintable() and server.url in out["error"]
    assert out["answer"] is None
    assert list(out["tree"]) == ["0"]


@pytest.mark.parametrize("method", METHODS)
async def test_an_endpoint_that_is_down_ends_the_run(method: str) -> None:
    with FakeServer() as gone:
        pass
    out = await run(graph(gone, method))
    assert out["stop_reason"] == "error"
    assert "is the server running" in out["error"]


@pytest.mark.parametrize("name", FAULTS)
async def test_what_arrived_before_a_failure_is_kept(server: FakeServer, name: str) -> None:
    fault, remedy = FAULTS[name]
    server.fault = after(4, fault)
    timeout = SHORT if fault.hang else 30.0
    out = await run(graph(server, limiter=Limiter(tg.Rates(concurrency=2)), timeout=timeout))
    assert out["stop_reason"] == "error" and remedy in out["error"]
    assert out["usage"]["requests"] == 4
    assert len(out["tree"]) == 1 + 6, "the first generation"
    assert len(judged(out)) == 3, "and the verdicts that were paid for"


async def awaited(graph: Any, context: Any) -> Any:
    return await graph.ainvoke(PROBLEM, context=context)


async def as_a_node(graph: Any, context: Any) -> Any:
    return await tg.node(graph, context=context)(PROBLEM)


async def as_a_runnable(graph: Any, context: Any) -> Any:
    return await tg.runnable(graph).ainvoke(PROBLEM, context=context)


async def below_another(graph: Any, context: Any) -> Any:
    above = StateGraph(SearchOutput)
    above.add_node("search", graph)
    above.add_edge(START, "search")
    return await above.compile().ainvoke(PROBLEM, context=context)  # type: ignore[arg-type]


@pytest.mark.parametrize("way", [awaited, as_a_node, as_a_runnable, below_another])
async def test_a_failing_model_raises_with_what_was_paid_for(server: FakeServer, way: Any) -> None:
    server.fault = after(4, Fault(401))
    running = graph(server, limiter=Limiter(tg.Rates(concurrency=2)))
    with pytest.raises(tg.ModelError, match="OPENAI_API_KEY") as failed:
        await way(running, SMALL["tot_bfs"] if way is not below_another else None)
    out = failed.value.result
    assert isinstance(out, tg.Result)
    assert repr(str(failed.value)) in repr(out), "what is printed names it"
    assert (out["usage"]["requests"], len(judged(dict(out)))) == (4, 3)
    assert "as the model could not be asked" in str(tg.html(out))
    assert json.dumps(out)


async def test_a_run_may_be_told_to_report_it(server: FakeServer) -> None:
    server.fault = lambda seen: Fault(401)
    context = {"on_error": "report"}
    assert "OPENAI_API_KEY" in (await awaited(graph(server), context))["error"]
    assert await as_a_node(graph(server), context) == {"answer": None}
    out = await asyncio.to_thread(
        tg.solve, "4 9 10 13", task="game24", model=server.chat(), on_error="report"
    )
    assert out["stop_reason"] == "error" and "error=" in repr(out)


def test_the_first_line_that_a_user_writes_says_that_the_key_is_refused(server: FakeServer) -> None:
    server.fault = lambda seen: Fault(401)
    with pytest.raises(tg.ModelError, match=r"HTTP 401.*OPENAI_API_KEY"):
        tg.solve("3 5 7 9", task="game24", model=server.chat(), breadth=3)


async def test_a_thread_whose_model_failed_goes_on_from_before_that(server: FakeServer) -> None:
    whole = await run(graph(server))
    server.fault = after(len(server.seen) + 4, Fault(401))
    running = tg.build("tot_bfs", task="game24", model=server.chat(), checkpointer=InMemorySaver())
    thread: Any = {"configurable": {"thread_id": "1"}}
    with pytest.raises(tg.ModelError):
        await running.ainvoke(PROBLEM, thread, context=SMALL["tot_bfs"])  # type: ignore[arg-type]
    server.fault = lambda seen: Fault()
    before = [past async for past in running.aget_state_history(thread)]
    last = next(past for past in before if not past.values.get("stop_reason"))
    out = await running.ainvoke(None, last.config)
    assert (out["answer"], out["error"]) == (whole["answer"], "")
    assert {k: t["text"] for k, t in out["tree"].items()} == {
        k: t["text"] for k, t in whole["tree"].items()
    }


class Agent(BaseChatModel):
    """Calls its one tool, then repeats what that said."""

    @property
    def _llm_type(self) -> str:
        return "agent"

    def bind_tools(self, tools: Any, **more: Any) -> Any:
        return self

    def _generate(self, messages: Any, *given: Any, **more: Any) -> ChatResult:
        call = {"name": "reach_24", "args": {"problem": "4 9 10 13"}, "id": "1"}
        said = messages[-1]
        told = AIMessage(said.content, tool_calls=[call] if said.type == "human" else [])
        return ChatResult(generations=[ChatGeneration(message=told)])


@pytest.mark.parametrize("on_error", ["raise", "report"])
async def test_an_agent_is_told_that_the_model_of_its_tool_failed(
    server: FakeServer, on_error: str
) -> None:
    server.fault = after(4, Fault(401))
    told = {**SMALL["tot_bfs"], "on_error": on_error}
    agent = create_agent(Agent(), [tg.tool(graph(server), "reach_24", "Makes 24.", context=told)])
    said: Any = (await agent.ainvoke({"messages": [HumanMessage("How?")]}))["messages"]
    assert [each.type for each in said] == ["human", "ai", "tool", "ai"], "its run goes on"
    assert said[-1].text.startswith("Failed: fake at http") and "401" in said[-1].text
    assert said[2].artifact["usage"]["requests"] >= 4, "the tree is not lost"
    assert len(said[2].artifact["tree"]) == 7


async def test_a_failing_generation_does_not_lose_its_siblings(server: FakeServer) -> None:
    unlucky: list[str] = []

    def fault(seen: Seen) -> Fault:
        second = "evaluate" not in seen.prompt.lower() and seen.number > 1
        if second and not unlucky:
            unlucky.append(seen.prompt)
        return Fault(400) if seen.prompt in unlucky else Fault()

    server.fault = fault
    out = await run(graph(server))
    assert out["stop_reason"] == "error" and "HTTP 400" in out["error"]
    second = {t["parent"] for t in out["tree"].values() if t.get("depth") == 2}
    assert len(second) == 1, "the other state has its children in the tree"


async def test_passing_faults_change_nothing_but_the_retries(server: FakeServer) -> None:
    smooth = await run(graph(server))
    server.seen.clear()
    server.fault = lambda seen: Fault(503) if seen.number % 3 == 1 else Fault()
    rough = await run(graph(server, retry=tg.Retry(10.0, first_wait=0.001, longest_wait=0.01)))
    assert rough["tree"] == smooth["tree"]
    assert rough["usage"]["retries"] > 0
    assert rough["usage"]["requests"] == smooth["usage"]["requests"]
    assert smooth["answer"] is not None


async def test_one_server_without_n_gives_the_same_tree(server: FakeServer) -> None:
    smooth = await run(graph(server))
    server.refuses_n = True
    rough = await run(graph(server))
    values = [{k: t.get("value") for k, t in out["tree"].items()} for out in (smooth, rough)]
    assert values[0] == values[1]
    assert rough["usage"]["requests"] == smooth["usage"]["requests"]


async def test_a_failing_judge_is_named(server: FakeServer) -> None:
    with FakeServer() as gone:
        pass
    judge = ChatPort(gone.chat(), name="the-judge", retry=QUICK)
    asked = ChatPort(server.chat(), retry=QUICK)
    out = await run(tg.build("tot_bfs", task="game24", model=asked, evaluator_model=judge))
    assert out["stop_reason"] == "error"
    assert out["error"].startswith(f"the-judge at {gone.url}: ")
    assert len(out["tree"]) == 7
    assert set(out["usage"]["roles"]) == {"generate"}


async def test_roles_are_asked_of_their_models_and_counted_apart(server: FakeServer) -> None:
    with FakeServer(play) as judge:
        out = await run(
            tg.build(
                "tot_bfs", task="game24", model=server.specifier, evaluator_model=judge.specifier
            )
        )
    roles = out["usage"]["roles"]
    assert roles["generate"]["requests"] == len(server.seen) > 0
    assert roles["value"]["requests"] == len(judge.seen) > 0
    assert roles["value"]["samples"] == 3 * len(judge.seen)
    assert not any("valuate" in seen.prompt for seen in server.seen)


# Limits.


@pytest.mark.parametrize("limit", [0, 3, 9, 15, 40])
async def test_requests_are_never_exceeded(server: FakeServer, limit: int) -> None:
    out = await run(graph(server), limit_requests=limit)
    assert len(server.seen) == out["usage"].get("requests", 0) <= limit
    whole = limit >= 40 and out["stop_reason"] == "finished"
    assert whole or (out["stop_reason"] == "budget" and len(server.seen) == limit)


@pytest.mark.parametrize("limit", [0, 1, 6, 9])
async def test_thoughts_are_never_exceeded(server: FakeServer, limit: int) -> None:
    out = await run(graph(server), limit_thoughts=limit)
    assert len(out["tree"]) - 1 == out["usage"].get("thoughts", 0) <= limit


async def test_tokens_and_dollars_are_exceeded_by_calls_in_flight_only(server: FakeServer) -> None:
    cap, largest = 3, 0

    def reply(seen: Seen) -> str:
        nonlocal largest
        text = play(seen)
        largest = max(largest, len(seen.prompt.split()) + seen.n * len(text.split()))
        return text

    server.reply = reply
    for limits in ({"limit_tokens": 1_000}, {"limit_dollars": 0.001}):
        out = await run(
            graph(server, limiter=Limiter(tg.Rates(concurrency=cap))),
            prices={"fake": (1.0, 1.0)},
            **limits,
        )
        used = out["usage"]["prompt_tokens"] + out["usage"]["completion_tokens"]
        assert out["stop_reason"] == "budget"
        assert 1_000 <= used < 1_000 + cap * largest
        assert out["usage"]["dollars"] == pytest.approx(used / 1e6)


async def test_seconds_end_a_run(server: FakeServer) -> None:
    server.latency = 0.2
    out = await run(graph(server), limit_seconds=0.5)
    assert out["stop_reason"] == "budget"
    assert out["usage"]["seconds"] >= 0.5
    assert out["usage"]["levels"] <= 3


# Record, replay, share, stream, stop.


async def test_a_replayed_run_is_the_same_tree_without_a_request(
    server: FakeServer, tmp_path: Path
) -> None:
    file = tmp_path / "answers.sqlite"

    def built(replay: Any) -> Any:
        return graph(server, cache=SqliteCache(file), replay=replay)

    recorded = await run(built("record"))
    asked = len(server.seen)
    replayed = await run(built("replay"))
    assert len(server.seen) == asked > 0
    spent = ("usage",)
    assert {k: bare(t, spent) for k, t in replayed["tree"].items()} == {
        k: bare(t, spent) for k, t in recorded["tree"].items()
    }
    for name in ("answer", "candidates", "stop_reason"):
        assert replayed[name] == recorded[name]
    assert not replayed["usage"].get("requests")
    with pytest.raises(tg.ModelError, match="nothing recorded"):
        await built("replay").ainvoke({"problem": "1 1 4 6"})


def bare(thought: dict[str, Any], without: tuple[str, ...]) -> dict[str, Any]:
    return {name: value for name, value in thought.items() if name not in without}


async def test_concurrent_runs_share_a_cap_and_with_leave_their_evaluations(
    server: FakeServer,
) -> None:
    server.latency = 0.01
    limiter = Limiter(tg.Rates(concurrency=3))
    alone = await run(graph(server))
    requests = len(server.seen)
    server.seen.clear()
    server.peak = 0
    asked = ChatPort(server.chat(), retry=QUICK, limiter=limiter)
    graphs = [tg.build("tot_bfs", task="game24", model=asked) for _ in range(3)]
    outs = await asyncio.gather(*(run(each, share_evaluations=True) for each in graphs))
    assert server.peak == 3
    assert all(out["answer"] == alone["answer"] for out in outs)
    evaluations = [seen.prompt for seen in server.seen if "valuate" in seen.prompt]
    assert len(evaluations) == len(set(evaluations)), "each was asked once for all three runs"
    assert len(server.seen) < 3 * requests
    counts = [out["usage"]["requests"] for out in outs]
    assert sum(counts) == len(server.seen)


async def test_streaming_tokens_does_not_garble_several_samples(server: FakeServer) -> None:
    smooth = await run(graph(server))
    tokens, final = 0, None
    async for mode, chunk in graph(server).astream(
        PROBLEM, context=SMALL["tot_bfs"], stream_mode=["messages", "values"]
    ):
        if mode == "messages":
            tokens += 1
        else:
            final = chunk
    assert tokens > 0
    assert final is not None
    assert final["answer"] == smooth["answer"]
    assert {k: t.get("value") for k, t in final["tree"].items()} == {
        k: t.get("value") for k, t in smooth["tree"].items()
    }


async def test_a_stopped_run_leaves_the_graph_usable(server: FakeServer) -> None:
    running = graph(server)
    smooth = await run(running)
    server.latency = 0.3
    for _ in range(3):
        task = asyncio.create_task(run(running))
        await asyncio.sleep(0.4)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    server.latency = 0.0
    assert (await run(running))["tree"] == smooth["tree"]


async def test_no_key_reaches_state_or_cache(server: FakeServer, tmp_path: Path) -> None:
    key = "tg-0123456789-secret"
    asked = ChatPort(
        server.chat(api_key=key), cache=SqliteCache(tmp_path / "a.sqlite"), replay="record"
    )
    running = tg.build("tot_bfs", task="game24", model=asked)
    seen = [
        str(chunk)
        async for chunk in running.astream(PROBLEM, context=SMALL["tot_bfs"], stream_mode="debug")
    ]
    assert server.seen[0].headers["authorization"] == f"Bearer {key}"
    assert not any(key in text for text in seen)
    assert all(key.encode() not in path.read_bytes() for path in tmp_path.iterdir())
