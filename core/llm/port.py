"""The model port: asks any LangChain chat model, with cache, limits, retries and counts.

Every request of every method goes through `ChatPort.sample`. The caller's `Meter` checks the limits
before a request is sent, and counts its cost afterwards.
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
"""Most completions for one request to OpenAI."""
SHORTEST_SECRET = 8
"""Letters of the shortest key that messages hide (ours): `none` and `EMPTY` are placeholders."""


class ChatPort:
    """Asks one chat model.

    Many graphs and runs may use a port at once, as may one event loop after another.

    Args:
        model: Any LangChain chat model.
        name: The model's name in prices, errors and cache keys; read off the model when None.
        endpoint: The name of the endpoint in errors, cache keys and shared rates; the model's
            address when None.
        cache: The store of answers; in memory when None.
        replay: Whether answers are recorded in the cache or replayed from it.
        limiter: Limits the requests; the process's shared one for this endpoint when None.
        retry: How failed requests are retried.
        timeout: Seconds after which one attempt counts as failed (ours: 300).
        choices: Most samples per request, for a model with the parameter n.
        price: US dollars for a million prompt and completion tokens; from the public table of its
            provider's prices when None.
        seeded: Whether the model gets the parameter `seed`, mixed with the request and its draw, so
            that equal runs get equal answers (ours: only the embedded model).
        takes_grammar: Whether the server constrains completions to the grammar in the request's
            field `grammar`, as llama.cpp does (ours: only the embedded model).
        served_as: The model's name for clients of a server; errors then hold no more than this name
            and the kind of failure, and the rest is logged. Empty: there are no clients.
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
        """The model's own names of the parameters that it has fields for."""
        self._most = choices if "n" in fields else 1
        self._refused: set[str] = set()
        self._copies: dict[Any, BaseChatModel] = {}
        self._flights: dict[tuple[asyncio.AbstractEventLoop, str], asyncio.Future[Answer]] = {}

    @cached_property
    def _identity(self) -> str:
        """Returns the model's part in the keys of stored or shared answers."""
        model = self.model
        fields = {"name": self.name, "endpoint": self.endpoint, "type": model._llm_type}
        return digest({**fields, "parameters": model._identifying_params})

    def price(self) -> Price | None:
        """Returns the price of the model; None if unknown."""
        # The table may not know `self.name` and `self.endpoint`, which a caller can choose.
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

        Returns fewer only if several calls were necessary and some of them failed for good, or a
        limit was reached in between. Paid completions are not thrown away, and the meter records
        the failure.

        Args:
            n: Number of samples; one request where the provider supports it.
            role: What the request is for; usage is counted by role.
            stop: Texts at which a completion ends.
            draw: Identifies a generation. None marks an evaluation: identical concurrent requests
                share its answer, which may also be reused.
            meter: Admits the request and counts it; no limits apply without one.
            scope: Evaluations are shared within one scope: a run's own id, or `shared` for
                evaluations that outlive a run.
            parameters: `temperature`, `max_tokens` and the like; those without a field in the model
                are left out.
            labels: Metadata of the call in traces, by name, besides its role.
            grammar: Grammar that constrains each completion, in GBNF; empty for none.

        Raises:
            BudgetSpent: A limit forbids the request; nothing was sent.
            ModelError: The endpoint refused or kept failing, or takes no grammar.
            ReplayMiss: A replayed run sends a request that was not recorded.
        """
        if grammar and (refusal := self.grammar_refusal()):
            raise ModelError(refusal)
        meter, names = meter or Meter(Limits(), Usage()), self._names
        values = {name: value for name, value in (parameters or {}).items() if value is not None}
        args = {names[name]: value for name, value in values.items() if name in names}
        length = values.get(LENGTH) if LENGTH in names else None
        request = Request(messages, n, role, stop or (), draw, args, length, labels or {}, grammar)
        keep = self._replay != "off" or (draw is None and scope == "shared")
        key = ""
        if keep or draw is None:
            context = {"model": self._identity, "scope": "" if keep else scope}
            key = digest({**context, **request.content()})
        ask = partial(self._answer, request, key if keep else "", meter)
        answer = await (self._once(key, ask, role, meter) if draw is None else ask())
        return list(answer["texts"])

    async def _once(
        self, key: str, ask: Callable[[], Awaitable[Answer]], role: str, meter: Meter
    ) -> Answer:
        """Sends one of several identical concurrent evaluations; the others wait for its answer.

        If the sender fails, they get the same error. If it is cancelled or out of budget, one of
        them becomes the sender.
        """
        flight_key = asyncio.get_running_loop(), key
        while (flight := self._flights.get(flight_key)) is not None:
            async with meter.in_time():
                await asyncio.wait([flight])
            if not flight.cancelled():
                flight.result()  # raises the sender's error
                meter.count(role, self.name, cached=1)
                return flight.result()
        flight = self._flights[flight_key] = flight_key[0].create_future()
        try:
            flight.set_result(answer := await ask())
        except ModelError as error:
            flight.set_exception(error)
            flight.exception()  # retrieved here, as nobody else may do so
            raise
        finally:
            flight.cancel()
            del self._flights[flight_key]
        return answer

    async def _answer(self, request: Request, key: str, meter: Meter) -> Answer:
        """Returns the stored answer, or asks and stores the reply; without a key it only asks."""
        # In threads, because an event loop must not wait for the disk.
        if key and (stored := await asyncio.to_thread(self._store.get, key)):
            meter.count(request.role, self.name, cached=1)
            return stored
        if self._replay == "replay":
            raise ReplayMiss(
                f"nothing recorded for a {request.role!r} request of {self.name}: record again"
            )
        began = time.monotonic()
        try:
            with meter.request(request.role, self.name):
                single = self._call(request, 0, 1, meter) if request.n == 1 else None
                answer = await (single or self._samples(request, meter))
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
        """Makes calls until all samples are there; one call is enough if the server knows n."""
        joined: Answer = {"texts": [], "prompt_tokens": 0, "completion_tokens": 0}
        error: BaseException | None = None
        while error is None and (count := len(joined["texts"])) < request.n:
            size = min(self._most, request.n - count)
            calls = [(at, min(size, request.n - at)) for at in range(count, request.n, size)]
            coroutines = (self._call(request, at, n, meter) for at, n in calls)
            results = await asyncio.gather(*coroutines, return_exceptions=True)
            answers = [each for each in results if not isinstance(each, BaseException)]
            for answer in answers:
                joined["texts"] += answer["texts"]
                # Without native n the provider bills the prompt for every call.
                joined["prompt_tokens"] += answer["prompt_tokens"]
                joined["completion_tokens"] += answer["completion_tokens"]
            if size > 1 and answers and max(len(answer["texts"]) for answer in answers) == 1:
                self._most = 1  # the server ignores n or refuses it, and will do so again
            # A bug in a program takes precedence over a failure, and a failure over a limit.
            errors = [each for each in results if isinstance(each, BaseException)]
            ranks = BudgetSpent, ModelError
            error = min(errors, key=lambda e: [isinstance(e, kind) for kind in ranks], default=None)
        if error and not (joined["texts"] and isinstance(error, ModelError | BudgetSpent)):
            raise error
        if isinstance(error, ModelError):
            meter.fail(str(error))
        return joined

    async def _call(self, request: Request, at: int, n: int, meter: Meter) -> Answer:
        """Makes one call for n samples and retries passing failures; a server may return fewer.

        Args:
            at: Index, within the request, of the first sample.
            meter: Checks the limits before each attempt, and counts the answer.
        """
        paid, failures = PAID.get(), list[Failure]()
        name = request.name(at) if paid else ""

        async def attempt() -> Answer:
            tokens = request.most_tokens(n) if self._limiter.rates.context else 0
            async with self._limiter.slot(n, tokens):
                meter.check()
                model = await connected(self.model, self._copies)
                async with asyncio.timeout(self._timeout):
                    answer = await send(model, request, at, n, self._refused, self._place)
                # Before the next request gets this turn, as it may exceed a limit now.
                meter.count_answer(request.role, self.name, answer)
                return answer

        def retried(error: ModelError) -> None:
            meter.add({"retries": 1})
            meter.tell(str(error))
            request.tell(logging.INFO, "is retried: %s", error.kind)

        async with meter.in_time(failures):
            if paid and (earlier := paid.take(name, n)):
                meter.check()
                meter.count_answer(request.role, self.name, earlier)
                return earlier
            answer = await persist(attempt, self._retry, failures, self._explain, retried)
        if paid:
            with meter.keeping():
                paid.keep(name, answer)
        return answer

    def _explain(self, error: Exception, tries: str) -> Failure:
        """Returns a failed attempt as callers may see it, without the model's keys."""
        values = (getattr(self.model, name, None) for name in type(self.model).model_fields)
        keys = [value.get_secret_value() for value in values if isinstance(value, SecretStr)]
        secrets = [key for key in keys if len(key) >= SHORTEST_SECRET]
        failure = explained(error, self._place, tries, secrets)
        if self._served_as:
            logger.error("model %r: %s", self._served_as, failure.error)
            failure.error.args = (f"model {self._served_as!r} failed: {failure.error.kind}",)
        return failure
