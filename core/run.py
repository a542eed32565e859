"""The objects a graph is built around: task, models, oracle. Plain values come by settings."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar, cast
from weakref import WeakKeyDictionary

from langgraph.config import get_stream_writer
from langgraph.types import StreamWriter

from thoughtgraph import registry
from thoughtgraph.acting import Acts, Toolbox
from thoughtgraph.admission import Oracle, admit, capability_error, tasks_of
from thoughtgraph.context import effective, settings_class
from thoughtgraph.errors import InputError, ProblemError, SettingError, ToolsUnavailable
from thoughtgraph.llm.port import ChatPort
from thoughtgraph.llm.prices import Prices, prices_of
from thoughtgraph.method import Method
from thoughtgraph.policy import LONGEST, Policy, operators
from thoughtgraph.settings import Settings
from thoughtgraph.settings.acting import TOOLED
from thoughtgraph.task import Checks, Task, lacking

T = TypeVar("T")

Opened = WeakKeyDictionary[StreamWriter, dict[str, Toolbox]]
"""The open tools of runs by name, under what lives and dies with the running graph."""
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
    _tools: Opened = field(default_factory=WeakKeyDictionary)
    _able: dict[type, Task] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuses presets that are none, and a task that cannot be searched by this method."""
        published = {} if self.task is None else self._values(self.task)
        settings = effective(self.settings, published, presets=self.presets)
        if self.task is not None:
            if "exact_check" in settings and isinstance(self.task, Checks) and not self.oracle:
                settings["exact_check"] = True  # a run may be told to, and is checked itself
            self._admit(self.task, settings)

    @cached_property
    def context(self) -> type[Settings]:
        """Returns the settings of the graph: what remains open, with the values that hold else."""
        closed = [name for name in ("task", "model") if getattr(self, name) is not None]
        if self.evaluator is not None or self.model is not None:
            closed.append("evaluator_model")
        if self.policy is not None:
            closed += operators(self.method.settings)
        tasks = [self.task] if self.task is not None else tasks_of(self.method.id)
        published = {task.id: self._values(task) for task in tasks}
        return settings_class(self.settings, published, presets=self.presets, closed=closed)

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

        Args:
            chosen: The settings that the run was given.
            settings: The settings in the state.

        Raises:
            SettingError: They differ, or the policy, where there is one, does not allow what the
                state holds: a client could not have chosen it.
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
        """Returns the effective settings of a run that was given some."""
        default = self.settings.model_fields["task"].default
        task = self.task or registry.task(chosen.get("task") or default)
        settings = effective(self.settings, self._values(task), chosen, self.presets)
        self._admit(task, settings)
        return {**settings, "task": task.id}

    def check_used(self, settings: dict[str, Any], chosen: Mapping[str, Any]) -> None:
        """Refuses settings of tools that were given where the task has none.

        A value that holds anyway, or that the task publishes, is no matter. Which settings a prompt
        depends on is declared nowhere: a task may read them in any of its prompts, so none of these
        is refused.

        Args:
            settings: The run's effective settings.
            chosen: Those that it was given.

        Raises:
            SettingError: One is not used; the message says to leave it out.
        """
        task = self.task_for(settings, Task)
        tooled = [name for name in TOOLED if chosen.get(name) is not None]
        if not tooled or isinstance(task, Acts):
            return
        usual = effective(self.settings, self._values(task), presets=self.presets)
        if names := [name for name in tooled if settings[name] != usual[name]]:
            them = "it" if len(names) == 1 else "them"
            raise SettingError(
                f"{' and '.join(map(repr, names))} would change nothing: method "
                f"{self.method.id!r} on task {task.id!r} does not use {them}; leave {them} out"
            )

    def read(self, settings: dict[str, Any], given: str) -> str:
        """Returns a problem as its task reads it.

        Raises:
            InputError: It is no problem of the task, or longer than clients may send one.
        """
        if self.policy is not None and len(given) > LONGEST:
            raise ProblemError(
                f"a problem of {len(given)} characters is too long; write at most {LONGEST}"
            )
        return self.task_for(settings, Task).read(given)

    def has_feedback(self, settings: Mapping[str, Any]) -> bool:
        """Returns whether a run is told if an answer is right: by an oracle or the exact check."""
        exact = self.method.entry.asks_oracle and settings.get("exact_check")
        return bool(self.oracle or exact)

    def task_for(self, settings: dict[str, Any], kind: type[T]) -> T:
        """Returns the task, as something that has a capability.

        Args:
            kind: The protocol the caller needs.

        Raises:
            CapabilityError: The task lacks it.
        """
        task = self.task or registry.task(settings["task"])
        if self._able.get(kind) is not task:  # looking at a protocol takes longer than a node
            if missing := lacking(task, [kind]):
                raise capability_error(self.method.id, task, missing)
            self._able[kind] = task
        return cast("T", task)

    async def port_for(self, settings: dict[str, Any], *, judging: bool) -> ChatPort:
        """Returns the port of the model that generates, or of the one that judges."""
        if judging:
            if self.evaluator is not None:
                return self.evaluator
            if specifier := settings.get("evaluator_model"):
                return await self._open(specifier)
        return self.model or await self._open(settings.get("model", ""))

    async def open_models(self, settings: dict[str, Any]) -> Prices:
        """Opens the models that a run's settings name, before anything is spent.

        Returns:
            What they cost.

        Raises:
            InputError: A specifier has no known form, or the setting `grammar` is on and a model
                takes none.
            ModelUnavailable: The embedded model cannot be had here.
        """
        ports = [await self.port_for(settings, judging=judging) for judging in (False, True)]
        refused = (port.grammar_refusal() for port in ports if settings.get("grammar"))
        if refusal := next(filter(None, refused), ""):
            raise SettingError(refusal)
        # The table of prices takes half a second to import.
        return await asyncio.to_thread(prices_of, ports, settings["prices"])

    async def open_tools(self, settings: dict[str, Any], problem: str, run: str) -> str:
        """Opens the tools of a run, if its task has any, before anything is spent.

        Args:
            problem: Its problem, which may bring pages of its own.
            run: Its name.

        Returns:
            One line a tool, for prompts; empty where the method calls none.

        Raises:
            InputError: The settings name tools that cannot be had, or tools were given to a method
                that calls none.
            ToolsUnavailable: They cannot work here; the message says what to do.
        """
        task = self.task_for(settings, Task)
        if lacking(task, [Acts]) or "corpus" not in settings:
            if self.tools:
                raise InputError(
                    f"method {self.method.id!r} calls no tools on task {task.id!r}; leave tools "
                    "out, or choose a method and a task that act, such as 'react' on 'hotpotqa'"
                )
            return ""
        # Reading a corpus takes seconds and must not hold the event loop.
        tools = await asyncio.to_thread(self.tools_for, settings, problem, run)
        if trouble := await tools.check():
            raise ToolsUnavailable(trouble)
        return tools.describe()

    def tools_for(self, settings: dict[str, Any], problem: str, run: str) -> Toolbox:
        """Returns the tools of a run, opened once; again where it is resumed.

        Args:
            problem: Its problem, which may bring pages of its own.
            run: Its name.
        """
        if isinstance(self.tools, Toolbox):
            return self.tools
        kept = _of_running_graph(self._tools)
        if run not in kept:
            options = settings if self.policy is None else self.policy.sourced(settings)
            kept[run] = self.task_for(settings, Acts).tools(problem, options, self.tools)
        return kept[run]

    async def _open(self, specifier: str) -> ChatPort:
        if specifier not in self._ports:
            # Loading weights takes seconds and must not hold the event loop.
            self._ports[specifier] = await asyncio.to_thread(self._opened, specifier)
        return self._ports[specifier]

    def _opened(self, name: str) -> ChatPort:
        if self.policy is None:
            return self.open_port(name)
        return self.policy.opened(name, self.open_port)

    def _values(self, task: Task) -> Mapping[str, Any]:
        """Returns what is published for the method's settings on a task."""
        published = task.published(self.method.id)
        return published if self.policy is None else self.policy.lowered(published)

    def _admit(self, task: Task, settings: Mapping[str, Any]) -> None:
        served = self.policy is not None
        admit(self.method.id, task, settings, oracle=self.oracle, served=served)


def _of_running_graph(opened: Opened) -> dict[str, Toolbox]:
    """Returns the tools that are kept while this graph runs; where none runs, nothing is kept.

    LangGraph makes one stream writer a run, gives it to every node, and holds it nowhere else: so
    whatever a run ends by (an answer, an error, a stream that nobody reads to its end) takes its
    tools along. Were a node given another writer, it would open its tools again.
    """
    try:
        return opened.setdefault(get_stream_writer(), {})
    except (RuntimeError, KeyError):
        return {}
