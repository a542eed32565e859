"""`thoughtgraph methods ID` and `tasks ID`: describe one method, or one task and its methods.

The module is separate from `catalog`, because it needs LangChain to find the tasks' capabilities.
"""

from collections.abc import Mapping
from typing import Any, Literal, get_args, get_origin

import annotated_types
from pydantic.fields import FieldInfo

from thoughtgraph import registry
from thoughtgraph.admission import admit, effective_settings, missing_capabilities
from thoughtgraph.cli.catalog import print_table
from thoughtgraph.cli.custom import task_of
from thoughtgraph.settings import CHOICES, Settings

FITS = ("", "with --oracle", "in Python, with oracle=a function")
"""Ways in which a method takes a task: as it is; with the task's exact check as an oracle; with an
oracle that the caller passes."""


def method(name: str, task: str | None) -> None:
    """Prints a method's description and its settings, with the defaults published for a task."""
    entry = registry.METHODS[name]
    if task is not None and fit(name, task) is None:
        admit(name, task_of(task), effective_settings(name, task_of(task)))
    published = {} if task is None else task_of(task).published(name)
    print(f"{entry.id}: {entry.summary}\n{entry.paper}\nrequests per problem: {entry.requests}")
    for how in FITS:
        if fitting := [key for key in registry.TASKS if fit(name, key) == how]:
            print(f"tasks{how and f' ({how})'}: {', '.join(fitting)}")
    print(f"defaults for {task}:\n" if task else "defaults; --task ID shows a task's own:\n")
    rows = [
        (field, default(info, published.get(field)), bounds(info), info.description or "")
        for field, info in sorted(registry.settings(name).model_fields.items(), key=_is_shared)
        if field not in CHOICES
    ]
    print_table(("setting", "default", "values", "meaning"), rows)


def _is_shared(item: tuple[str, FieldInfo]) -> bool:
    """Returns whether every method has the setting: such settings are listed last."""
    return item[0] in Settings.model_fields


def task(name: str) -> None:
    """Prints a task's description, an example and the methods that take it."""
    entry = registry.TASKS[name]
    print(f"{entry.id}: {entry.summary}\nexample: {entry.example}\n")
    methods_for(name)


def methods_for(task: str) -> None:
    """Prints a row for each method that takes a task."""
    task_of(task)
    rows = [
        (entry.id, entry.summary, way)
        for entry in registry.METHODS.values()
        if (way := fit(entry.id, task)) is not None
    ]
    print_table((f"method for {task}", "what it does", ""), rows)
    print(f"\n`thoughtgraph methods ID --task {task}` shows a method's settings for it.")


def fit(method: str, task: str) -> str | None:
    """Returns which of `FITS` lets a method take a task with its published values; else None."""
    task_object = task_of(task)
    settings = effective_settings(method, task_object)
    for how, oracle, exact in zip(FITS, (False, True, True), (False, True, False), strict=True):
        if not missing_capabilities(method, task_object, settings, oracle=oracle, exact=exact):
            return how
    return None


def default(info: FieldInfo, published: Any) -> str:
    """Returns a setting's default as a user would write it."""
    value = info.get_default(call_default_factory=True) if published is None else published
    if value is None:
        return "none"
    return f"{value}".lower() if isinstance(value, bool) else f"{value}" if value != "" else '""'


def bounds(info: FieldInfo) -> str:
    """Returns the values that a setting takes, such as `whole number from 1`."""
    kinds = [kind for kind in _kinds(info.annotation) if kind]
    low = next((f"{m.ge}" for m in info.metadata if isinstance(m, annotated_types.Ge)), "")
    high = next((f"{m.le}" for m in info.metadata if isinstance(m, annotated_types.Le)), "")
    span = f" {low}..{high}" if low and high else f" from {low}" if low else ""
    return " or ".join(kinds) + span


def _kinds(annotation: Any) -> list[str]:
    if get_origin(annotation) is Literal:
        return [" | ".join(map(str, get_args(annotation)))]
    if annotation is type(None):
        return ["none"]
    if isinstance(annotation, type) and get_origin(annotation) is None:
        return [_KINDS.get(annotation, annotation.__name__)]
    if get_origin(annotation) in (dict, list, tuple):
        return ["JSON"]
    return [kind for part in get_args(annotation) for kind in _kinds(part)]


_KINDS: Mapping[type, str] = {
    int: "whole number",
    float: "number",
    str: "text",
    bool: "true | false",
}
