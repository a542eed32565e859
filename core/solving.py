"""Solves one problem from synchronous code: builds a graph, runs it and waits."""

from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import wait
from typing import Any, TypeVar, cast

from anyio.from_thread import start_blocking_portal
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import var_child_runnable_config

from thoughtgraph import registry
from thoughtgraph.acting import Toolbox
from thoughtgraph.admission import Oracle, check_task, default_method
from thoughtgraph.building import Model, build
from thoughtgraph.errors import ThoughtgraphError
from thoughtgraph.results import Result
from thoughtgraph.settings import Settings
from thoughtgraph.task import Task

T = TypeVar("T")

TRACED = ("callbacks", "tags", "metadata")
"""Keys of a configuration that traces depend on."""
LONGEST_WAIT = 0.5
"""Seconds between two checks of a waiting thread for signals (ours)."""


def solve(
    problem: str,
    *,
    method: str | None = None,
    task: str | Task | None = None,
    model: Model | None = None,
    evaluator_model: Model | None = None,
    oracle: Oracle | bool = False,
    tools: Toolbox | Sequence[Any] = (),
    **settings: Any,
) -> Result:
    """Searches for the answer to one problem and waits for it.

    It works in scripts, in notebooks and inside a running event loop, which it blocks: the search
    runs in its own loop in another thread. In async code, await the graph of `thoughtgraph.build`
    instead.

    Args:
        problem: The problem in the task's format.
        method: Id of the method; None: the task's default, as in `thoughtgraph solve`.
        task: A task or its id; None: `question`, which takes any question.
        model: A chat model, a port or a model specifier; None: the default of `thoughtgraph solve`.
        evaluator_model: The model of the judging roles; None: the same as `model`.
        oracle: See `thoughtgraph.build`.
        tools: See `thoughtgraph.build`.
        settings: The method's settings, limits included; `thoughtgraph methods ID` lists them.

    Returns:
        The result of the graph. `thoughtgraph.save` and `thoughtgraph.html` take it; a notebook
        shows its tree.

    Raises:
        ThoughtgraphError: An argument cannot be used (see `thoughtgraph.build`); nothing has been
            spent.
        ModelError: The model failed for good; the error's `result` has everything found so far.
            With the setting `on_error="report"`, that result is returned instead.
    """
    choice = Settings.model_fields["task"].default if task is None else task
    task_object = registry.task(choice) if isinstance(choice, str) else check_task(choice)
    graph = build(
        method or default_method(task_object),
        task=task_object,
        model="" if model is None else model,
        evaluator_model=evaluator_model,
        oracle=oracle,
        tools=tools,
    )
    return Result(wait_for(graph.ainvoke, {"problem": problem}, context=settings))


def wait_for(work: Callable[..., Awaitable[T]], *arguments: Any, **options: Any) -> T:
    """Runs async work from synchronous code, even inside a running event loop.

    The caller may be a synchronous node of a graph with a synchronous checkpointer. The work gets
    only that graph's `TRACED` keys, so that traces nest and nothing is saved on its thread.

    Args:
        work: An async function; it runs in its own loop in another thread.
        arguments: Its positional arguments.
        options: Its keyword arguments.
    """

    async def detached() -> T:
        var_child_runnable_config.set(traced(var_child_runnable_config.get()))
        return await work(*arguments, **options)

    with start_blocking_portal() as portal:
        running = portal.start_task_soon(detached)
        # A signal just before a thread begins to wait does not wake it: without the timeout, Ctrl-C
        # could have no effect until the search ends.
        while not wait([running], timeout=LONGEST_WAIT).done:
            pass
        try:
            value: T = running.result()
        except ThoughtgraphError as error:
            # The error's line says what to do; a traceback of LangGraph and threads adds nothing.
            vars(error).pop("__notes__", None)
            raise error.with_traceback(None) from None
        return value


def traced(config: RunnableConfig | None) -> RunnableConfig:
    """Returns the keys of a configuration that traces depend on."""
    entries = {name: each for name, each in (config or {}).items() if name in TRACED}
    return cast("RunnableConfig", entries)
