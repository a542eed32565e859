"""What models of today send beside an answer is read as such: reasoning, and why they stopped."""

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest
import worked_searches
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration
from support.fake_server import FakeServer, Fault
from support.scripted import CUT_OFF, REASONING, TRAP, ReasoningChat

import thoughtgraph as tg
from thoughtgraph.llm.completions import encodable, ending_of, without_reasoning

SEARCHES = [
    (method, name)
    for name in worked_searches.names()
    for method in worked_searches.methods_of(name)
]
COSTS = ("prompt_tokens", "completion_tokens", "seconds", "dollars", "roles")

HARMONY = "<|channel|>analysis<|message|>13?<|end|><|start|>assistant<|channel|>final<|message|>42"
REMOVED = {
    "think": ("<think>13</think>42", "42"),
    "think, lines": ("<think>\n13\n</think>\n\n42", "42"),
    "blanks before": ("\n  <think>13</think>\n42", "42"),
    "nothing thought": ("<think>\n\n</think>\n\n42", "42"),
    "capitals": ("<THINK>13</Think> 42", "42"),
    "thinking": ("<thinking>13</thinking>42", "42"),
    "thought": ("<thought>13</thought>\n42", "42"),
    "reasoning": ("<reasoning>13</reasoning>\n42", "42"),
    "pipes": ("<|thinking|>13<|/thinking|>42", "42"),
    "Mistral": ("[THINK]13[/THINK]42", "42"),
    "Kimi": ("◁think▷13◁/think▷42", "42"),
    "Seed": ("<seed:think>13</seed:think>42", "42"),
    "Cohere": ("<|START_THINKING|>13<|END_THINKING|><|START_RESPONSE|>42<|END_RESPONSE|>", "42"),
    "OpenThinker": (
        "<|begin_of_thought|>13<|end_of_thought|><|begin_of_solution|>\n42\n<|end_of_solution|>",
        "42",
    ),
    "Gemma": ("<|channel>thought\n13\n<channel|>42", "42"),
    "gpt-oss": (HARMONY, "42"),
    "gpt-oss, from its start": (f"<|start|>assistant{HARMONY}", "42"),
    "gpt-oss, ended": (f"{HARMONY}<|return|>", "42"),
    "gpt-oss, two channels": (HARMONY.replace("13?", "13?<|channel|>commentary<|message|>"), "42"),
    "gpt-oss, answer alone": ("<|channel|>final<|message|>42", "42"),
    "gpt-oss, tokens left out": ("analysisMaybe 13.assistantfinal42", "42"),
    "gpt-oss, cut off": ("<|channel|>analysis<|message|>13", ""),
    "closing alone": ("Maybe 13.\n</think>\n\n42", "42"),
    "closing alone, one line": ("Maybe 13.</think>42", "42"),
    "closing alone, Mistral": ("Maybe 13.\n[/THINK]\n42", "42"),
    "closing alone, quotes after it": ('It is 13</think>"42"', '"42"'),
    "closing alone, no answer": ("So it is 13.</think>", ""),
    "opening named in it": ("In <think> tags? 13.\n</think>\n\n42", "42"),
    "closing named in it": ("<think>I close by </think> later. 13\n</think>\n42", "42"),
    "quoted in it": ('<think>He said "13"</think>42', "42"),
    "framed": ("<think>13</think><answer>42</answer>", "42"),
    "after a sentence": ("Let me see. <think>13</think>42", "Let me see. 42"),
    "between steps": ("<think>13</think>Step 1.\n<think>13</think>Step 2.", "Step 1.\nStep 2."),
    "gpt-oss, constrained": (HARMONY.replace("final", "final <|constrain|>json"), "42"),
    "cut off": ("<think>13", ""),
    "cut off at once": ("<think>", ""),
    "cut off later": ("Step 1.\n<think>13", "Step 1."),
    "cut off, Mistral": ("[THINK]13", ""),
}
NAMED = (
    "Use <think> tags.",
    "<think> is the mark that begins it.",
    "The mark is `<think>`.",
    "`<think>` begins it and `</think>` ends it.",
    "Reasoning stands between <think> and </think>.",
    "Reasoning stands between <think> and </think>\nThat is all.",
    "It ends with </think>.",
    "It ends with </think>",
    "It ends with </think> and then the answer follows.",
    "The token '</think>' is one token.",
    "```\n<think>\nreasoning\n</think>\n```\nThat is the form.",
    "An analysis: 42",
    "analysis of the numbers gives 42",
    "The thought <i>counts</i>.",
    "I think: 42 > 13",
    "A [THINK] mark begins it.",
    "The final channel is <|channel|>.",
    "Put it between <think>...</think>tags.",
    "Here is my thought process: 6 * 7 = 42.",
)


