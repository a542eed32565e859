"""The settings of a graph, which are its context, and what a run's values come to.

LangGraph Studio shows the context as a form. Its defaults are the values of a run that is told
nothing: those of `build`, else the published ones. In a graph whose task the run chooses, a setting
for which tasks publish different values defaults to None, which stands for that of whichever task
it is.
"""

import json
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, cast, get_args

from pydantic.fields import FieldInfo

from thoughtgraph import registry
from thoughtgraph.errors import SettingError
from thoughtgraph.settings import Settings
from thoughtgraph.settings.marks import StandsFor


@lru_cache(maxsize=500)
def graph_fields(base: type[Settings], values: str) -> dict[str, Any]:
    """Returns the fields of a graph's settings class, with the defaults that hold for this graph.

    A setting with one default for all tasks has that one. Where it depends on the task, or on a
    switch such as `repo_compat`, the default is None and the description says what None means.

    Args:
        base: The method's settings.
        values: What each possible task publishes, by its id, and the values that the graph was
            built with, which outrank it. JSON, so that equal graphs share an entry of the cache.
    """
    published, presets = json.loads(values)
    switched = {
        name: f"; with {switch} {value}"
        for switch, mark in base.marked(StandsFor).items()
        for name, value in mark.values.items()
    }
    fields: dict[str, Any] = {}
    for name, field in base.model_fields.items():
        own = field.get_default(call_default_factory=True)
        by_task = {task: {**its, **presets}.get(name, own) for task, its in published.items()}
        first = next(iter(by_task.values()), presets.get(name, own))
        differ = any(value != first for value in by_task.values())
        if name == "task":
            # For a form; the registry itself refuses other names with a hint.
            names: Any = {"enum": sorted(registry.TASKS)}
            choice = FieldInfo.merge_field_infos(field, json_schema_extra=names)
            fields[name] = (field.annotation, choice)
        elif name not in presets and (name in switched or differ):
            exceptions = [f"{task} {_text(each)}" for task, each in by_task.items() if each != own]
            otherwise = f"else {_text(own)}" if exceptions else _text(own)
            meant = ", ".join([*exceptions, otherwise])
            text = f"{field.description} Empty: {meant}{switched.get(name, '')}."
            # A form sends every default back, even untouched, which would override the task's own
            # value. So None stands for "not given"; a setting that takes None has a computed
            # default, which is not part of the schema.
            empty: Any = {"default_factory": type(None)}
            empty = empty if _takes_none(field) else {"default": None}
            changed = _changed(field, description=text, **empty)
            fields[name] = (cast("Any", field.annotation) | None, changed)
        elif first == own:
            fields[name] = (field.annotation, field)
        else:
            fields[name] = (field.annotation, _changed(field, default=first))
    return fields


def _changed(field: FieldInfo, **changes: Any) -> FieldInfo:
    """Returns a field with another default, which is no longer computed, or description."""
    kept = {"description": field.description, "json_schema_extra": field.json_schema_extra}
    made = FieldInfo(annotation=field.annotation, **cast("Any", {**kept, **changes}))
    made.metadata = list(field.metadata)
    return made


def _text(value: Any) -> str:
    return "none" if value is None else str(value)


def _takes_none(field: FieldInfo | None) -> bool:
    return field is not None and type(None) in get_args(field.annotation)


def resolve_settings(
    base: type[Settings],
    published: Mapping[str, Any],
    chosen: Mapping[str, Any] | None = None,
    presets: Mapping[str, Any] = MappingProxyType({}),
) -> dict[str, Any]:
    """Returns a run's values: those it chose, else the presets, the published ones, the method's.

    Args:
        base: The method's settings.
        published: The task's published values for the method.
        chosen: The settings that the run was given. A value of None stands for "not given", except
            for a setting that takes None and that nothing else is said of.
        presets: The values that its graph was built with.

    Raises:
        UnknownName: A name is not a setting of the method.
        SettingError: A value is outside its bounds.
    """
    for name in published:
        if name not in base.model_fields:
            raise SettingError(
                f"the task publishes {name!r} for a method that has no such setting; published() "
                "is given the method's id: return what that method has"
            )
    usual = {**published, **presets}
    meant = {
        name: value
        for name, value in (chosen or {}).items()
        if value is not None or (name not in usual and _takes_none(base.model_fields.get(name)))
    }
    told, switched = {**presets, **meant}, dict[str, Any]()
    for name, mark in base.marked(StandsFor).items():
        switched |= mark.values if told.get(name) else {}
    # In JSON's types: the state is stored and sent, and a tuple would come back as a list.
    return base(**{**published, **switched, **told}).model_dump(mode="json")
