"""Builds a compiled graph from a method's name and a few objects."""

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
"""`recursion_limit` of our graphs (LangGraph's default is 10,007). No search reaches it, so that
only our own limits end a search."""


@cache
def load(name: str) -> Method:
    """Imports the definition of a method.

    Raises:
        UnknownName: There is no such method.
    """
    definition: Method = resolve_name(f"thoughtgraph.graphs.{registry.METHODS[name].method}")
    return definition


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
        oracle: An async `(answer) -> bool`, or True for the task's own exact check. It is for the
            methods that the papers run with feedback. The result is then labelled oracle.
        tools: For methods that act: your own LangChain tools, added to the task's. A tool costs 1 a
            call, unless it comes with a price (`thoughtgraph.tools.costs.Priced`). A whole toolbox
            replaces the task's.
        cache: Where answers are stored: the path of an SQLite file, or a store. None: in memory.
        replay: `record` stores generations in the cache and reuses them; `replay` sends no
            requests.
        rates: Concurrency cap and rates of the models; None reads them from the environment. At one
            endpoint, graphs with equal rates share one allowance; a graph with other rates has its
            own (ours).
        retry: When to repeat failed requests; None repeats them for 30 s.
        checkpointer: LangGraph's checkpointer, for runs that can be resumed. Leave it out on a
            server.
        policy: What the clients of a server may choose. None allows everything, for your own
            process; a graph that serves strangers needs a policy.
        settings: Settings of the method, such as `breadth=5`. The `context` of a run overrides
            them, but not inside another program's graph: there they always hold.

    Returns:
        The compiled graph. Its nodes are async only, so await its `ainvoke`, with the problem as
        input and the settings as `context`. If the model fails for good, it raises `ModelError`,
        whose `result` has everything found so far. In a conversation the reply reports the failure
        instead; with a policy, or the setting `on_error="report"`, the result does.

    Raises:
        UnknownName: There is no such method, task or setting.
        CapabilityError: The task lacks a capability that the method needs.
        InputError: The model specifier has no known form, the cache file cannot be used, the oracle
            is unusable or would never be asked, or a setting is outside its bounds.
        ModelUnavailable: The embedded model is not available here.
    """
    definition = load(method)
    names = definition.settings.model_fields.keys()
    for name in settings.keys() - names:
        arguments = signature(build).parameters.keys() - {"settings"}
        raise UnknownName("argument or setting", name, names | arguments)
    store = SqliteStore(cache) if isinstance(cache, str | Path) else cache
    port_of = partial(port_for, cache=store, replay=replay, rates=rates, retry=retry)
    run = Run(
        method=definition,
        settings=definition.settings if policy is None else policy.restrict(definition.settings),
        open_port=port_of,
        task=registry.task(task) if isinstance(task, str) else task and check_task(task),
        model=None if model is None else port_of(model),
        evaluator=None if evaluator_model is None else port_of(evaluator_model),
        oracle=oracle,
        presets=settings,
        tools=tools,
        policy=policy,
    )
    if run.task is None:
        resolve_settings(run.settings, {}, presets=settings)
    else:
        # Exact checks are on here, as a run may switch them on; every run is admitted again.
        may_check = isinstance(run.task, Checks) and not oracle
        run.effective_settings(
            dict.fromkeys(definition.settings.marked(Exact) if may_check else (), True)
        )
    graph = definition.wire(run).compile(name=method, checkpointer=checkpointer)
    return graph.with_config(recursion_limit=SUPERSTEPS)


@cache
def served_graphs() -> dict[str, Graph]:
    """Returns the graph of every method under the operator's policy.

    A process builds them once, as servers load the file that names the graphs once per graph.

    Raises:
        InputError: A variable of the policy cannot be read.
    """
    policy = Policy.from_environment()
    return {method: build(method, policy=policy) for method in registry.METHODS}


def check_served_context(graph: str, context: Mapping[str, Any]) -> None:
    """Refuses settings, such as an assistant's, that every run of a server's graph would refuse.

    Capabilities are checked only if the context names a task; otherwise a run may still name one.

    Args:
        graph: The graph's name; the graphs of other programs are not checked.
        context: The settings.

    Raises:
        InputError: A setting is unknown, outside its bounds, or not for clients.
        CapabilityError: The task lacks a capability that the method needs.
    """
    if graph not in registry.METHODS:
        return
    policy, definition = Policy.from_environment(), load(graph)
    reserved = sorted(context.keys() & set(operators(definition.settings)))
    if reserved:
        raise InputError(f"setting {reserved[0]!r} is the operator's; leave it out")
    run = Run(definition, policy.restrict(definition.settings), port_for, policy=policy)
    if context.get("task"):
        run.effective_settings(context)
    else:
        resolve_settings(run.settings, {}, context)
