"""Methods and tasks by id; each is imported only when it is asked for."""

from functools import cache
from pkgutil import resolve_name
from typing import TYPE_CHECKING

from thoughtgraph.entries import DEFAULT_METHODS, METHODS, MethodEntry
from thoughtgraph.task_entries import TASKS, TaskEntry

if TYPE_CHECKING:
    from thoughtgraph.settings import Settings
    from thoughtgraph.task import Task

__all__ = ["DEFAULT_METHODS", "METHODS", "TASKS", "MethodEntry", "TaskEntry", "settings", "task"]


@cache
def settings(name: str) -> "type[Settings]":
    """Returns the settings of a method; LangGraph is not imported for them.

    Raises:
        UnknownName: There is no such method.
    """
    kind: type[Settings] = resolve_name(f"thoughtgraph.settings.{METHODS[name].settings}")
    return kind


@cache
def task(name: str) -> "Task":
    """Makes a task by its id.

    Raises:
        UnknownName: There is no such task.
    """
    made: Task = resolve_name(f"thoughtgraph.tasks.{TASKS[name].factory}")()
    return made
