"""Deliberate reasoning with language models, as LangGraph state machines."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from thoughtgraph.building import build as build
    from thoughtgraph.composition import node as node
    from thoughtgraph.composition import runnable as runnable
    from thoughtgraph.composition import subagent as subagent
    from thoughtgraph.composition import tool as tool
    from thoughtgraph.errors import BudgetSpent as BudgetSpent
    from thoughtgraph.errors import CapabilityError as CapabilityError
    from thoughtgraph.errors import InputError as InputError
    from thoughtgraph.errors import ModelError as ModelError
    from thoughtgraph.errors import ModelUnavailable as ModelUnavailable
    from thoughtgraph.errors import ProblemError as ProblemError
    from thoughtgraph.errors import ReplayMiss as ReplayMiss
    from thoughtgraph.errors import SettingError as SettingError
    from thoughtgraph.errors import ThoughtgraphError as ThoughtgraphError
    from thoughtgraph.errors import ToolsUnavailable as ToolsUnavailable
    from thoughtgraph.errors import UnknownName as UnknownName
    from thoughtgraph.llm.exchange import Draw as Draw
    from thoughtgraph.llm.limiter import Rates as Rates
    from thoughtgraph.llm.port import ChatPort as ChatPort
    from thoughtgraph.llm.retry import Retry as Retry
    from thoughtgraph.llm.scripted import ScriptedChat as ScriptedChat
    from thoughtgraph.policy import Policy as Policy
    from thoughtgraph.results import Result as Result
    from thoughtgraph.results import html as html
    from thoughtgraph.results import save as save
    from thoughtgraph.solving import solve as solve
    from thoughtgraph.tree import Thought as Thought
    from thoughtgraph.tree import Tree as Tree
    from thoughtgraph.tree import children_of as children_of
    from thoughtgraph.tree import path_to as path_to
    from thoughtgraph.usage import Limits as Limits
    from thoughtgraph.usage import Usage as Usage

_NAMES_OF = {
    "building": "build",
    "composition": "node runnable subagent tool",
    "errors": "BudgetSpent CapabilityError InputError ModelError ModelUnavailable ProblemError "
    "ReplayMiss SettingError ThoughtgraphError ToolsUnavailable UnknownName",
    "llm.exchange": "Draw",
    "llm.limiter": "Rates",
    "llm.port": "ChatPort",
    "llm.retry": "Retry",
    "llm.scripted": "ScriptedChat",
    "policy": "Policy",
    "results": "Result html save",
    "solving": "solve",
    "tree": "Thought Tree children_of path_to",
    "usage": "Limits Usage",
}
_MODULE_OF = {name: module for module, names in _NAMES_OF.items() for name in names.split()}
"""The module of each public name. Most need LangGraph or LangChain, which take seconds to import:
each is imported at its first use, so that the command's help, lists and errors appear at once."""


def __dir__() -> list[str]:
    """Lists the public names, including those that are not imported yet."""
    return sorted(_MODULE_OF)


def __getattr__(name: str) -> Any:
    """Imports a public name at its first use."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value