@pytest.mark.parametrize("name", REMOVED)
def test_reasoning_between_marks_is_no_part_of_an_answer(name: str) -> None:
    sent, answer = REMOVED[name]
    assert without_reasoning(sent) == answer


@pytest.mark.parametrize("text", NAMED)
def test_a_text_that_names_a_mark_stays_whole(text: str) -> None:
    assert without_reasoning(text) == text


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("a\ud83c", "a\ufffd"),
        ("\udf89a", "\ufffda"),
        ("a\ud83c b", "a\ufffd b"),
        ("\ud83c\udf89", "\U0001f389"),
        ("é 🎉", "é 🎉"),
        ("\ufeffé", "\ufeffé"),
    ],
)
def test_half_of_a_character_is_replaced(sent: str, kept: str) -> None:
    assert encodable(sent) == kept
    encodable(sent).encode()


MESSAGES: Mapping[str, tuple[AIMessage, dict[str, Any], str | None]] = {
    "whole": (AIMessage("42"), {"finish_reason": "stop"}, None),
    "nothing said": (AIMessage("42"), {}, None),
    "empty": (AIMessage(""), {"finish_reason": "stop"}, None),
    "OpenAI, length": (AIMessage("42"), {"finish_reason": "length"}, "cut_off"),
    "Anthropic, length": (
        AIMessage("42", response_metadata={"stop_reason": "max_tokens"}),
        {},
        "cut_off",
    ),
    "Google, length": (AIMessage("42"), {"finish_reason": "MAX_TOKENS"}, "cut_off"),
    "Mistral, length": (AIMessage("42"), {"finish_reason": "model_length"}, "cut_off"),
    "Ollama, length": (
        AIMessage("42", response_metadata={"done_reason": "length"}),
        {},
        "cut_off",
    ),
    "Responses, length": (
        AIMessage("", response_metadata={"incomplete_details": {"reason": "max_output_tokens"}}),
        {},
        "cut_off",
    ),
    "OpenAI, filter": (AIMessage(""), {"finish_reason": "content_filter"}, "filtered"),
    "Google, filter": (AIMessage(""), {"finish_reason": "SAFETY"}, "filtered"),
    "Amazon, filter": (
        AIMessage("", response_metadata={"stop_reason": "guardrail_intervened"}),
        {},
        "filtered",
    ),
    "Anthropic, refusal": (
        AIMessage("", response_metadata={"stop_reason": "refusal"}),
        {},
        "refused",
    ),
    "OpenAI, refusal": (
        AIMessage("", additional_kwargs={"refusal": "I can't."}),
        {"finish_reason": "stop"},
        "refused",
    ),
    "OpenAI, tool": (AIMessage(""), {"finish_reason": "tool_calls"}, "tool_call"),
    "Anthropic, tool": (
        AIMessage("", response_metadata={"stop_reason": "tool_use"}),
        {},
        "tool_call",
    ),
    "Ollama, tool": (
        AIMessage("", tool_calls=[{"name": "search", "args": {}, "id": "1"}]),
        {"finish_reason": "stop"},
        "tool_call",
    ),
    "stopped while it reasoned": (
        AIMessage("<think>13\n"),
        {"finish_reason": "stop"},
        "reasoning_only",
    ),
    "all in the field": (
        AIMessage("", additional_kwargs={"reasoning_content": "42"}),
        {"finish_reason": "stop"},
        "reasoning_only",
    ),
    "all in a block": (
        AIMessage([{"type": "thinking", "thinking": "42"}]),
        {"finish_reason": "stop"},
        "reasoning_only",
    ),
}


