"""What a server refuses of a call, by its error: a parameter, several samples, or a stream."""

import json
import re
from collections.abc import Collection
from contextlib import suppress
from typing import Any

from thoughtgraph.llm.retry import status_of

STATUSES = frozenset({400, 422, 500, 501})
"""How servers refuse a parameter; 404 is about the model or the path."""
REFUSES_N = frozenset({400, 422, 501})
"""How servers that return one sample a request answer a call for several, whatever they say."""
REFUSES_STREAMS = frozenset({400, 405, 422, 501})
"""How servers refuse a stream, or the option that tells its size."""
NO_EVENTS = "No generations found in stream."
"""LangChain's words for an answer in which no event was: most often a whole completion."""
LENGTH, OPENAIS_LENGTH = "max_tokens", "max_completion_tokens"
"""The longest completion, in most servers' words and in OpenAI's newer ones."""
OTHER_LENGTHS = ("max_output_tokens", "num_predict")
"""What Google's and Ollama's models call `max_tokens`."""
SEED = "seed"
"""The parameter that samplers call by this name."""
SYSTEM = "system"
"""A system message, among the parameters."""
STREAM, SIZE = "stream", "stream_options"
"""The parameters that ask for a stream, and for one that tells its size."""
INSTEAD = {
    "stop": ", and completions are cut when they arrive",
    "n": ", and each sample is asked for alone",
    SYSTEM: ", and its text goes before the first user message",
}
"""What is done about a refused parameter besides."""

_MENTION = re.compile(
    r"(?P<stop>(?<!please )\bstop(?:\b|_?seq))|(?P<temperature>temperature)|(?P<seed>\bseed\b)"
    r"|(?P<top_p>top[_ -]?p\b|nucleus)|(?P<max_tokens>\bmax_?tokens)"
    r"|(?P<max_completion_tokens>max_?completion_?tokens)"
    r"|(?P<n>\bn\b|n_cmpl|candidate_?count|num_return_sequences|best_of"
    r"|(?:one|multiple|number of) (?:chat |completion )?"
    r"(?:choice|completion|candidate|output|response|sample|generation|sequence))"
    r"|(?P<system>\broles?\b|[\"'`]system|(?:system|developer)[ _-]?(?:message|prompt|instruction)"
    r"|(?:user|first) message)",
    re.A,
)
_REFUSAL = re.compile(
    r"\bnot?\b|n't|\bcannot|must|only|should|require|\bun(?:supported|recogni|known|expected)"
    r"|\binvalid\b|incompatible|disabled|deprecated|fixed|exclusive|range|out of|instead|'param': '"
    r"|不|无效|サポート|지원"
)
_TOO_LARGE = re.compile(r"context|too |at least|maxim|exceed| than|limit|range")
_UNSUPPORTED = re.compile(
    "n.?t (?:be )?(?:support|allow|permit)|unsupported|unknown|unrecogni|extra"
)
_TOGETHER = re.compile("both|together|exclusive|same time|only one|同时")


def refused_parameter(error: BaseException, sent: Collection[str]) -> str:
    """Returns the parameter that a server refuses; empty where its error names none that was sent.

    It is the first that is named. Of two that exclude each other, `temperature` stays. A bound that
    is too large is no refused parameter: without it completions would have no end.

    Args:
        error: The failure of a call.
        sent: The parameters that were sent, `system` for a system message.
    """
    # Without the escapes of JSON in JSON.
    text = f"{error} {getattr(error, 'body', '')}".lower().replace("\\n", "\n")
    if status_of(error) not in STATUSES or not _REFUSAL.search(text):
        return ""
    named = [each.lastgroup or "" for each in _MENTION.finditer(text)]
    too_large = _TOO_LARGE.search(text) and not _UNSUPPORTED.search(text)
    bounds = {LENGTH, OPENAIS_LENGTH} if too_large else set()
    named = [name for name in named if name in sent and name not in bounds]
    if "top_p" in named and _TOGETHER.search(text):
        return "top_p"
    return next(iter(named), "")


def left_out(error: BaseException, sent: Collection[str], n: int, refused: Collection[str]) -> str:
    """Returns what to leave out of the next attempt of a call; empty where nothing may help.

    Args:
        error: How this attempt failed.
        sent: The parameters that were sent, `system` for a system message.
        n: How many samples it asks for: no stream carries several.
        refused: What was left out of it already.
    """
    names = [refused_parameter(error, {*sent} - {*refused})]
    if n > 1:
        names += ["n"] if status_of(error) in REFUSES_N else []
    elif isinstance(error, ValueError) and str(error) == NO_EVENTS:
        names.append(STREAM)
    elif status_of(error) in REFUSES_STREAMS:
        request = getattr(getattr(error, "response", None), "request", None)
        body: Any = None
        with suppress(ValueError, RecursionError):
            body = json.loads(getattr(request, "content", b""))
        names += [SIZE, STREAM] if isinstance(body, dict) and body.get(STREAM) else []
    return next((each for each in names if each and each not in refused), "")
