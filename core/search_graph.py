"""The compiled graph of a method: LangGraph's, but it refuses what would go wrong without a word.

LangGraph takes settings by `context` alone. Those that stand elsewhere, in the input, in `config`
or among the call's own arguments, change nothing, and nothing says so. On a server, clients write
the input of a search and nothing else of its state.
"""

from collections.abc import (
    AsyncIterator,
    Collection,
    Generator,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command, StateUpdate

from thoughtgraph import registry
from thoughtgraph.configurations import (
    admit_callbacks,
    admit_configurable,
    configurable,
    is_node,
)
from thoughtgraph.edits import applied, check_nodes, differing, edited
from thoughtgraph.errors import InputError, ThoughtgraphError, UnknownName
from thoughtgraph.refusal import admit_problem, admitted_messages, refuse, replying, with_ids
from thoughtgraph.settings import Settings
from thoughtgraph.settings.base import TREE
from thoughtgraph.state import SearchInput
from thoughtgraph.streaming import without_tree

INPUTS = tuple(SearchInput.__annotations__)
EDITED = ("update", "fork")
"""What LangGraph says of checkpoints that an edit or a copy wrote, and no step."""
EDITABLE = ("tree",)
"""What clients may edit beside the input: thoughts, within the rules of `thoughtgraph.edits`."""
_REMEDY = "start a run with the input you want, or continue one without any"


class SearchGraph(CompiledStateGraph[Any, Any, Any, Any]):
    """The graph of a method: LangGraph's, but a setting in the wrong place is refused."""

    # One loose signature for LangGraph's overloads, which differ in what they return.
    def stream(self, *given: Any, **options: Any) -> Iterator[Any]:
        """Refuses: the nodes are async.

        Raises:
            InputError: Always.
        """
        raise InputError(
            f"the graph of {self.name!r} is async: await graph.ainvoke(…), or call "
            "thoughtgraph.runnable(graph).invoke(…) or thoughtgraph.solve(…), which need no await"
        )

    def astream(self, input: Any, config: RunnableConfig | None = None, **options: Any) -> Any:
        """Streams a search, as LangGraph's graphs do; `ainvoke` and the others go by it.

        Raises:
            InputError: A setting stands where no graph looks, or the input is none.
        """
        context = options["context"] = self._own_context(options.get("context"), config)
        if not is_node(config):  # else they are its parent's
            configured = configurable(self.config, config)
            self._check_settings(configured, context, 'config["configurable"]')
        self._check_settings(options, context, "the call's own arguments")
        input = with_ids(input)
        stream = super().astream(input, config, **options)
        if self._setting(context, "on_error") != "raise":
            stream = replying(self, stream, input, config, options)
        if is_node(config):
            return stream
        self._check_input(input)
        # Where a search goes on, its state has the settings.
        tree = (self._setting(context, "tree") or TREE) if begins(input) else None
        return without_tree(stream, options, tree)

    def bulk_update_state(self, config: Any, supersteps: Any) -> Any:
        """Edits a thread, as LangGraph does; what follows from the edit is written with it.

        Raises:
            InputError: The edit makes no sense (`thoughtgraph.edits`), or is not the caller's.
        """
        asks, state = self._edited(config, supersteps), None
        try:
            while True:
                state = self.get_state(asks.send(state))
        except StopIteration as accepted:
            return super().bulk_update_state(config, accepted.value)

    async def abulk_update_state(self, config: Any, supersteps: Any) -> Any:
        """Edits a thread, as LangGraph does; what follows from the edit is written with it.

        Raises:
            InputError: The edit makes no sense (`thoughtgraph.edits`), or is not the caller's.
        """
        asks, state = self._edited(config, supersteps), None
        try:
            while True:
                state = await self.aget_state(asks.send(state))
        except StopIteration as accepted:
            return await super().abulk_update_state(config, accepted.value)

    def _edited(self, config: RunnableConfig, supersteps: Any) -> Generator[Any, Any, Any]:
        """Returns the edits of a thread as they are to be written; yields places, is sent states.

        Raises:
            InputError: One makes no sense, is not the caller's, or goes on where nothing was.
        """
        updates = [update for each in supersteps for update in each if update.values is not None]
        if not updates:
            return self._accepted({}, supersteps)
        here = yield config
        state, place = here.values, here.parent_config
        while (here.metadata or {}).get("source") in EDITED and place:
            here = yield place
            place = here.parent_config
        before = (yield place) if place else None
        # Where each step is not kept, such as with durability `exit`, nobody knows what ran last.
        if state.get("tree") and before is not None and "source" in (before.metadata or {}):
            check_nodes(before.next, [update.as_node for update in updates])
        return self._accepted(state, supersteps)

    def _accepted(
        self, state: Mapping[str, Any], supersteps: Iterable[Sequence[StateUpdate]]
    ) -> list[list[StateUpdate]]:
        """Returns the edits of a thread, one after the other, with what follows from them."""

        def accepted(update: StateUpdate) -> StateUpdate:
            nonlocal state
            if update.values is None:
                return update
            values = self._edit(state, update.values)
            if isinstance(values, Mapping):
                state = applied(state, values)
            return update._replace(values=values)

        return [[accepted(update) for update in updates] for updates in supersteps]

    def _edit(self, state: Mapping[str, Any], values: Any) -> Any:
        return edited(state, values) if isinstance(values, Mapping) else values

    def _check_settings(self, given: Collection[str], context: Any, place: str) -> None:
        # A server that is given a context copies it to where settings stood in older LangGraph.
        meant = context if isinstance(context, Mapping) else {}
        for name in given:
            if name in self._settings() and name not in meant:
                raise InputError(_remedy(name, place))

    def _check_input(self, given: Any) -> None:
        if not begins(given):
            return
        if not isinstance(given, Mapping):
            raise InputError('the input is a dictionary; give {"problem": …}')
        self._check_settings(given, None, "the input")
        for name in given:
            if name not in INPUTS:
                raise UnknownName("input", name, INPUTS)

    def _own_context(self, context: Any, config: RunnableConfig | None) -> Any:
        """Returns the settings of a run as LangGraph makes this graph's context of them.

        Raises:
            InputError: They are none.
        """
        if isinstance(context, Settings):  # of the method's own class, or of another graph of it
            return context.model_dump(include=context.model_fields_set)
        if context is None or isinstance(context, Mapping) or is_node(config):
            return context
        raise InputError(
            f"a context is no {type(context).__name__}; give a dictionary of settings: "
            "context={'limit_requests': 100}"
        )

    def _setting(self, context: Any, name: str) -> Any:
        """Returns a setting as the run was given it, else as the graph was built with it."""
        chosen = context.get(name) if isinstance(context, Mapping) else None
        return presets_of(self).get(name) if chosen is None else chosen

    def check_context(self, context: Any) -> None:
        """Refuses settings that no run of this graph could be given.

        Raises:
            InputError: One is unknown or outside its bounds.
        """
        own = self._own_context(context, None)
        if own and self.context_schema is not None:
            self.context_schema(**own)

    def _settings(self) -> Collection[str]:
        return registry.settings(self.name).model_fields


class GuardedGraph(SearchGraph):
    """A compiled graph for clients who are not trusted with its state.

    A server lets its clients edit threads: by state updates, forks, and commands of a run. Here
    such edits reach the keys of the input schema alone. What a search has spent, which settings it
    runs with and where it stands is written by its own nodes.
    """

    @classmethod
    def of(cls, graph: SearchGraph) -> "GuardedGraph":
        """Returns a graph as a guarded one."""
        return cls(**{name: each for name, each in vars(graph).items() if name != "__orig_class__"})

    def astream(self, input: Any, config: RunnableConfig | None = None, **options: Any) -> Any:
        """Streams a search; every other way of running it comes here.

        A search that cannot begin ends as one that was refused, unless `on_error` is `raise`. What
        would go on with one that there is raises, and leaves it as it is.
        """
        if not is_node(config):
            admit_configurable(configurable(config))
            admit_callbacks(config)
            reports = self._setting(options.get("context"), "on_error") != "raise"
            if begins(input) and reports:
                return self._reported(input, config, options)
        return super().astream(self._admitted(input), config, **options)

    async def _reported(
        self, given: Any, config: RunnableConfig | None, options: Mapping[str, Any]
    ) -> AsyncIterator[Any]:
        try:
            given = with_ids(given)
            async for part in super().astream(given, config, **options):
                yield part
            return
        except ThoughtgraphError as error:
            why = error
        stream = refuse(self, why, given, config, options)
        async for part in without_tree(
            stream, options, self._setting(options.get("context"), "tree")
        ):
            yield part

    def _admitted(self, given: Any) -> Any:
        """Returns what a run is given; a command may only resume it.

        Raises:
            InputError: A command would write to the state, or send work to a node.
        """
        if not isinstance(given, Command):
            return given
        if given.update is not None or given.goto:
            raise InputError(f"a command cannot change the state of a search; {_REMEDY}")
        # Anew: LangGraph fails deep inside on commands that servers make of `{}` and of `resume`.
        return None if given.resume is None else Command(resume=given.resume)

    def _edit(self, state: Mapping[str, Any], values: Any) -> Any:
        """Returns an edit, if it is of what a client may write.

        Raises:
            InputError: It would write to another key.
        """
        if not isinstance(values, Mapping):
            raise InputError(f"an update is an object of input keys; {_REMEDY}")
        keys = (*self.builder.schemas[self.builder.input_schema], *EDITABLE)
        for name in differing(state, values):
            if name not in keys:
                own, known = str(name)[:60], " and ".join(keys)
                raise InputError(f"{own!r} is not yours to write, only {known}; {_REMEDY}")
        admit_problem(values)
        admitted_messages(values.get("messages"))
        return edited(state, values, trusted=False)


def begins(given: Any) -> bool:
    """Returns whether an input begins a search; None and commands go on with one."""
    return given is not None and not isinstance(given, Command)


def presets_of(graph: Any) -> Mapping[str, Any]:
    """Returns the settings that a graph was built with; none of one on a server."""
    presets: Mapping[str, Any] = getattr(getattr(graph, "context_schema", None), "presets", {})
    return presets


def _remedy(name: str, place: str) -> str:
    return (
        f"{name!r} is a setting and would be ignored in {place}; settings go by "
        f"context={{{name!r}: …}}"
    )
