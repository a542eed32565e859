"""What models of today send beside an answer is read as such: reasoning, and why they stopped."""

import json
from collections import Counter
from itertools import cycle
from typing import Any

import pytest
import worked_searches
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration
from support.asking import completion
from support.fake_server import FakeServer, Fault
from support.scripted import CUT_OFF, REASONING, TRAP, ReasoningChat

import thoughtgraph as tg
from thoughtgraph.llm.completions import encodable, ending_of, without_reasoning

SEARCHES = [
    (method, name)
    for name in worked_searches.names()
    for method in worked_searches.methods_of(name)
]

HARMONY = "<|channel|>analysis<|message|>13?<|end|><|start|>assistant<|channel|>final<|message|>42"
OPENING = ("<think>", "[THINK]", "[THINKING]", "◁think▷", "<seed:think>", "<thought_process>")
THOUGHT = "<|begin_of_thought|>13<|end_of_thought|>"
REMOVED = {
    **{mark: (f"{mark}13{mark[0]}/{mark[1:]}42", "42") for mark in OPENING},
    "blanks before": ("\n  <think>13</think>\n42", "42"),
    "reasoning": ("<reasoning>13</reasoning>\n42", "42"),
    "Cohere": ("<|START_THINKING|>13<|END_THINKING|><|START_RESPONSE|>42<|END_RESPONSE|>", "42"),
    "OpenThinker": (f"{THOUGHT}<|begin_of_solution|>\n42\n<|end_of_solution|>", "42"),
    "Gemma": ("<|channel>thought\n13\n<channel|>42", "42"),
    "gpt-oss": (f"<|start|>assistant{HARMONY}", "42"),
    "gpt-oss, answer alone": ("<|channel|>final<|message|>42", "42"),
    "gpt-oss, tokens left out": ("analysisMaybe 13.assistantfinal42", "42"),
    "gpt-oss, cut off": ("<|channel|>analysis<|message|>13", ""),
    "gpt-oss, constrained": (HARMONY.replace("final", "final <|constrain|>json"), "42"),
    "closing alone": ("Maybe 13.\n</think>\n\n42", "42"),
    "closing alone, no answer": ("So it is 13.</think>", ""),
    "opening named in it": ("In <think> tags? 13.\n</think>\n\n42", "42"),
    "closing named in it": ("<think>I close by </think> later. 13\n</think>\n42", "42"),
    "framed": ("<think>13</think><answer>42</answer>", "42"),
    "after a sentence": ("Let me see. <think>13</think>42", "Let me see. 42"),
    "between steps": ("<think>13</think>Step 1.\n<think>13</think>Step 2.", "Step 1.\nStep 2."),
    "attributes": ('<think type="draft">13</think>42', "42"),
    "after a label": ("Thought 1: <think>Finish[13]</think>42", "Thought 1: 42"),
    "glued": ("So it is 13</think> 42", "42"),
    "frame of GLM": ("<|begin_of_box|>42<|end_of_box|>", "42"),
    "end token": ("42</s>", "42"),
    "cut off later": ("Step 1.\n<think>13", "Step 1."),
    "cut off, Mistral": ("[THINK]13", ""),
}
NAMED = (
    "The tag is: <think>",
    "Use these tags: <think> and </think>.",
    "<think> is the mark that begins it.",
    "The mark is `<think>`.",
    "Reasoning stands between <think> and </think>\nThat is all.",
    "It ends with </think>.",
    "It ends with </think> and then the answer follows.",
    "The token '</think>' is one token.",
    "```\n<think>\nreasoning\n</think>\n```\nThat is the form.",
    "analysis of the numbers gives 42",
)


@pytest.mark.parametrize("name", REMOVED)
def test_reasoning_between_marks_is_no_part_of_an_answer(name: str) -> None:
    sent, answer = REMOVED[name]
    assert without_reasoning(sent) == answer


@pytest.mark.parametrize("text", NAMED)
def test_a_text_that_names_a_mark_stays_whole(text: str) -> None:
    assert without_reasoning(text) == text


def test_half_of_a_character_is_replaced() -> None:
    assert encodable("a\ud83c b") == "a\ufffd b"
    assert encodable("\ud83c\udf89 \ufeffé") == "\U0001f389 \ufeffé"


def told(text: str = "", finish: str = "", **more: Any) -> ChatGeneration:
    """A completion, as LangChain hands on why it ended and what stands beside it."""
    info = {"finish_reason": finish} if finish else {}
    return ChatGeneration(message=AIMessage(text, **more), generation_info=info)


