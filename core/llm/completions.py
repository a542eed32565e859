"""A completion as a server sends it: its text without the model's reasoning, and how it ended."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, Generation

from thoughtgraph.usage import Ending

_FINISH_REASONS: Mapping[Ending, str] = {
    "cut_off": "length max_length model_length token_limit context_length max_tokens "
    "max_output_tokens max_completion_tokens model_context_window_exceeded",
    "filtered": "content_filter content_filtered safety sensitive recitation blocklist spii "
    "prohibited_content guardrail_intervened language",
    "refused": "refusal refused",
    "tool_call": "tool_calls tool_call tool_use function_call malformed_function_call",
}
"""What OpenAI, Anthropic, Google, Cohere, Mistral, Amazon, Zhipu and Ollama call each."""
_ENDINGS = {name: ending for ending, names in _FINISH_REASONS.items() for name in names.split()}
_FINISH_FIELDS = ("finish_reason", "stop_reason", "done_reason")

_NAMES = r"(?:seed:|antml:)?(?:think(?:ing)?|thoughts?|reasoning|scratchpad)"
_MARK = re.compile(
    rf"(<\|?{_NAMES}\|?>|\[THINK\]|◁think▷|<\|(?:begin_of_thought|start_thinking|inner_prefix)\|>"
    r"|<\|channel>thought\b|<\|channel\|>(?:analysis|commentary)[^<\n]{0,80}<\|message\|>"
    r"|(?-i:\Aanalysis(?=[A-Z]))|\Ahere(?:'s| is) my thought process:)"
    rf"|<\|?/{_NAMES}\|?>|\[/THINK\]|◁/think▷|<\|(?:end_of_thought|end_thinking|inner_suffix)\|>"
    r"|<channel\|>|(?:<\|start\|>assistant)?<\|channel\|>final(?:[^<\n]{0,20}<\|constrain\|>)?"
    r"[^<\n]{0,80}<\|message\|>"
    r"|assistantfinal(?=\S)|^here(?:'s| is) my response:",
    re.IGNORECASE | re.MULTILINE,
)
"""Marks around reasoning; group 1 opens. Those of DeepSeek, Qwen and most others, Mistral, Kimi,
Cohere, Apertus, Gemma, Granite, and the channels of gpt-oss, with and without special tokens."""
_FRAME = re.compile(
    r"\A<(?:answer|response)>|</(?:answer|response)>\Z"
    r"|\A<\|(?:begin_of_solution|start_response)\|>"
    r"|<\|(?:end_of_solution|end_response|end|return)\|>\Z",
    re.IGNORECASE,
)
"""What some models put around the answer that follows their reasoning."""
_SUBJECT = re.compile(r"`? (?:is|are|was|and|or|tags?|marks?|tokens?|means|begins|opens|starts)\b")
"""What follows a mark that a sentence is about."""
_QUOTES = "`'\"“”\u2018\u2019«»"
_SENTENCE_ENDS = ".!?…。\uff01\uff1f>"


def text_of(generation: Generation | Any) -> str:
    """Returns the text of a completion; reasoning in a field or a block of its own is none."""
    if isinstance(generation, ChatGeneration) and not isinstance(generation.message.content, str):
        return str(generation.message.text)  # the blocks of text
    return str(generation.text)


def encodable(text: str) -> str:
    """Returns a text with U+FFFD for each lone half of a surrogate pair.

    An emoji that is cut in two leaves one, and no request can carry it.
    """
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def without_reasoning(text: str) -> str:
    r"""Returns a completion without the reasoning between marks.

    Reasoning begins where a line or a sentence does. A closing mark alone ends reasoning that the
    chat template began. Reasoning that is never closed leaves nothing. A mark that a sentence
    merely names stays.

    >>> without_reasoning("<think>7 or 8? 7.</think>\n\n8"), without_reasoning("Use <think> tags.")
    ('8', 'Use <think> tags.')
    """
    kept: list[str] = []
    at, begin, named, fences, seen = 0, -1, False, 0, 0
    for mark in _MARK.finditer(text):
        if begin < 0:
            fences += text.count("```", seen, mark.start())
        seen = mark.end()
        quoted = _is_quoted(text, mark) or fences % 2 == 1
        if mark[1]:
            if begin < 0 and not quoted and _starts_sentence(text, mark):
                begin = mark.start()
            named = named or begin < 0
        elif begin >= 0 and not quoted:
            kept.append(text[at:begin])
            at, begin = mark.end(), -1
        elif begin < 0 and not quoted and _closes(text, mark, named=named):
            kept, at = [], mark.end()
    end = begin if begin >= 0 and not _SUBJECT.match(text, seen) else len(text)
    if at == 0 and end == len(text):
        return text
    return _FRAME.sub("", "".join([*kept, text[at:end]]).strip()).strip()


def stopped_at(text: str, stops: Sequence[str]) -> str:
    """Returns a completion up to the first of some stop texts, as a server would have ended it.

    A server may ignore or refuse them. Blanks that a completion begins with do not end it.
    """
    begin = len(text) - len(text.lstrip())
    starts = (text.find(stop, begin if stop.isspace() else 0) for stop in stops if stop)
    return text[: min((at for at in starts if at >= 0), default=None)]


def _is_quoted(text: str, mark: re.Match[str]) -> bool:
    around = text[max(0, mark.start() - 1) : mark.start()], text[mark.end() : mark.end() + 1]
    return all(letter and letter in _QUOTES for letter in around)


def _starts_sentence(text: str, mark: re.Match[str]) -> bool:
    before = text[max(0, mark.start() - 100) : mark.start()].rstrip(" \t")
    return not before or before[-1] in f"\n{_SENTENCE_ENDS}"


def _closes(text: str, mark: re.Match[str], *, named: bool) -> bool:
    """Returns whether a closing mark without an opening one ends reasoning.

    Args:
        text: The completion.
        mark: The closing mark.
        named: Whether the text names an opening mark before, so that it may name this one too.
    """
    after = text[mark.end() : mark.end() + 2]
    if named:
        return after == "\n\n" or text[: mark.start()].endswith("\n")
    if (after[:1].isspace() and after[0] != "\n") or not after:
        return _starts_sentence(text, mark)
    return after[0] == "\n" or after[0] not in ".,;:!?)"


def ending_of(generation: Generation | Any, text: str) -> Ending | None:
    """Returns why a completion is no whole answer; None where nothing says so.

    Args:
        generation: The completion.
        text: Its text, without reasoning.
    """
    message = generation.message if isinstance(generation, ChatGeneration) else AIMessage("")
    reason = _finish_reason({**message.response_metadata, **(generation.generation_info or {})})
    if ending := _ENDINGS.get(reason):
        return ending
    if text.strip() or not isinstance(message, AIMessage):
        return None
    fields = message.additional_kwargs
    if fields.get("refusal"):
        return "refused"
    if message.tool_calls or message.invalid_tool_calls:
        return "tool_call"
    reasoning = generation.text or message.content or fields.get("reasoning_content")
    return "reasoning_only" if reasoning or fields.get("reasoning") else None


def _finish_reason(metadata: Mapping[str, Any]) -> str:
    """Returns what a server calls the end of a completion, in lower case; empty for nothing."""
    details = metadata.get("incomplete_details")  # of OpenAI's Responses API
    reason = details.get("reason") if isinstance(details, Mapping) else None
    reasons = (reason, *(metadata.get(name) for name in _FINISH_FIELDS))
    return str(next(filter(None, reasons), "")).lower().replace("-", "_")
