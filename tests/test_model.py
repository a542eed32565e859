"""The port, against a real server with faults and against scripted models."""

import asyncio
import gzip
import json
import logging
import time
import tracemalloc
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import Field
from support.fake_server import FakeServer, Fault, Seen, after
from support.scripted import Call, ScriptedChat

from thoughtgraph.errors import BudgetSpent, ModelError, OutOfTime, ReplayMiss
from thoughtgraph.llm.answer_cache import SqliteCache
from thoughtgraph.llm.exchange import LONGEST
from thoughtgraph.llm.limiter import Limiter, Rates
from thoughtgraph.llm.meter import Meter
from thoughtgraph.llm.port import ChatPort, Draw
from thoughtgraph.llm.response_bodies import ValueCounter
from thoughtgraph.llm.retry import Retry
from thoughtgraph.llm.scripted import UnexpectedCall
from thoughtgraph.usage import Limits, Usage

ASK = [HumanMessage("which way")]
ONCE = Retry(give_up_after=0.0)
QUICK = Retry(give_up_after=3.0, first_wait=0.001, longest_wait=0.01)


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer(lambda seen: [f"text {k}" for k in range(seen.n)]) as running:
        yield running


def port(server: FakeServer, **settings: Any) -> ChatPort:
    return ChatPort(server.chat(), **{"retry": QUICK, **settings})


def meter(**limits: float) -> Meter:
    return Meter(Limits(**limits), Usage())  # type: ignore[typeddict-item]


