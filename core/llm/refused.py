"""Parameters that a server refuses: which one an error means, and the call without it."""

import re
from collections.abc import Collection, Sequence
from typing import Any
from urllib.parse import urlsplit

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage

from thoughtgraph.llm.connections import LENGTH, arguments_of, endpoint_of, is_openai, with_fields
from thoughtgraph.llm.exchange import SEED, Request, callbacks
from thoughtgraph.llm.failures import Unacceptable, status_of

STATUSES = frozenset({400, 422, 500, 501})
"""How servers refuse a parameter; 404 is about the model or the path."""
OPENAIS_LENGTH = "max_completion_tokens"
SYSTEM = "system"
"""A system message, among the parameters."""
FIELDS = ("stop", "temperature", "top_p", SEED)
"""Parameters that may also be fields of the model."""
INSTEAD = {
    "stop": ", and completions are cut when they arrive",
    SYSTEM: ", and its text goes before the first user message",
}
"""What is done about a refused parameter besides."""
LONGEST = 10_000
"""Letters of an error that are searched (ours)."""

_MENTIONS = {
    "stop": re.compile(
        r"(?<!please )(?<!to )(?<!must )\bstop(?:\b|_?seq)(?! (?:the|this|send))", re.A
    ),
    "temperature": re.compile("temperature"),
    "top_p": re.compile(r"top[_ -]?p\b|nucleus", re.A),
    SEED: re.compile(r"\bseed\b", re.A),
    "n": re.compile(
        r"'n'|\bn\b ?(?:[=><:]|must|should|is|to|value|param)|candidate_?count"
        r"|(?:parameter|argument|supplied|field|support|permitted|model)s?:? ?\(?'?n\b"
        r"|(?:one|single|multiple|several|1|of) (?:chat |completion )?"
        r"(?:completion|choice|candidate|output|response|sample|generation|sequence)",
        re.A,
    ),
    LENGTH: re.compile(r"\bmax_?tokens\b", re.A),
    OPENAIS_LENGTH: re.compile("max_?completion_?tokens"),
    SYSTEM: re.compile(
        r"(?:system|developer)'?[ _-]?(?:role|message|prompt|instruction)|alternat"
        r"|(?:role|got)[s:=' ]{0,4}(?:system|developer)\b|'(?:system|developer)'"
        r"|messages?[\[\].,' \d]{0,9}role|(?:assistant|tool)'? roles|roles other than"
        r"|(?:start|begin) with an? user|first message",
        re.A,
    ),
}
_REFUSAL = re.compile(
    r"(?:not|n't|no) (?:a |be |currently |longer |yet )?(?:support|allow|permit|accept|recogni|"
    r"implement|enable|valid|available|specif|used|appli)|can ?not|can't|must|only|should|require|"
    r"un(?:supported|recogni|known|expected)|invalid|incompatible|forbidden|disabled|deprecated|"
    r"fixed|limited|exclusive|both|range|out of|instead|extra (?:input|field)|不支持|不能|无效|"
    r"サポート|지원",
    re.A,
)
_TOO_LARGE = re.compile(r"context|too |at (?:most|least)|maxim|exceed| than|limit|range| value")
_TOGETHER = re.compile("both|together|exclusive|simultan|same time|only one of|同时")
_CODES = re.compile(r"'(?:type|code|object|status)': '(?!extra_)[^']*+'")
"""Words for programs: `invalid_request_error` says nothing of what is invalid."""
_PARAMETER = re.compile(r"'param(?:eter)?': ('[^']++')")
_CLAUSE_ENDS = re.compile(r"[;\n]|\.(?=\s)")


class SeveralRefused(Unacceptable):
    """The server returns one sample a request, and said so by whatever status."""

    status_code = 422


def refused_parameter(error: BaseException, sent: Collection[str]) -> str:
    """Returns the parameter that a server refuses; empty where its error names none that was sent.

    Of two that exclude each other, `temperature` stays. A bound that is too large is no refused
    parameter: without it completions would have no end.

    Args:
        error: The failure of a call.
        sent: Those of the names of `_MENTIONS` that were sent.
    """
    if status_of(error) not in STATUSES:
        return ""
    text = f"{error}\n{getattr(error, 'body', '')}"[:LONGEST].lower()
    # Without the escapes of JSON in JSON, and with one kind of quotes.
    text = text.replace("\\n", "\n").replace("\\", "")
    text = re.sub('["`\u2018\u2019\u201c\u201d]', "'", text)
    if _TOO_LARGE.search(text):
        sent = [name for name in sent if name not in (LENGTH, OPENAIS_LENGTH)]
    parameters = [f"unsupported {name}" for name in _PARAMETER.findall(text)]
    for clause in [*parameters, *_CLAUSE_ENDS.split(_CODES.sub("", text))]:
        found = {each.start(): name for name in sent if (each := _MENTIONS[name].search(clause))}
        if found and _REFUSAL.search(clause):
            exclusive = "top_p" in found.values() and _TOGETHER.search(clause)
            return "top_p" if exclusive else found[min(found)]
    return ""


