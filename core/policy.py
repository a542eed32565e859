"""What the clients of a server may choose: an operator's policy, which the graphs themselves obey.

In one's own process every model, file and address is free. A graph that is built with a policy
knows models and sources of pages by the operator's names alone, reads no file that a client names,
and lets a client lower a limit but never lift it, wherever a setting comes from.
"""

import logging
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, TypeVar, cast, get_args, get_origin

from annotated_types import Ge, MaxLen
from pydantic import AfterValidator, BeforeValidator, Field, create_model
from pydantic.fields import FieldInfo

from thoughtgraph.errors import InputError, ModelError, ModelUnavailable, SettingError, UnknownName
from thoughtgraph.llm.port import ChatPort
from thoughtgraph.settings import LIMIT_PREFIX, Settings
from thoughtgraph.settings.marks import Ceiling, FreeText, Offer, Operators, Served

S = TypeVar("S", bound=Settings)

LONGEST_TEXT = 100_000
"""Characters of a problem, and of a setting that is any text (ours): both go into every prompt."""
CEILINGS: Mapping[str, float | None] = {
    name: mark.most or Settings.model_fields[name].get_default(call_default_factory=True)
    for name, mark in Settings.marked(Ceiling).items()
}
"""The settings that have a ceiling, each with the one that holds where the operator names none."""
DEFAULT = "default"
"""Name of the one model that is served when none is named."""
NO_PAGES = "none"
"""What an operator names who offers no source of pages."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_LIFTED = re.compile(r" None: [^.:]*+\.")  # what a description says of a limit that is lifted
MODELS_VARIABLE = "THOUGHTGRAPH_SERVED_MODELS"
CORPORA_VARIABLE = "THOUGHTGRAPH_SERVED_CORPORA"
DATABASES_VARIABLE = "THOUGHTGRAPH_SERVED_DATABASES"
LIMITS_VARIABLE = "THOUGHTGRAPH_SERVED_LIMITS"
PRICES_VARIABLE = "THOUGHTGRAPH_SERVED_PRICES"

logger = logging.getLogger("thoughtgraph")


@dataclass(frozen=True)
class Policy:
    """What the clients of a server may choose.

    Args:
        models: Model specifiers by the names that clients know; the first is the default. An empty
            specifier is the operator's default model.
        corpora: Sources of pages by name, each as the setting `corpus` takes it; the first is the
            default. Without any, only pages that come with a problem can be searched.
        ceilings: The most a client may set a limit to, by the name of its setting; None sets no
            ceiling. A limit that is not named has its default as ceiling.
        prices: US dollars a million prompt tokens and a million completion tokens, by the names of
            `models`.
        databases: Databases by name, each as the setting `database` takes it; the first is the
            default. Without any, only the package's example can be asked.

    Raises:
        InputError: No model is named, or a name cannot be one.
    """

    models: Mapping[str, str] = field(default_factory=lambda: {DEFAULT: ""})
    corpora: Mapping[str, str] = field(default_factory=lambda: {"wikipedia": "wikipedia"})
    ceilings: Mapping[str, float | None] = field(default_factory=dict)
    prices: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    databases: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuses what cannot be served."""
        if not self.models:
            raise InputError("a policy needs at least one model; name one in models")
        for name in (*self.models, *self.corpora, *self.databases):
            if not _NAME.fullmatch(name):
                raise InputError(f"{name!r} is no name; use letters, digits, dots, _ and -")
        for kind, names, known in (
            ("limit", self.ceilings, CEILINGS),
            ("model", self.prices, self.models),
        ):
            for name in names.keys() - known.keys():
                raise UnknownName(kind, name, known)

    @classmethod
    def from_environment(cls) -> "Policy":
        """Returns the policy that the operator's variables say; see docs/serving.md.

        Raises:
            InputError: One of them cannot be read.
        """
        models, corpora = _entries(MODELS_VARIABLE), _entries(CORPORA_VARIABLE)
        chosen: dict[str, Any] = {"models": models} if models else {}
        if corpora:
            chosen["corpora"] = {} if corpora == {NO_PAGES: ""} else corpora
        ceilings: dict[str, float | None] = {}
        for name, text in _entries(LIMITS_VARIABLE).items():
            number = None if text == "none" else _number(LIMITS_VARIABLE, name, text)
            whole = number and number.is_integer() and name not in ("dollars", "seconds")
            key = name if name in CEILINGS else f"{LIMIT_PREFIX}{name}"
            ceilings[key] = int(number) if number is not None and whole else number
        prices: dict[str, tuple[float, float]] = {}
        for name, text in _entries(PRICES_VARIABLE).items():
            prompt, _, completion = text.partition("/")
            both = (_number(PRICES_VARIABLE, name, each) for each in (prompt, completion))
            prices[name] = next(both), next(both)
        databases = _entries(DATABASES_VARIABLE)
        return cls(**chosen, ceilings=ceilings, prices=prices, databases=databases)

    def restrict(self, base: type[S]) -> type[S]:
        """Returns a method's settings with nothing in them that a client must not choose.

        Raises:
            TypeError: A setting may be any text, and nothing says what it may open.
        """
        fields = {name: self._field(name, field) for name, field in base.model_fields.items()}
        changed: dict[str, Any] = {name: each for name, each in fields.items() if each is not None}
        made = create_model(base.__name__, __base__=base, __doc__=base.__doc__, **changed)
        # API clients can read the schema, but have no command.
        made.listed = "the assistant's schema lists what can be set"
        return made

    def admit(self, settings: type[Settings], state: object) -> None:
        """Refuses the settings in a state that a client could not have chosen.

        Other versions of the policy, or other programs, may have written them.

        Args:
            settings: The method's restricted settings.
            state: What the state holds.

        Raises:
            SettingError: They are not what the graph writes under this policy.
        """
        remedy = "start the problem again"
        refused = "the thread's settings are not allowed here"
        if not isinstance(state, Mapping):
            raise SettingError(f"the thread holds no settings; {remedy}")
        try:
            allowed = settings(**state).model_dump(mode="json")
        except (InputError, TypeError) as error:
            why = str(error) if isinstance(error, InputError) else "names are texts"
            raise SettingError(f"{refused}: {why}; {remedy}") from None
        if allowed != state:
            raise SettingError(f"{refused}; {remedy}")

    def opened(self, name: str, open_port: Callable[..., ChatPort]) -> ChatPort:
        """Returns the port of one of `models`, which goes by that name and keeps the rest quiet.

        Raises:
            ModelUnavailable: It cannot be had; the log says why.
        """
        try:
            return open_port(self.models[name], served_as=name)
        except (InputError, ModelError) as error:
            logger.error("model %r cannot be used: %s", name, error)
            told = f"model {name!r} cannot be used; the server's log says why"
            raise ModelUnavailable(told) from None

    def sourced(self, kind: type[Settings], settings: Mapping[str, Any]) -> dict[str, Any]:
        """Returns settings with a source of pages in the place of its name.

        Where none was named it stays empty, as a problem may bring its own pages; with `_else` to
        its name stands the source for those that do not, and with `_name` which of both it is.
        """
        first, sources = next(iter(self.corpora), ""), dict(settings)
        for name, mark in kind.marked(Offer).items():
            if mark.kind == "corpora":
                chosen = settings[name]
                sources[name] = self.corpora.get(chosen, "")
                sources[f"{name}_else"] = self.corpora.get(first, "")
                sources[f"{name}_name"] = chosen or first
        return sources

    def lowered(self, published: Mapping[str, Any]) -> dict[str, Any]:
        """Returns a task's published values, none above the operator's ceiling."""
        lowest = dict(published)
        for name, most in {**CEILINGS, **self.ceilings}.items():
            if published.get(name) is not None and most is not None:
                lowest[name] = min(published[name], most)
        return lowest

    def _field(self, name: str, field: FieldInfo) -> Any:
        """Returns what a setting becomes by its mark; None if it stays as it is."""
        for mark in _marks(name, field):
            match mark:
                case Operators():
                    return self._own(name, field)
                case Offer(kind, description, names):
                    choices = (*names, *getattr(self, kind, ()))
                    default = field.default if field.default in choices else choices[0]
                    # Of one name pydantic's schema says `const`, of which a form makes no choice.
                    extra: Any = {"enum": [*choices]}
                    offered = Field(default, description=description, json_schema_extra=extra)
                    return cast("Any", Literal)[choices], offered
                case Ceiling(most):
                    return self._capped(name, field, most)
                case FreeText():
                    return Annotated[str, MaxLen(LONGEST_TEXT)], field
                case Served(default):
                    return field.annotation, FieldInfo.merge_field_infos(field, default=default)
        if _any_text(field.annotation):
            raise TypeError(f"{name!r} takes any text: mark what a client may choose by it")
        return None

    def _own(self, name: str, field: FieldInfo) -> Any:
        """Returns a setting that has one value, which is the operator's or the default."""
        value = getattr(self, name, field.get_default(call_default_factory=True))

        def only(chosen: Any) -> Any:
            if chosen != value:
                raise ValueError("it is the operator's")
            return chosen

        annotation = cast("Any", Annotated)[field.annotation, AfterValidator(only)]
        return annotation, Field(default_factory=lambda: value, description=field.description)

    def _capped(self, name: str, field: FieldInfo, usual: float | None) -> Any:
        """Returns a limit that can be lowered, and is the ceiling where it is lifted."""
        own = field.get_default(call_default_factory=True)
        most = self.ceilings.get(name, own if usual is None else usual)
        if most is None:
            return None
        default = most if own is None else min(own, most)
        text = f"{_LIFTED.sub('', field.description or '')} At most {most} here."
        (least,) = (each.ge for each in field.metadata if isinstance(each, Ge))
        annotation: Any = field.annotation
        if type(None) in get_args(annotation):
            lower = BeforeValidator(lambda chosen: most if chosen is None else chosen)
            annotation = cast("Any", Annotated)[annotation, lower]
        # Where it was computed it stays so: a form then sends none unless it is touched.
        computed = field.default_factory is not None
        shown: Any = {"default_factory": lambda: default} if computed else {"default": default}
        return annotation, Field(**shown, ge=least, le=most, description=text)


