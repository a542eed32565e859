"""A completion as a server sends it: its text without the model's reasoning, and how it ended."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, Generation

from thoughtgraph.usage import Ending

_FINISH_REASONS: Mapping[Ending, str] = {
    "cut_off": "length model_length max_tokens max_output_tokens model_context_window_exceeded",
    "filtered": "content_filter content_filtered safety sensitive recitation blocklist spii "
    "prohibited_content guardrail_intervened",
    "refused": "refusal",
    "tool_call": "tool_calls tool_call tool_use function_call malformed_function_call",
}
"""What OpenAI, Anthropic, Google, Cohere, Mistral, Amazon, Zhipu and Ollama call each."""
_ENDINGS = {name: ending for ending, names in _FINISH_REASONS.items() for name in names.split()}
_FINISH_FIELDS = ("finish_reason", "stop_reason", "done_reason")

_NAMES = r"(?:seed:)?(?:think(?:ing)?|thoughts?|reasoning|scratchpad)"
_OPEN = (
    rf"(?:<\|?{_NAMES}\|?>|\[THINK\]|◁think▷|<\|(?:begin_of_thought|start_thinking)\|>"
    r"|<\|channel>thought\b|(?-i:\Aanalysis(?=[A-Z]))"
    r"|(?:<\|start\|>assistant)?<\|channel\|>(?:analysis|commentary)[^\n]{0,80}?<\|message\|>)"
)
_CLOSE = (
    rf"(?:<\|?/{_NAMES}\|?>|\[/THINK\]|◁/think▷|<\|(?:end_of_thought|end_thinking)\|>|<channel\|>"
    r"|(?:<\|start\|>assistant)?<\|channel\|>final[^\n]{0,80}?<\|message\|>|assistantfinal(?=\S))"
)
"""Marks around reasoning: of DeepSeek, Qwen and most others, Mistral, Kimi, Cohere, Gemma, and the
channels of gpt-oss, with and without special tokens."""
_FENCE = "(```.*?```)"
_SENTENCE_ENDS = ".!?…。\uff01\uff1f>"
_REASONING = re.compile(
    rf"{_FENCE}|(?:^[ \t]*+|(?<=[{_SENTENCE_ENDS}])|(?<=[{_SENTENCE_ENDS}] )){_OPEN}"
    rf"(?! (?:is|are|was|and|or|tags?|marks?|tokens?|means|begins|opens|starts)\b)"
    rf".*?(?:{_CLOSE}|\Z)",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)
_OPENING = re.compile(_OPEN, re.IGNORECASE)
_CLOSING = re.compile(f"{_FENCE}|{_CLOSE}", re.IGNORECASE | re.DOTALL)
_FRAME = re.compile(
    r"\A<\|?(?:answer|response|begin_of_solution|start_response)\|?>"
    r"|<(?:/(?:answer|response)|\|(?:end_of_solution|end_response|end|return)\|)>\Z",
    re.IGNORECASE,
)
"""What some models put around the answer that follows their reasoning."""


def text_of(generation: Generation | Any) -> str:
    """Returns the text of a completion; reasoning in a field or a block of its own is none."""
    if isinstance(generation, ChatGeneration) and not isinstance(generation.message.content, str):
        return str(generation.message.text)  # the blocks of text
    return str(generation.text)


def encodable(text: str) -> str:
    """Returns a text with U+FFFD for each lone half of a surrogate pair.

    An emoji that is cut in two leaves one, and no request can carry it.
    """
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def without_reasoning(text: str) -> str:
    r"""Returns a completion without the reasoning between marks.

    Reasoning begins where a line or a sentence does. A closing mark alone ends reasoning that the
    chat template began. Reasoning that is never closed leaves nothing. A mark that a sentence
    merely names stays.

    >>> without_reasoning("<think>7 or 8? 7.</think>\n\n8"), without_reasoning("Use <think> tags.")
    ('8', 'Use <think> tags.')
    """
    rest = _REASONING.sub(lambda reasoning: reasoning[1] or "", text)
    named, at = _OPENING.search(rest), 0  # where one mark is named, the other may be too
    for mark in _CLOSING.finditer(rest):
        before = rest[max(0, mark.start() - 9) : mark.start()].rstrip(" \t")[-1:]
        after = rest[mark.end() : mark.end() + 2]
        weak = before in _SENTENCE_ENDS or (before not in "`'\"" and after[:1] not in " .,;:!?)")
        if not mark[1] and (before == "\n" or after == "\n\n" or (weak and not named)):
            at = mark.end()
    return text if rest[at:] == text else _FRAME.sub("", rest[at:].strip()).strip()


def stopped_at(text: str, stops: Sequence[str]) -> str:
    """Returns a completion up to the first of some stop texts, as a server would have ended it.

    A server may ignore or refuse them. Blanks that a completion begins with do not end it.
    """
    begin = len(text) - len(text.lstrip())
    starts = (text.find(stop, begin if stop.isspace() else 0) for stop in stops if stop)
    return text[: min((at for at in starts if at >= 0), default=None)]


def metadata_of(generation: Generation | Any) -> dict[str, Any]:
    """Returns what a server said of a completion."""
    message = getattr(generation, "message", None)
    return {**getattr(message, "response_metadata", {}), **(generation.generation_info or {})}


def finish_reason(metadata: Mapping[str, Any]) -> str:
    """Returns what a server calls the end of a completion, in lower case; empty for nothing."""
    details = metadata.get("incomplete_details")  # of OpenAI's Responses API
    reason = details.get("reason") if isinstance(details, Mapping) else None
    reasons = (reason, *(metadata.get(name) for name in _FINISH_FIELDS))
    return str(next(filter(None, reasons), "")).lower()


def ending_of(generation: Generation | Any, text: str) -> Ending | None:
    """Returns why a completion is no whole answer; None where nothing says so.

    Args:
        generation: The completion.
        text: Its text, without reasoning.
    """
    ending = _ENDINGS.get(finish_reason(metadata_of(generation)))
    message = getattr(generation, "message", None)
    if ending or text.strip() or not isinstance(message, AIMessage):
        return ending
    fields = message.additional_kwargs
    if fields.get("refusal"):
        return "refused"
    if message.tool_calls or message.invalid_tool_calls:
        return "tool_call"
    reasoning = message.content or fields.get("reasoning_content") or fields.get("reasoning")
    return "reasoning_only" if reasoning else None
