"""The objects a graph is built around: task, models, oracle. Plain values come by settings."""

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
"""Makes the port of a model specifier; `served_as` names it for clients of a server."""
Conclude = Callable[[Any], Awaitable[dict[str, Any]]]
"""From a state to what a search comes to that ends with it."""


@dataclass
class Run:
    """What the nodes of one graph close over: objects that all its runs share, nothing of a run.

    Args:
        method: The method.
        settings: Its settings, restricted where there is a policy.
        open_port: Makes the port of a specifier, for graphs whose model is named by the context.
        task: The task; None when the context names it.
        model: The generating model; None when the context names it.
        evaluator: The judging model; None means the generating one, or the context's.
        oracle: Says whether an answer is right; None runs without gold feedback. True stands for
            the task's own exact check.
        presets: Settings that a run has unless it is given others.
        tools: All tools of the task, or the user's own that are added to the task's.
        policy: What the clients of a server may choose, and `settings` is restricted to; None in
            the user's own process, where all is free.
        conclude: Reads the answer off a state; the method's last node says how.
        ledgers: What the nodes of a superstep share while they run, by its name.
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
        """Returns the settings of the graph, its `context_schema`.

        A run that is given one that is closed over is refused; forms lack it. What is wrong with
        values is told as `refusal`.
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
        # Each graph has a class of its own: by it a graph inside another knows whose a context is.
        own = create_model(base.__name__, __base__=base, __doc__=base.__doc__, **fields)
        own.closed, own.presets, own.defers = frozenset(closed), self.presets, True
        return own

    def chosen(self, context: object) -> dict[str, Any]:
        """Returns the settings that a run was given by its context.

        A search inside another program's graph is shown that graph's context, which is not its own:
        what is no settings of this very graph is passed over, whatever its keys are called.

        Raises:
            InputError: They are none of the graph's.
        """
        if not isinstance(context, self.context):
            return {}
        if context.refusal:
            raise context.refusal
        return context.model_dump(mode="json", include=context.model_fields_set)

    def check(self, chosen: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
        """Refuses to go on with a search under other settings than those with which it began.

        Raises:
            SettingError: Those that the run was given are not those in the state, or the policy
                does not allow what the state holds: a client could not have chosen it.
        """
        for name, value in chosen.items():
            if value is not None and value != settings.get(name):
                raise SettingError(
                    f"this run began with {name}={settings.get(name)!r}, not {value!r}; leave it "
                    "out, or start again"
                )
        if self.policy is not None:
            self.policy.admit(self.settings, settings)

    def effective_settings(self, chosen: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the effective settings of a run.

        Refuses settings of tools where the task has none; values equal to the default are ignored.
        Which settings a prompt depends on is declared nowhere, so none of these is refused.

        Raises:
            CapabilityError: The method cannot search the task with these settings.
            SettingError: One is outside its bounds, or would change nothing.
        """
        default = self.settings.model_fields["task"].default
        task = self.task or registry.task(chosen.get("task") or default)
        published = self._published(task)
        settings = resolve_settings(self.settings, published, chosen, self.presets)
        method, served = self.method.entry.id, self.policy is not None
        admit(method, task, settings, oracle=self.oracle, served=served)
        for mark, kind in ((ForTools, Acts), (ForDatabases, Opens)):
            of_it = self.method.settings.marked(mark)
            tooled = [name for name in of_it if chosen.get(name) is not None]
            if not tooled or isinstance(task, kind):
                continue
            usual = resolve_settings(self.settings, published, presets=self.presets)
            if names := [name for name in tooled if settings[name] != usual[name]]:
                them = "it" if len(names) == 1 else "them"
                raise SettingError(
                    f"{' and '.join(map(repr, names))} would change nothing: method {method!r} on "
                    f"task {task.id!r} does not use {them}; leave {them} out"
                )
        return {**settings, "task": task.id}

    def has_feedback(self, settings: Mapping[str, Any]) -> bool:
        """Returns whether a run is told if an answer is right: by an oracle or the exact check."""
        exact = any(settings.get(name) for name in self.method.settings.marked(Exact))
        return bool(self.oracle or (exact and self.method.entry.asks_oracle))

    def task_for(self, settings: dict[str, Any], kind: type[T]) -> T:
        """Returns the task, as something that has a capability.

        Raises:
            CapabilityError: The task lacks it.
        """
        task = self.task or registry.task(settings["task"])
        if self.policy is not None:
            task = self._offered(self.policy, task)
        if self._able.get(kind) is not task:  # looking at a protocol takes longer than a node
            if not isinstance(task, kind):
                raise capability_error(self.method.entry.id, task, [kind])
            self._able[kind] = task
        return cast("T", task)

    def _offered(self, policy: Policy, task: Task) -> Task:
        """Returns the task as a server offers it: it opens what the operator named."""
        if task.id not in self._opens:
            own = task.offered(policy.databases) if isinstance(task, Opens) else task
            self._opens[task.id] = own
        return self._opens[task.id]

    async def port_for(self, settings: dict[str, Any], *, judging: bool) -> ChatPort:
        """Returns the port of the model that generates, or of the one that judges."""
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
        """Opens the models of a run, before anything is spent, and returns what they cost.

        Raises:
            InputError: A specifier has no known form, or a grammar is asked for and a model takes
                none.
            ModelUnavailable: The embedded model cannot be had here.
        """
        ports = [await self.port_for(settings, judging=judging) for judging in (False, True)]
        constrained = any(settings.get(name) for name in self.method.settings.marked(Constrains))
        for refusal in (port.grammar_refusal() for port in ports if constrained):
            if refusal:
                raise SettingError(refusal)
        # The table of prices takes half a second to import.
        return await asyncio.to_thread(prices_of, ports, settings["prices"])

    async def open_tools(self, settings: dict[str, Any], problem: str, run: str) -> str:
        """Opens the tools of a run before anything is spent; returns one line a tool, for prompts.

        Args:
            problem: Its problem, which may bring pages of its own.
            run: Its name.

        Raises:
            InputError: The settings name tools that cannot be had, or tools were given to a method
                that calls none.
            ToolsUnavailable: They cannot work here; the message says what to do.
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
        """Returns the tools of a run, opened once; again where it is resumed.

        LangGraph makes one stream writer a run, gives it to every node, and holds it nowhere else:
        so whatever a run ends by (an answer, an error, a stream that nobody reads to its end) takes
        its tools along. Where no graph runs, nothing is kept.
        """
        if isinstance(self.tools, Toolbox):
            return self.tools
        kept: dict[str, Toolbox] = {}
        with suppress(RuntimeError, KeyError):
            kept = self._tools.setdefault(get_stream_writer(), kept)
        if run not in kept:
            options = settings
            if self.policy is not None:
                options = self.policy.sourced(self.method.settings, settings)
            kept[run] = self.task_for(settings, Acts).tools(problem, options, self.tools)
        return kept[run]

    def _published(self, task: Task) -> Mapping[str, Any]:
        """Returns what is published for the method's settings on a task."""
        published = task.published(self.method.entry.id)
        return published if self.policy is None else self.policy.lowered(published)
