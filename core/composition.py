"""A graph inside other programs: a tool of an agent, a node of another graph, a part of a pipe."""

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
"""What is read of a state, or written to it."""
Searching = Runnable[Any, Any]
"""A graph of ours, or one on a server (LangGraph's `RemoteGraph`)."""


class ToolInput(BaseModel):
    """What an agent gives the tool."""

    problem: str = Field(description="The problem, whole: the search sees nothing else.")


def tool(
    graph: Searching, name: str, description: str, *, context: Mapping[str, Any] | None = None
) -> BaseTool:
    """Makes a tool for agents of a graph.

    The agent's model is told the answer, or in a sentence why there is none, be it that the problem
    was refused or that the search's own model failed; it may try again, and its run goes on. The
    message's artifact is the whole result, tree and usage included.

    Args:
        graph: The graph, or one on a server.
        name: The tool's name, as the agent's model sees it: letters, digits, `_` and `-`.
        description: When to use it and how a problem is written, as the agent's model sees it.
        context: The settings of each run.

    Returns:
        A tool with one argument, `problem`; it can be awaited or called.

    Raises:
        InputError: The settings are none of the graph's.
    """
    known = _settings_of(graph)
    if known is not None and (refusal := known(**(context or {})).refusal):
        raise refusal  # the agent could not mend it

    async def search(problem: str) -> tuple[str, Result]:
        try:
            with _apart(graph):
                out = await graph.ainvoke({"problem": problem}, context=context)
        except ProblemError as error:
            # The agent wrote the problem and can mend it.
            return f"Refused: {error}", Result()
        except (ModelError, ToolsUnavailable) as error:
            out = getattr(error, "result", None) or {"stop_reason": "error", "error": str(error)}
        return _words_for_agent(out), Result(out)

    def wait(problem: str) -> tuple[str, Result]:
        return wait_for(search, problem)  # agents read the hints of a function, not of a partial

    return StructuredTool(
        name=name,
        description=description,
        args_schema=ToolInput,
        func=wait,
        coroutine=search,
        response_format="content_and_artifact",
    )


def _words_for_agent(out: Mapping[str, Any]) -> str:
    """Returns what an agent is told of a result."""
    if out.get("stop_reason") == REFUSED:
        return f"Refused: {out['error']}"
    answer = out.get("answer")
    if out.get("stop_reason") == "error":
        before = "" if answer is None else f"; the best answer before that: {answer}"
        return f"Failed: {out['error']}{before}"
    return answer or f"No answer: {out.get('outcome') or sentence(out)}"


def subagent(graph: Searching, name: str, description: str) -> dict[str, Any]:
    """Makes a subagent for `deepagents` of a graph: an entry of `create_deep_agent(subagents=…)`.

    The last human message is the problem; other keys of the agent's state are passed over, and
    nothing but the reply is written to it. A problem that the task cannot read, and a model that
    failed, are told in the reply.

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
    """Makes a node for a graph whose state is another.

    As a node by itself, a graph shares every key of equal name with its parent: a parent's `answer`
    or `step` would be its own. This node reads one thing and writes what you say.

    Args:
        graph: The graph, or one on a server. Give it no checkpointer: the parent's holds its steps.
        problem: Which key of the parent's state is the problem, or how it is made of the state.
        answer: Which key the answer is written to, or what is written, from the result.
        context: The settings, or how they are made of the state.

    Returns:
        The node, for graphs that are async and for those that are not. It raises `ModelError` where
        the model fails, and `InputError` where a server refuses the search: nothing is written
        then, unless the settings say `on_error="report"`.
    """

    async def search(state: Fields) -> Fields:
        text = problem(state) if callable(problem) else _read(state, problem)
        settings = context(state) if callable(context) else context
        with _apart(graph):
            out = Result(await graph.ainvoke({"problem": text}, context=settings))
        presets = getattr(_settings_of(graph), "presets", {})
        if {**presets, **(settings or {})}.get("on_error") != "report":
            _check(out)
        return answer(out) if callable(answer) else {answer: out["answer"]}

    return RunnableLambda(partial(wait_for, search), search, name="search")


@contextmanager
def _apart(graph: object) -> Iterator[None]:
    """Keeps from a search in a chain what is others' to configure; in a graph LangGraph does."""
    around = var_child_runnable_config.get()
    if around is None or called_by_node():
        yield
        return
    known = getattr(_settings_of(graph), "model_fields", {})
    kept = {name: each for name, each in configurable(around).items() if name not in known}
    with configured(configurable=kept):
        yield


def _settings_of(graph: object) -> type[Settings] | None:
    """Returns the settings of a graph; None of one on a server, which checks them itself."""
    kind = getattr(graph, "context_schema", None)
    return kind if isinstance(kind, type) and issubclass(kind, Settings) else None


def _check(out: Result) -> None:
    """Raises what a server's graph reports; one in this process has raised it itself."""
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


def _taken_by_search(input: Any, config: RunnableConfig | None) -> tuple[Any, Any]:
    """Returns how a search is called by a node of a graph that is not async.

    Of that graph, whose saver may not be async either, it knows the callbacks alone, and of its
    state what a search takes.
    """
    if not (called_by_node() or configurable(config).get("checkpoint_ns")):
        return input, config
    if isinstance(input, Mapping):
        known = SearchInput.__annotations__
        input = {name: each for name, each in input.items() if name in known}
    return input, traced(config)


class _Waiting(RunnableBinding[Any, Any]):
    """A graph that can be called as well as awaited; what is streamed so comes at its end."""

    def invoke(self, input: Any, config: RunnableConfig | None = None, **options: Any) -> Any:
        return wait_for(self.ainvoke, *_taken_by_search(input, config), **options)

    def batch(self, inputs: Any, config: Any = None, **options: Any) -> list[Any]:
        configs = config if isinstance(config, list) else [config] * len(inputs)
        pairs = [_taken_by_search(*pair) for pair in zip(inputs, configs, strict=True)]
        taken, own = [each for each, _ in pairs], [each for _, each in pairs]
        return wait_for(self.abatch, taken, own, **options)

    def stream(
        self, input: Any, config: RunnableConfig | None = None, **options: Any
    ) -> Iterator[Any]:
        taken, own = _taken_by_search(input, config)

        async def parts() -> list[Any]:
            return [part async for part in self.astream(taken, own, **options)]

        yield from wait_for(parts)

    def transform(
        self, input: Iterator[Any], config: RunnableConfig | None = None, **options: Any
    ) -> Iterator[Any]:
        *_, last = input
        yield from self.stream(last, config, **options)


def runnable(graph: Graph) -> RunnableBinding[Any, Any]:
    """Returns a graph in the form for `|`, `batch`, `abatch` and `astream_events` (version 2).

    LangChain lowers LangGraph's superstep limit to 25 under composition, whatever is bound to the
    graph; this form lifts it, so that only our own limits end a search. Settings are bound to it:
    `tg.runnable(graph).bind(context={…})`.
    """
    return _Waiting(bound=graph, config={"recursion_limit": SUPERSTEPS})
