"""Runs the searches of a benchmark on a LangGraph server that serves the graphs."""

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
"""Environment variable that holds the key for a server that requires one."""
PATIENCE = (5.0, None, None, None)
"""Timeouts, in seconds, to connect, to read, to write and to get a pooled connection (ours). A
missing server is reported soon; a search may take as long as its limits allow."""


@asynccontextmanager
async def searching_on(url: str) -> AsyncIterator[Search]:
    """Opens a client of a server and yields a function that searches one problem in a run there."""
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
    """Returns the context of a run: its settings, and its models by their names on the server."""
    setup = trial.setup
    models = {"model": setup.model, "evaluator_model": setup.evaluator_model}
    names = {name: value for name, value in models.items() if value}
    return {"on_error": "report", **setup.given, **names, "task": setup.task, "seed": trial.seed}


def _result(url: str, out: object) -> Mapping[str, Any]:
    """Returns the output of the graph; raises if the run failed or was refused on the server."""
    if not isinstance(out, Mapping) or "__error__" in out:
        error = out.get("__error__") if isinstance(out, Mapping) else out
        message = error.get("message", error) if isinstance(error, Mapping) else error
        raise ModelError(f"the server {url}: {message}")
    if out.get("stop_reason") == REFUSED:
        raise ModelError(f"the server {url}: {out.get('error')}")
    return out


def _reason(error: Exception) -> str:
    if isinstance(error, httpx.ConnectError):
        return "no connection; is it running, and is the address right?"
    return str(error) or type(error).__name__
