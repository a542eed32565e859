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

S = TypeVar("S", bound=Settings)

CLOSED: Mapping[str, Any] = {"share_evaluations": False, "recording": "keep", "contact": ""}
"""Settings that clients do not have, with their values: each would reach runs of other clients."""
PRICES = "prices"
"""A setting that clients do not have either; its value is the policy's."""
LONGEST_COMPLETION = 4_000
"""Most tokens of a completion unless the operator says otherwise (ours)."""
CAPPED = "max_completion_tokens"
CEILINGS = [*(name for name in Settings.model_fields if name.startswith(LIMIT_PREFIX)), CAPPED]
LONGEST = 100_000
"""Characters of a problem, and of a setting that is any text (ours): both go into every prompt, and
a page of a problem's own into every thought."""
TEXTS = ("task", "draft", "tool_costs")
"""Settings that are any text: it is looked up or shown to a model, and opens nothing."""
DEFAULT = "default"
"""Name of the one model that is served when none is named."""
LISTED = "the assistant's schema lists what can be set"
"""What a client is told who sent a setting that cannot be: he has no command, but the schema."""
NO_PAGES = "none"
"""What an operator names who offers no source of pages."""
_MODEL = "One of the models here."
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_LIFTED = re.compile(r" None: [^.:]*+\.")
"""What a description says of a limit that is lifted."""
MODELS_VARIABLE = "THOUGHTGRAPH_SERVED_MODELS"
CORPORA_VARIABLE = "THOUGHTGRAPH_SERVED_CORPORA"
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

    Raises:
        InputError: No model is named, or a name cannot be one.
    """

    models: Mapping[str, str] = field(default_factory=lambda: {DEFAULT: ""})
    corpora: Mapping[str, str] = field(default_factory=lambda: {"wikipedia": "wikipedia"})
    ceilings: Mapping[str, float | None] = field(default_factory=dict)
    prices: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuses what cannot be served."""
        if not self.models:
            raise InputError("a server without a model serves nobody; name one")
        for name in (*self.models, *self.corpora):
            if not _NAME.fullmatch(name):
                raise InputError(f"{name!r} is no name; use letters, digits, dots, _ and -")
        for name in self.ceilings:
            if name not in CEILINGS:
                raise UnknownName("limit", name, CEILINGS)
        for name in self.prices:
            if name not in self.models:
                raise UnknownName("model", name, self.models)

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
        limits, prices = _entries(LIMITS_VARIABLE), _entries(PRICES_VARIABLE)
        return cls(
            **chosen,
            ceilings={_limit(name): _ceiling(name, text) for name, text in limits.items()},
            prices={name: _price(name, text) for name, text in prices.items()},
        )

    def restrict(self, base: type[S]) -> type[S]:
        """Returns a method's settings with nothing in them that a client must not choose.

        Raises:
            TypeError: A setting may be any text, and nothing says what it may open.
        """
        fields = {name: self._field(name, field) for name, field in base.model_fields.items()}
        changed: dict[str, Any] = {name: each for name, each in fields.items() if each is not None}
        made = create_model(base.__name__, __base__=base, __doc__=base.__doc__, **changed)
        made.listed = LISTED
        return made

    def admit(self, settings: type[Settings], found: object) -> None:
        """Refuses the settings of a run that a client could not have chosen.

        They are in the state, which other versions of the policy, or other programs, may have
        written.

        Args:
            settings: The method's restricted settings.
            found: What the state holds.

        Raises:
            SettingError: They are not what the graph writes under this policy.
        """
        remedy = "start the problem again"
        refused = "the thread's settings are not allowed here"
        if not isinstance(found, Mapping):
            raise SettingError(f"the thread holds no settings; {remedy}")
        try:
            allowed = settings(**found).model_dump(mode="json")
        except (InputError, TypeError) as error:
            why = str(error) if isinstance(error, InputError) else "names are texts"
            raise SettingError(f"{refused}: {why}; {remedy}") from None
        if allowed != found:
            raise SettingError(f"{refused}; {remedy}")

    def opened(self, name: str, open_port: Callable[..., ChatPort]) -> ChatPort:
        """Returns the port of a model, which goes by the operator's name and keeps the rest quiet.

        Args:
            name: One of `models`.
            open_port: Makes the port of a specifier.

        Raises:
            ModelUnavailable: It cannot be had; the log says why.
        """
        try:
            return open_port(self.models[name], served_as=name)
        except (InputError, ModelError) as error:
            logger.error("model %r cannot be used: %s", name, error)
            told = f"model {name!r} cannot be used; the server's log says why"
            raise ModelUnavailable(told) from None

    def sourced(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Returns settings whose `corpus` is a source in the place of a name.

        Where none was named it stays empty, as a problem may bring its own pages; `corpus_else` is
        the source for those that do not, and `corpus_name` the name of whichever it is.
        """
        first = next(iter(self.corpora), "")
        chosen = settings["corpus"]
        return {
            **settings,
            "corpus": self.corpora.get(chosen, ""),
            "corpus_else": self.corpora.get(first, ""),
            "corpus_name": chosen or first,
        }

    def _field(self, name: str, field: FieldInfo) -> Any:
        """Returns what a setting becomes; None if it stays as it is."""
        if name in CLOSED:
            return _one_of((CLOSED[name],), field, CLOSED[name])
        if name == PRICES:
            return self._prices(field)
        if name == "model":
            kind, made = _one_of(self.models, field, next(iter(self.models)), _MODEL)
            # Of one name pydantic's schema says `const`, of which a form makes no choice.
            extra: Any = {"enum": [*self.models]}
            return kind, FieldInfo.merge_field_infos(made, json_schema_extra=extra)
        if name == "evaluator_model":
            about = "The model of the judging roles. Empty: the same as `model`."
            return _one_of(("", *self.models), field, "", about)
        if name == "corpus":
            about = "Which of the pages here to search; else the problem's own, or the first."
            return _one_of(("", *self.corpora), field, "", about)
        if name.endswith("examples"):
            about = "Worked examples that prompts show: the task's own, or none."
            return _one_of(("", "own", "none"), field, field.default, about)
        if name == "on_error":  # servers show of an exception what they please
            return Literal["report", "raise"], FieldInfo.merge_field_infos(field, default="report")
        if name in CEILINGS:
            return self._capped(name, field)
        if name in TEXTS:
            return Annotated[str, MaxLen(LONGEST)], field
        if _any_text(field.annotation):
            raise TypeError(f"{name!r} takes any text: say in `policy` what a client may choose")
        return None

    def _prices(self, field: FieldInfo) -> Any:
        prices = {name: tuple(pair) for name, pair in self.prices.items()}

        def own(given: Any) -> Any:
            if given != prices:
                raise ValueError("prices are the operator's")
            return given

        annotation = cast("Any", Annotated)[field.annotation, AfterValidator(own)]
        return annotation, Field(default_factory=lambda: prices, description=field.description)

    def _capped(self, name: str, field: FieldInfo) -> Any:
        own = field.get_default(call_default_factory=True)
        most = self.ceilings.get(name, LONGEST_COMPLETION if name == CAPPED else own)
        if most is None:
            return None

        def ceiling(given: Any) -> Any:
            return most if given is None else given

        default = most if own is None else min(own, most)
        text = f"{_LIFTED.sub('', field.description or '')} At most {most} here."
        (least,) = (each.ge for each in field.metadata if isinstance(each, Ge))
        annotation: Any = field.annotation
        if type(None) in get_args(annotation):
            annotation = cast("Any", Annotated)[annotation, BeforeValidator(ceiling)]
        # Where it was computed it stays so: a form then sends none unless it is touched.
        computed = field.default_factory is not None
        shown: Any = {"default_factory": lambda: default} if computed else {"default": default}
        return annotation, Field(**shown, ge=least, le=most, description=text)

    def lowered(self, published: Mapping[str, Any]) -> dict[str, Any]:
        """Returns a task's published values, none above the operator's ceiling."""
        most = self.ceilings.get(CAPPED, LONGEST_COMPLETION)
        capped = CAPPED in published and most is not None
        return {**published, **({CAPPED: min(published[CAPPED], most)} if capped else {})}


def _one_of(names: Any, field: FieldInfo, default: Any, about: str = "") -> Any:
    return cast("Any", Literal)[tuple(names)], Field(
        default, description=about or field.description
    )


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
        if entry.strip() and (not key or key in entries or not (value or key == NO_PAGES)):
            raise InputError(f"{variable}: {entry.strip()!r} is no NAME=VALUE, or one twice")
        if key:
            entries[key] = value
    return entries


def _limit(name: str) -> str:
    return name if name == CAPPED else f"{LIMIT_PREFIX}{name}"


def _ceiling(name: str, text: str) -> float | None:
    if text == "none":
        return None
    number = _number(LIMITS_VARIABLE, name, text)
    whole = number.is_integer() and name not in ("dollars", "seconds")
    return int(number) if whole else number


def _price(name: str, text: str) -> tuple[float, float]:
    prompt, _, completion = text.partition("/")
    return _number(PRICES_VARIABLE, name, prompt), _number(PRICES_VARIABLE, name, completion)


def _number(variable: str, name: str, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise InputError(f"{variable}: {f'{name}={text}'!r} is no number of at least 0")
    return number
