"""A graph whose callers write its input, and nothing else of its state."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.types import Command, StateUpdate

from thoughtgraph.calling import SearchGraph, configurable, is_node
from thoughtgraph.errors import InputError
from thoughtgraph.policy import LONGEST

INTERNAL = "__pregel_"
"""What LangGraph's own keys in a configuration begin with; it puts objects there."""
PLAIN = (str, int, float, list, dict, type(None))
"""What a client can send."""
PLACES = {"checkpoint_id": str, "checkpoint_ns": str, "checkpoint_map": dict}
"""Where in a thread a run begins, as clients may say it too."""
_REMEDY = "start a run with the input you want, or continue one without any"


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
        """Streams a search; every other way of running it comes here."""
        if not is_node(config):
            _admit_configurable(configurable(config))
            _admit_callbacks(config)
        return super().astream(self._admitted(input), config, **options)

    def bulk_update_state(self, config: Any, supersteps: Any) -> Any:
        """Edits a thread; see LangGraph."""
        self._admit_updates(supersteps)
        return super().bulk_update_state(config, supersteps)

    async def abulk_update_state(self, config: Any, supersteps: Any) -> Any:
        """Edits a thread; see LangGraph."""
        self._admit_updates(supersteps)
        return await super().abulk_update_state(config, supersteps)

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

    def _admit_updates(self, supersteps: Iterable[Sequence[StateUpdate]]) -> None:
        """Refuses an edit of what is no input.

        Raises:
            InputError: It would write to another key.
        """
        keys = self.builder.schemas[self.builder.input_schema]
        for update in (each for updates in supersteps for each in updates):
            values = update.values
            if values is not None and not isinstance(values, Mapping):
                raise InputError(f"an update is an object of input keys; {_REMEDY}")
            for name in values or {}:
                if name not in keys:
                    own, known = str(name)[:60], " and ".join(keys)
                    raise InputError(f"{own!r} is not yours to write, only {known}; {_REMEDY}")
            _admit_problem(values)


def _admit_configurable(given: Mapping[str, Any]) -> None:
    """Refuses what LangGraph would fail on, deep inside.

    Raises:
        InputError: A client wrote where LangGraph keeps its own objects, or no place of a thread.
    """
    for name, value in given.items():
        own = name.startswith(INTERNAL) and isinstance(value, PLAIN)
        if own or not isinstance(value, (PLACES.get(name, object), type(None))):
            place = 'config["configurable"]'
            raise InputError(f"{name[:60]!r} cannot be set in {place}; leave it out")


def _admit_problem(values: Mapping[str, Any] | None) -> None:
    """Refuses a problem that no run would take: nodes that come later do not read it again.

    Raises:
        InputError: It is no text, or longer than clients may send one.
    """
    given = (values or {}).get("problem", "")
    if not isinstance(given, str) or len(given) > LONGEST:
        raise InputError(f"a problem is a text of at most {LONGEST} characters; {_REMEDY}")


def _admit_callbacks(config: RunnableConfig | None) -> None:
    """Refuses callbacks that came by the network: they would fail deep inside LangChain.

    Raises:
        InputError: A client named some.
    """
    given: Any = (config or {}).get("callbacks") or []
    plain = isinstance(given, (str, dict))
    if plain or (isinstance(given, list) and any(isinstance(each, PLAIN) for each in given)):
        raise InputError("'callbacks' are no client's to set; leave them out")
