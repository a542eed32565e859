"""Methods and tasks by id; each is imported only when it is asked for."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from thoughtgraph.entries import DEFAULT_METHODS, METHODS, MethodEntry
from thoughtgraph.task_entries import TASKS, TaskEntry

if TYPE_CHECKING:
    from thoughtgraph.settings import Settings
    from thoughtgraph.task import Task


__all__ = [
    "DEFAULT_METHODS",
    "METHODS",
    "TASKS",
    "MethodEntry",
    "TaskEntry",
    "named",
    "settings",
    "task",
    "viewer",
]

VIEWER = "cli.viewer.page:page"
"""`module:callable`; of stored results it makes one page of their search trees."""


def viewer() -> Callable[[Sequence[Mapping[str, Any]]], str]:
    """Imports the viewer, which stands in a layer above: only who asks for a page loads it."""
    page: Callable[[Sequence[Mapping[str, Any]]], str] = named(VIEWER)
    return page


def settings(name: str) -> "type[Settings]":
    """Returns the settings of a method; LangGraph is not imported for them.

    Raises:
        UnknownName: There is no such method.
    """
    found: type[Settings] = named(f"settings.{METHODS[name].settings}")
    return found


@cache
def task(name: str) -> "Task":
    """Makes a task by its id.

    Raises:
        UnknownName: There is no such task.
    """
    made: Task = named(f"tasks.{TASKS[name].factory}")()
    return made


def named(name: str) -> Any:
    """Imports what `module:NAME` stands for."""
    module, _, attribute = name.partition(":")
    return getattr(import_module(f"thoughtgraph.{module}"), attribute)
