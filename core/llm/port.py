"""The model port: asks any LangChain chat model, with cache, limits, retries and counts.

Every request of every method goes through `ChatPort.sample`. What a request costs is counted on the
caller's `Meter`; what it may cost is checked there before it is sent.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage
from pydantic import SecretStr

from thoughtgraph.errors import BudgetSpent, ModelError, ReplayMiss
from thoughtgraph.llm.connections import connected, endpoint_of, model_name
from thoughtgraph.llm.exchange import Draw, Request
from thoughtgraph.llm.limiter import Limiter, rates_from_environment, shared_limiter
from thoughtgraph.llm.meter import Meter, logger
from thoughtgraph.llm.prices import Price, public_price
from thoughtgraph.llm.retry import Failure, Retry, explained, persist
from thoughtgraph.llm.sending import LENGTH, OTHER_LENGTHS, SEED, send
from thoughtgraph.llm.store import PAID, Answer, AnswerStore, MemoryStore, Replay, digest
from thoughtgraph.usage import Limits, Usage

MOST_CHOICES = 128
"""Most completions of one request to OpenAI."""
SHORTEST_SECRET = 8
"""Letters a key must have to be hidden in messages (ours): `none` and `EMPTY` are placeholders."""


class ChatPort:
    """Asks one chat model.

    A port may be used by many graphs and runs at once, and by one event loop after another.

    Args:
        model: Any LangChain chat model.
        name: The model's name in prices, errors and cache keys; read off the model when None.
        endpoint: What the model's requests share rates with, named in errors and cache keys; the
            model's address when None.
        cache: Where answers are kept; in memory when None.
        replay: Whether answers are kept and taken from the cache.
        limiter: What the endpoint allows; the process's shared one for this endpoint when None.
        retry: When failed requests are repeated.
        timeout: Seconds after which one attempt counts as failed (ours: 300).
        choices: Most samples one request may ask for, where the model knows n.
        price: What it costs, in US dollars a million prompt and completion tokens; by the public
            table of its provider's prices when None.
        seeded: Whether the parameter `seed` reaches the model, mixed with what is asked and which
            draw it is: equal runs then get equal answers (ours: the embedded model alone).
        takes_grammar: Whether its server holds completions to a grammar, as llama.cpp's does to
            the request's field `grammar` (ours: the embedded model alone).
        served_as: The name by which a server's clients know the model; its errors then say no more
            than this and the kind of failure, and the rest is logged. Empty: no client asks.
    """

    def __init__(
        self,
        model: BaseChatModel,
        *,
        name: str | None = None,
        endpoint: str | None = None,
        cache: AnswerStore | None = None,
        replay: Replay = "off",
        limiter: Limiter | None = None,
        retry: Retry | None = None,
        timeout: float = 300.0,
        choices: int = MOST_CHOICES,
        price: Price | None = None,
        seeded: bool = False,
        takes_grammar: bool = False,
        served_as: str = "",
    ) -> None:
        self.model = model
        self.name = served_as or name or model_name(model)
        self.endpoint = endpoint or endpoint_of(model)
        self._place = f"{self.name} at {self.endpoint}"
        self._store: AnswerStore = MemoryStore() if cache is None else cache
        self._replay = replay
        self._limiter = limiter or shared_limiter(self.endpoint, rates_from_environment())
        self._retry = retry or Retry()
        self._timeout = timeout
        self._price = price
        self._takes_grammar = takes_grammar
        self._served_as = served_as
        fields = type(model).model_fields
        lengths = [(LENGTH, each) for each in OTHER_LENGTHS if each in fields]
        self._names = dict(lengths) | {each: each for each in fields if seeded or each != SEED}
        """What the model calls the parameters that it knows."""
        self._most = choices if "n" in fields else 1
        self._refused: set[str] = set()
        self._own: dict[Any, BaseChatModel] = {}
        self._flights: dict[tuple[asyncio.AbstractEventLoop, str], asyncio.Future[Answer]] = {}

    @cached_property
    def _identity(self) -> str:
        """Returns what stands for the model in the keys of answers that are kept or shared."""
        model = self.model
        named = {"name": self.name, "endpoint": self.endpoint, "type": model._llm_type}
        return digest({**named, "parameters": model._identifying_params})

    def price(self) -> Price | None:
        """Returns what the model costs; None where nobody knows."""
        # By the model's own name and address: a server's clients know it by another.
        model, provider = self.model, str(self.model._get_ls_params().get("ls_provider", ""))
        return self._price or public_price(model_name(model), endpoint_of(model), provider)

    def grammar_refusal(self) -> str:
        """Returns one line that says why no grammar can be sent; empty if one can."""
        unknown = f"the server of {self.name!r} is not known to take a grammar"
        return "" if self._takes_grammar else f"{unknown}; leave 'grammar' out, or choose local"

    async def sample(
        self,
        messages: Sequence[BaseMessage],
        *,
        n: int = 1,
        role: str = "generate",
        stop: Sequence[str] | None = None,
        draw: Draw | None = None,
        meter: Meter | None = None,
        scope: str = "",
        parameters: Mapping[str, Any] | None = None,
        labels: Mapping[str, Any] | None = None,
        grammar: str = "",
    ) -> list[str]:
        """Returns n completions of one conversation.

        They are fewer only where several calls were needed and some of them failed for good, or a
        limit was reached between them: what was paid for is not thrown away, and the meter keeps
        the error.

        Args:
            n: How many samples; one request where the provider supports it.
            role: What the request is for; usage is counted by role.
            stop: Texts at which a completion ends.
            draw: Identifies a generation. None marks an evaluation, which identical concurrent
                requests share and whose answer may be reused.
            meter: Admits the request and counts it; no limits apply without one.
            scope: Evaluations are shared within one scope: a run's own id, or `shared` for
                evaluations that outlive a run.
            parameters: `temperature`, `max_tokens` and the like; what the model has no field for is
                left out.
            labels: What traces say of the call besides its role: metadata by name.
            grammar: What each completion is held to, in GBNF; empty: nothing.

        Raises:
            BudgetSpent: A limit forbids the request; nothing was sent.
            ModelError: The endpoint refused or kept failing, or takes no grammar.
            ReplayMiss: A replayed run asked for something that was not recorded.
        """
        if grammar and (refusal := self.grammar_refusal()):
            raise ModelError(refusal)
        meter, names = meter or Meter(Limits(), Usage()), self._names
        known = {name: value for name, value in (parameters or {}).items() if value is not None}
        own = {names[name]: value for name, value in known.items() if name in names}
        length = known.get(LENGTH) if LENGTH in names else None
        request = Request(messages, n, role, stop or (), draw, own, length, labels or {}, grammar)
        keep = self._replay != "off" or (draw is None and scope == "shared")
        key = ""
        if keep or draw is None:
            place = {"model": self._identity, "scope": "" if keep else scope}
            key = digest({**place, **request.content()})
        ask = partial(self._answer, request, key if keep else "", meter)
        answer = await (self._once(key, ask, role, meter) if draw is None else ask())
        return list(answer["texts"])

    async def _once(
        self, key: str, ask: Callable[[], Awaitable[Answer]], role: str, meter: Meter
    ) -> Answer:
        """Sends one of identical evaluations at the same time; the others wait for its answer.

        If its sender fails, they get the same error. If it is stopped or out of budget, one of them
        sends it.
        """
        here = asyncio.get_running_loop(), key
        while (flight := self._flights.get(here)) is not None:
            async with meter.in_time():
                await asyncio.wait([flight])
            if not flight.cancelled():
                flight.result()  # or what the sender failed with
                meter.count(role, self.name, cached=1)
                return flight.result()
        flight = self._flights[here] = here[0].create_future()
        try:
            flight.set_result(answer := await ask())
        except ModelError as error:
            flight.set_exception(error)
            flight.exception()  # nobody may be waiting for it
            raise
        finally:
            flight.cancel()
            del self._flights[here]
        return answer

    async def _answer(self, request: Request, key: str, meter: Meter) -> Answer:
        """Takes the answer from the store, or asks and keeps it there; without a key it asks."""
        # In threads, because an event loop must not wait for the disk.
        if key and (known := await asyncio.to_thread(self._store.get, key)):
            meter.count(request.role, self.name, cached=1)
            return known
        if self._replay == "replay":
            raise ReplayMiss(
                f"nothing recorded for a {request.role!r} request of {self.name}: record again"
            )
        began = time.monotonic()
        try:
            with meter.request(request.role, self.name):
                one = self._call(request, 0, 1, meter) if request.n == 1 else None
                answer = await (one or self._samples(request, meter))
        except ModelError as error:
            request.tell(logging.INFO, "failed for good: %s", error.kind)
            raise
        except BudgetSpent as error:
            request.tell(logging.DEBUG, "is not asked: %s", error)
            raise
        request.tell_answer(answer, time.monotonic() - began)
        if key and len(answer["texts"]) == request.n:
            with meter.keeping():
                await asyncio.to_thread(self._store.put, key, answer)
        return answer

    async def _samples(self, request: Request, meter: Meter) -> Answer:
        """Asks until all samples are there: by one call, where the server returns several."""
        joined: Answer = {"texts": [], "prompt_tokens": 0, "completion_tokens": 0}
        error: BaseException | None = None
        while error is None and (have := len(joined["texts"])) < request.n:
            size = min(self._most, request.n - have)
            calls = [(at, min(size, request.n - at)) for at in range(have, request.n, size)]
            sent = (self._call(request, at, n, meter) for at, n in calls)
            results = await asyncio.gather(*sent, return_exceptions=True)
            answers = [each for each in results if not isinstance(each, BaseException)]
            for answer in answers:
                joined["texts"] += answer["texts"]
                # Without native n the provider bills the prompt for every call.
                joined["prompt_tokens"] += answer["prompt_tokens"]
                joined["completion_tokens"] += answer["completion_tokens"]
            if size > 1 and answers and max(len(answer["texts"]) for answer in answers) == 1:
                self._most = 1  # the server ignores n or refuses it, and will do so again
            # What a program did wrong counts before a failure, and that before a limit.
            errors = [each for each in results if isinstance(each, BaseException)]
            ranks = BudgetSpent, ModelError
            error = min(errors, key=lambda e: [isinstance(e, kind) for kind in ranks], default=None)
        if error and not (joined["texts"] and isinstance(error, ModelError | BudgetSpent)):
            raise error
        if isinstance(error, ModelError):
            meter.fail(str(error))
        return joined

    async def _call(self, request: Request, at: int, n: int, meter: Meter) -> Answer:
        """Makes one call for n samples, again after passing faults; a server may return fewer.

        Args:
            at: Index, within the request, of the first sample.
            meter: Says before each attempt whether it may still be sent, and counts the answer.
        """
        paid, failures = PAID.get(), list[Failure]()
        name = request.name(at) if paid else ""

        async def attempt() -> Answer:
            tokens = request.most_tokens(n) if self._limiter.rates.context else 0
            async with self._limiter.slot(n, tokens):
                meter.check()
                model = await connected(self.model, self._own)
                async with asyncio.timeout(self._timeout):
                    answer = await send(model, request, at, n, self._refused, self._place)
                # Before the next one gets this turn: it may be over the limit now.
                meter.count_answer(request.role, self.name, answer)
                return answer

        def retried(error: ModelError) -> None:
            meter.add({"retries": 1})
            meter.tell(str(error))
            request.tell(logging.INFO, "is retried: %s", error.kind)

        async with meter.in_time(failures):
            if paid and (known := paid.take(name, n)):
                meter.check()
                meter.count_answer(request.role, self.name, known)
                return known
            answer = await persist(attempt, self._retry, failures, self._explain, retried)
        if paid:
            with meter.keeping():
                paid.keep(name, answer)
        return answer

    def _explain(self, error: Exception, tries: str) -> Failure:
        """Returns what a caller is told of an attempt that failed."""
        values = (getattr(self.model, name, None) for name in type(self.model).model_fields)
        keys = [value.get_secret_value() for value in values if isinstance(value, SecretStr)]
        hide = [key for key in keys if len(key) >= SHORTEST_SECRET]
        failure = explained(error, self._place, tries, hide)
        if self._served_as:
            logger.error("model %r: %s", self._served_as, failure.error)
            failure.error.args = (f"model {self._served_as!r} failed: {failure.error.kind}",)
        return failure
