"""Reads a completion as a server sent it: the text without reasoning, and why it ended."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, Generation

from thoughtgraph.usage import Ending

_FINISH_REASONS: Mapping[Ending, str] = {
    "cut_off": "length model_length max_tokens max_output_tokens max_new_tokens error_limit "
    "truncated incomplete model_context_window_exceeded",
    "filtered": "content_filter content_filtered safety image_safety sensitive recitation "
    "blocklist spii prohibited_content guardrail guardrail_intervened moderation error_toxic",
    "refused": "refusal",
    "tool_call": "tool_calls tool_call tool_use function_call malformed_function_call",
}
"""Finish reasons of OpenAI, Anthropic, Google, Cohere, Mistral, Amazon, Zhipu and Ollama."""
_ENDINGS: Mapping[str, Ending] = {
    name: ending for ending, names in _FINISH_REASONS.items() for name in names.split()
}
FAILED = re.compile("error|abort|cancel|timeout|insufficient_system_resource|^load$")
"""Matches the finish reasons of a server that failed."""
_FINISH_FIELDS = ("finish_reason", "stop_reason", "done_reason")

_NAME = (
    r"(?:\w{1,12}:)?\w{0,16}"
    r"(?:think|thought|reason|reflection|monologue|scratchpad|analysis)\w{0,16}"
)
_OPEN = (
    rf"(?:<\|?{_NAME}(?:\s[^<>\n]{{0,80}})?\|?>|(?-i:\[(?:THINK|REASON)(?:ING)?\])|◁think▷"
    r"|<\|channel>thought\b|(?-i:\Aanalysis\s?(?=[A-Z]))"
    r"|(?:<\|start\|>assistant)?<\|channel\|>(?:analysis|commentary)[^\n]{0,80}?<\|message\|>)"
)
_CLOSE = (
    rf"(?:<\|?//?{_NAME}\|?>|\[/(?:think|reason)(?:ing)?\]|◁/think▷|<\|end_(?:of_)?{_NAME}\|>"
    r"|<channel\|>|(?:<\|start\|>assistant)?<\|channel\|>final[^\n]{0,80}?<\|message\|>"
    r"|assistantfinal\s?)"
)
"""Marks around the reasoning of DeepSeek, Qwen and most others, Mistral, Kimi, Cohere, Gemma, and
the channels of gpt-oss, with and without special tokens."""
_FENCE = "(```.*?```)"
_SENTENCE_ENDS = ".!?…。\uff01\uff1f>"
_REASONING = re.compile(
    rf"{_FENCE}|(?:^[ \t\ufeff\u200b>#-]*+|(?<=[{_SENTENCE_ENDS}])|(?<=[{_SENTENCE_ENDS}] )"
    rf"|(?:(?<=[:\uff1a])|(?<=[:\uff1a] ))(?={_OPEN}\s*+[^\s.])){_OPEN}"
    rf"(?! (?:is|are|was|and|or|tags?|marks?|tokens?|means|begins|opens|starts)\b)"
    rf".*?(?:{_CLOSE}|\Z)",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)
_OPENING = re.compile(_OPEN, re.IGNORECASE)
_CLOSING = re.compile(f"{_FENCE}|{_CLOSE}", re.IGNORECASE | re.DOTALL)
_FRAMES = "(?:final_)?answer|response|solution|output"
_FRAME = re.compile(
    rf"\A<(?:{_FRAMES}|\|(?:begin_of_solution|begin_of_box|start_response)\|)>"
    rf"|(?:</(?:{_FRAMES}|s)>|<\|\w{{1,20}}\|>)\Z",
    re.IGNORECASE,
)
"""Tags that some models put around an answer, and special tokens that end it."""
_WORD_END = re.compile(r"[\s\u2e80-\uffff\])}>\"'*`|]")
"""A character that ends a word: a completion that was cut off is kept up to its last one."""


def text_of(generation: Generation | Any) -> str:
    """Returns the text of a completion without reasoning in a field or block of its own."""
    if isinstance(generation, ChatGeneration) and not isinstance(generation.message.content, str):
        return str(generation.message.text)  # the text blocks alone
    return str(generation.text)


def encodable(text: str) -> str:
    """Returns a text with each lone surrogate replaced by U+FFFD.

    An emoji that is cut in two leaves a lone surrogate, which no request can carry.
    """
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def without_reasoning(text: str) -> str:
    r"""Returns a completion without the reasoning between marks.

    An opening mark counts at the start of a line or sentence, or after a colon. A lone closing mark
    ends reasoning that the chat template opened. Reasoning that is never closed extends to the end.
    A mark that a sentence only mentions stays.

    >>> without_reasoning("<think>7 or 8? 7.</think>\n\n8"), without_reasoning("Use <think> tags.")
    ('8', 'Use <think> tags.')
    """
    rest = _REASONING.sub(lambda reasoning: reasoning[1] or "", text)
    mentioned, start = _OPENING.search(rest), 0  # if one mark is mentioned, the other may be too
    for mark in _CLOSING.finditer(rest):
        adjacent = rest[max(0, mark.start() - 1) : mark.start()]
        before = rest[max(0, mark.start() - 9) : mark.start()].rstrip(" \t")[-1:]
        after = rest[mark.end() : mark.end() + 2]
        ends_text = before in _SENTENCE_ENDS or not (adjacent.isspace() or before in "`'\"([")
        plausible = ends_text or (before not in "`'\"" and after[:1] not in " .,;:!?)")
        if not mark[1] and (before == "\n" or after == "\n\n" or (plausible and not mentioned)):
            start = mark.end()
    answer = _FRAME.sub("", rest[start:].strip()).strip()
    return text if answer == text.strip() else answer


def answer_in(
    generation: Generation | Any, text: str, stops: Sequence[str]
) -> tuple[str, Ending | None]:
    """Returns the answer in a completion, and why it is incomplete; None for a whole answer.

    The answer ends at the first stop text, because a server may ignore or refuse these. The last
    word of a completion that was cut off is dropped: it may be part of a word or number.
    """
    answer = without_reasoning(encodable(text))
    # A blank stop text does not match the blanks at the beginning of a completion.
    text_start = len(answer) - len(answer.lstrip())
    positions = (answer.find(stop, text_start if stop.isspace() else 0) for stop in stops if stop)
    end = min((at for at in positions if at >= 0), default=len(answer))
    ending = ending_of(generation, answer)
    if ending == "cut_off" and end == len(answer):
        while end and not _WORD_END.match(answer[end - 1]):
            end -= 1
    return answer[:end], ending


def metadata_of(generation: Generation | Any) -> dict[str, Any]:
    """Returns the metadata that a server sent with a completion."""
    message = getattr(generation, "message", None)
    return {**getattr(message, "response_metadata", {}), **(generation.generation_info or {})}


def finish_reason(metadata: Mapping[str, Any]) -> str:
    """Returns a server's finish reason in lower case; empty if it gave none."""
    details = metadata.get("incomplete_details")  # of OpenAI's Responses API
    reason = details.get("reason") if isinstance(details, Mapping) else None
    reasons = (reason, *(metadata.get(name) for name in _FINISH_FIELDS))
    name = str(next(filter(None, reasons), "")).lower().replace("-", "_")
    return name.removeprefix("finishreason.").removeprefix("finish_reason_")


def ending_of(generation: Generation | Any, text: str) -> Ending | None:
    """Returns why a completion is incomplete, or None; `text` is its text without reasoning."""
    ending = _ENDINGS.get(finish_reason(metadata_of(generation)))
    message = getattr(generation, "message", None)
    if ending or text.strip() or not isinstance(message, AIMessage):
        return ending
    fields = message.additional_kwargs
    if fields.get("refusal"):
        return "refused"
    if message.tool_calls or message.invalid_tool_calls:
        return "tool_call"
    return "empty"
