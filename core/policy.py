"""The operator's policy: the choices of a server's clients, which the graphs themselves enforce.

In your own process, any model, file or address is allowed. A graph with a policy knows models,
databases and sources of pages only by the operator's names, and opens no file that a client names.
Clients may lower a limit but never raise it, whatever way a setting arrives.
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
"""Most characters of a problem or a free-text setting (ours): both go into every prompt."""
CEILINGS: Mapping[str, float | None] = {
    name: mark.most or Settings.model_fields[name].get_default(call_default_factory=True)
    for name, mark in Settings.marked(Ceiling).items()
}
"""Settings that have a ceiling, each with the ceiling that holds if the operator sets none."""
DEFAULT = "default"
"""Name of the only model on offer if the operator names none."""
NO_PAGES = "none"
"""Entry of an operator who offers no source of pages."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_LIFTED = re.compile(r" None: [^.:]*+\.")  # the part of a description about no limit
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
        corpora: Sources of pages by name, each a value of the setting `corpus`; the first is the
            default. If empty, clients can search only pages that come with a problem.
        ceilings: The highest value of each limit, by the name of its setting; None sets no ceiling.
            A limit without an entry has its built-in ceiling, in most cases its default.
        prices: US dollars per million prompt and per million completion tokens, by the names of
            `models`.
        databases: Databases by name, each a value of the setting `database`; the first is the
            default. If empty, clients can query only the package's example.

    Raises:
        InputError: There is no model, a name has a wrong form, or a limit or a price has no match.
    """

    models: Mapping[str, str] = field(default_factory=lambda: {DEFAULT: ""})
    corpora: Mapping[str, str] = field(default_factory=lambda: {"wikipedia": "wikipedia"})
    ceilings: Mapping[str, float | None] = field(default_factory=dict)
    prices: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    databases: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuses names that cannot be served."""
        if not self.models:
            raise InputError("a policy needs at least one model; name one in models")
        for name in (*self.models, *self.corpora, *self.databases):
            if not _NAME.fullmatch(name):
                raise InputError(f"{name!r} is no name; use letters, digits, dots, _ and -")
        for kind, names, allowed in (
            ("limit", self.ceilings, CEILINGS),
            ("model", self.prices, self.models),
        ):
            for name in names.keys() - allowed.keys():
                raise UnknownName(kind, name, allowed)

    @classmethod
    def from_environment(cls) -> "Policy":
        """Returns the policy from the operator's environment variables; see docs/serving.md.

        Raises:
            InputError: A variable cannot be read.
        """
        models, corpora = _entries(MODELS_VARIABLE), _entries(CORPORA_VARIABLE)
        chosen: dict[str, Any] = {"models": models} if models else {}
        if corpora:
            chosen["corpora"] = {} if corpora == {NO_PAGES: ""} else corpora
        ceilings: dict[str, float | None] = {}
        for name, text in _entries(LIMITS_VARIABLE).items():
            number = None if text == "none" else _number(LIMITS_VARIABLE, name, text)
            is_whole = number and number.is_integer() and name not in ("dollars", "seconds")
            key = name if name in CEILINGS else f"{LIMIT_PREFIX}{name}"
            ceilings[key] = int(number) if number is not None and is_whole else number
        prices: dict[str, tuple[float, float]] = {}
        for name, text in _entries(PRICES_VARIABLE).items():
            prompt, _, completion = text.partition("/")
            pair = (_number(PRICES_VARIABLE, name, each) for each in (prompt, completion))
            prices[name] = next(pair), next(pair)
        databases = _entries(DATABASES_VARIABLE)
        return cls(**chosen, ceilings=ceilings, prices=prices, databases=databases)

    def restrict(self, base: type[S]) -> type[S]:
        """Returns a method's settings class, restricted to the values that clients may choose.

        Raises:
            TypeError: A setting takes any text, and no mark says which texts are safe.
        """
        fields = {name: self._field(name, field) for name, field in base.model_fields.items()}
        updates: dict[str, Any] = {name: each for name, each in fields.items() if each is not None}
        restricted = create_model(base.__name__, __base__=base, __doc__=base.__doc__, **updates)
        # API clients can read the schema, but have no command.
        restricted.listed = "the assistant's schema lists what can be set"
        return restricted

    def admit(self, settings: type[Settings], state: object) -> None:
        """Refuses settings in a state that no client could have chosen.

        Another version of the policy, or another program, may have written them.

        Args:
            settings: The method's restricted settings class.
            state: The settings in the state.

        Raises:
            SettingError: The graph would not write these settings under this policy.
        """
        remedy = "start the problem again"
        refused = "the thread's settings are not allowed here"
        if not isinstance(state, Mapping):
            raise SettingError(f"the thread holds no settings; {remedy}")
        try:
            allowed = settings(**state).model_dump(mode="json")
        except (InputError, TypeError) as error:
            why = str(error) if isinstance(error, InputError) else "setting names must be strings"
            raise SettingError(f"{refused}: {why}; {remedy}") from None
        if allowed != state:
            raise SettingError(f"{refused}; {remedy}")

    def opened(self, name: str, open_port: Callable[..., ChatPort]) -> ChatPort:
        """Opens one of `models`; errors of its port reveal only this name.

        Raises:
            ModelUnavailable: The model cannot be opened; the log says why.
        """
        try:
            return open_port(self.models[name], served_as=name)
        except (InputError, ModelError) as error:
            logger.error("model %r cannot be used: %s", name, error)
            message = f"model {name!r} cannot be used; the server's log says why"
            raise ModelUnavailable(message) from None

    def sourced(self, kind: type[Settings], settings: Mapping[str, Any]) -> dict[str, Any]:
        """Returns settings in which a source of pages replaces the name that a client chose.

        Without a choice the setting stays empty, as a problem may bring its own pages. The key with
        `_else` has the source for other problems, the key with `_name` the name of the source.
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
        """Returns a task's published values, each at most the operator's ceiling."""
        values = dict(published)
        for name, ceiling in {**CEILINGS, **self.ceilings}.items():
            if published.get(name) is not None and ceiling is not None:
                values[name] = min(published[name], ceiling)
        return values

    def _field(self, name: str, field: FieldInfo) -> Any:
        """Returns a setting as its mark restricts it; None if it stays as it is."""
        for mark in _marks(name, field):
            match mark:
                case Operators():
                    return self._own(name, field)
                case Offer(kind, description, names):
                    choices = (*names, *getattr(self, kind, ()))
                    default = field.default if field.default in choices else choices[0]
                    # For one name, pydantic writes `const`, which a form does not show as a choice.
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
        """Returns a setting fixed to one value: the operator's, else the default."""
        value = getattr(self, name, field.get_default(call_default_factory=True))

        def fixed(chosen: Any) -> Any:
            if chosen != value:
                raise ValueError("it is the operator's")
            return chosen

        annotation = cast("Any", Annotated)[field.annotation, AfterValidator(fixed)]
        return annotation, Field(default_factory=lambda: value, description=field.description)

    def _capped(self, name: str, field: FieldInfo, built_in: float | None) -> Any:
        """Returns a limit that can only be lowered; None, for no limit, becomes the ceiling."""
        default_value = field.get_default(call_default_factory=True)
        ceiling = self.ceilings.get(name, default_value if built_in is None else built_in)
        if ceiling is None:
            return None
        default = ceiling if default_value is None else min(default_value, ceiling)
        text = f"{_LIFTED.sub('', field.description or '')} At most {ceiling} here."
        (least,) = (each.ge for each in field.metadata if isinstance(each, Ge))
        annotation: Any = field.annotation
        if type(None) in get_args(annotation):
            cap = BeforeValidator(lambda chosen: ceiling if chosen is None else chosen)
            annotation = cast("Any", Annotated)[annotation, cap]
        # A computed default stays computed: a form sends it only if the user touches it.
        computed = field.default_factory is not None
        options: Any = {"default_factory": lambda: default} if computed else {"default": default}
        return annotation, Field(**options, ge=least, le=ceiling, description=text)


def operators(settings: type[Settings]) -> list[str]:
    """Returns the names of settings that only the operator sets."""
    fields = settings.model_fields.items()
    return [n for n, field in fields if any(isinstance(m, Operators) for m in _marks(n, field))]


def _marks(name: str, field: FieldInfo) -> list[Any]:
    """Returns the marks of a setting; a method may add marks to a shared one but remove none."""
    return [*field.metadata, *Settings.model_fields.get(name, field).metadata]


def _any_text(annotation: Any) -> bool:
    """Returns whether a type allows more than literals and numbers, such as any text."""
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
