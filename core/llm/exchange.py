"""A request to a chat model, and how its answer is read."""

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
"""Rule of thumb for sizes that are estimated before a request, or that no server reports."""
TOKENS_A_SAMPLE = 64
"""Estimated size of a completion without a bound on its length (ours)."""
MOST_TOKENS = 10**9
"""Largest number of tokens that is believed when a server reports it for a request (ours)."""
MOST_LETTERS_A_TOKEN = 16
"""Letters of a completion that are read for each token of its bound (ours): four times the rule of
thumb, as a token may be a long word or a run of blanks."""
LONGEST_COMPLETION = 400_000
"""Letters of a completion that are read at all (ours): the 100,000 tokens that settings allow."""
SEED_DIGITS = 7
"""Hexadecimal digits of a seed: few enough for a positive number of 32 bits, signed or not."""
ROLE = f"{LABEL}role"
"""Key of a call's metadata: the role of the call."""
DRAW = f"{LABEL}draw"
"""Key of a call's metadata: the `Draw` of its first sample, as a list; None for an evaluation."""
_ENDS = frozenset({"finish_reason", "status"})
"""Metadata keys that show how a completion ended: of chats, and of OpenAI's Responses API."""
_LLAMA_CPP = re.compile(r"b\d+-")
"""Matches the beginning of a llama.cpp server's fingerprint, which is its build."""


class Draw(NamedTuple):
    """Identifies a generation by thought and sample; part of the key under which it is recorded.

    Equal prompts at different thoughts are different draws, so a recorded run replays exactly.
    """

    problem: str
    thought: str
    """Id of the thought that is expanded."""
    expansion: int = 0
    """How often that thought was expanded before."""
    first: int = 0
    """Index of the first sample of this request."""


class Request(NamedTuple):
    """A request for completions, whether the model or a store answers it."""

    messages: Sequence[BaseMessage]
    n: int
    """Number of samples."""
    role: str
    stop: Sequence[str]
    draw: Draw | None
    parameters: Mapping[str, Any]
    length: int | None = None
    """Bound on each completion, in tokens; None where the model gets no bound."""
    labels: Mapping[str, Any] = {}
    """Further metadata for traces and logs; no part of the question."""
    grammar: str = ""
    """Grammar that constrains each completion, in GBNF; empty for none."""

    def content(self) -> dict[str, Any]:
        """Returns everything but the model that determines the answer, as JSON-like values."""
        fields = ("type", "content", "name", "tool_calls", "tool_call_id")
        return {
            "messages": [[getattr(each, name, None) for name in fields] for each in self.messages],
            "n": self.n,
            "stop": self.stop,
            "parameters": self.parameters,
            "draw": self.draw,
            # Left out if empty, so that earlier recordings keep their keys.
            **({"grammar": self.grammar} if self.grammar else {}),
        }

    def prompt_tokens(self) -> int:
        """Returns the estimated size of the prompt in tokens."""
        letters = sum(len(str(message.content)) for message in self.messages)
        return max(1, letters // LETTERS_A_TOKEN)

    def most_tokens(self, n: int) -> int:
        """Returns the estimated maximum of tokens for the prompt and n completions."""
        return self.prompt_tokens() + n * (self.length or TOKENS_A_SAMPLE)

    def name(self, at: int) -> str:
        """Returns the key of the call for samples from index `at` on, for any model and any n."""
        content = {name: value for name, value in self.content().items() if name != "n"}
        return digest({**content, "role": self.role, "at": at})

    def seed(self, at: int) -> int:
        """Returns the seed for samples from index `at` on, another one for each draw and question.

        A grammar does not change the seed, so that completions it allows are sampled alike.
        """
        content = self._replace(grammar="").content()
        return int(digest({**content, "at": at})[:SEED_DIGITS], 16)

    def tell(self, level: int, message: str, *values: Any) -> None:
        """Logs an event of the request, without text of a model, a person or an endpoint."""
        thoughts = ", ".join(self.labels.get(f"{LABEL}thoughts", ())) or "-"
        tell(level, self.labels, f"%s of thoughts %s {message}", self.role, thoughts, *values)

    def tell_answer(self, answer: Answer, seconds: float) -> None:
        """Logs the cost of the request, and its texts if the logger for prompts has a level."""
        summary = "took %.2f s, samples=%d prompt_tokens=%d completion_tokens=%d"
        counts = answer["prompt_tokens"], answer["completion_tokens"]
        self.tell(logging.DEBUG, summary, seconds, len(answer["texts"]), *counts)
        # An inherited level does not count: DEBUG for a whole program must not log texts.
        if prompts.level:
            texts = [message.content for message in self.messages], answer["texts"]
            line = "%s asked %r, answered %r"
            tell(logging.DEBUG, self.labels, line, self.role, *texts, to=prompts)


def read(result: LLMResult, request: Request, n: int, *, openai: bool) -> Answer:
    """Returns a model's answer: its texts and token counts.

    Args:
        n: Number of samples that this call asked for; further ones are dropped.
        openai: Whether the model speaks OpenAI's protocol.

    Raises:
        BadAnswer: The answer holds no completion.
        BrokenOff: A stream of OpenAI's protocol has no finish reason, or the server ended
            completions by an error and at most one is left. A single one would look like a server
            that ignores n.
    """
    pairs = [(each, metadata_of(each)) for each in result.generations[0]]
    # LangChain names the provider in metadata of a server; a test double may have no metadata.
    if openai and any("model_provider" in data and not _ENDS & data.keys() for _, data in pairs):
        raise BrokenOff("the stream ended without a finish reason")
    completions = [each for each, data in pairs if not FAILED.search(finish_reason(data))]
    if len(completions) < min(2, len(pairs)):
        raise BrokenOff("the server says that an error ended the completion")
    if not completions:
        raise BadAnswer("the answer holds no completion")
    longest = min(LONGEST_COMPLETION, (request.length or LONGEST_COMPLETION) * MOST_LETTERS_A_TOKEN)
    texts = [text_of(each)[:longest] for each in completions[:n]]
    answers = [answer_in(*each, request.stop) for each in zip(completions, texts, strict=False)]
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
    """Returns how many of the prompt's tokens the server reports as cached."""
    message = getattr(result.generations[0][0], "message", None)
    counts = message.usage_metadata if isinstance(message, AIMessage) else None
    cached = counts.get("input_token_details", {}).get("cache_read") if counts else None
    return cached if type(cached) is int and cached > 0 else 0


def _sizes(result: LLMResult, request: Request, texts: Sequence[str]) -> tuple[int, int]:
    """Returns the tokens of prompt and completions: as reported by the server, else estimated."""
    output = result.llm_output or {}
    usage: Mapping[str, Any] = output.get("token_usage") or {}
    for each in [] if usage else result.generations[0]:
        message = getattr(each, "message", None)
        if isinstance(message, AIMessage) and (counts := message.usage_metadata):
            tokens = counts["input_tokens"], counts["output_tokens"]
            usage = dict(zip(("prompt_tokens", "completion_tokens"), tokens, strict=True))
            break
    prompt, completion = (
        int(count) if isinstance(count, int | float) and 0 < count <= MOST_TOKENS else 0
        for count in map(usage.get, ("prompt_tokens", "completion_tokens"))
    )
    letters = sum(map(len, texts))
    # llama.cpp counts only the first of several completions: assume the same density for all.
    if len(texts) > 1 and _LLAMA_CPP.match(str(output.get("system_fingerprint"))):
        first = len(texts[0])
        completion = ceil(completion * letters / first) if first else 0
    return prompt or request.prompt_tokens(), completion or ceil(letters / LETTERS_A_TOKEN)
