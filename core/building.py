"""From a method's name and a few objects to a compiled graph."""

from collections.abc import Mapping, Sequence
from functools import cache, partial
from inspect import signature
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from langchain_core.language_models import BaseChatModel
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Checkpointer

from thoughtgraph import registry
from thoughtgraph.acting import Toolbox
from thoughtgraph.admission import Oracle, check_task
from thoughtgraph.context import resolve_settings
from thoughtgraph.errors import InputError, UnknownName
from thoughtgraph.llm.endpoints import port_for
from thoughtgraph.llm.limiter import Rates
from thoughtgraph.llm.port import ChatPort
from thoughtgraph.llm.retry import Retry
from thoughtgraph.llm.store import AnswerStore, Replay, SqliteStore
from thoughtgraph.method import Method
from thoughtgraph.policy import Policy, operators
from thoughtgraph.run import Run
from thoughtgraph.settings.marks import Exact
from thoughtgraph.task import Checks, Task

Graph = CompiledStateGraph[Any, Any, Any, Any]
Model = str | BaseChatModel | ChatPort

SUPERSTEPS = 2**31 - 1
"""LangGraph's own limit (its default is 10,007): no search gets there, so only our limits end
one."""


@cache
def load(name: str) -> Method:
    """Imports a method.

    Raises:
        UnknownName: There is no such method.
    """
    imported: Method = resolve_name(f"thoughtgraph.graphs.{registry.METHODS[name].method}")
    return imported


def build(
    method: str,
    *,
    task: str | Task | None = None,
    model: Model | None = None,
    evaluator_model: Model | None = None,
    oracle: Oracle | bool = False,
    tools: Toolbox | Sequence[Any] = (),
    cache: AnswerStore | str | Path | None = None,
    replay: Replay = "off",
    rates: Rates | None = None,
    retry: Retry | None = None,
    checkpointer: Checkpointer = None,
    policy: Policy | None = None,
    **settings: Any,
) -> Graph:
    """Builds the graph of a method.

    Args:
        method: The method's id, such as `tot_bfs`.
        task: A task or its id; None leaves the choice to `context={"task": …}`.
        model: A chat model, a port or a model specifier; None leaves it to the context.
        evaluator_model: The model of the judging roles; None: the same as `model`.
        oracle: An async `(answer) -> bool`, or True for the task's own exact check, for the methods
            that the papers run with feedback. The result is then labelled oracle.
        tools: For methods that act: the user's own LangChain tools, added to the task's, each alone
            (it costs 1 a call) or with its price (`thoughtgraph.tools.costs.Priced`); or a whole
            toolbox in the place of the task's.
        cache: Where answers are kept: an SQLite file's path or a cache. None: in memory.
        replay: `record` keeps generations in the cache and takes them from it; `replay` asks
            nothing.
        rates: Concurrency cap and rates of the models; from the environment when None. Graphs with
            equal rates share them at an endpoint; one with other rates has an allowance of its own
            beside theirs (ours).
        retry: When failed requests are repeated; for 30 s when None.
        checkpointer: LangGraph's checkpointer, for runs that can be resumed. Leave it out on a
            server.
        policy: What the clients of a server may choose. None: everything, for the caller's own
            process; a graph that answers strangers needs one.
        settings: Settings of the method, such as `breadth=5`: a run has them unless its `context`
            says otherwise, and inside another program's graph it always has them.

    Returns:
        The compiled graph. Its nodes are async only, so await its `ainvoke`, with the problem as
        input and the settings as `context`. Where the model fails for good, it raises `ModelError`,
        whose `result` has what was found until then. In a conversation the reply says so instead;
        with a policy, or the setting `on_error="report"`, the result does.

    Raises:
        UnknownName: There is no such method or task.
        CapabilityError: The task lacks what the method needs.
        InputError: The model specifier has no known form, the cache file cannot be used, or the
            oracle is none or would never be asked; or a setting is outside its bounds.
        ModelUnavailable: The embedded model cannot be had here.
    """
    definition = load(method)
    known = definition.settings.model_fields.keys()
    for name in settings.keys() - known:
        arguments = signature(build).parameters.keys() - {"settings"}
        raise UnknownName("argument or setting", name, known | arguments)
    answers = SqliteStore(cache) if isinstance(cache, str | Path) else cache
    port = partial(port_for, cache=answers, replay=replay, rates=rates, retry=retry)
    run = Run(
        method=definition,
        settings=definition.settings if policy is None else policy.restrict(definition.settings),
        open_port=port,
        task=registry.task(task) if isinstance(task, str) else task and check_task(task),
        model=None if model is None else port(model),
        evaluator=None if evaluator_model is None else port(evaluator_model),
        oracle=oracle,
        presets=settings,
        tools=tools,
        policy=policy,
    )
    if run.task is None:
        resolve_settings(run.settings, {}, presets=settings)
    else:
        # A run may be told to check answers, and is looked at itself.
        may_check = isinstance(run.task, Checks) and not oracle
        run.effective_settings(
            dict.fromkeys(definition.settings.marked(Exact) if may_check else (), True)
        )
    graph = definition.wire(run).compile(name=method, checkpointer=checkpointer)
    return graph.with_config(recursion_limit=SUPERSTEPS)


@cache
def served_graphs() -> dict[str, Graph]:
    """Returns the graph of every method under the operator's policy.

    It is the same all through a process: servers load the file that names the graphs once for each.

    Raises:
        InputError: A variable of the policy cannot be read.
    """
    policy = Policy.from_environment()
    return {method: build(method, policy=policy) for method in registry.METHODS}


def check_served_context(graph: str, context: Mapping[str, Any]) -> None:
    """Refuses settings that no run of a server's graph would take, such as those of an assistant.

    What a method needs of a task is checked where the context names one; a run may name it yet.

    Args:
        graph: The graph's name; one that is none of ours is not checked.
        context: The settings.

    Raises:
        InputError: One is unknown, outside its bounds, or not for clients.
        CapabilityError: The task lacks what the method needs.
    """
    if graph not in registry.METHODS:
        return
    policy, definition = Policy.from_environment(), load(graph)
    closed = sorted(context.keys() & set(operators(definition.settings)))
    if closed:
        raise InputError(f"setting {closed[0]!r} is the operator's; leave it out")
    run = Run(definition, policy.restrict(definition.settings), port_for, policy=policy)
    if context.get("task"):
        run.effective_settings(context)
    else:
        resolve_settings(run.settings, {}, context)
