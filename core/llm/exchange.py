"""One question to a chat model, and what is read out of the answer."""

import logging
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from math import ceil
from typing import Any, NamedTuple

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import LLMResult

from thoughtgraph.llm.completions import FAILED, answer_in, finish_reason, metadata_of, text_of
from thoughtgraph.llm.meter import LABEL, prompts, tell
from thoughtgraph.llm.retry import BadAnswer, BrokenOff
from thoughtgraph.llm.store import Answer, digest
from thoughtgraph.usage import Ending

LETTERS_A_TOKEN = 4
"""Rule of thumb for texts whose size must be known before, or is not reported by the server."""
TOKENS_A_SAMPLE = 64
"""Guess at the size of a completion whose length nobody bounds (ours)."""
MOST_TOKENS = 10**9
"""Tokens of one request that can be believed (ours)."""
MOST_LETTERS_A_TOKEN = 16
"""Letters of a completion that are read for each token that was asked for (ours): four times the
rule of thumb, as a token may be a long word or a run of blanks."""
LONGEST_COMPLETION = 400_000
"""Letters of a completion that are read at all (ours): the 100,000 tokens that settings allow."""
SEED_DIGITS = 7
"""Hexadecimal digits of a seed: a positive number of 32 bits wherever it goes."""
ROLE = f"{LABEL}role"
"""Key of a call's metadata: what the call is for."""
DRAW = f"{LABEL}draw"
"""Key of a call's metadata: the `Draw` of its first sample, as a list; None for an evaluation."""
_ENDS = frozenset({"finish_reason", "status"})
"""What says that a completion ended: of chats, and of OpenAI's Responses."""
_LLAMA_CPP = re.compile(r"b\d+-")
"""How the fingerprint of a llama.cpp server begins: its build."""


class Draw(NamedTuple):
    """Which sample of which thought a generation is; part of the key of every recorded generation.

    Equal prompts at different thoughts are different draws, so a recorded run replays exactly.
    """

    problem: str
    thought: str
    """Id of the thought that is expanded."""
    expansion: int = 0
    """How often that thought had been expanded before."""
    first: int = 0
    """Index of the first sample of this request."""


