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
    """Returns the fields of a graph's settings, which are the same for equal graphs.

    A default that is the same for all tasks stands in them; the others are None, and the
    description says what they are.

    Args:
        base: The method's settings.
        values: By task, what it publishes, several where the run chooses the task; and the values
            that the graph was built with, which go before. As JSON.
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
        usual = {task: {**each, **presets}.get(name, own) for task, each in published.items()}
        one = next(iter(usual.values()), presets.get(name, own))
        if name == "task":
            # For a form; the registry itself refuses other names with a hint.
            names: Any = {"enum": sorted(registry.TASKS)}
            choice = FieldInfo.merge_field_infos(field, json_schema_extra=names)
            fields[name] = (field.annotation, choice)
        elif name not in presets and (name in switched or any(v != one for v in usual.values())):
            special = [f"{task} {_text(each)}" for task, each in usual.items() if each != own]
            meant = ", ".join([*special, f"{'else ' * bool(special)}{_text(own)}"])
            text = f"{field.description} Empty: {meant}{switched.get(name, '')}."
            # Sent with a form that was not touched, the default would hide what holds otherwise.
            # None says "not given". Where None is a value, the form sends nothing unless it is
            # touched: a default that is computed is not part of the schema.
            left: Any = {"default_factory": type(None)} if _takes_none(field) else {"default": None}
            left_open = _changed(field, description=text, **left)
            fields[name] = (cast("Any", field.annotation) | None, left_open)
        elif one == own:
            fields[name] = (field.annotation, field)
        else:
            fields[name] = (field.annotation, _changed(field, default=one))
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
