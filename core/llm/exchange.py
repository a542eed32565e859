"""One question to a chat model, and what is read out of the answer."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from math import ceil
from typing import Any, NamedTuple

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import Generation, LLMResult

from thoughtgraph.errors import BudgetSpent, ModelError
from thoughtgraph.llm.completions import answer_in, text_of
from thoughtgraph.llm.connections import length_in
from thoughtgraph.llm.failures import BadAnswer
from thoughtgraph.llm.meter import Meter
from thoughtgraph.llm.store import Answer, digest
from thoughtgraph.usage import Ending

Failure = ModelError | BudgetSpent

LETTERS_A_TOKEN = 4
"""Rule of thumb for texts whose size must be known before, or is not reported by the server."""
TOKENS_A_SAMPLE = 64
"""Guess at the size of a completion whose length nobody bounds (ours)."""
MOST_TOKENS = 10**9
"""Tokens of one request that can be believed (ours)."""
MOST_LETTERS_A_TOKEN = 16
"""Letters of a completion that are read for each token that was asked for (ours): four times the
rule of thumb, as a token may be a long word or a run of blanks."""
LONGEST = 400_000
"""Letters of a completion that are read at all (ours): the 100,000 tokens that settings allow."""
SEED = "seed"
"""The parameter that samplers call by this name."""
SEED_DIGITS = 7
"""Hexadecimal digits of a seed: a positive number of 32 bits wherever it goes."""
ROLE = "thoughtgraph_role"
"""Key of a call's metadata: what the call is for."""
DRAW = "thoughtgraph_draw"
"""Key of a call's metadata: the `Draw` of its first sample, as a list; None for an evaluation."""
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
    longest: int = LONGEST
    """Letters of a completion that are read: an endpoint may send any number."""
    labels: Mapping[str, Any] = {}
    """What a trace says of the call besides; no part of what is asked."""
    grammar: str = ""
    """What a completion is held to, in GBNF; empty: nothing."""

    def content(self) -> dict[str, Any]:
        """Returns all that determines the answer, the model apart, as JSON-like values."""
        # Only where there is one: what was recorded without keeps its key.
        return {**self._asked(), **({"grammar": self.grammar} if self.grammar else {})}

    def _asked(self) -> dict[str, Any]:
        return {
            "messages": [_content(message) for message in self.messages],
            "n": self.n,
            "stop": self.stop,
            "parameters": self.parameters,
            "draw": self.draw,
        }

    def prompt_tokens(self) -> int:
        """Returns the estimated size of the prompt."""
        letters = sum(len(str(message.content)) for message in self.messages)
        return max(1, letters // LETTERS_A_TOKEN)

    def most_tokens(self, n: int) -> int:
        """Returns how many tokens n completions may come to, prompt included, by the estimates."""
        length = length_in(self.parameters) or TOKENS_A_SAMPLE
        return self.prompt_tokens() + n * length

    def name(self, at: int) -> str:
        """Names a call by what it asks, not whom, nor how many samples were wanted in all.

        Args:
            at: Index, within this request, of the first sample the call asks for.
        """
        content = {name: value for name, value in self.content().items() if name != "n"}
        return digest({**content, "role": self.role, "at": at})

    def seed(self, at: int) -> int:
        """Returns a seed of the sampling: another one for every draw of every question.

        With and without a grammar it is the same, so that what the grammar allows is drawn alike.

        Args:
            at: Index, within this request, of the first sample the call asks for.
        """
        return int(digest({**self._asked(), "at": at})[:SEED_DIGITS], 16)

    def metadata(self, at: int) -> dict[str, Any]:
        """Returns what a scripted or replaying model needs to know about a call.

        Args:
            at: Index, within this request, of the first sample the call asks for.
        """
        draw = None if self.draw is None else list(self.draw._replace(first=self.draw.first + at))
        return {
            **self.labels,
            ROLE: self.role,
            DRAW: draw,
            "thoughtgraph_sample": at,
        }


def longest(tokens: int | None) -> int:
    """Returns how many letters of a completion are read.

    Args:
        tokens: How many tokens were asked for; None where the model was not told.
    """
    return LONGEST if tokens is None else min(LONGEST, tokens * MOST_LETTERS_A_TOKEN)


def read(result: LLMResult, request: Request, n: int) -> Answer:
    """Returns the texts and the size of a model's answer.

    Args:
        result: What the model returned.
        request: What was asked.
        n: How many samples this call asked for; more are dropped.

    Raises:
        BadAnswer: There is not one completion in it.
    """
    generations = result.generations[0]
    whole = sent(result, request, n)
    answers = [answer_in(*each, request.stop) for each in zip(generations, whole, strict=False)]
    texts = [text for text, _ in answers]
    if not texts:
        raise BadAnswer("the answer holds no completion")
    prompt, completion = sizes(result, request, whole)
    answer: Answer = {
        "texts": texts,
        "prompt_tokens": prompt,
        "completion_tokens": completion,
    }
    if incomplete := Counter[Ending](ending for _, ending in answers if ending):
        answer["incomplete"] = dict(incomplete)
    return answer


def sent(result: LLMResult, request: Request, n: int) -> list[str]:
    """Returns the completions as the server sent them, no longer than they are read."""
    return [text_of(each)[: request.longest] for each in result.generations[0][:n]]


def sizes(result: LLMResult, request: Request, texts: Sequence[str]) -> tuple[int, int]:
    """Returns the tokens of prompt and completions: as reported, else estimated."""
    output = result.llm_output or {}
    usage = output.get("token_usage") or _message_usage(result.generations[0])
    prompt = _number(usage.get("prompt_tokens"))
    completion = _number(usage.get("completion_tokens"))
    # Of several completions llama.cpp counts the first alone.
    of_one = completion > 0 and _LLAMA_CPP.match(str(output.get("system_fingerprint")))
    if of_one:
        completion += _like_the_first(texts, completion)
    estimate = -(-sum(map(len, texts)) // LETTERS_A_TOKEN)
    return prompt or request.prompt_tokens(), completion or estimate


def _like_the_first(texts: Sequence[str], tokens: int) -> int:
    """Returns the tokens of all completions but the first, as dense in letters as that one.

    The token that ends a completion is one of each. Figures and signs have fewer letters a token
    than the rule of thumb, which would make several samples of them a sixth too cheap.

    Args:
        texts: The completions.
        tokens: What the first came to.
    """
    first, *others = map(len, texts)
    density = (tokens - 1) / first if first else 1 / LETTERS_A_TOKEN
    return ceil(sum(letters * density for letters in others)) + len(others)


def sort_results(results: Sequence[Answer | BaseException]) -> tuple[list[Answer], Failure | None]:
    """Returns the answers of several calls, and the error that kept others away.

    A failure goes before a limit; what is neither is raised.
    """
    answers: list[Answer] = []
    error: Failure | None = None
    for result in results:
        if isinstance(result, ModelError) or (error is None and isinstance(result, BudgetSpent)):
            error = result
        elif isinstance(result, BaseException):
            raise result
        else:
            answers.append(result)
    return answers, error


def join_answers(answers: Sequence[Answer]) -> Answer:
    """Returns the samples of several calls as one answer.

    Prompt tokens add up: without native n the provider bills them for every call.
    """
    return {
        "texts": [text for answer in answers for text in answer["texts"]],
        "prompt_tokens": sum(answer["prompt_tokens"] for answer in answers),
        "completion_tokens": sum(answer["completion_tokens"] for answer in answers),
    }


def counted(answer: Answer, request: Request, model: str, meter: Meter) -> Answer:
    """Counts what an answer cost and returns it.

    Args:
        answer: The answer of one call.
        request: What was asked.
        model: Name of the model, for its price.
        meter: Counts it.
    """
    meter.count(
        request.role,
        model,
        samples=len(answer["texts"]),
        prompt_tokens=answer["prompt_tokens"],
        completion_tokens=answer["completion_tokens"],
    )
    meter.add({"calls": 1, "incomplete": answer.get("incomplete", {})})
    return answer


def _content(message: BaseMessage) -> list[Any]:
    """Returns what of a message reaches the model."""
    called = (getattr(message, name, None) for name in ("tool_calls", "tool_call_id"))
    return [message.type, message.content, message.name, *called]


def _message_usage(generations: Sequence[Generation | Any]) -> Mapping[str, Any]:
    """Returns the usage that a message carries, for models whose result has none of its own."""
    for generation in generations:
        message = getattr(generation, "message", None)
        if isinstance(message, AIMessage) and message.usage_metadata:
            counts = message.usage_metadata
            return {
                "prompt_tokens": counts["input_tokens"],
                "completion_tokens": counts["output_tokens"],
            }
    return {}


def _number(value: Any) -> int:
    """Returns a count that a server reported, 0 when it is none that can be believed."""
    return int(value) if isinstance(value, int | float) and 0 < value <= MOST_TOKENS else 0