class Alone(BaseChatModel):
    """A model that knows no `n`, answers in blocks of content and reports no usage."""

    calls: list[Any] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "alone"

    def _generate(self, *args: Any, **kwargs: Any) -> ChatResult:
        raise NotImplementedError

    async def _agenerate(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        self.calls.append(run_manager.metadata)
        blocks: Any = [
            {"type": "reasoning", "reasoning": "hm"},
            {"type": "text", "text": "left, "},
            {"type": "text", "text": f"{len(self.calls)} times"},
        ]
        return ChatResult(generations=[ChatGeneration(message=AIMessage(blocks))])


# How many requests n samples take.


async def test_twenty_samples_are_one_request(server: FakeServer) -> None:
    spent = meter(requests=1)
    texts = await port(server).sample(ASK, n=20, draw=Draw("p", "0"), meter=spent)
    assert texts == [f"text {k}" for k in range(20)]
    assert [seen.n for seen in server.seen] == [20]
    assert spent.usage()["requests"] == 1
    assert spent.usage()["samples"] == 20
    assert spent.usage()["prompt_tokens"] == 2, "the prompt is paid for once"
    assert spent.usage()["completion_tokens"] == 40


async def test_what_one_request_may_not_ask_for_is_split(server: FakeServer) -> None:
    assert len(await port(server).sample(ASK, n=300)) == 300
    assert sorted(seen.n for seen in server.seen) == [44, 128, 128]
    server.seen.clear()
    assert len(await port(server, choices=4).sample(ASK, n=6)) == 6
    assert sorted(seen.n for seen in server.seen) == [2, 4]


@pytest.mark.parametrize("fault", ["ignores", "refuses"])
async def test_a_server_without_n_is_asked_singly_from_then_on(
    server: FakeServer, fault: str
) -> None:
    server.most_choices = 1
    server.refuses_n = fault == "refuses"
    asked, spent = port(server), meter(requests=2)
    assert len(await asked.sample(ASK, n=4, meter=spent)) == 4
    first = [seen.n for seen in server.seen]
    assert first == ([4, 1, 1, 1, 1] if server.refuses_n else [4, 1, 1, 1])
    assert len(await asked.sample(ASK, n=3, meter=spent)) == 3
    assert [seen.n for seen in server.seen[len(first) :]] == [1, 1, 1]
    usage = spent.usage()
    assert (usage["requests"], usage["samples"]) == (2, 7), "one request, however it is sent"
    assert usage["prompt_tokens"] == 14, "but every call's prompt is paid for"


async def test_a_server_that_returns_some_is_asked_for_the_rest(server: FakeServer) -> None:
    server.most_choices = 8
    assert len(await port(server).sample(ASK, n=20)) == 20
    assert [seen.n for seen in server.seen] == [20, 12, 4]


async def test_a_request_refused_for_another_reason_does_not_cost_n(server: FakeServer) -> None:
    asked = port(server)
    server.fault = lambda seen: Fault(400)
    with pytest.raises(ModelError, match="HTTP 400"):
        await asked.sample(ASK, n=5)
    server.fault = lambda seen: Fault()
    assert len(await asked.sample(ASK, n=5)) == 5
    assert [seen.n for seen in server.seen] == [5, 1, 5]


async def test_a_model_without_n_is_asked_for_different_draws() -> None:
    model, spent = Alone(), meter(requests=1)
    texts = await ChatPort(model).sample(ASK, n=3, draw=Draw("p", "7", 1, 10), meter=spent)
    assert sorted(texts) == ["left, 1 times", "left, 2 times", "left, 3 times"]
    assert [call["thoughtgraph_draw"] for call in model.calls] == [
        ["p", "7", 1, 10],
        ["p", "7", 1, 11],
        ["p", "7", 1, 12],
    ]
    usage = spent.usage()
    assert (usage["requests"], usage["samples"]) == (1, 3)
    assert usage["prompt_tokens"] == 3 * (len("which way") // 4), "estimated: it reports none"
    assert usage["completion_tokens"] == 3 * 4


@pytest.mark.parametrize(
    "usage",
    [None, {}, {"prompt_tokens": None, "completion_tokens": None, "total_tokens": None}],
)
async def test_usage_the_server_withholds_is_estimated(server: FakeServer, usage: Any) -> None:
    server.usage, spent = usage, meter()
    await port(server).sample([HumanMessage("x" * 400)], n=2, meter=spent)
    assert spent.usage()["prompt_tokens"] == 100
    assert spent.usage()["completion_tokens"] == len("text 0text 1") / 4


@pytest.mark.parametrize(
    ("fingerprint", "counted"),
    [
        ("b6500-3de00820", 3 * 7),
        ("b0-unknown", 3 * 7),
        ("fp_43dfabdef1", 7),
        (None, 7),
        (5, 7),
    ],
)
async def test_completions_that_llama_cpp_does_not_count_are_as_dense_as_the_first(
    server: FakeServer, fingerprint: Any, counted: int
) -> None:
    server.fingerprint, spent = fingerprint, meter()
    server.reply = lambda seen: ["y" * 24] * seen.n
    server.usage = {"prompt_tokens": 2, "completion_tokens": 7, "total_tokens": 9}
    await port(server).sample(ASK, n=3, meter=spent)
    assert spent.usage()["completion_tokens"] == counted


async def test_parameters_and_stops_reach_the_server(server: FakeServer) -> None:
    await port(server).sample(
        ASK,
        stop=["\n\n"],
        parameters={"temperature": 0.25, "max_tokens": 9, "unheard_of": 1, "top_p": None},
    )
    body = server.seen[0].body
    assert (body["temperature"], body["stop"]) == (0.25, ["\n\n"])
    assert 9 in (body.get("max_tokens"), body.get("max_completion_tokens"))
    assert "unheard_of" not in body and "top_p" not in body


FRAMES = 5
"""Functions of the port that lie between a node and the model, at most."""


def port_functions() -> set[str]:
    """The port's functions that wait for a model now, in whichever task."""
    found: set[str] = set()
    for task in asyncio.all_tasks():
        waits: Any = task.get_coro()
        while waits is not None and hasattr(waits, "cr_frame"):
            module = waits.cr_frame.f_globals["__name__"]
            if module.startswith("thoughtgraph.llm.") and not module.endswith(".scripted"):
                found.add(waits.cr_code.co_qualname)
            waits = waits.cr_await
    return found


@pytest.mark.parametrize(
    "asked",
    [{}, {"draw": Draw("p", "0")}, {"n": 3}, {"n": 3, "draw": Draw("p", "0")}],
    ids=["evaluation", "generation", "evaluations", "generations"],
)
@pytest.mark.parametrize("native", [True, False])
async def test_few_functions_lie_between_a_node_and_the_model(asked: Any, native: bool) -> None:
    crossed: list[set[str]] = []

    def reply(call: Call) -> str:
        crossed.append(port_functions())
        return "text"

    asking = ChatPort(ScriptedChat(reply=reply), choices=128 if native else 1)
    assert await asking.sample(ASK, **asked) == ["text"] * asked.get("n", 1)
    assert all({"ChatPort.sample", "ChatPort._attempt"} <= names for names in crossed)
    assert 0 < max(map(len, crossed)) <= FRAMES, crossed


# The scripted model that users have for their own tests.


async def test_a_script_answers_by_role_and_by_call_and_keeps_what_it_saw() -> None:
    script: Any = {
        "generate": lambda call: [f"{call.draw.thought}.{k}" for k in range(call.n)],
        "vote": ["first", "second"],
        "value": "sure",
    }
    model = ScriptedChat(reply=script)
    asked = ChatPort(model)
    assert await asked.sample(ASK, n=2, draw=Draw("p", "7")) == ["7.0", "7.1"]
    assert await asked.sample(ASK, n=2, role="vote") == ["first", "second"]
    assert await asked.sample(ASK, n=3, role="value", stop=["\n"]) == ["sure"] * 3
    kept = [(call.role, call.prompt, call.draw, call.n, call.stop) for call in model.seen]
    assert kept == [
        ("generate", "which way", Draw("p", "7"), 2, None),
        ("vote", "which way", None, 2, None),
        ("value", "which way", None, 3, ["\n"]),
    ]


async def test_what_a_script_does_not_know_fails_the_test() -> None:
    asked = ChatPort(ScriptedChat(reply={"vote": ["first", "second"]}))
    with pytest.raises(UnexpectedCall, match=r"no answer for .*role='value'"):
        await asked.sample(ASK, role="value")
    with pytest.raises(UnexpectedCall, match=r"2 samples for .*n=3"):
        await asked.sample(ASK, role="vote", n=3)


# Evaluations are shared, generations never.


async def test_identical_concurrent_evaluations_are_one_request(server: FakeServer) -> None:
    server.latency = 0.05
    asked, spent = port(server), meter(requests=1)
    texts = await asyncio.gather(
        *(asked.sample(ASK, n=3, role="value", scope="run", meter=spent) for _ in range(10))
    )
    assert len(server.seen) == 1
    assert texts == [["text 0", "text 1", "text 2"]] * 10
    texts[0].clear()
    assert texts[1], "each caller has a list of its own"
    assert spent.usage()["requests"] == 1
    assert spent.usage()["cached"] == 9


async def test_what_differs_is_not_shared(server: FakeServer) -> None:
    server.latency = 0.05
    asked = port(server)
    await asyncio.gather(
        asked.sample(ASK, scope="run"),
        asked.sample(ASK, scope="another run"),
        asked.sample(ASK, scope="run", n=2),
        asked.sample(ASK, scope="run", stop=["x"]),
        asked.sample(ASK, scope="run", parameters={"temperature": 0.1}),
        asked.sample(ASK, scope="run", draw=Draw("p", "0")),
        asked.sample(ASK, scope="run", draw=Draw("p", "0")),
    )
    assert len(server.seen) == 7


async def test_who_waits_asks_when_the_asker_is_stopped(server: FakeServer) -> None:
    server.fault = lambda seen: Fault(hang=True)
    asked = port(server)
    asker = asyncio.create_task(asked.sample(ASK))
    await asyncio.to_thread(server.wait_for_held)
    waiters = [asyncio.create_task(asked.sample(ASK)) for _ in range(4)]
    await asyncio.sleep(0.03)
    server.fault = lambda seen: Fault()
    asker.cancel()
    waiters[0].cancel()
    results = await asyncio.gather(asker, *waiters, return_exceptions=True)
    assert [isinstance(result, asyncio.CancelledError) for result in results[:2]] == [True, True]
    assert results[2:] == [["text 0"]] * 3
    assert len(server.seen) == 2


async def test_who_waits_asks_when_the_asker_has_no_budget(server: FakeServer) -> None:
    server.latency = 0.05
    asked = port(server, limiter=Limiter(Rates(concurrency=1)))
    poor, rich = meter(seconds=0.02), meter()
    blocker = asyncio.create_task(asked.sample(ASK, draw=Draw("p", "0")))
    await asyncio.sleep(0.01)
    outcome = await asyncio.gather(
        asked.sample(ASK, meter=poor), asked.sample(ASK, meter=rich), return_exceptions=True
    )
    await blocker
    assert isinstance(outcome[0], BudgetSpent)
    assert outcome[1] == ["text 0"]
    assert len(server.seen) == 2


async def test_a_failure_is_shared_too(server: FakeServer) -> None:
    server.latency = 0.05
    server.fault = lambda seen: Fault(401)
    asked = port(server)
    results = await asyncio.gather(*(asked.sample(ASK) for _ in range(5)), return_exceptions=True)
    assert all(isinstance(result, ModelError) for result in results)
    assert len(server.seen) == 1


async def test_evaluations_outlive_a_run_only_when_shared(server: FakeServer) -> None:
    asked = port(server)
    for scope in ("run 1", "run 2", "shared", "shared", "shared"):
        await asked.sample(ASK, scope=scope)
    assert len(server.seen) == 3


# Record and replay.


async def test_a_recording_replays_without_a_request(server: FakeServer, tmp_path: Path) -> None:
    server.reply = lambda seen: f"answer {seen.number}"
    file = tmp_path / "answers.sqlite"

    async def talk(asked: ChatPort, run: str) -> list[Any]:
        return [
            await asked.sample(ASK, n=2, draw=Draw("p", "0")),
            await asked.sample(ASK, n=2, draw=Draw("p", "0", 1)),
            await asked.sample(ASK, n=2, draw=Draw("p", "1")),
            await asked.sample(ASK, role="value", scope=run),
        ]

    recorded = await talk(port(server, cache=SqliteCache(file), replay="record"), "run 1")
    assert len(server.seen) == 4, "equal prompts at different thoughts are different draws"
    replaying = port(server, cache=SqliteCache(file), replay="replay")
    assert await talk(replaying, "run 2") == recorded
    spent = meter(requests=0)
    assert await replaying.sample(ASK, n=2, draw=Draw("p", "1"), meter=spent) == recorded[2]
    assert spent.usage() == {"cached": 1, "roles": {"generate": {"cached": 1}}}
    recorded_as: dict[str, Any] = {"n": 2, "draw": Draw("p", "1")}
    for different in ({"n": 3}, {"stop": ["x"]}, {"parameters": {"temperature": 1.0}}):
        with pytest.raises(ReplayMiss, match="record again"):
            await replaying.sample(ASK, **{**recorded_as, **different})
    assert len(server.seen) == 4


async def test_generations_are_not_kept_unless_asked(server: FakeServer, tmp_path: Path) -> None:
    asked = port(server, cache=SqliteCache(tmp_path / "a.sqlite"))
    for _ in range(2):
        await asked.sample(ASK, draw=Draw("p", "0"))
    assert len(server.seen) == 2


async def test_an_answer_that_cannot_be_kept_is_used(server: FakeServer, tmp_path: Path) -> None:
    cache = SqliteCache(tmp_path / "a.sqlite")
    asked, spent = port(server, cache=cache, replay="record"), meter()

    def close(seen: Seen) -> str:
        cache.close()
        return "paid for"

    server.reply = close
    assert await asked.sample(ASK, draw=Draw("p", "0"), meter=spent) == ["paid for"]
    assert "name another file" in spent.error
    assert spent.usage()["requests"] == 1


# Failing endpoints.

FAULTS: dict[str, tuple[Fault, str]] = {
    "dropped": (Fault(drop=True), "server running"),
    "cut off": (Fault(truncate=True), "fake at http"),
    "no JSON": (
        Fault(body="<html>busy</html>", headers={"Content-Type": "text/html"}),
        "chat endpoint",
    ),
    "broken JSON": (Fault(body='{"choices": ['), "chat endpoint"),
    "no choices": (Fault(body='{"choices": []}'), "chat endpoint"),
    "null choices": (Fault(body='{"choices": null}'), "chat endpoint"),
    "other JSON": (Fault(body='{"hello": 1}'), "chat endpoint"),
    "a list": (Fault(body="[1, 2]"), "fake at http"),
    "binary": (Fault(body=b"\x00\xff\xfe\x1b" * 99), "fake at http"),
    "error with 200": (Fault(body='{"error": {"message": "overloaded"}}'), "overloaded"),
    "wrong usage": (
        Fault(body='{"choices": [{"message": {"role": "assistant", "content": "x"}}], "usage": 3}'),
        "chat endpoint",
    ),
    "500": (Fault(500), "server keeps failing"),
    "429": (Fault(429), "THOUGHTGRAPH_RPM"),
    "401": (Fault(401), "OPENAI_API_KEY"),
    "404": (Fault(404), "/v1"),
}


@pytest.mark.parametrize("name", FAULTS)
async def test_a_failing_endpoint_is_explained_in_one_line(server: FakeServer, name: str) -> None:
    fault, remedy = FAULTS[name]
    server.fault = lambda seen: fault
    spent = meter()
    with pytest.raises(ModelError) as caught:
        await port(server, retry=Retry(0.05, first_wait=0.01)).sample(ASK, meter=spent)
    message = str(caught.value)
    assert remedy in message
    assert f"fake at {server.url}: " in message
    assert message.isprintable() and len(message) < 600
    assert spent.error == message
    assert "requests" not in spent.usage(), "what was not answered is not counted"


@pytest.mark.parametrize("name", ["dropped", "cut off", "broken JSON", "no choices", "500", "429"])
async def test_a_passing_fault_is_overcome(server: FakeServer, name: str) -> None:
    server.fault = lambda seen: FAULTS[name][0] if seen.number < 3 else Fault()
    spent = meter(requests=1)
    assert await port(server).sample(ASK, meter=spent) == ["text 0"]
    assert spent.usage()["retries"] == 3
    assert spent.usage()["requests"] == 1


async def test_a_server_that_is_down(server: FakeServer) -> None:
    with FakeServer() as gone:
        pass
    with pytest.raises(ModelError, match="is the server running") as caught:
        await port(gone, retry=ONCE).sample(ASK)
    assert "1 attempt" in str(caught.value)


async def test_a_server_that_never_answers(server: FakeServer) -> None:
    server.fault = lambda seen: Fault(hang=True)
    began = time.monotonic()
    with pytest.raises(ModelError, match=r"no answer after 1 attempt .*too slow"):
        await port(server, retry=ONCE, timeout=0.1).sample(ASK)
    assert time.monotonic() - began < 60


async def test_retry_after_is_honoured_over_http(server: FakeServer) -> None:
    wait = Fault(429, headers={"Retry-After": "0.3"})
    server.fault = lambda seen: wait if seen.number == 0 else Fault()
    began = time.monotonic()
    await port(server).sample(ASK)
    assert time.monotonic() - began >= 0.3


async def test_a_mistake_in_a_model_is_not_hidden() -> None:
    def script(call: Call) -> str:
        raise KeyError("the script has no such prompt")

    with pytest.raises(KeyError, match="no such prompt"):
        await ChatPort(ScriptedChat(reply=script)).sample(ASK)


async def test_samples_that_arrived_are_not_lost(server: FakeServer) -> None:
    server.most_choices = 1
    server.fault = lambda seen: Fault(500) if seen.number % 4 == 3 else Fault()
    spent = meter()
    texts = await port(server, retry=ONCE).sample(ASK, n=8, draw=Draw("p", "0"), meter=spent)
    assert texts == ["text 0"] * 6
    assert spent.usage()["samples"] == 6
    assert "HTTP 500" in spent.error


async def test_a_failure_stops_what_is_still_queued(server: FakeServer) -> None:
    server.fault = after(2, Fault(500))
    shared: dict[str, float] = {}
    asked = port(server, retry=ONCE, limiter=Limiter(Rates(concurrency=1)))
    meters = [Meter(Limits(), Usage(), siblings=shared) for _ in range(20)]
    results = await asyncio.gather(
        *(asked.sample(ASK, draw=Draw("p", str(k)), meter=spent) for k, spent in enumerate(meters)),
        return_exceptions=True,
    )
    assert results[:2] == [["text 0"]] * 2
    assert isinstance(results[2], ModelError)
    assert all(isinstance(result, BudgetSpent) for result in results[3:])
    assert len(server.seen) == 3


# Limits.


@pytest.mark.parametrize(
    ("limits", "most"),
    [
        # Each answer is 2 + 2 tokens and costs 2 * 0.5 + 2 * 1.5 = 4 millionths of a dollar.
        ({"requests": 7}, 7),
        ({"tokens": 21}, 6 + 2),
        ({"dollars": 0.000021}, 6 + 2),
        ({"requests": 0}, 0),
    ],
)
async def test_the_largest_overshoot_is_what_is_in_flight(
    server: FakeServer, limits: dict[str, float], most: int
) -> None:
    server.latency = 0.005
    shared: dict[str, float] = {}
    asked = port(server, limiter=Limiter(Rates(concurrency=3)))
    meters = [
        Meter(Limits(**limits), Usage(), prices={"fake": (0.5, 1.5)}, siblings=shared)  # type: ignore[typeddict-item]
        for _ in range(30)
    ]
    results = await asyncio.gather(
        *(asked.sample(ASK, draw=Draw("p", str(k)), meter=spent) for k, spent in enumerate(meters)),
        return_exceptions=True,
    )
    answered = sum(isinstance(result, list) for result in results)
    assert answered == len(server.seen) <= most
    assert answered >= min(most, 6)
    assert all(isinstance(result, list | BudgetSpent) for result in results)


async def test_the_limit_on_seconds_cuts_off_what_is_in_flight(server: FakeServer) -> None:
    server.fault = after(1, Fault(hang=True))
    asked = port(server, limiter=Limiter(Rates(concurrency=5)))
    watch = meter(seconds=2.0)

    def ask(k: int) -> Any:
        return asked.sample(ASK, draw=Draw("p", str(k)), meter=watch)

    assert await ask(0), "what is answered in time is kept"
    began = time.monotonic()
    results = await asyncio.gather(*map(ask, range(1, 11)), return_exceptions=True)
    assert all(isinstance(result, OutOfTime) for result in results), (
        "those that wait for a turn too"
    )
    assert time.monotonic() - began < 7.0, "no longer than Ctrl-C waits"
    assert len(server.seen) <= 6
    usage = watch.usage()
    assert usage["requests"] == 1
    assert usage["mark"]["until"] - usage["mark"]["begin"] >= 2.0, "no time is left"
    server.release()
    assert await asked.sample(ASK, draw=Draw("p", "11")), "the endpoint's turns are free again"


async def test_an_evaluation_that_another_run_asks_for_is_waited_for_in_time(
    server: FakeServer,
) -> None:
    server.fault = lambda seen: Fault(hang=True)
    asked = port(server)
    other = asyncio.create_task(asked.sample(ASK, scope="shared"))
    await asyncio.to_thread(server.wait_for_held)
    with pytest.raises(OutOfTime):
        await asked.sample(ASK, scope="shared", meter=meter(seconds=0.2))
    server.release()
    assert await other, "its asker has no limit and goes on"


@pytest.mark.ci
async def test_the_limit_on_seconds_does_not_hide_why_there_is_no_answer(
    server: FakeServer,
) -> None:
    server.fault = lambda seen: Fault(503)
    told: list[str] = []
    watch = Meter(Limits(seconds=4.0), Usage(), tell=told.append)
    with pytest.raises(ModelError, match=r"HTTP 503 after .* the server keeps failing"):
        await port(server, retry=Retry()).sample(ASK, meter=watch)
    assert told and "HTTP 503 after 1 attempt" in told[0], "it is told while it goes on"


async def test_the_cap_counts_single_calls(server: FakeServer) -> None:
    server.latency, server.most_choices = 0.01, 1
    asked = port(server, limiter=Limiter(Rates(concurrency=3)))
    await asyncio.gather(*(asked.sample(ASK, n=6, scope=str(k)) for k in range(3)))
    assert server.peak == 3


# Event loops and cancellation.


def test_one_port_serves_one_event_loop_after_another(server: FakeServer) -> None:
    asked, spent = port(server), meter()

    async def talk() -> None:
        await asyncio.gather(
            *(asked.sample(ASK, draw=Draw("p", "0"), meter=spent) for _ in range(5))
        )

    for _ in range(3):
        asyncio.run(talk())
    assert len(server.seen) == 15
    assert "retries" not in spent.usage()


async def test_a_new_port_of_the_same_server_in_a_new_loop(server: FakeServer) -> None:
    def elsewhere() -> None:
        asyncio.run(port(server).sample(ASK))

    for _ in range(2):
        await asyncio.to_thread(elsewhere)
        await port(server, retry=ONCE).sample(ASK)
    assert len(server.seen) == 4


async def test_a_port_is_usable_after_cancellation(server: FakeServer) -> None:
    asked = port(server, limiter=Limiter(Rates(concurrency=4)))
    shared: dict[str, float] = {}
    for _ in range(5):
        server.latency = 0.2
        spent = [Meter(Limits(requests=100), Usage(), siblings=shared) for _ in range(12)]
        asking = [
            asyncio.create_task(asked.sample(ASK, n=2, scope=str(k % 6), meter=spent[k]))
            for k in range(12)
        ]
        await asyncio.sleep(0.05)
        for task in asking:
            task.cancel()
        results = await asyncio.gather(*asking, return_exceptions=True)
        assert all(isinstance(result, asyncio.CancelledError) for result in results)
    server.latency = 0.0
    async with asyncio.timeout(60):
        await asyncio.gather(*(asked.sample(ASK, scope=str(k)) for k in range(20)))
    assert shared["requests"] == 0, "nothing stays reserved"


def test_an_interrupt_ends_the_wait_at_once(server: FakeServer) -> None:
    server.latency = 60.0
    asked = port(server)

    async def talk() -> None:
        asyncio.get_running_loop().call_later(0.1, stop)
        await asked.sample(ASK)

    def stop() -> None:
        raise KeyboardInterrupt

    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        asyncio.run(talk())
    assert time.monotonic() - began < 30
    server.latency = 0.0
    assert asyncio.run(asked.sample(ASK)) == ["text 0"]


async def test_nothing_secret_is_logged(
    server: FakeServer, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    key = "tg-0123456789-secret"
    file = tmp_path / "a.sqlite"
    with caplog.at_level(logging.DEBUG):
        asked = ChatPort(
            server.chat(api_key=key), cache=SqliteCache(file), replay="record", retry=ONCE
        )
        await asked.sample(ASK)
        server.fault = lambda seen: Fault(401, body=json.dumps({"error": {"message": "no"}}))
        with pytest.raises(ModelError):
            await asked.sample(ASK, n=2)
    assert server.seen[0].headers["authorization"] == f"Bearer {key}"
    assert key not in caplog.text
    assert all(key.encode() not in path.read_bytes() for path in tmp_path.iterdir())


async def test_a_server_that_is_not_there_is_told_at_once_and_given_up_soon() -> None:
    assert Retry().unreachable_after <= 4.5 < Retry().give_up_after, "it fails in five seconds"
    with FakeServer() as gone:
        pass
    told: list[str] = []
    watch = Meter(Limits(), Usage(), tell=told.append)
    asked = port(gone, retry=Retry(unreachable_after=3.0))
    with pytest.raises(ModelError, match=r"no connection after .* is the server running"):
        await asyncio.wait_for(asked.sample(ASK, meter=watch), 20)
    assert "no connection after 1 attempt" in told[0] and gone.url in told[0]


def _said(content: Any, **more: Any) -> str:
    message = {"role": "assistant", "content": content}
    return json.dumps({"choices": [{"message": message}], **more})


DEEP = 100_000
NESTED = "[" * 900 + "]" * 900
NO_ANSWERS = {
    "brackets": "[" * DEEP,
    "closed brackets": "[" * DEEP + "]" * DEEP,
    "braces": '{"a":' * DEEP + "1" + "}" * DEEP,
    "brackets for a text": '{"choices":[{"message":{"role":"assistant","content":'
    + NESTED
    + "}}]}",
    "brackets for calls": '{"choices":[{"message":{"role":"assistant","content":"x","tool_calls":'
    + "[" * 300
    + "]" * 300
    + "}}]}",
    "no UTF-8": b'{"choices":[{"message":{"role":"assistant","content":"\xff\xfe"}}]}',
    "null": "null",
    "a number": "5",
    "a text": '"x"',
    "a list": "[]",
    "no choices": '{"choices":null}',
    "a text of choices": '{"choices":"abc"}',
    "no choice": '{"choices":[null]}',
    "no message": '{"choices":[{"message":null}]}',
    "a number for a text": _said(5),
    "an object for a text": _said({"a": 1}),
    "a text for usage": _said("x", usage="lots"),
    "more than anybody reads": b"x" * ((64 << 20) + 1),
    "more than anybody unpacks": gzip.compress(bytes(64 << 20), 6),
    "what nobody unpacks": b"not packed at all",
}


@pytest.mark.parametrize("name", NO_ANSWERS)
async def test_no_body_is_worse_than_no_answer(server: FakeServer, name: str) -> None:
    packed = {"Content-Encoding": "gzip"} if "unpacks" in name else {}
    server.fault = lambda seen: Fault(body=NO_ANSWERS[name], headers=packed)
    with pytest.raises(ModelError) as failed:
        await port(server, retry=ONCE).sample(ASK)
    said = str(failed.value)
    assert "an unreadable answer" in said and said.isprintable() and len(said) < 600


async def test_a_packed_answer_is_bounded_by_what_it_becomes(server: FakeServer) -> None:
    """None is asked for, but a proxy may pack; a small one must not become hundreds of MB."""
    small, bomb = _said("packed " * 100).encode(), gzip.compress(bytes(200 << 20), 6)
    for name, packed in (("gzip", gzip.compress(small)), ("deflate", zlib.compress(small))):
        headers = {"Content-Encoding": name}
        server.fault = lambda seen, body=packed, headers=headers: Fault(body=body, headers=headers)  # type: ignore[misc]
        assert await port(server, retry=ONCE).sample(ASK) == ["packed " * 100]
    for name in ("gzip", "br", "zstd", "gzip, gzip"):
        headers = {"Content-Encoding": name}
        server.fault = lambda seen, headers=headers: Fault(body=bomb, headers=headers)  # type: ignore[misc]
        tracemalloc.start()
        with pytest.raises(ModelError, match=r"more than 8192 KiB|was not asked for"):
            await port(server, retry=ONCE).sample(ASK)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 32 << 20


async def test_sizes_that_nobody_can_believe_are_counted_by_the_text(server: FakeServer) -> None:
    for told in ("1e400", "9" * 4_000, "-5", "NaN", "true"):
        usage = f'{{"prompt_tokens":{told},"completion_tokens":{told},"total_tokens":1}}'
        body = _said("four words of text")[:-1] + f',"usage":{usage}}}'
        server.fault = lambda seen, body=body: Fault(body=body)  # type: ignore[misc]
        watch = Meter(Limits(dollars=1.0), Usage(), prices={"fake": (1.0, 1.0)})
        assert await port(server, retry=ONCE).sample(ASK, meter=watch) == ["four words of text"]
        assert 2 <= watch.usage()["prompt_tokens"] + watch.usage()["completion_tokens"] < 20


@pytest.mark.parametrize(("tokens", "letters"), [(None, LONGEST), (50, 800), (10**5, LONGEST)])
async def test_of_a_completion_no_more_is_read_than_was_asked_for(
    server: FakeServer, tokens: int | None, letters: int
) -> None:
    server.reply = lambda seen: ["x" * 3_000_000, "y" * 3_000_000, "short"][: seen.n]
    texts = await port(server).sample(ASK, n=3, parameters={"max_tokens": tokens})
    assert texts == ["x" * letters, "y" * letters, "short"]


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of what is read as JSON in a test."""
    sizes, loads = [0], json.loads

    def counted(text: Any, **more: Any) -> Any:
        sizes.append(len(text))
        return loads(text, **more)

    monkeypatch.setattr(json, "loads", counted)
    return sizes


@pytest.mark.parametrize("many", ["{}", "1", _said("x"), "[[[[]]]]", '{"choices":[{}]}'])
async def test_of_a_body_nothing_is_made_that_was_not_asked_for(
    server: FakeServer, many: str, parsed: list[int]
) -> None:
    """A mebibyte of small objects kept a client busy for seconds, and took hundreds of MB."""
    choices = ",".join([many] * ((1 << 20) // len(many)))
    server.fault = lambda seen: Fault(body=f'{{"choices":[{choices}]}}')
    with pytest.raises(ModelError, match="holds more than was asked for"):
        await port(server, retry=ONCE).sample(ASK, n=5)
    assert max(parsed) < 1 << 16


async def test_of_what_a_server_says_went_wrong_the_beginning_is_read(
    server: FakeServer, parsed: list[int]
) -> None:
    server.fault = lambda seen: Fault(400, body="[" + "{}," * (2 << 20))
    with pytest.raises(ModelError, match="HTTP 400"):
        await port(server, retry=ONCE).sample(ASK)
    assert 1 << 16 < max(parsed) <= 1 << 20


async def test_who_asks_for_much_gets_it(server: FakeServer) -> None:
    """128 samples, a stream of many tokens, and the probabilities of somebody's own model."""
    server.reply = lambda seen: "x, {[y" * 200
    assert len(await port(server).sample(ASK, n=128)) == 128
    told = {"content": [{"token": "a", "logprob": -1.0, "top_logprobs": [{}] * 20}] * 999}
    body = {"choices": [{"message": {"role": "assistant", "content": "x"}, "logprobs": told}]}
    server.fault = lambda seen: Fault(body=json.dumps(body))
    own = ChatPort(server.chat(logprobs=True), retry=ONCE)
    assert await own.sample(ASK) == ["x"]


def _values(value: Any) -> int:
    parts = list(value.values()) if isinstance(value, dict) else value
    if not isinstance(parts, list):
        return 0
    return 1 + max(0, len(parts) - 1) + sum(map(_values, parts))


SPELLED = st.text(alphabet='\\"{[,:\n\r\u2028\U0001f600a', max_size=8)
ANYTHING = st.recursive(
    SPELLED | st.integers(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(SPELLED, inner, max_size=4),
)


@given(ANYTHING, st.integers(1, 9), st.booleans(), st.sampled_from([None, 1]))
def test_the_values_of_a_body_are_counted_however_it_arrives(
    value: Any, at_once: int, plain: bool, indent: int | None
) -> None:
    body = json.dumps(value, ensure_ascii=plain, indent=indent).encode()
    counted = ValueCounter()
    for at in range(0, len(body), at_once):
        counted.read(body[at : at + at_once])
    assert counted.count == _values(value)


def test_a_quote_that_is_never_closed_hides_nothing_of_the_next_event() -> None:
    for begin in (b': "', b'event: \\"', b'data: {"a": "\\', b'"\\'):
        for end in (b"\n", b"\r", b"\r\n"):
            counted = ValueCounter()
            for piece in (begin, end, b"data: [{},{}]"):
                counted.read(piece)
            assert counted.count - begin.count(b"{") == 4


# A run of the embedded model can be had again.


async def seeds_sent(
    server: FakeServer, seed: int, draws: list[Draw], **settings: Any
) -> list[Any]:
    asked = port(server, **settings)
    for draw in draws:
        await asked.sample(ASK, draw=draw, parameters={"seed": seed})
    return [seen.body.get("seed") for seen in server.seen[-len(draws) :]]


async def test_a_model_that_follows_the_seed_gets_one_for_each_draw_and_the_same_again(
    server: FakeServer,
) -> None:
    draws = [Draw("p", "0"), Draw("p", "0", 1), Draw("p", "3")]
    first = await seeds_sent(server, 7, draws, seeded=True)
    assert len(set(first)) == len(draws) and all(0 <= seed < 2**31 for seed in first)
    assert await seeds_sent(server, 7, draws, seeded=True) == first
    assert not set(await seeds_sent(server, 8, draws, seeded=True)) & set(first)


async def test_other_models_are_sent_no_seed(server: FakeServer) -> None:
    assert await seeds_sent(server, 7, [Draw("p", "0")]) == [None]
