"""`thoughtgraph methods ID`: one method's settings and the tasks it takes."""

from collections.abc import Mapping
from typing import Any, Literal, get_args, get_origin

import annotated_types
from pydantic.fields import FieldInfo

from thoughtgraph import registry
from thoughtgraph.cli.listing import show
from thoughtgraph.settings import CHOICES, Settings, effective
from thoughtgraph.task import lacking


def method(name: str, task: str | None) -> None:
    """Prints what one method is and what it can be told.

    Args:
        name: The method's id.
        task: The task whose published values are shown as defaults; None: the method's own.
    """
    entry = registry.method(name)
    module = registry.method_module(name)
    published = {} if task is None else registry.task(task).published(name)
    print(f"{entry.id}: {entry.summary}\n{entry.paper}")
    print(f"tasks: {', '.join(tasks_of(name)) or 'none'}")
    print(f"defaults for {task}:\n" if task else "defaults; --task ID shows a task's own:\n")
    rows = [
        (field, default(info, published.get(field)), bounds(info), info.description or "")
        for field, info in sorted(module.SETTINGS.model_fields.items(), key=_common)
        if field not in CHOICES
    ]
    show(("setting", "default", "values", "meaning"), rows)


def _common(item: tuple[str, FieldInfo]) -> bool:
    """Sorts what every method has behind what this one has."""
    return item[0] in Settings.model_fields


def tasks_of(name: str) -> list[str]:
    """Returns the ids of the tasks that a method can search with their published values."""
    module = registry.method_module(name)
    able = []
    for key in registry.TASKS:
        task = registry.task(key)
        settings = effective(module.SETTINGS, task.published(name), None)
        if not lacking(task, module.needs(settings)):
            able.append(key)
    return able


def default(info: FieldInfo, published: Any) -> str:
    """Returns a setting's default as it would be written."""
    value = info.get_default(call_default_factory=True) if published is None else published
    if value is None:
        return "none"
    return f"{value}".lower() if isinstance(value, bool) else f"{value}" if value != "" else '""'


def bounds(info: FieldInfo) -> str:
    """Returns which values a setting takes."""
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
        return [_WORDS.get(annotation, annotation.__name__)]
    if get_origin(annotation) in (dict, list, tuple):
        return ["JSON"]
    return [kind for part in get_args(annotation) for kind in _kinds(part)]


_WORDS: Mapping[type, str] = {
    int: "whole number",
    float: "number",
    str: "text",
    bool: "true | false",
}
