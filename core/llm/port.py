"""The model port: asks any LangChain chat model, with cache, limits, retries and counts.

Every request of every method goes through `ChatPort.sample`. What a request costs is counted on the
caller's `Meter`; what it may cost is checked there before it is sent.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, ParamSpec, TypeVar

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage

from thoughtgraph.errors import InputError, ModelError, ReplayMiss
from thoughtgraph.llm.cache import Answer, AnswerCache, MemoryCache, digest
from thoughtgraph.llm.connections import (
    Connections,
    endpoint_of,
    model_name,
    placed,
    provider_of,
    secrets_of,
    understood,
)
from thoughtgraph.llm.exchange import (
    TOKENS_A_SAMPLE,
    Draw,
    Request,
    attempted,
    callbacks,
    counted,
    gathered,
    joined,
    read,
)
from thoughtgraph.llm.limiter import Limiter, rates_from_environment, shared_limiter
from thoughtgraph.llm.meter import Meter
from thoughtgraph.llm.paid import Paid
from thoughtgraph.llm.prices import Price, listed
from thoughtgraph.llm.retry import Retry
from thoughtgraph.usage import Limits, Usage

P = ParamSpec("P")
T = TypeVar("T")

__all__ = ["ChatPort", "Draw", "Replay"]

Replay = Literal["off", "record", "replay"]
"""`record`: every answer is kept in the cache and taken from it; `replay`: nothing is asked."""

MOST_CHOICES = 128
"""Samples a request to OpenAI may ask for."""
REFUSES_N = frozenset({400, 422})
"""How servers that cannot return several samples answer a request for them."""


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
    """

    def __init__(
        self,
        model: BaseChatModel,
        *,
        name: str | None = None,
        endpoint: str | None = None,
        cache: AnswerCache | None = None,
        replay: Replay = "off",
        limiter: Limiter | None = None,
        retry: Retry | None = None,
        timeout: float = 300.0,
        choices: int = MOST_CHOICES,
        price: Price | None = None,
    ) -> None:
        self.model = model
        self.name = name or model_name(model)
        self.endpoint = endpoint or endpoint_of(model)
        self._cache = MemoryCache() if cache is None else cache
        self._replay = replay
        self._limiter = limiter or shared_limiter(self.endpoint, rates_from_environment())
        self._retry = retry or Retry()
        self._timeout = timeout
        self.paid: Paid | None = None
        """What the one run that asks has paid for, where it may begin anew."""
        self._price = price
        self._connections = Connections(model)
        self._secrets = secrets_of(model)
        self._fields = frozenset(type(model).model_fields)
        self._most = choices if "n" in self._fields else 1
        self._identity = digest(
            {
                "name": self.name,
                "endpoint": self.endpoint,
                "type": model._llm_type,
                "parameters": model._identifying_params,
            }
        )
        self._flights: dict[tuple[asyncio.AbstractEventLoop, str], asyncio.Future[Answer]] = {}

    def price(self) -> Price | None:
        """Returns what the model costs; None where nobody knows.

        The first look-up of a process takes half a second.
        """
        if self._price is not None:
            return self._price
        # By the model's own name and address: a server's clients know it by another.
        return listed(model_name(self.model), endpoint_of(self.model), provider_of(self.model))

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
    ) -> list[str]:
        """Returns n completions of one conversation.

        They are fewer only where several calls were needed and some of them failed for good, or a
        limit was reached between them: what was paid for is not thrown away, and the meter keeps
        the error.

        Args:
            messages: The conversation.
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

        Raises:
            BudgetSpent: A limit forbids the request; nothing was sent.
            ModelError: The endpoint refused or kept failing.
            ReplayMiss: A replayed run asked for something that was not recorded.
        """
        meter = meter or Meter(Limits(), Usage())
        known = understood(parameters or {}, self._fields)
        request = Request(messages, n, role, stop or (), draw, known)
        kept = self._replay != "off" or (draw is None and scope == "shared")
        key = self._key(request, "" if kept else scope) if kept or draw is None else ""
        find = self._find_once if draw is None else self._find
        answer = await find(request, key, meter, keep=kept)
        return list(answer["texts"])

    def _key(self, request: Request, scope: str) -> str:
        return digest({"model": self._identity, "scope": scope, **request.content()})

    async def _find_once(self, request: Request, key: str, meter: Meter, *, keep: bool) -> Answer:
        """Finds the answer unless somebody else is about to; then waits for theirs."""
        here = asyncio.get_running_loop(), key
        while (flight := self._flights.get(here)) is not None:
            meter.wait()
            await meter.in_time(asyncio.wait([flight]))
            if not flight.cancelled():
                answer = flight.result()
                meter.count(request.role, self.name, cached=1)
                return answer
            # The asker was stopped or out of budget; this caller is not.
        flight = self._flights[here] = here[0].create_future()
        try:
            answer = await self._find(request, key, meter, keep=keep)
        except ModelError as error:
            flight.set_exception(error)
            flight.exception()  # nobody may be waiting for it
            raise
        else:
            flight.set_result(answer)
            return answer
        finally:
            flight.cancel()
            del self._flights[here]

    async def _find(self, request: Request, key: str, meter: Meter, *, keep: bool) -> Answer:
        """Takes the answer from the cache, or asks and keeps it there."""
        if keep and (answer := await self._stored(self._cache.get, key)):
            meter.count(request.role, self.name, cached=1)
            return answer
        if self._replay == "replay":
            raise ReplayMiss(
                f"nothing recorded for a {request.role!r} request of {self.name}: record again"
            )
        answer = await self._ask(request, meter)
        if keep and len(answer["texts"]) == request.n:
            try:
                await self._stored(self._cache.put, key, answer)
            except InputError as error:
                meter.fail(str(error))  # the answer is paid for: use it, then stop
        return answer

    async def _stored(self, call: Callable[P, T], *values: P.args, **more: P.kwargs) -> T:
        if isinstance(self._cache, MemoryCache):
            return call(*values, **more)
        # In a thread: SQLite waits for the disk, and a server's event loop must not.
        return await asyncio.to_thread(call, *values, **more)

    async def _ask(self, request: Request, meter: Meter) -> Answer:
        meter.admit()
        try:
            answer = await self._collect(request, meter)
        except ModelError as error:
            meter.fail(str(error))
            raise
        finally:
            meter.release()
        meter.count(request.role, self.name, requests=1)
        return answer

    async def _collect(self, request: Request, meter: Meter) -> Answer:
        """Asks until all samples are there: by one call, where the server returns several."""
        if request.n == 1:
            return await self._send(request, 0, 1, meter)
        parts: list[Answer] = []
        error: Exception | None = None
        while error is None and (have := sum(len(part["texts"]) for part in parts)) < request.n:
            more, error = await self._round(request, have, meter)
            parts += more
        if error is not None and not parts:
            raise error
        if isinstance(error, ModelError):
            meter.fail(str(error))
        return joined(parts)

    async def _round(
        self, request: Request, have: int, meter: Meter
    ) -> tuple[list[Answer], Exception | None]:
        """Asks once for every sample that is missing; returns what came, and why not all did."""
        size = min(self._most, request.n - have)
        more, error = await gathered(
            self._send(request, at, min(size, request.n - at), meter)
            for at in range(have, request.n, size)
        )
        if size > 1 and not more and isinstance(error, ModelError) and error.status in REFUSES_N:
            # One sample: whatever else is wrong with the request is refused again.
            more, error = [await self._send(request, have, 1, meter)], None
        if size > 1 and more and all(len(answer["texts"]) == 1 for answer in more):
            self._most = 1  # the server ignores n or refuses it, and will do so again
        return more, error

    async def _send(self, request: Request, at: int, n: int, meter: Meter) -> Answer:
        """Makes one call, again after passing faults, for n samples from index `at` on."""
        # A stream cannot carry several samples; LangGraph's `messages` mode would ask for one.
        if self.paid and (known := await self.paid.take(request, at, n)):
            meter.check()
            return counted(known, request, self.name, meter)
        extra: dict[str, Any] = {"n": n} if n > 1 else {}
        if n > 1 and "streaming" in self._fields:
            extra["stream"] = False
        model, parameters = placed(await self._connections.model(), request.parameters)

        async def attempt() -> Answer:
            size = request.prompt_tokens() + n * TOKENS_A_SAMPLE
            async with self._limiter.slot(size, n) as turn:
                meter.check()
                async with asyncio.timeout(self._timeout):
                    result = await model.agenerate(
                        [list(request.messages)],
                        stop=list(request.stop) or None,
                        callbacks=callbacks(),
                        metadata=request.metadata(at),
                        **parameters,
                        **extra,
                    )
                answer = read(result, request, n)
                turn.settle(answer["prompt_tokens"] + answer["completion_tokens"])
                # Before the next one gets this turn: it may be over the limit now.
                return counted(answer, request, self.name, meter)

        place = f"{self.name} at {self.endpoint}"
        answer = await attempted(self._retry, attempt, meter, endpoint=place, hide=self._secrets)
        if self.paid:
            await self.paid.keep(request, at, answer, meter)
        return answer
