"""LangChain community's Wikipedia tool, for comparison with what others built on it.

It shows the summaries of the three pages that a search finds best, cut to 4,000 letters: no exact
titles, no Lookup. It is called `Search`, as the openings and worked examples of tasks call theirs.
The package is no longer developed, so it is imported only when this tool is chosen; its requests go
through our transport.
"""

import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from typing import Any

from langchain_core.tools import BaseTool, tool

from thoughtgraph.tools.wiki.wikipedia import Wikipedia, client

NOTHING = "No good Wikipedia Search Result was found"


def community_tool(
    wiki: Wikipedia, naming: Callable[[], AbstractContextManager[None]] = nullcontext
) -> BaseTool:
    """Returns the tool, under the name `Search`.

    Args:
        wiki: The wiki that it asks, within that wiki's deadline.
        naming: Around each search: says how the wiki is called in its errors.
    """
    query_run = _query_run()

    @tool("Search")
    def searching(query: str) -> str:
        """Searches Wikipedia and shows the summaries of the best pages."""
        with naming(), wiki.serving():
            return str(query_run.run(query))

    return searching


def found_nothing(observation: str) -> bool:
    """Says whether an observation of the tool is a miss."""
    return observation.startswith(NOTHING)


def _query_run() -> Any:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*being sunset", category=DeprecationWarning)
        tools: Any = import_module("langchain_community.tools.wikipedia.tool")
        utilities: Any = import_module("langchain_community.utilities.wikipedia")
    # Its own constructor would set the language of the package for all who use it.
    wrapper = utilities.WikipediaAPIWrapper.model_construct(wiki_client=client())
    return tools.WikipediaQueryRun(api_wrapper=wrapper)