class Outgoing:
    """One call, which is sent again without each parameter that its server refuses.

    Args:
        model: The model, with connections of the running event loop.
        request: What is asked.
        at: Index, within the request, of the first sample.
        n: How many samples the call asks for.
        refused: What the server is known to refuse. What this call shows is added once the server
            has answered it: a request may be refused for another reason.
    """

    def __init__(
        self, model: BaseChatModel, request: Request, at: int, n: int, refused: set[str]
    ) -> None:
        self.model, self.arguments = arguments_of(model, request.parameters)
        self.messages, self.stop = list(request.messages), list(request.stop) or None
        if SEED in self.arguments:
            self.arguments[SEED] = request.seed(at)
        if n > 1:
            self.arguments["n"] = n
        if request.grammar:
            self.arguments = with_fields(model, self.arguments, grammar=request.grammar)
        self._request, self._at, self._n = request, at, n
        self._known, self._refused = refused, set(refused)
        self._bound = self.arguments.get(LENGTH) or getattr(model, LENGTH, None)
        self._leave_out()

    def keywords(self) -> dict[str, Any]:
        """Returns the arguments of the call besides its messages."""
        openai = is_openai(self.model)
        return {
            "stop": self.stop,
            "callbacks": callbacks(self._request, self._n, openai=openai),
            "metadata": self._request.metadata(self._at),
            "tags": [f"role:{self._request.role}"],
            **self.arguments,
        }

    def drop(self, error: BaseException) -> bool:
        """Leaves out the parameter that an error names; says whether it named one.

        Raises:
            SeveralRefused: The server refuses several samples.
        """
        name = refused_parameter(error, self._sent() - self._refused)
        if name == "n":
            raise SeveralRefused(str(error))
        self._refused |= {name} - {""}
        self._leave_out()
        return bool(name)

    def accepted(self) -> list[str]:
        """Keeps what was left out, as the call was answered.

        Returns:
            One line for each parameter that the server was not known to refuse.
        """
        new = sorted(self._refused - self._known)
        self._known |= self._refused
        told = "the server refuses {!r}: it is left out from now on{}"
        return [told.format(name, INSTEAD.get(name, "")) for name in new]

    def _sent(self) -> set[str]:
        """Returns the parameters of the call, by the names that the server knows them by."""
        sent = {name for name in FIELDS if getattr(self.model, name, None) is not None}
        sent |= {*self.arguments, *(self.arguments.get("extra_body") or {})}
        sent |= {"stop"} if self.stop else set()
        sent |= {SYSTEM for each in self.messages if isinstance(each, SystemMessage)}
        if is_openai(self.model) and (LENGTH in self.arguments or self.model.max_tokens):
            sent = {*sent - {LENGTH}, OPENAIS_LENGTH}  # LangChain renames it
        return sent.intersection(_MENTIONS)

    def _leave_out(self) -> None:
        unset = {name for name in FIELDS if name in self._refused}
        arguments = {name: each for name, each in self.arguments.items() if name not in unset}
        names = _lengths(self.model, self._refused)
        if self._bound and names is not None:
            arguments.pop(LENGTH, None)
            unset.add(LENGTH)
            body = self.arguments.get("extra_body") or getattr(self.model, "extra_body", None) or {}
            kept = {
                name: each for name, each in body.items() if name not in (LENGTH, OPENAIS_LENGTH)
            }
            arguments["extra_body"] = kept | dict.fromkeys(names[:1], self._bound)
        if fields := {name: None for name in unset if getattr(self.model, name, None) is not None}:
            self.model = self.model.model_copy(update=fields)
        self.arguments = arguments
        self.stop = None if "stop" in unset else self.stop
        if SYSTEM in self._refused:
            self.messages = _without_system(self.messages)


def _lengths(model: BaseChatModel, refused: set[str]) -> list[str] | None:
    """Returns the names by which a server may take the bound, best first; None: as LangChain does.

    LangChain sends OpenAI's newer name everywhere. Ollama, LM Studio, TGI, llama-cpp-python and
    older llama.cpp ignore it in silence; Mistral and older vLLM refuse it. They all, and Groq,
    Together, vLLM and DeepSeek, take `max_tokens`, which OpenAI's and Azure's reasoning models
    refuse. Both names at once would be refused by strict servers.
    """
    if not is_openai(model) or model.use_responses_api:
        return None
    host = f".{urlsplit(endpoint_of(model)).hostname or ''}"
    names = [LENGTH, OPENAIS_LENGTH]
    if host.endswith(".openai.com") and not refused.intersection(names):
        return None
    if host.endswith((".openai.com", ".azure.com")):
        names.reverse()
    return [name for name in names if name not in refused]


def _without_system(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """Returns a conversation whose first user message begins with what the system messages say."""
    told = "\n\n".join(each.text for each in messages if isinstance(each, SystemMessage))
    others = [each for each in messages if not isinstance(each, SystemMessage)]
    users = [at for at, each in enumerate(others) if isinstance(each, HumanMessage)]
    if told and users:
        first = others[users[0]]
        others[users[0]] = HumanMessage(f"{told}\n\n{first.text}", name=first.name)
    return others if users or not told else [HumanMessage(told), *others]
