"""The context of a graph: the form of a method's settings, and what a run's values come to.

It is the `context_schema`, so LangGraph Studio shows it as a form. Defaults are the values that a
run has that is told nothing: the published ones. In a graph whose task the run chooses, a setting
for which tasks publish different values defaults to None, which stands for that of whichever task
it is.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from os.path import expanduser
from pathlib import Path
from reprlib import Repr
from typing import Any, ClassVar, TypeVar, cast, get_args

from pydantic import BaseModel, ValidationError, create_model
from pydantic.fields import FieldInfo

from thoughtgraph import registry
from thoughtgraph.errors import InputError, SettingError, UnknownName
from thoughtgraph.settings import STRICT, Settings

S = TypeVar("S", bound=Settings)

_short = Repr()
_short.maxlevel, _short.maxstring, _short.maxother, _short.maxlong = 3, 80, 80, 40
"""How a refused value is shown: it may be as large and as deep as a request can be."""


def specialise(
    base: type[S], published: Mapping[str, Mapping[str, Any]], *, closed: Iterable[str]
) -> type[S]:
    """Makes the settings model of one graph.

    Args:
        base: The method's settings.
        published: By task, what it publishes; several where the run chooses the task.
        closed: Names of settings that are closed over and therefore dropped.

    Returns:
        A model like `base` without those fields. A default that is the same for all tasks stands in
        it; the others are None, and the description says what they are.
    """
    dropped = set(closed)
    fields: dict[str, Any] = {}
    for name, field in base.model_fields.items():
        if name in dropped:
            continue
        own = field.get_default(call_default_factory=True)
        usual = {task: values.get(name, own) for task, values in published.items()}
        one = next(iter(usual.values()), own)
        if name == "task":
            fields[name] = (field.annotation, _choice(field, registry.TASKS))
        elif name in base.repository or any(value != one for value in usual.values()):
            meant = _meant(usual, own, base.repository.get(name))
            fields[name] = (cast("Any", field.annotation) | None, _left_open(field, meant))
        else:
            fields[name] = (field.annotation, _with_default(field, one))
    model = create_model(base.__name__, __base__=_Strict, __doc__=base.__doc__, **fields)
    model.listed = base.listed
    return cast("type[S]", model)


class _Strict(BaseModel):
    """The context of a graph, which LangGraph makes of what the caller gave."""

    model_config = STRICT
    listed: ClassVar[str] = ""
    """Where the settings are listed, for whoever gave a wrong one."""

    def __init__(self, **given: Any) -> None:
        for name in given:
            if name not in type(self).model_fields:
                raise UnknownName("setting", name, type(self).model_fields)
        try:
            super().__init__(**given)
        except ValidationError as error:
            raise SettingError(f"{explain(error)}; {self.listed}") from None


def _with_default(field: FieldInfo, value: Any) -> FieldInfo:
    if value == field.get_default(call_default_factory=True):
        return field
    return FieldInfo.merge_field_infos(field, default=value)


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


def _takes_none(field: FieldInfo) -> bool:
    return type(None) in get_args(field.annotation)


def effective(
    base: type[Settings], published: Mapping[str, Any], given: BaseModel | Mapping[str, Any] | None
) -> dict[str, Any]:
    """Returns a run's values: those given, else the task's published ones, else the method's.

    Args:
        base: The method's settings.
        published: The task's published values for the method.
        given: The run's context. A value of None stands for "not given", except for a setting that
            takes None and that nothing is published for.

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
    if given is None:
        chosen: dict[str, Any] = {}
    elif isinstance(given, BaseModel):
        chosen = {name: getattr(given, name) for name in given.model_fields_set}
    else:
        chosen = dict(given)
    for name in chosen:
        if name not in base.model_fields:
            raise UnknownName("setting", name, base.model_fields)
    meant = {
        name: value
        for name, value in chosen.items()
        if value is not None or (name not in published and _takes_none(base.model_fields[name]))
    }
    try:
        # In JSON's types: the state is stored and sent, and a tuple would come back as a list.
        repository = base.repository if meant.get("repo_compat") else {}
        return base(**{**published, **repository, **meant}).model_dump(mode="json")
    except ValidationError as error:
        raise SettingError(f"{explain(error)}; {base.listed}") from None


def is_given(given: BaseModel | Mapping[str, Any] | None, name: str) -> bool:
    """Returns whether the caller gave a setting a value."""
    if isinstance(given, BaseModel):
        return name in given.model_fields_set and getattr(given, name) is not None
    return (given or {}).get(name) is not None


def explain(error: ValidationError) -> str:
    """Returns pydantic's first complaint as one line."""
    first = error.errors()[0]
    name = ".".join(str(part) for part in first["loc"]) or "settings"
    return f"setting {name[:80]!r}: {first['msg'].lower()}, not {_short.repr(first['input'])}"


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