def operators(settings: type[Settings]) -> list[str]:
    """Returns the settings that are an operator's alone."""
    fields = settings.model_fields.items()
    return [n for n, field in fields if any(isinstance(m, Operators) for m in _marks(n, field))]


def _marks(name: str, field: FieldInfo) -> list[Any]:
    """Returns the marks of a setting: a method may say more of one that all have, not less."""
    return [*field.metadata, *Settings.model_fields.get(name, field).metadata]


def _any_text(annotation: Any) -> bool:
    """Returns whether a type has values that are not bounded by it: texts, or anything."""
    if get_origin(annotation) is Literal:
        return False
    if parts := get_args(annotation):
        return any(_any_text(part) for part in parts)
    return annotation not in (int, float, bool, type(None))


def _entries(variable: str) -> dict[str, str]:
    """Returns the entries `NAME=VALUE` of a variable, in order."""
    entries: dict[str, str] = {}
    for entry in os.environ.get(variable, "").split(","):
        key, _, value = (part.strip() for part in entry.partition("="))
        if entry.strip() and (not key or not (value or key == NO_PAGES)):
            raise InputError(f"{variable}: {entry.strip()!r} must have the form NAME=VALUE")
        if key in entries:
            raise InputError(f"{variable}: {key!r} is there twice; keep one of them")
        if key:
            entries[key] = value
    return entries


def _number(variable: str, name: str, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise InputError(f"{variable}: {f'{name}={text}'!r} is no number of at least 0")
    return number
