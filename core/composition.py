"""Graphs inside other programs: a tool of an agent, a node of another graph, a part of a pipe."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

from langchain_core.runnables import Runnable, RunnableBinding, RunnableConfig, RunnableLambda
from langchain_core.runnables.config import var_child_runnable_config
from langchain_core.tools import BaseTool, StructuredTool
from pydantic import BaseModel, Field

from thoughtgraph.building import SUPERSTEPS, Graph
from thoughtgraph.configurations import called_by_node, configurable, configured
from thoughtgraph.errors import InputError, ModelError, ProblemError, ToolsUnavailable
from thoughtgraph.outcome import REFUSED, sentence
from thoughtgraph.results import Result
from thoughtgraph.settings import Settings
from thoughtgraph.solving import traced, wait_for
from thoughtgraph.state import SearchInput

Fields = Mapping[str, Any]
"""A state, or an update of it."""
Searching = Runnable[Any, Any]
"""A graph of ours, here or on a server (LangGraph's `RemoteGraph`)."""


class ToolInput(BaseModel):
    """The arguments of the tool."""

    problem: str = Field(description="The problem, whole: the search sees nothing else.")


def tool(
    graph: Searching, name: str, description: str, *, context: Mapping[str, Any] | None = None
) -> BaseTool:
    """Makes a graph into a tool for agents.

    The tool message tells the agent's model the answer, or says in a sentence why there is none:
    the problem was refused, or the search's own model failed. The agent's run goes on and may try
    again. The message's artifact is the whole result, with tree and usage.

    Args:
        graph: The graph, here or on a server.
        name: The tool's name, as the agent's model sees it: letters, digits, `_` and `-`.
        description: When to use it and how a problem is written, as the agent's model sees it.
        context: The settings of each run.

    Returns:
        A tool with one argument, `problem`, for synchronous and asynchronous calls.

    Raises:
        InputError: The graph refuses the settings.
    """
    schema = _settings_of(graph)
    if schema is not None and (refusal := schema(**(context or {})).refusal):
        raise refusal  # the agent could not correct the settings

    async def search(problem: str) -> tuple[str, Result]:
        try:
            with _without_namesakes(graph):
                out = await graph.ainvoke({"problem": problem}, context=context)
        except ProblemError as error:
            # The agent wrote the problem and can correct it.
            return f"Refused: {error}", Result()
        except (ModelError, ToolsUnavailable) as error:
            out = getattr(error, "result", None) or {"stop_reason": "error", "error": str(error)}
        return _words_for_agent(out), Result(out)

    def wait(problem: str) -> tuple[str, Result]:
        return wait_for(search, problem)  # a function, as agents read its type hints

    return StructuredTool(
        name=name,
        description=description,
        args_schema=ToolInput,
        func=wait,
        coroutine=search,
        response_format="content_and_artifact",
    )


def _words_for_agent(out: Mapping[str, Any]) -> str:
    """Returns the text that tells an agent's model about a result."""
    if out.get("stop_reason") == REFUSED:
        return f"Refused: {out['error']}"
    answer = out.get("answer")
    if out.get("stop_reason") == "error":
        before = "" if answer is None else f"; the best answer before that: {answer}"
        return f"Failed: {out['error']}{before}"
    return answer or f"No answer: {out.get('outcome') or sentence(out)}"


def subagent(graph: Searching, name: str, description: str) -> dict[str, Any]:
    """Makes a graph into a subagent of `deepagents`: an entry of `create_deep_agent(subagents=…)`.

    The last human message is the problem. Other keys of the agent's state are ignored, and only the
    reply is written to it. The reply also reports a problem that the task cannot read, or a model
    that failed.

    Args:
        graph: The graph.
        name: The subagent's name, as the agent's model sees it.
        description: When to use it and how a problem is written, as the agent's model sees it.
    """

    async def search(state: Fields) -> Fields:
        out = await graph.ainvoke({"messages": _read(state, "messages")})
        return {"messages": [out["messages"][-1]]}

    runs = RunnableLambda(partial(wait_for, search), search, name=name)
    return {"name": name, "description": description, "runnable": runs}


def node(
    graph: Searching,
    *,
    problem: str | Callable[[Any], str] = "problem",
    answer: str | Callable[[Result], Fields] = "answer",
    context: Mapping[str, Any] | Callable[[Any], Mapping[str, Any]] | None = None,
) -> Runnable[Any, Any]:
    """Makes a graph into a node of a parent graph with another state.

    A graph that is itself a node shares every key of equal name with its parent: it would take the
    parent's `answer` or `step` for its own. This node reads the problem and writes the answer only.

    Args:
        graph: The graph, here or on a server. Give it no checkpointer: the parent's has its steps.
        problem: The key of the problem in the parent's state, or a function from state to problem.
        answer: The key to write the answer to, or a function from result to state update.
        context: The settings, or a function from state to settings.

    Returns:
        The node, for synchronous and asynchronous graphs. It raises `ModelError` if the model
        fails, and `InputError` if a server refuses the search. Nothing is written then, unless the
        settings say `on_error="report"`.
    """

    async def search(state: Fields) -> Fields:
        text = problem(state) if callable(problem) else _read(state, problem)
        settings = context(state) if callable(context) else context
        with _without_namesakes(graph):
            out = Result(await graph.ainvoke({"problem": text}, context=settings))
        presets = getattr(_settings_of(graph), "presets", {})
        if {**presets, **(settings or {})}.get("on_error") != "report":
            _raise_reported(out)
        return answer(out) if callable(answer) else {answer: out["answer"]}

    return RunnableLambda(partial(wait_for, search), search, name="search")


@contextmanager
def _without_namesakes(graph: object) -> Iterator[None]:
    """Hides a chain's `configurable` entries with names of settings, which a search refuses."""
    around = var_child_runnable_config.get()
    if around is None or called_by_node():  # a nested search ignores such entries
        yield
        return
    names = getattr(_settings_of(graph), "model_fields", {})
    entries = {name: value for name, value in configurable(around).items() if name not in names}
    with configured(configurable=entries):
        yield


def _settings_of(graph: object) -> type[Settings] | None:
    """Returns the settings class of a graph; None for one on a server, which checks them itself."""
    kind = getattr(graph, "context_schema", None)
    return kind if isinstance(kind, type) and issubclass(kind, Settings) else None


def _raise_reported(out: Result) -> None:
    """Raises the error that a server's graph reports; a graph in this process raises its own."""
    if out.get("stop_reason") == REFUSED:
        raise InputError(out["error"])
    if out.get("stop_reason") == "error":
        raise ModelError(out["error"], result=out)


def _read(state: Fields, key: str) -> Any:
    fields = state if isinstance(state, Mapping) else vars(state)
    if key not in fields:
        raise InputError(
            f"the state has no {key!r}; say where the problem is: tg.node(graph, problem=…)"
        )
    return fields[key]


def _search_call(input: Any, config: RunnableConfig | None) -> tuple[Any, Any]:
    """Returns the input and the config with which a synchronous graph's node calls a search.

    The config has only that graph's callbacks, tags and metadata, as its saver may be synchronous,
    too. The input has only the keys that a search takes. For other callers both stay unchanged.
    """
    if not (called_by_node() or configurable(config).get("checkpoint_ns")):
        return input, config
    if isinstance(input, Mapping):
        names = SearchInput.__annotations__
        input = {name: value for name, value in input.items() if name in names}
    return input, traced(config)


class _Waiting(RunnableBinding[Any, Any]):
    """A graph for synchronous calls, too; a synchronous stream gives all its parts at the end."""

    def invoke(self, input: Any, config: RunnableConfig | None = None, **options: Any) -> Any:
        return wait_for(self.ainvoke, *_search_call(input, config), **options)

    def batch(self, inputs: Any, config: Any = None, **options: Any) -> list[Any]:
        configs = config if isinstance(config, list) else [config] * len(inputs)
        calls = [_search_call(*pair) for pair in zip(inputs, configs, strict=True)]
        search_inputs, search_configs = [each for each, _ in calls], [each for _, each in calls]
        return wait_for(self.abatch, search_inputs, search_configs, **options)

    def stream(
        self, input: Any, config: RunnableConfig | None = None, **options: Any
    ) -> Iterator[Any]:
        search_input, search_config = _search_call(input, config)

        async def parts() -> list[Any]:
            return [part async for part in self.astream(search_input, search_config, **options)]

        yield from wait_for(parts)

    def transform(
        self, input: Iterator[Any], config: RunnableConfig | None = None, **options: Any
    ) -> Iterator[Any]:
        *_, last = input
        yield from self.stream(last, config, **options)


def runnable(graph: Graph) -> RunnableBinding[Any, Any]:
    """Returns a graph in the form for `|`, `batch`, `abatch` and `astream_events` (version 2).

    Under composition LangChain lowers LangGraph's superstep limit to 25, whatever the graph binds.
    This form lifts it, so that only our own limits end a search. Bind settings to it:
    `tg.runnable(graph).bind(context={…})`.
    """
    return _Waiting(bound=graph, config={"recursion_limit": SUPERSTEPS})
