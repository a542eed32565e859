"""The settings of a graph, which are its context, and what a run's values come to.

LangGraph Studio shows the context as a form. Its defaults are the values of a run that is told
nothing: those of `build`, else the published ones. In a graph whose task the run chooses, a setting
for which tasks publish different values defaults to None, which stands for that of whichever task
it is.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from os.path import expanduser
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar, cast, get_args

from pydantic import create_model
from pydantic.fields import FieldInfo

from thoughtgraph import registry
from thoughtgraph.errors import InputError, SettingError
from thoughtgraph.settings import Settings

S = TypeVar("S", bound=Settings)


def settings_class(
    base: type[S],
    published: Mapping[str, Mapping[str, Any]],
    *,
    presets: Mapping[str, Any],
    closed: Iterable[str],
) -> type[S]:
    """Makes the settings of one graph, its `context_schema`.

    Args:
        base: The method's settings.
        published: By task, what it publishes; several where the run chooses the task.
        presets: The values that the graph was built with; they go before what a task publishes.
        closed: Names of settings that are closed over: the form lacks them, and a run that is given
            one is refused.

    Returns:
        A subclass of `base`, which tells what is wrong with its values as `refusal`. A default that
        is the same for all tasks stands in it; the others are None, and the description says what
        they are.
    """
    fields = _fields(base, json.dumps([published, presets]))
    # Each graph has a class of its own: by it a graph inside another knows whose a context is.
    model = create_model(base.__name__, __base__=base, __doc__=base.__doc__, **fields)
    model.closed, model.presets, model.defers = frozenset(closed), presets, True
    return model


@lru_cache(maxsize=500)
def _fields(base: type[Settings], values: str) -> dict[str, Any]:
    """Returns the fields of a graph's settings, which are the same for equal graphs.

    Args:
        base: The method's settings.
        values: The published values by task, and the presets, as JSON.
    """
    published, presets = json.loads(values)
    fields: dict[str, Any] = {}
    for name, field in base.model_fields.items():
        own = field.get_default(call_default_factory=True)
        usual = {task: {**each, **presets}.get(name, own) for task, each in published.items()}
        one = next(iter(usual.values()), presets.get(name, own))
        if name == "task":
            fields[name] = (field.annotation, _choice(field, registry.TASKS))
        elif name in presets:
            fields[name] = (field.annotation, _with_default(field, one))
        elif name in base.repository or any(value != one for value in usual.values()):
            meant = _meant(usual, own, base.repository.get(name))
            fields[name] = (cast("Any", field.annotation) | None, _left_open(field, meant))
        else:
            fields[name] = (field.annotation, _with_default(field, one))
    return fields


def presets_of(graph: object) -> Mapping[str, Any]:
    """Returns the settings that a graph was built with; none of one on a server."""
    presets: Mapping[str, Any] = getattr(getattr(graph, "context_schema", None), "presets", {})
    return presets


def check_context(graph: object, context: Mapping[str, Any] | None) -> None:
    """Refuses settings that no run of a graph of ours could be given.

    Raises:
        InputError: One is unknown or outside its bounds.
    """
    kind = getattr(graph, "context_schema", None)
    if not (context and isinstance(kind, type) and issubclass(kind, Settings)):
        return
    if refusal := kind(**context).refusal:
        raise refusal


def _with_default(field: FieldInfo, value: Any) -> FieldInfo:
    if value == field.get_default(call_default_factory=True):
        return field
    if field.default_factory is None:
        return FieldInfo.merge_field_infos(field, default=value)
    made = FieldInfo(annotation=field.annotation, default=value, description=field.description)
    made.metadata = list(field.metadata)
    return made


def _choice(field: FieldInfo, names: Iterable[str]) -> FieldInfo:
    """Lists the names in the schema, for a form; the registry itself refuses others with a hint."""
    return FieldInfo.merge_field_infos(field, json_schema_extra={"enum": sorted(names)})


def _meant(usual: Mapping[str, Any], own: Any, repository: Any) -> str:
    """Returns what a setting is where none is given, such as `game24 4, else 2`."""
    special = [f"{task} {_default_text(each)}" for task, each in usual.items() if each != own]
    words = ", ".join([*special, f"{'else ' * bool(special)}{_default_text(own)}"])
    return words if repository is None else f"{words}; with repo_compat {_default_text(repository)}"


def _default_text(value: Any) -> str:
    return "none" if value is None else str(value)


def _left_open(field: FieldInfo, meant: str) -> FieldInfo:
    """Takes a default out of a form: sent with it untouched, it would hide what holds otherwise.

    None says "not given". Where None is a value, the form sends nothing unless it is touched: a
    default that is computed is not part of the schema.
    """
    text = f"{field.description} Empty: {meant}."
    if not _takes_none(field):
        return FieldInfo.merge_field_infos(field, default=None, description=text)
    metadata = list(field.metadata)
    made = FieldInfo(annotation=field.annotation, default_factory=type(None), description=text)
    made.metadata = metadata
    return made


def _takes_none(field: FieldInfo | None) -> bool:
    return field is not None and type(None) in get_args(field.annotation)


def effective(
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
    repository = base.repository if {**presets, **meant}.get("repo_compat") else {}
    # In JSON's types: the state is stored and sent, and a tuple would come back as a list.
    return base(**{**published, **repository, **presets, **meant}).model_dump(mode="json")


def assignments(pairs: Sequence[str], option: str = "--set") -> dict[str, Any]:
    """Reads settings that are written as NAME=VALUE; a value is JSON or text, `@FILE` reads it.

    Args:
        pairs: The settings.
        option: The option by which they were given, for the error.

    Raises:
        InputError: One is not NAME=VALUE, or names a file that cannot be read.
    """
    named = (assignment(pair, option) for pair in pairs)
    return {name: _from_json(written_text(value)) for name, value in named}


def assignment(pair: str, option: str) -> tuple[str, str]:
    """Returns the name of a setting and its value as it is written.

    Raises:
        InputError: The pair is not NAME=VALUE.
    """
    name, equals, value = pair.partition("=")
    if not equals or not name:
        raise InputError(f"{option} {pair!r} is not NAME=VALUE; write {option} name=value")
    return name.strip().replace("-", "_"), value


def _from_json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def written_text(written: str) -> str:
    """Returns a text, or the content of the file that it names with `@`.

    Raises:
        InputError: The file cannot be read.
    """
    if not written.startswith("@"):
        return written
    path = Path(expanduser(written[1:]))
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot read {str(path)!r} ({error.strerror}); check the path") from None
    except UnicodeDecodeError:
        raise InputError(f"{str(path)!r} is no text file; it must be UTF-8") from None
