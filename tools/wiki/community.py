"""LangChain community's Wikipedia tool, for comparison with agents that others built on it.

The tool shows the summaries of the three best pages of a search, cut to 4,000 characters. It has no
exact titles and no Lookup. Its name is `Search`, as in the openings and worked examples of tasks.
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
        wiki: The wiki to search, within the wiki's own deadline.
        name: The name of the wiki in errors; see `errors_as`.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*being sunset", category=DeprecationWarning)
        tools: Any = import_module("langchain_community.tools.wikipedia.tool")
        utilities: Any = import_module("langchain_community.utilities.wikipedia")

    @tool("Search")
    def search(query: str) -> str:
        """Searches Wikipedia and shows the summaries of the best pages."""
        with errors_as(name):
            # The constructor would set the language for all users of the package.
            api = utilities.WikipediaAPIWrapper.model_construct(wiki_client=wiki.package())
            return str(tools.WikipediaQueryRun(api_wrapper=api).run(query))

    return search


def found_nothing(observation: str) -> bool:
    """Returns whether an observation of the tool is a miss."""
    return observation.startswith(NOTHING)
