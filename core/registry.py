"""Methods and tasks by id; each is imported only when it is asked for."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from thoughtgraph.entries import METHODS, MethodEntry
from thoughtgraph.errors import UnknownName
from thoughtgraph.task_entries import TASKS, TaskEntry

if TYPE_CHECKING:
    from thoughtgraph.settings import Settings
    from thoughtgraph.task import Task


__all__ = ["METHODS", "TASKS", "MethodEntry", "TaskEntry", "method", "settings", "task", "viewer"]

Viewer = Callable[[Sequence[Mapping[str, Any]]], str]
VIEWER = "thoughtgraph.cli.viewer.page:page"
"""`module:callable`; of stored results it makes one page of their search trees."""


def viewer() -> Viewer:
    """Imports the viewer, which stands in a layer above: only who asks for a page loads it."""
    return cast("Viewer", named(VIEWER))


def method(name: str) -> MethodEntry:
    """Returns a method's entry.

    Raises:
        UnknownName: There is no such method.
    """
    if name not in METHODS:
        raise UnknownName("method", name, METHODS)
    return METHODS[name]


def settings(name: str) -> "type[Settings]":
    """Returns the settings of a method; LangGraph is not imported for them.

    Raises:
        UnknownName: There is no such method.
    """
    return cast("type[Settings]", named(f"thoughtgraph.settings.{method(name).settings}"))


@cache
def task(name: str) -> "Task":
    """Makes a task by its id.

    Raises:
        UnknownName: There is no such task.
    """
    if name not in TASKS:
        raise UnknownName("task", name, TASKS)
    return cast("Callable[[], Task]", named(f"thoughtgraph.tasks.{TASKS[name].factory}"))()


def named(name: str) -> object:
    """Imports what `module:NAME` stands for."""
    module, _, attribute = name.partition(":")
    found: object = getattr(import_module(module), attribute)
    return found
