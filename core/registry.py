"""Methods and tasks by id; each is imported only when a caller requests it."""

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
    """Returns the settings class of a method, without an import of LangGraph.

    Raises:
        UnknownName: There is no such method.
    """
    kind: type[Settings] = resolve_name(f"thoughtgraph.settings.{METHODS[name].settings}")
    return kind


@cache
def task(name: str) -> "Task":
    """Returns the task with this id, always the same object.

    Raises:
        UnknownName: There is no such task.
    """
    instance: Task = resolve_name(f"thoughtgraph.tasks.{TASKS[name].factory}")()
    return instance
