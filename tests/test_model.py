"""The port, against a real server and against scripted models: samples, sharing, limits, loops."""

from math import inf, nan
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import HumanMessage
from support.asking import ASK, ONCE, meter, numbered, port
from support.fake_server import FakeServer, Fault, Seen
from support.scripted import ScriptedChat

from thoughtgraph.errors import ReplayMiss
from thoughtgraph.llm.exchange import Draw
from thoughtgraph.llm.port import ChatPort
from thoughtgraph.llm.scripted import UnexpectedCall
from thoughtgraph.llm.store import SqliteStore

REPLY = numbered


@pytest.mark.parametrize(
    ("choices", "most", "n", "sizes"),
    [
        (128, 1_000, 20, [20]),
        (128, 1_000, 300, [128, 128, 44]),
        (128, 8, 20, [20, 12, 4]),
    ],
)
async def test_samples_take_as_few_requests_as_may_be(
    server: FakeServer, choices: int, most: int, n: int, sizes: list[int]
) -> None:
    server.most_choices = most
    spent = meter(requests=1)
    texts = await port(server, choices=choices).sample(ASK, n=n, draw=Draw("p", "0"), meter=spent)
    assert len(texts) == n and texts[:2] == ["text 0", "text 1"]
    assert sorted((seen.n for seen in server.seen), reverse=True) == sizes
    usage = spent.usage()
    assert (usage["requests"], usage["samples"], usage["calls"]) == (1, n, len(sizes))
    assert usage["prompt_tokens"] == 2 * len(sizes), "the prompt is paid for with every call"
    assert usage["completion_tokens"] == 2 * n


@pytest.mark.parametrize("status", [200, 400, 501])
async def test_a_server_without_n_is_asked_singly_from_then_on(
    server: FakeServer, caplog: pytest.LogCaptureFixture, status: int
) -> None:
    """It ignores the n of a request, or refuses it."""
    refuses = status != 200
    refusal = Fault(status, body='{"error": {"message": "Only one completion choice is allowed"}}')
    server.most_choices = 1
    server.fault = lambda seen: refusal if refuses and seen.n > 1 else Fault()
    asked, spent = port(server), meter(requests=2)
    assert len(await asked.sample(ASK, n=4, meter=spent)) == 4
    first = [seen.n for seen in server.seen]
    assert first == ([4, 1, 1, 1, 1] if refuses else [4, 1, 1, 1])
    assert len(await asked.sample(ASK, n=3, meter=spent)) == 3
    assert [seen.n for seen in server.seen[len(first) :]] == [1, 1, 1]
    usage = spent.usage()
    assert (usage["requests"], usage["samples"]) == (2, 7), "one request, however it is sent"
    assert usage["prompt_tokens"] == 14
    said = [record.getMessage()[-30:] for record in caplog.records]
    assert said == ["each sample is asked for alone"] * refuses


