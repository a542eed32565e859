"""One problem from synchronous code: build, run, wait."""

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
"""What of a configuration traces are told by."""
LONGEST_WAIT = 0.5
"""Seconds after which a waiting thread looks for signals (ours)."""


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

    It works in a script, in a notebook and beside a running event loop, which it holds up: the
    search has a loop of its own in another thread. From async code, await the graph of
    `thoughtgraph.build` instead.

    Args:
        problem: The problem in the task's format.
        method: The method's id; None: the one that `thoughtgraph solve` takes for the task.
        task: A task or its id; None: any question (`question`).
        model: A chat model, a port or a model specifier; None: as `thoughtgraph solve` chooses.
        evaluator_model: The model of the judging roles; None: the same as `model`.
        oracle: As of `thoughtgraph.build`.
        tools: As of `thoughtgraph.build`.
        settings: The method's settings, limits included; `thoughtgraph methods ID` lists them.

    Returns:
        What the graph returned. `thoughtgraph.save` and `thoughtgraph.html` take it; a notebook
        shows its tree.

    Raises:
        ThoughtgraphError: Something that was given cannot be used, as `thoughtgraph.build` says;
            nothing has been spent.
        ModelError: The model failed for good; the error's `result` has what was found until then.
            With the setting `on_error="report"` it is returned instead.
    """
    named = Settings.model_fields["task"].default if task is None else task
    known = registry.task(named) if isinstance(named, str) else check_task(named)
    graph = build(
        method or default_method(known),
        task=known,
        model="" if model is None else model,
        evaluator_model=evaluator_model,
        oracle=oracle,
        tools=tools,
    )
    return Result(wait_for(graph.ainvoke, {"problem": problem}, context=settings))


def wait_for(work: Callable[..., Awaitable[T]], *arguments: Any, **options: Any) -> T:
    """Runs async work from code that is not, beside a running event loop as well.

    What calls it may be a step of a graph that is not async, with a saver that is not: the work
    knows nothing of that graph but its callbacks, so traces nest and nothing is saved in it.

    Args:
        work: An async function, which gets a loop of its own in another thread.
        arguments: Its arguments.
        options: Those that it takes by name.
    """

    async def detached() -> T:
        var_child_runnable_config.set(traced(var_child_runnable_config.get()))
        return await work(*arguments, **options)

    with start_blocking_portal() as portal:
        running = portal.start_task_soon(detached)
        # A signal that comes just before a thread begins to wait does not wake it: Ctrl-C would do
        # nothing until the search has ended.
        while not wait([running], timeout=LONGEST_WAIT).done:
            pass
        try:
            made: T = running.result()
        except ThoughtgraphError as error:
            # Its one line says what to do: the way through LangGraph and threads tells nobody more.
            vars(error).pop("__notes__", None)
            raise error.with_traceback(None) from None
        return made


def traced(config: RunnableConfig | None) -> RunnableConfig:
    """Returns what of a configuration traces are told by."""
    kept = {name: each for name, each in (config or {}).items() if name in TRACED}
    return cast("RunnableConfig", kept)
