"""The compiled graph of a method: LangGraph's, but an edit takes along what follows from it.

On a server, clients write the input of a search and nothing else of its state but its thoughts.
"""

from collections.abc import Generator, Iterable, Mapping, Sequence
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command, StateUpdate

from thoughtgraph.configurations import (
    admit_callbacks,
    admit_configurable,
    called_by_node,
    configurable,
)
from thoughtgraph.edits import applied, check_nodes, differing, edited
from thoughtgraph.errors import InputError, UnknownName
from thoughtgraph.policy import LONGEST
from thoughtgraph.state import SearchInput, add_turns

INPUTS = tuple(SearchInput.__annotations__)
EDITED = ("update", "fork")
"""What LangGraph says of checkpoints that an edit or a copy wrote, and no step."""
COPY = "__copy__"
"""As which LangGraph takes a fork."""
EDITABLE = ("thoughts",)
"""What clients may edit beside the input: thoughts, within the rules of `thoughtgraph.edits`."""
TREE = (
    "the tree grows in 'thoughts' and is written from there at the end; edit {'thoughts': {id: …}}"
)
_REMEDY = "start a run with the input you want, or continue one without any"


class SearchGraph(CompiledStateGraph[Any, Any, Any, Any]):
    """The graph of a method: LangGraph's, but edits make sense."""

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
        updates = [
            update
            for each in supersteps
            for update in each
            if update.values is not None or update.as_node not in (None, COPY)
        ]
        if not updates:
            return self._accepted({}, supersteps)
        here = yield config
        state, place = here.values, here.parent_config
        while (here.metadata or {}).get("source") in EDITED and place:
            here = yield place
            place = here.parent_config
        before = (yield place) if place else None
        # Where each step is not kept, such as with durability `exit`, nobody knows what ran last.
        if state.get("thoughts") and before is not None and "source" in (before.metadata or {}):
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
        if not isinstance(values, Mapping):
            return values
        for name in differing(state, values):
            if name == "tree":
                raise InputError(TREE)
            if name not in self.builder.channels:
                raise UnknownName("key of the state", str(name), self.builder.channels)
        return edited(state, values)


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

    def stream(self, *given: Any, **options: Any) -> Any:
        """Refuses: the nodes are async, and nothing is written before that is found out.

        Raises:
            InputError: Always.
        """
        raise only_async(self.name)

    def astream(self, input: Any, config: RunnableConfig | None = None, **options: Any) -> Any:
        """Streams a search; every other way of running it comes here."""
        if not called_by_node():
            admit_configurable(configurable(config))
            admit_callbacks(config)
        return super().astream(self._admitted(input), config, **options)

    def _admitted(self, given: Any) -> Any:
        """Returns what a run is given; a command may only resume it.

        Raises:
            InputError: It is no input, or would write past the reducers; or a command would write
                to the state, or send work to a node.
        """
        if isinstance(given, Mapping):
            add_turns([], given.get("messages"))
            return given
        if given is not None and not isinstance(given, Command):
            raise InputError('the input is an object; give {"problem": …}')
        if given is None:
            return None
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
        keys = (*INPUTS, *EDITABLE)
        for name in differing(state, values):
            if name not in keys:
                own, known = str(name)[:60], " and ".join(keys)
                raise InputError(f"{own!r} is not yours to write, only {known}; {_REMEDY}")
        _admit_problem(values)
        add_turns([], values.get("messages"))
        return edited(state, values, trusted=False)


def only_async(method: str) -> InputError:
    """Returns the error that says how a graph is called, whose nodes are async."""
    return InputError(
        f"the graph of {method!r} is async: await graph.ainvoke(…), or call "
        "thoughtgraph.runnable(graph).invoke(…) or thoughtgraph.solve(…), which need no await"
    )


def _admit_problem(values: Mapping[str, Any]) -> None:
    """Refuses a problem that no run would take: nodes that come later do not read it again.

    Raises:
        InputError: It is no text, or longer than clients may send one.
    """
    given = values.get("problem", "")
    if not isinstance(given, str) or len(given) > LONGEST:
        raise InputError(f"a problem is a text of at most {LONGEST} characters; {_REMEDY}")
