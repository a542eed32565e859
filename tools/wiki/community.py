"""LangChain community's Wikipedia tool, for comparison with what others built on it.

It shows the summaries of the three pages that a search finds best, cut to 4,000 letters: no exact
titles, no Lookup. It is called `Search`, as the openings and worked examples of tasks call theirs.
The package is no longer developed, so it is imported only when this tool is chosen; its requests go
through our transport.
"""

import warnings
from importlib import import_module
from typing import Any

from langchain_core.tools import BaseTool, tool

from thoughtgraph.tools.wiki.pages import errors_as
from thoughtgraph.tools.wiki.wikipedia import Wikipedia

NOTHING = "No good Wikipedia Search Result was found"


def community_tool(wiki: Wikipedia, name: str = "") -> BaseTool:
    """Returns the tool, under the name `Search`.

    Args:
        wiki: The wiki that it asks, within that wiki's deadline.
        name: What the wiki is called in its errors; see `errors_as`.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*being sunset", category=DeprecationWarning)
        tools: Any = import_module("langchain_community.tools.wikipedia.tool")
        utilities: Any = import_module("langchain_community.utilities.wikipedia")

    @tool("Search")
    def searching(query: str) -> str:
        """Searches Wikipedia and shows the summaries of the best pages."""
        with errors_as(name):
            # Its own constructor would set the language of the package for all who use it.
            api = utilities.WikipediaAPIWrapper.model_construct(wiki_client=wiki.package())
            return str(tools.WikipediaQueryRun(api_wrapper=api).run(query))

    return searching


def found_nothing(observation: str) -> bool:
    """Says whether an observation of the tool is a miss."""
    return observation.startswith(NOTHING)