def metadata(**more: Any) -> dict[str, Any]:
    return {"response_metadata": more}


CALL: Any = [{"name": "search", "args": {}, "id": "1"}]
COMPLETIONS: list[tuple[ChatGeneration, str | None]] = [
    (told("42", "stop"), None),
    (told("", "stop"), "empty"),
    (told("<think>13\n", "stop"), "empty"),
    (told("42", **metadata(stop_reason="max_tokens")), "cut_off"),  # Anthropic
    (told("4", "FinishReason.MAX_TOKENS"), "cut_off"),  # Google's enumeration
    (told("4", "FINISH_REASON_MAX_TOKENS"), "cut_off"),  # TGI
    (told("42", **metadata(done_reason="length")), "cut_off"),  # Ollama
    (told(**metadata(incomplete_details={"reason": "max_output_tokens"})), "cut_off"),  # Responses
    (told(**metadata(stop_reason="guardrail_intervened")), "filtered"),  # Amazon
    (told(**metadata(stop_reason="refusal")), "refused"),  # Anthropic
    (told(**metadata(stop_reason="tool_use")), "tool_call"),  # Anthropic
    (told("", "stop", tool_calls=CALL), "tool_call"),  # Ollama
]


@pytest.mark.parametrize(("sent", "ending"), COMPLETIONS, ids=lambda _: "")
def test_why_a_completion_is_no_whole_answer(sent: ChatGeneration, ending: str | None) -> None:
    assert ending_of(sent, without_reasoning(sent.text)) == ending


def asked(model: ReasoningChat) -> Counter[tuple[str, str]]:
    return Counter((call.role, call.prompt) for call in model.seen)


@pytest.mark.parametrize(("search", "where"), [*zip(SEARCHES, cycle(REASONING))], ids=str)
def test_every_method_searches_as_if_nothing_had_been_thought(
    search: tuple[str, str], where: str
) -> None:
    method, name = search
    plain = worked_searches.search(name, method)
    model = ReasoningChat(reply=worked_searches.script(name), sends=REASONING[where])
    out = worked_searches.run(name, method, model)
    assert out["answer"] == plain.result["answer"]
    assert asked(model) == Counter((call.role, call.prompt) for call in plain.calls)
    assert "Lyon" not in json.dumps(out["tree"])


@pytest.mark.ci
@pytest.mark.parametrize(("search", "where"), [*zip(SEARCHES, cycle(CUT_OFF))], ids=str)
def test_no_method_reads_reasoning_that_was_cut_off(search: tuple[str, str], where: str) -> None:
    model = ReasoningChat(reply=lambda call: "", sends=lambda text: CUT_OFF[where])
    out = worked_searches.run(search[1], search[0], model)
    assert out["answer"] is None
    usage, longest = out["usage"], out["settings"]["max_completion_tokens"]
    assert usage["incomplete"] == {"cut_off": usage["samples"]}
    assert f"cut off at max_completion_tokens={longest}; raise it" in out["outcome"]
    assert TRAP not in "".join(call.prompt for call in model.seen)
    assert "Lyon" not in json.dumps(out["tree"])


@pytest.mark.parametrize(
    ("message", "finish", "said"),
    [
        ({"content": None, "reasoning": "The answer is 42"}, "length", "cut off at max_"),
        ({"content": None, "refusal": "I can't say 42."}, "stop", "was refused by the model"),
        ({"content": ""}, "content_filter", "was withheld by a content filter"),
        ({"content": None, "reasoning_content": "It is 42"}, "stop", "was empty, reasoning"),
        ({"content": "The answer is 1,2"}, "length", "cut off at max_"),
        ({"content": "The answer is 42. Let me expl", "reasoning_content": "13?"}, "length", ""),
    ],
)
def test_a_server_whose_answer_is_none_is_told_as_such(
    message: dict[str, Any], finish: str, said: str
) -> None:
    sent = completion(None, usage={"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15})
    sent["choices"][0]["message"].update(message)
    sent["choices"][0]["finish_reason"] = finish
    with FakeServer(fault=lambda seen: Fault(body=json.dumps(sent))) as server:
        out = tg.solve("6 * 7?", task="gsm8k", method="cot", model=server.specifier)
    assert out["answer"] == (None if said else "42")
    assert said in out["outcome"]
    assert said or "cut off" not in out["outcome"], "a whole answer says nothing of its end"
    assert said or out["usage"]["incomplete"] == {"cut_off": 1}
