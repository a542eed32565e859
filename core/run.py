"""The objects a graph is built around: task, models, oracle. Plain values are settings."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, TypeVar, cast
from weakref import WeakKeyDictionary

from langgraph.config import get_stream_writer
from langgraph.types import StreamWriter
from pydantic import create_model

from thoughtgraph import registry
from thoughtgraph.acting import Acts, Toolbox
from thoughtgraph.admission import Oracle, admit, capability_error, tasks_of
from thoughtgraph.context import graph_fields, resolve_settings
from thoughtgraph.errors import InputError, SettingError, ToolsUnavailable
from thoughtgraph.llm.port import ChatPort
from thoughtgraph.llm.prices import Prices, prices_of
from thoughtgraph.method import Method
from thoughtgraph.policy import Policy, operators
from thoughtgraph.settings import Settings
from thoughtgraph.settings.marks import Constrains, Exact, ForDatabases, ForTools
from thoughtgraph.task import Opens, Task

T = TypeVar("T")

OpenPort = Callable[..., ChatPort]
"""Opens the port of a model specifier; `served_as` is its name for clients of a server."""
Conclude = Callable[[Any], Awaitable[dict[str, Any]]]
"""Returns the final update of a search that ends in a state."""


@dataclass
class Run:
    """The objects that the nodes of one graph close over, and that all its runs share.

    Args:
        method: The method.
        settings: Its settings class, restricted if there is a policy.
        open_port: Opens the port of a specifier, for graphs whose context names the model.
        task: The task; None if the context names it.
        model: The generating model; None if the context names it.
        evaluator: The judging model; None: the context's, else the generating one.
        oracle: Returns whether an answer is right. True: the task's own exact check does. False:
            runs get no gold feedback.
        presets: The settings that the graph was built with; those of a run outrank them.
        tools: The user's own tools, added to the task's, or a toolbox that replaces them.
        policy: The choices of a server's clients, to which `settings` is restricted; None in the
            user's own process, where everything is allowed.
        conclude: Returns the final update for a state; set with the method's last node.
        ledgers: State that the nodes of a superstep share while they run, by checkpoint id.
    """

    method: Method
    settings: type[Settings]
    open_port: OpenPort
    task: Task | None = None
    model: ChatPort | None = None
    evaluator: ChatPort | None = None
    oracle: Oracle | bool = False
    presets: Mapping[str, Any] = field(default_factory=dict)
    tools: Toolbox | Sequence[Any] = ()
    policy: Policy | None = None
    conclude: Conclude = field(init=False)
    ledgers: dict[str, Any] = field(default_factory=dict)
    _ports: dict[str, ChatPort] = field(default_factory=dict)
    _tools: WeakKeyDictionary[StreamWriter, dict[str, Toolbox]] = field(
        default_factory=WeakKeyDictionary
    )
    _able: dict[type, Task] = field(default_factory=dict)
    _opens: dict[str, Task] = field(default_factory=dict)

    @cached_property
    def context(self) -> type[Settings]:
        """Returns the settings class of the graph, its `context_schema`.

        Settings that the graph or the operator fixes are closed: forms omit them, and a run that
        sets one is refused. Errors in values are stored as `refusal`.
        """
        closed = [name for name in ("task", "model") if getattr(self, name) is not None]
        if self.evaluator is not None or self.model is not None:
            closed.append("evaluator_model")
        if self.policy is not None:
            closed += operators(self.method.settings)
        tasks = tasks_of(self.method.entry.id) if self.task is None else [self.task]
        published = {task.id: self._published(task) for task in tasks}
        base = self.settings
        fields = graph_fields(base, json.dumps([published, self.presets]))
        # Each graph has its own class, by which a nested graph tells its context from its parent's.
        kind = create_model(base.__name__, __base__=base, __doc__=base.__doc__, **fields)
        kind.closed, kind.presets, kind.defers = frozenset(closed), self.presets, True
        return kind

    def chosen(self, context: object) -> dict[str, Any]:
        """Returns the settings that a run's context sets.

        A search inside another program's graph receives that graph's context. Unless the context is
        an instance of this graph's own class, it is ignored, whatever its keys.

        Raises:
            InputError: The context has an unknown setting or an invalid value.
        """
        if not isinstance(context, self.context):
            return {}
        if context.refusal:
            raise context.refusal
        return context.model_dump(mode="json", include=context.model_fields_set)

    def check(self, chosen: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
        """Refuses to continue a search with settings other than those it began with.

        Raises:
            SettingError: A chosen setting differs from the one in the state, or the policy does not
                allow the settings in the state: no client could have chosen them.
        """
        for name, value in chosen.items():
            if value is not None and value != settings.get(name):
                raise SettingError(
                    f"this search began with {name}={settings.get(name)!r}, not {value!r}; leave "
                    f"{name} out, or start a new search"
                )
        if self.policy is not None:
            self.policy.admit(self.settings, settings)

    def effective_settings(self, chosen: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the effective settings of a run.

        Settings for tools or databases are refused if the task uses none and a value differs from
        its default. Settings for prompts never are: nothing declares which of them a prompt uses.

        Raises:
            CapabilityError: The method cannot search the task with these settings.
            SettingError: A value is outside its bounds, or would change nothing.
        """
        default = self.settings.model_fields["task"].default
        task = self.task or registry.task(chosen.get("task") or default)
        published = self._published(task)
        settings = resolve_settings(self.settings, published, chosen, self.presets)
        method, served = self.method.entry.id, self.policy is not None
        admit(method, task, settings, oracle=self.oracle, served=served)
        for mark, kind in ((ForTools, Acts), (ForDatabases, Opens)):
            for_kind = self.method.settings.marked(mark)
            candidates = [name for name in for_kind if chosen.get(name) is not None]
            if not candidates or isinstance(task, kind):
                continue
            defaults = resolve_settings(self.settings, published, presets=self.presets)
            if names := [name for name in candidates if settings[name] != defaults[name]]:
                pronoun = "it" if len(names) == 1 else "them"
                raise SettingError(
                    f"{' and '.join(map(repr, names))} would change nothing: method {method!r} on "
                    f"task {task.id!r} does not use {pronoun}; leave {pronoun} out"
                )
        return {**settings, "task": task.id}

    def has_feedback(self, settings: Mapping[str, Any]) -> bool:
        """Returns whether an oracle or the exact check tells a run if its answers are right."""
        exact = any(settings.get(name) for name in self.method.settings.marked(Exact))
        return bool(self.oracle or (exact and self.method.entry.asks_oracle))

    def task_for(self, settings: dict[str, Any], kind: type[T]) -> T:
        """Returns the task, typed as one with a capability.

        Raises:
            CapabilityError: The task lacks the capability.
        """
        task = self.task or registry.task(settings["task"])
        if self.policy is not None:
            task = self._offered(self.policy, task)
        if self._able.get(kind) is not task:  # isinstance on a protocol is slower than a node
            if not isinstance(task, kind):
                raise capability_error(self.method.entry.id, task, [kind])
            self._able[kind] = task
        return cast("T", task)

    def _offered(self, policy: Policy, task: Task) -> Task:
        """Returns the task as a server offers it, restricted to the operator's databases."""
        if task.id not in self._opens:
            offered = task.offered(policy.databases) if isinstance(task, Opens) else task
            self._opens[task.id] = offered
        return self._opens[task.id]

    async def port_for(self, settings: dict[str, Any], *, judging: bool) -> ChatPort:
        """Returns the port of the generating model, or of the judging one; opens it once."""
        if judging and self.evaluator is not None:
            return self.evaluator
        judge = settings.get("evaluator_model") if judging else ""
        if self.model is not None and not judge:
            return self.model
        specifier = judge or settings.get("model", "")
        if specifier not in self._ports:
            open_port = self.open_port
            if self.policy is not None:
                open_port = partial(self.policy.opened, open_port=open_port)
            # Loading weights takes seconds and must not hold the event loop.
            self._ports[specifier] = await asyncio.to_thread(open_port, specifier)
        return self._ports[specifier]

    async def open_models(self, settings: dict[str, Any]) -> Prices:
        """Opens the models of a run before anything is spent, and returns their prices.

        Raises:
            InputError: A specifier has no known form, or a model cannot take the grammar that a
                setting requires.
            ModelUnavailable: The embedded model is not available here.
        """
        ports = [await self.port_for(settings, judging=judging) for judging in (False, True)]
        constrained = any(settings.get(name) for name in self.method.settings.marked(Constrains))
        for refusal in (port.grammar_refusal() for port in ports if constrained):
            if refusal:
                raise SettingError(refusal)
        # Importing the table of prices takes half a second.
        return await asyncio.to_thread(prices_of, ports, settings["prices"])

    async def open_tools(self, settings: dict[str, Any], problem: str, run: str) -> str:
        """Opens the tools of a run before anything is spent; returns one line per tool for prompts.

        Args:
            problem: The problem, which may bring its own pages.
            run: Name of the run.

        Raises:
            InputError: The settings name tools that are not available, or the graph has tools for a
                method that calls none.
            ToolsUnavailable: The tools cannot work here; the message says what to do.
        """
        task = self.task_for(settings, Task)
        if not isinstance(task, Acts) or not self.method.settings.marked(ForTools):
            if self.tools:
                raise InputError(
                    f"method {self.method.entry.id!r} calls no tools on task {task.id!r}; leave "
                    "tools out, or choose a method and a task that act, such as 'react' on "
                    "'hotpotqa'"
                )
            return ""
        # Reading a corpus takes seconds and must not hold the event loop.
        tools = await asyncio.to_thread(self.tools_for, settings, problem, run)
        if trouble := await tools.check():
            raise ToolsUnavailable(trouble)
        return tools.describe()

    def tools_for(self, settings: dict[str, Any], problem: str, run: str) -> Toolbox:
        """Returns the tools of a run, which are opened once, and once more when it is resumed.

        The stream writer of a run is the weak key of its tools: LangGraph makes one per run, gives
        it to every node and keeps no other reference. So the tools go when the run ends, whether by
        an answer, an error or an abandoned stream. Outside a running graph, nothing is stored.
        """
        if isinstance(self.tools, Toolbox):
            return self.tools
        toolboxes: dict[str, Toolbox] = {}
        with suppress(RuntimeError, KeyError):
            toolboxes = self._tools.setdefault(get_stream_writer(), toolboxes)
        if run not in toolboxes:
            options = settings
            if self.policy is not None:
                options = self.policy.sourced(self.method.settings, settings)
            toolboxes[run] = self.task_for(settings, Acts).tools(problem, options, self.tools)
        return toolboxes[run]

    def _published(self, task: Task) -> Mapping[str, Any]:
        """Returns a task's published values for the method, lowered to the policy's ceilings."""
        published = task.published(self.method.entry.id)
        return published if self.policy is None else self.policy.lowered(published)
