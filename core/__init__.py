"""Deliberate reasoning with language models, as LangGraph state machines."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from thoughtgraph.errors import (
    BudgetSpent,
    CapabilityError,
    InputError,
    ModelError,
    ModelUnavailable,
    ProblemError,
    ReplayMiss,
    SettingError,
    ThoughtgraphError,
    ToolsUnavailable,
    UnknownName,
)
from thoughtgraph.tree import Thought, Tree, children_of, path_to
from thoughtgraph.usage import Limits, Usage

if TYPE_CHECKING:
    from thoughtgraph.building import build
    from thoughtgraph.composition import node, runnable, subagent, tool
    from thoughtgraph.llm.exchange import Draw
    from thoughtgraph.llm.limiter import Rates
    from thoughtgraph.llm.port import ChatPort
    from thoughtgraph.llm.retry import Retry
    from thoughtgraph.llm.scripted import ScriptedChat
    from thoughtgraph.policy import Policy
    from thoughtgraph.results import Result, html, save
    from thoughtgraph.solving import solve

__all__ = [
    "BudgetSpent",
    "CapabilityError",
    "ChatPort",
    "Draw",
    "InputError",
    "Limits",
    "ModelError",
    "ModelUnavailable",
    "Policy",
    "ProblemError",
    "Rates",
    "ReplayMiss",
    "Result",
    "Retry",
    "ScriptedChat",
    "SettingError",
    "Thought",
    "ThoughtgraphError",
    "ToolsUnavailable",
    "Tree",
    "UnknownName",
    "Usage",
    "build",
    "children_of",
    "html",
    "node",
    "path_to",
    "runnable",
    "save",
    "solve",
    "subagent",
    "tool",
]

_LATE = {
    "building": ("build",),
    "composition": ("node", "runnable", "subagent", "tool"),
    "llm.exchange": ("Draw",),
    "llm.limiter": ("Rates",),
    "llm.port": ("ChatPort",),
    "llm.retry": ("Retry",),
    "llm.scripted": ("ScriptedChat",),
    "policy": ("Policy",),
    "results": ("Result", "html", "save"),
    "solving": ("solve",),
}
"""Names by their modules, which need LangGraph or LangChain and so take seconds to import: imported
at their first use, so that the command's help, lists and errors come at once."""


def __dir__() -> list[str]:
    """Lists the library's own names, those that are imported at their first use included."""
    return sorted(__all__)


def __getattr__(name: str) -> Any:
    """Imports what a late name stands for, once."""
    for module, names in _LATE.items():
        if name in names:
            found = getattr(import_module(f"{__name__}.{module}"), name)
            globals()[name] = found
            return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
