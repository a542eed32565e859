"""The searches of a benchmark on a LangGraph server that serves the graphs, through its SDK."""

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpx
from langgraph_sdk import get_client
from langgraph_sdk.errors import LangGraphError

from thoughtgraph.bench.runner import Search, Trial
from thoughtgraph.errors import ModelError
from thoughtgraph.outcome import REFUSED

KEY = "THOUGHTGRAPH_SERVER_KEY"
"""Variable of the environment that holds the key of a server that asks for one."""
PATIENCE = (5.0, None, None, None)
"""Seconds for connecting, reading, writing and for a connection of the pool (ours): a search takes
as long as its limits allow, and a server that is not there is told soon."""


@asynccontextmanager
async def searching_on(url: str) -> AsyncIterator[Search]:
    """Opens a server's client; what it gives searches one problem there, as a run of its own."""
    async with get_client(url=url, api_key=os.environ.get(KEY), timeout=PATIENCE) as client:

        async def search(trial: Trial) -> Mapping[str, Any]:
            try:
                out = await client.runs.wait(
                    None,
                    trial.setup.method,
                    input={"problem": trial.record.problem},
                    context=_context(trial),
                    on_disconnect="cancel",
                    raise_error=False,
                )
            except (httpx.HTTPError, LangGraphError) as error:
                raise ModelError(f"the server {url}: {_reason(error)}") from error
            return _result(url, out)

        yield search


def _context(trial: Trial) -> dict[str, Any]:
    """Returns the settings of a run; models go by the names under which the server offers them."""
    setup = trial.setup
    models = {"model": setup.model, "evaluator_model": setup.evaluator_model}
    named = {name: value for name, value in models.items() if value}
    return {"on_error": "report", **setup.given, **named, "task": setup.task, "seed": trial.seed}


def _result(url: str, out: object) -> Mapping[str, Any]:
    """Returns what the graph returned, unless the run failed on the server or was refused there."""
    if not isinstance(out, Mapping) or "__error__" in out:
        told = out.get("__error__") if isinstance(out, Mapping) else out
        said = told.get("message", told) if isinstance(told, Mapping) else told
        raise ModelError(f"the server {url}: {said}")
    if out.get("stop_reason") == REFUSED:
        raise ModelError(f"the server {url}: {out.get('error')}")
    return out


def _reason(error: Exception) -> str:
    if isinstance(error, httpx.ConnectError):
        return "no connection; is it running, and is the address right?"
    return str(error) or type(error).__name__