class Request(NamedTuple):
    """One question to the model, before it is known whether it must be asked."""

    messages: Sequence[BaseMessage]
    n: int
    """How many samples are wanted."""
    role: str
    stop: Sequence[str]
    draw: Draw | None
    parameters: Mapping[str, Any]
    length: int | None = None
    """Tokens of the longest completion; None where the model is not told."""
    labels: Mapping[str, Any] = {}
    """What a trace says of the call besides; no part of what is asked."""
    grammar: str = ""
    """What a completion is held to, in GBNF; empty: nothing."""

    def content(self) -> dict[str, Any]:
        """Returns all that determines the answer, the model apart, as JSON-like values."""
        told = ("type", "content", "name", "tool_calls", "tool_call_id")
        return {
            "messages": [[getattr(each, name, None) for name in told] for each in self.messages],
            "n": self.n,
            "stop": self.stop,
            "parameters": self.parameters,
            "draw": self.draw,
            # Only where there is one: what was recorded without keeps its key.
            **({"grammar": self.grammar} if self.grammar else {}),
        }

    def prompt_tokens(self) -> int:
        """Returns the estimated size of the prompt."""
        letters = sum(len(str(message.content)) for message in self.messages)
        return max(1, letters // LETTERS_A_TOKEN)

    def most_tokens(self, n: int) -> int:
        """Returns how many tokens n completions may come to, prompt included, by the estimates."""
        return self.prompt_tokens() + n * (self.length or TOKENS_A_SAMPLE)

    def name(self, at: int) -> str:
        """Names the call for the samples from an index on, whoever is asked for however many."""
        content = {name: value for name, value in self.content().items() if name != "n"}
        return digest({**content, "role": self.role, "at": at})

    def seed(self, at: int) -> int:
        """Returns a seed for the samples from an index on, different for every draw and question.

        With and without a grammar it is the same, so that what the grammar allows is drawn alike.
        """
        content = self._replace(grammar="").content()
        return int(digest({**content, "at": at})[:SEED_DIGITS], 16)

    def tell(self, level: int, message: str, *values: Any) -> None:
        """Logs what becomes of the request, in no text of a model, a person or an endpoint."""
        about = ", ".join(self.labels.get(f"{LABEL}thoughts", ())) or "-"
        tell(level, self.labels, f"%s of thoughts %s {message}", self.role, about, *values)

    def tell_answer(self, answer: Answer, seconds: float) -> None:
        """Logs what the request cost, and its texts where these are wanted."""
        told = "took %.2f s, samples=%d prompt_tokens=%d completion_tokens=%d"
        counts = answer["prompt_tokens"], answer["completion_tokens"]
        self.tell(logging.DEBUG, told, seconds, len(answer["texts"]), *counts)
        # Not by the level that it inherits: DEBUG for all of a program asks for nobody's texts.
        if prompts.level:
            texts = [message.content for message in self.messages], answer["texts"]
            line = "%s asked %r, answered %r"
            tell(logging.DEBUG, self.labels, line, self.role, *texts, to=prompts)


def read(result: LLMResult, request: Request, n: int, *, openai: bool) -> Answer:
    """Returns the texts and the size of a model's answer.

    Args:
        n: How many samples this call asked for; more are dropped.
        openai: Whether the model speaks OpenAI's protocol.

    Raises:
        BadAnswer: There is not one completion in it.
        BrokenOff: A stream of OpenAI's protocol does not say why it ended, or the server ended
            completions by an error, and one at most is left, which would look as if it returned no
            more.
    """
    sent = [(each, metadata_of(each)) for each in result.generations[0]]
    # LangChain names the provider in what a server sent; a double for tests may say nothing at all.
    if openai and any("model_provider" in told and not _ENDS & told.keys() for _, told in sent):
        raise BrokenOff("the stream ended without a finish reason")
    whole = [each for each, told in sent if not FAILED.search(finish_reason(told))]
    if len(whole) < min(2, len(sent)):
        raise BrokenOff("the server says that an error ended the completion")
    if not whole:
        raise BadAnswer("the answer holds no completion")
    longest = min(LONGEST_COMPLETION, (request.length or LONGEST_COMPLETION) * MOST_LETTERS_A_TOKEN)
    texts = [text_of(each)[:longest] for each in whole[:n]]
    answers = [answer_in(*each, request.stop) for each in zip(whole, texts, strict=False)]
    prompt, completion = _sizes(result, request, texts)
    answer: Answer = {
        "texts": [text for text, _ in answers],
        "prompt_tokens": prompt,
        "completion_tokens": completion,
    }
    if cached := _cached(result):
        answer["cached_prompt_tokens"] = min(cached, prompt)
    if incomplete := Counter[Ending](ending for _, ending in answers if ending):
        answer["incomplete"] = dict(incomplete)
    return answer


def _cached(result: LLMResult) -> int:
    """Returns how many of the prompt's tokens the server says it had read before."""
    message = getattr(result.generations[0][0], "message", None)
    counts = message.usage_metadata if isinstance(message, AIMessage) else None
    told = counts.get("input_token_details", {}).get("cache_read") if counts else None
    return told if type(told) is int and told > 0 else 0


def _sizes(result: LLMResult, request: Request, texts: Sequence[str]) -> tuple[int, int]:
    """Returns the tokens of prompt and completions: as reported, else estimated."""
    output = result.llm_output or {}
    usage: Mapping[str, Any] = output.get("token_usage") or {}
    for each in [] if usage else result.generations[0]:
        message = getattr(each, "message", None)
        if isinstance(message, AIMessage) and (counts := message.usage_metadata):
            tokens = counts["input_tokens"], counts["output_tokens"]
            usage = dict(zip(("prompt_tokens", "completion_tokens"), tokens, strict=True))
            break
    prompt, completion = (
        int(told) if isinstance(told, int | float) and 0 < told <= MOST_TOKENS else 0
        for told in map(usage.get, ("prompt_tokens", "completion_tokens"))
    )
    letters = sum(map(len, texts))
    # Of several completions llama.cpp counts the first alone: the others are taken as dense.
    if len(texts) > 1 and _LLAMA_CPP.match(str(output.get("system_fingerprint"))):
        first = len(texts[0])
        completion = ceil(completion * letters / first) if first else 0
    return prompt or request.prompt_tokens(), completion or ceil(letters / LETTERS_A_TOKEN)
