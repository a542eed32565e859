"""The context class of a graph, which holds its settings, and the values of a run.

LangGraph Studio shows the context as a form. Its defaults are the values of a run without settings
of its own: those of `build`, else the published ones. If the run chooses the task, a setting for
which tasks publish different values defaults to None, which stands for the chosen task's value.
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
    """Returns the fields of a graph's settings class, with the defaults for this graph.

    A setting with one default for all tasks has that default. If it depends on the task, or on a
    switch such as `repo_compat`, the default is None and the description says what None means.

    Args:
        base: The method's settings class.
        values: The published values by task id, and the values that the graph was built with, which
            outrank them. They are JSON, so that equal graphs share a cache entry.
    """
    published, presets = json.loads(values)
    switch_notes = {
        name: f"; with {switch} {value}"
        for switch, mark in base.marked(StandsFor).items()
        for name, value in mark.values.items()
    }
    fields: dict[str, Any] = {}
    for name, field in base.model_fields.items():
        own = field.get_default(call_default_factory=True)
        by_task = {task: {**row, **presets}.get(name, own) for task, row in published.items()}
        first = next(iter(by_task.values()), presets.get(name, own))
        differ = any(value != first for value in by_task.values())
        if name == "task":
            # Only for forms: the registry refuses other names, with a hint.
            names: Any = {"enum": sorted(registry.TASKS)}
            choice = FieldInfo.merge_field_infos(field, json_schema_extra=names)
            fields[name] = (field.annotation, choice)
        elif name not in presets and (name in switch_notes or differ):
            exceptions = [f"{task} {_text(each)}" for task, each in by_task.items() if each != own]
            otherwise = f"else {_text(own)}" if exceptions else _text(own)
            meaning = ", ".join([*exceptions, otherwise])
            text = f"{field.description} Empty: {meaning}{switch_notes.get(name, '')}."
            # A form sends back every default, even untouched, which would override the task's
            # value. So None means "not set". A setting that takes None gets a computed default,
            # which the schema omits.
            unset: Any = {"default_factory": type(None)}
            unset = unset if _takes_none(field) else {"default": None}
            new_field = _changed(field, description=text, **unset)
            fields[name] = (cast("Any", field.annotation) | None, new_field)
        elif first == own:
            fields[name] = (field.annotation, field)
        else:
            fields[name] = (field.annotation, _changed(field, default=first))
    return fields


def _changed(field: FieldInfo, **changes: Any) -> FieldInfo:
    """Returns a field with changes, which must include a default: the old one is dropped."""
    attributes = {"description": field.description, "json_schema_extra": field.json_schema_extra}
    copy = FieldInfo(annotation=field.annotation, **cast("Any", {**attributes, **changes}))
    copy.metadata = list(field.metadata)
    return copy


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
    """Returns a run's values: chosen ones, else presets, else published ones, else defaults.

    Args:
        base: The method's settings class.
        published: The task's published values for the method.
        chosen: The settings of the run itself. None means "not set", except for a setting that
            takes None and has no preset or published value.
        presets: The values that the run's graph was built with.

    Raises:
        UnknownName: A name is not a setting of the method.
        SettingError: A value is outside its bounds, or the task publishes an unknown setting.
    """
    for name in published:
        if name not in base.model_fields:
            raise SettingError(
                f"the task publishes {name!r} for a method that has no such setting; published() "
                "gets the method's id: return settings of that method only"
            )
    defaults = {**published, **presets}
    overrides = {
        name: value
        for name, value in (chosen or {}).items()
        if value is not None or (name not in defaults and _takes_none(base.model_fields.get(name)))
    }
    explicit, implied = {**presets, **overrides}, dict[str, Any]()
    for name, mark in base.marked(StandsFor).items():
        implied |= mark.values if explicit.get(name) else {}
    # In JSON's types, as the state is stored and sent: a tuple would come back as a list.
    return base(**{**published, **implied, **explicit}).model_dump(mode="json")