@pytest.mark.parametrize("name", MESSAGES)
def test_why_a_completion_is_no_whole_answer(name: str) -> None:
    message, info, ending = MESSAGES[name]
    sent = ChatGeneration(message=message, generation_info=info)
    assert ending_of(sent, without_reasoning(sent.text)) == ending


def asked(model: ReasoningChat) -> Counter[tuple[str, str]]:
    return Counter((call.role, call.prompt) for call in model.seen)


@pytest.mark.parametrize("where", REASONING)
@pytest.mark.parametrize(("method", "name"), SEARCHES)
def test_every_method_searches_as_if_nothing_had_been_thought(
    method: str, name: str, where: str
) -> None:
    plain = worked_searches.search(name, method)
    model = ReasoningChat(reply=worked_searches.script(name), sends=REASONING[where])
    out = worked_searches.run(name, method, model)
    assert out["answer"] == plain.result["answer"]
    assert asked(model) == Counter((call.role, call.prompt) for call in plain.calls)
    counters = {key: value for key, value in out["usage"].items() if key not in COSTS}
    assert counters == {k: v for k, v in plain.result["usage"].items() if k not in COSTS}
    assert "Lyon" not in json.dumps(out["tree"])


@pytest.mark.parametrize("where", CUT_OFF)
@pytest.mark.parametrize(("method", "name"), SEARCHES)
def test_no_method_reads_reasoning_that_was_cut_off(method: str, name: str, where: str) -> None:
    model = ReasoningChat(reply=lambda call: "", sends=lambda text: CUT_OFF[where])
    out = worked_searches.run(name, method, model)
    assert out["answer"] is None
    usage, longest = out["usage"], out["settings"]["max_completion_tokens"]
    assert usage["incomplete"] == {"cut_off": usage["samples"]}
    assert f"cut off at max_completion_tokens={longest}; raise it" in out["outcome"]
    assert TRAP not in "".join(call.prompt for call in model.seen)
    assert "Lyon" not in json.dumps(out["tree"])


def answer_of(message: dict[str, Any], finish: str) -> dict[str, Any]:
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", **message}}
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    body = json.dumps({"id": "1", "model": "fake", "choices": [choice], "usage": usage})
    with FakeServer(fault=lambda seen: Fault(body=body)) as server:
        return dict(tg.solve("6 * 7?", task="gsm8k", method="cot", model=server.specifier))


@pytest.mark.parametrize(
    ("message", "finish", "said"),
    [
        ({"content": None, "reasoning": "The answer is 42"}, "length", "cut off at max_"),
        ({"content": None, "refusal": "I can't say 42."}, "stop", "was refused by the model"),
        ({"content": ""}, "content_filter", "was withheld by a content filter"),
        ({"content": None, "reasoning_content": "The answer is 42"}, "stop", "none could be read"),
    ],
)
def test_a_server_whose_answer_is_none_is_told_as_such(
    message: dict[str, Any], finish: str, said: str
) -> None:
    out = answer_of(message, finish)
    assert out["answer"] is None
    assert said in out["outcome"]


def test_an_answer_beside_reasoning_says_nothing_of_its_end() -> None:
    out = answer_of({"content": "The answer is 42", "reasoning_content": "13?"}, "length")
    assert out["answer"] == "42"
    assert out["usage"]["incomplete"] == {"cut_off": 1}
    assert "cut off" not in out["outcome"]