async def test_a_model_without_n_and_usage_is_asked_once_for_each_sample() -> None:
    model, spent = FakeListChatModel(responses=["1 times ", "2 times ", "3 times "]), meter()
    texts = await ChatPort(model).sample(ASK, n=3, draw=Draw("p", "7", 1, 10), meter=spent)
    assert sorted(texts) == ["1 times ", "2 times ", "3 times "]
    usage = spent.usage()
    assert (usage["requests"], usage["samples"]) == (1, 3)
    assert usage["prompt_tokens"] == 3 * (len("which way") // 4), "estimated: it reports none"
    assert usage["completion_tokens"] == 3 * 2


def size(prompt: Any, completion: Any) -> dict[str, Any]:
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": 9}


NONE = [None, *(size(each, each) for each in (None, inf, nan, -5))]


@pytest.mark.parametrize(
    ("usage", "fingerprint", "counted"),
    [
        *((usage, None, (100, 18)) for usage in NONE),  # by the letters
        *((size(2, 7), other, (2, 7)) for other in ("fp_43dfabdef1", 5)),
        (size(2, 7), "b6500-3de00820", (2, 21)),
    ],
    ids=lambda _: "",
)
async def test_sizes_are_as_told_but_for_the_absurd_and_llama_cpps_which_are_of_one_sample(
    server: FakeServer, usage: Any, fingerprint: Any, counted: tuple[int, int]
) -> None:
    server.usage, server.fingerprint, spent = usage, fingerprint, meter()
    server.reply = lambda seen: ["y" * 24] * seen.n
    await port(server, retry=ONCE).sample([HumanMessage("x" * 400)], n=3, meter=spent)
    told = spent.usage()
    assert (told["prompt_tokens"], told["completion_tokens"]) == counted


@pytest.mark.parametrize(("told", "counted"), [(900, 900), (2000, 1000), (None, 0), (-1, 0)])
async def test_prompt_tokens_that_the_server_had_read_before_are_counted(
    server: FakeServer, told: int | None, counted: int
) -> None:
    spent = meter()
    server.usage = {**size(1000, 9), "prompt_tokens_details": {"cached_tokens": told}}
    await port(server).sample(ASK, n=1, meter=spent)
    usage = spent.usage()
    assert (usage["prompt_tokens"], usage["cached_prompt_tokens"]) == (1000, counted)


async def test_a_model_that_follows_the_seed_gets_one_for_each_draw_and_the_same_again(
    server: FakeServer,
) -> None:
    async def sent(seed: int, **settings: Any) -> list[Any]:
        asked = port(server, **settings)
        for draw in (Draw("p", "0"), Draw("p", "0", 1), Draw("p", "3")):
            await asked.sample(ASK, draw=draw, parameters={"seed": seed})
        return [seen.body.get("seed") for seen in server.seen[-3:]]

    first = await sent(7, seeded=True)
    assert len(set(first)) == 3 and all(0 <= seed < 2**31 for seed in first)
    assert await sent(7, seeded=True) == first
    assert not set(await sent(8, seeded=True)) & set(first)
    assert await sent(7) == [None] * 3, "other models are sent none"


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
    assert await asked.sample(ASK, n=2, role="vote", stop=["\n"]) == ["first", "second"]
    assert await asked.sample(ASK, n=3, role="value") == ["sure"] * 3
    kept = [(call.role, call.prompt, call.draw, call.n, call.stop) for call in model.seen[:2]]
    assert kept[0] == ("generate", "which way", Draw("p", "7"), 2, None)
    assert kept[1] == ("vote", "which way", None, 2, ["\n"])
    for role in ("score", "vote"):
        with pytest.raises(UnexpectedCall, match=rf"for .*role='{role}'"):
            await asked.sample(ASK, role=role, n=3)


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

    recorded = await talk(port(server, cache=SqliteStore(file), replay="record"), "run 1")
    assert len(server.seen) == 4, "equal prompts at different thoughts are different draws"
    replaying = port(server, cache=SqliteStore(file), replay="replay")
    assert await talk(replaying, "run 2") == recorded
    spent = meter(requests=0)
    assert await replaying.sample(ASK, n=2, draw=Draw("p", "1"), meter=spent) == recorded[2]
    assert spent.usage() == {"cached": 1, "roles": {"generate": {"cached": 1}}}
    recorded_as: dict[str, Any] = {"n": 2, "draw": Draw("p", "1")}
    for different in ({"n": 3}, {"stop": ["x"]}, {"parameters": {"temperature": 1.0}}):
        with pytest.raises(ReplayMiss, match="record again"):
            await replaying.sample(ASK, **{**recorded_as, **different})
    assert len(server.seen) == 4
    forgetful = port(server, cache=SqliteStore(file))
    assert await forgetful.sample(ASK, **recorded_as) != recorded[2]
    assert len(server.seen) == 5, "a generation is asked for anew unless a replay is wanted"


async def test_an_answer_that_cannot_be_kept_is_used(server: FakeServer, tmp_path: Path) -> None:
    cache = SqliteStore(tmp_path / "a.sqlite")
    asked, spent = port(server, cache=cache, replay="record"), meter()

    def close(seen: Seen) -> str:
        cache.close()
        return "paid for"

    server.reply = close
    assert await asked.sample(ASK, draw=Draw("p", "0"), meter=spent) == ["paid for"]
    assert "name another file" in spent.error
    assert spent.usage()["requests"] == 1
