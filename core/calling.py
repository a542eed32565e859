"""A compiled graph that refuses what LangGraph would drop without a word.

LangGraph takes settings by `context` alone. Those that stand elsewhere, in the input, in `config`
or among the call's own arguments, change nothing, and nothing says so.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import CONFIG_KEYS, var_child_runnable_config
from langgraph.graph.state import CompiledStateGraph

from thoughtgraph import registry
from thoughtgraph.errors import InputError, UnknownName
from thoughtgraph.state import SearchInput

INPUTS = tuple(SearchInput.__annotations__)
READ = "__pregel_read"
"""LangGraph's key for the function that reads channels, by which a graph also knows that it is a
node of another; `tests/test_jobs.py` fails if it goes."""


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
            "thoughtgraph.solve(…), which needs no await"
        )

    def astream(self, input: Any, config: RunnableConfig | None = None, **options: Any) -> Any:
        """Streams a search, as LangGraph's graphs do; `ainvoke` and the others go by it.

        Raises:
            InputError: A setting stands where no graph looks, or the input is none.
        """
        context = options.get("context")
        configured = configurable(self.config, config)
        self._check_settings(configured, context, 'config["configurable"]')
        self._check_settings(options, context, "the call's own arguments")
        if not is_node(config):
            self._check_input(input)
        return super().astream(input, config, **options)

    def _check_settings(self, given: Collection[str], context: Any, place: str) -> None:
        # A server that is given a context copies it to where settings stood in older LangGraph.
        meant = context if isinstance(context, Mapping) else {}
        for name in given:
            if name in self._settings() and name not in meant:
                raise InputError(_remedy(name, place))

    def _check_input(self, given: Any) -> None:
        if isinstance(given, str | Sequence):
            raise InputError('the input is a dictionary; give {"problem": …}')
        if not isinstance(given, Mapping):
            return  # None and commands go on with a run
        self._check_settings(given, None, "the input")
        for name in given:
            if name not in INPUTS:
                raise UnknownName("input", name, INPUTS)

    def _settings(self) -> Collection[str]:
        return registry.settings(self.name).model_fields


def configurable(*configs: RunnableConfig | None) -> dict[str, Any]:
    """Returns what stands in configurations beside LangChain's own keys."""
    found: dict[str, Any] = {}
    for config in configs:
        found |= {name: value for name, value in (config or {}).items() if name not in CONFIG_KEYS}
        found |= (config or {}).get("configurable") or {}
    return found


def is_node(config: RunnableConfig | None) -> bool:
    """Returns whether a graph is called as a node of another, which hands on all of its state.

    Nodes are given a function by which they read it; a name alone anybody could send.
    """
    return callable(configurable(var_child_runnable_config.get(), config).get(READ))


def _remedy(name: str, place: str) -> str:
    return (
        f"{name!r} is a setting and would be ignored in {place}; settings go by "
        f"context={{{name!r}: …}}"
    )
