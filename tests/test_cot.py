from langchain_core.messages import HumanMessage
from support.scripted import ScriptedChat, rng

import thoughtgraph as tg

COMPLETION = "Strategy:\nMultiply.\n\nAnswer:\n6 times 7 is 42, so the answer is 42."
QUESTION = "What is 6 times 7?"


def cot(reply, task="gsm8k"):
    model = ScriptedChat(reply=reply)
    return tg.build("cot", task=task, model=model), model


async def test_one_request_gives_the_answer_after_the_thought():
    graph, model = cot(lambda call: COMPLETION)
    out = await graph.ainvoke({"problem": QUESTION})
    assert out["answer"] == "42"
    assert out["candidates"] == ["42"]
    assert out["stop_reason"] == "finished"
    assert out["tree"]["1"]["text"] == COMPLETION
    assert [call.role for call in model.seen] == ["generate"]
    assert "Make a strategy then write" in model.seen[0].prompt
    assert QUESTION in model.seen[0].prompt


async def test_samples_come_from_one_request_and_keep_their_order():
    graph, model = cot(lambda call: [f"the answer is {n}" for n in (7, 42, 5)])
    out = await graph.ainvoke({"problem": QUESTION}, context={"n_generate": 3})
    assert [call.n for call in model.seen] == [3]
    assert out["candidates"] == ["7", "42", "5"]
    assert out["answer"] == "7"
    assert out["usage"]["requests"] == 1
    assert out["usage"]["samples"] == 3


async def test_an_unreadable_sample_is_counted_and_passed_over():
    graph, _ = cot(lambda call: ["I cannot say", "the answer is 42"])
    out = await graph.ainvoke({"problem": QUESTION}, context={"n_generate": 2})
    assert out["candidates"] == [None, "42"]
    assert out["answer"] == "42"
    assert out["usage"]["parse_errors"] == {"generate": 1}


async def test_no_request_is_sent_when_none_is_allowed():
    graph, model = cot(lambda call: COMPLETION)
    out = await graph.ainvoke({"problem": QUESTION}, context={"limit_requests": 0})
    assert (out["answer"], out["stop_reason"], model.seen) == (None, "budget", [])


async def test_game24_is_asked_with_the_published_frame():
    graph, model = cot(lambda call: "Steps:\n…\nAnswer: (10 - 4) * (13 - 9) = 24", "game24")
    out = await graph.ainvoke({"problem": "4 9 10 13"})
    assert out["answer"] == "(10 - 4) * (13 - 9)"
    assert "only allowed to choose two" in model.seen[0].prompt
    assert model.seen[0].prompt.endswith("Input: 4 9 10 13")


async def test_a_conversation_gets_the_answer_as_a_message():
    graph, _ = cot(lambda call: "Strategy: recall.\nAnswer: the answer is Jupiter.", "question")
    out = await graph.ainvoke({"messages": [HumanMessage("Which planet has the shortest day?")]})
    assert [message.type for message in out["messages"]] == ["human", "ai"]
    assert out["messages"][-1].text == "Jupiter"


async def test_no_text_of_a_model_raises():
    texts = [
        "",
        "\x00\x01\ufffe",
        "9" * 100_000,
        '{"answer": 1}',
        "答えは四十二です",
        "the answer is",
    ]
    for task in ("gsm8k", "strategyqa", "question", "creative_writing", "game24"):
        graph, _ = cot(lambda call: rng(call.prompt, call.n).sample(texts, call.n), task)
        problem = {
            "game24": "4 9 10 13",
            "creative_writing": "It was late. He sat. She ran. Nobody cared.",
        }.get(task, QUESTION)
        out = await graph.ainvoke({"problem": problem}, context={"n_generate": len(texts)})
        assert len(out["candidates"]) == len(texts)
