"""Settings: the plain values a run can be given, with bounds, descriptions and published defaults.

A method's settings are a pydantic model and the `context_schema` of its graph, so LangGraph Studio
shows them as a form. A graph built for one task shows the values that the paper published for it as
defaults; in a graph whose task the run chooses, the method's own settings default to None, which
stands for the published value of whichever task that is.
"""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, ClassVar, Literal, TypeVar, cast, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic.fields import FieldInfo

from thoughtgraph import registry
from thoughtgraph.errors import SettingError, UnknownName
from thoughtgraph.usage import Limits

S = TypeVar("S", bound="Settings")

LIMIT_PREFIX = "limit_"
_LIMITS = {name: f"{LIMIT_PREFIX}{name}" for name in Limits.__annotations__}
"""The setting of each limit."""
CHOICES = ("task", "model", "evaluator_model")
"""Settings that name an object; a graph that was built around the object does not have them."""
UNPUBLISHED = ("seed", "share_evaluations", "prices")
"""Further settings of every method for which no task publishes a value; likewise the limits."""


STRICT = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
"""Nothing unknown, nothing changed later, no number that JSON cannot hold."""
Price = Annotated[float, Field(ge=0)]

# Settings of one meaning that methods of several kinds share.
EXAMPLES = Field(
    "",
    description="Worked examples before the question: own (the task's, invented by us; as many as "
    "`shots`, where there is that setting), none, or a text file that is shown as it is. Empty: "
    "own, but none where a question about pages is asked outright (ours).",
)
SHOTS = "How many of the task's worked examples a prompt shows"
Layout = Annotated[
    Literal["text", "turns"],
    Field(
        description="Show worked examples in one text, as published, or as turns of the "
        "conversation, which weak chat models follow better (scenes and game24's proposals; ours)."
    ),
]


class Settings(BaseModel):
    """What every method can be told."""

    model_config = STRICT
    repository: ClassVar[Mapping[str, Any]] = {}
    """Values that `repo_compat` stands for, where a method has it: of the official code."""

    task: str = Field(
        "question", description="Id of the task that reads and checks the problem (ours: question)."
    )
    model: str = Field(
        "",
        description="Model specifier: local, openai:NAME, http://HOST:PORT/v1#NAME. Empty: "
        "$THOUGHTGRAPH_MODEL, else openai:gpt-4o-mini when a key is set, else local.",
    )
    evaluator_model: str = Field(
        "", description="Model specifier of the judging roles. Empty: the same as `model`."
    )
    seed: int = Field(0, ge=0, description="Seed of every random choice of the search (ours: 0).")
    temperature: float | None = Field(
        0.7, ge=0, le=2, description="Sampling temperature (ToT section 4: 0.7; writing 1.0)."
    )
    max_completion_tokens: int = Field(
        1000,
        ge=1,
        le=100_000,
        description="Longest completion, in tokens (official ToT code: 1000).",
    )
    share_evaluations: bool = Field(
        False,
        description="Reuse evaluations of earlier runs from the cache. The run then depends on "
        "those runs (ours: off).",
    )
    limit_requests: int | None = Field(
        2_000, ge=0, description="Most requests to the model (ours). None: no limit."
    )
    limit_tokens: int | None = Field(
        5_000_000, ge=0, description="Most prompt and completion tokens together (ours)."
    )
    limit_dollars: float | None = Field(
        10.0, ge=0, description="Most US dollars, by the table in `prices` (ours)."
    )
    limit_seconds: float | None = Field(
        7_200.0, ge=0, description="Most seconds spent waiting for models and tools (ours)."
    )
    limit_thoughts: int | None = Field(20_000, ge=0, description="Most thoughts created (ours).")
    limit_depth: int | None = Field(
        100, ge=1, description="Deepest thought; the root has depth 0 (ours)."
    )
    limit_rounds: int | None = Field(1_000, ge=1, description="Most search rounds (ours).")
    prices: dict[str, tuple[Price, Price]] = Field(
        default_factory=dict,
        description="US dollars a million prompt tokens and a million completion tokens, by model "
        "name. Without an entry a model's calls count as free.",
    )

    def limits(self) -> Limits:
        """Returns the limits among the settings."""
        return limits_of(self.model_dump())


class ShowingSettings(Settings):
    """What every method can be told whose prompts may show worked examples."""

    examples: str = EXAMPLES
    shots: int = Field(0, ge=0, le=20, description=f"{SHOTS} (papers: 0; TR + CoT 5).")


class AskingSettings(ShowingSettings):
    """What the methods can be told that ask the model outright."""

    n_generate: int = Field(
        1,
        ge=1,
        le=1000,
        description="Samples of the model's answer (ours: 1; the paper's rows are means over 100 "
        "for game24 and 10 for writing and crosswords).",
    )


class ProposingSettings(Settings):
    """What the methods can be told that ask for proposals, which the task reads."""

    strict_parse: bool = Field(
        True, description="Drop proposals that are no step (official code: keeps every line)."
    )
    exact_steps: bool = Field(
        False,
        description="Take the operation a step names and do its arithmetic exactly; drop steps "
        "that cannot be taken and answers that fail the check (game24; ours: off, as in the "
        "paper).",
    )
    layout: Layout = "text"
    shots: int = Field(
        1, ge=0, le=20, description=f"{SHOTS} (game24's proposals: 1; 3 and more for weak models)."
    )


class ActingSettings(Settings):
    """What every method that calls tools can be told."""

    corpus: str = Field(
        "",
        description="Where pages come from: a file of pages, wikipedia:LANGUAGE, the address of a "
        "MediaWiki's api.php, or community. Empty: live English Wikipedia (ours).",
    )
    observations: Literal["clean", "react"] = Field(
        "clean",
        description="How observations read: repaired (ours), or as ReAct's code gives them.",
    )
    examples: str = EXAMPLES
    tool_costs: str = Field(
        "",
        description="What tools cost (V_T), such as 'Search=1, Lookup=0.5+2/s, Paid=10/$': a call, "
        "a second, a dollar. Those not named cost 1, Finish 0 (ours).",
    )
    lenient_lookup: bool = Field(
        False, description="Running out of Lookup results is no failure (ours: it is one)."
    )
    tool_deadline: float = Field(
        30.0, gt=0, le=600, description="Seconds after which a tool has failed (ours: 30)."
    )
    recording: Literal["fresh", "keep", "record", "replay"] = Field(
        "keep",
        description="What a live wiki's answers are kept for: fresh: nothing; keep: a day; record: "
        "for good; replay: only recorded ones are used, the wiki is never asked (ours: keep).",
    )
    contact: str = Field(
        "",
        description="Address at which a wiki's operator can reach you, sent to live wikis. Empty: "
        "$THOUGHTGRAPH_CONTACT.",
    )


def limits_of(values: Mapping[str, Any]) -> Limits:
    """Returns the limits among settings that are already in the state."""
    return cast("Limits", {name: values[key] for name, key in _LIMITS.items() if key in values})


def specialise(
    base: type[S], published: Mapping[str, Any] | None, *, closed: Iterable[str]
) -> type[S]:
    """Makes the settings model of one graph.

    Args:
        base: The method's settings.
        published: The task's published values, which become the defaults; None when the run chooses
            the task.
        closed: Names of settings that are closed over and therefore dropped, of `CHOICES`.

    Returns:
        A model like `base` with those defaults and without those fields.
    """
    dropped = set(closed)
    fields: dict[str, Any] = {}
    for name, field in base.model_fields.items():
        if name in dropped:
            continue
        if name == "task":
            fields[name] = (field.annotation, _choice(field, registry.TASKS))
        elif published is not None:
            fields[name] = (field.annotation, _with_default(field, published.get(name)))
        elif name in (*CHOICES, *UNPUBLISHED) or name.startswith(LIMIT_PREFIX):
            fields[name] = (field.annotation, field)
        else:
            fields[name] = (cast("Any", field.annotation) | None, _as_published(field))
    model = create_model(base.__name__, __base__=_Strict, __doc__=base.__doc__, **fields)
    return cast("type[S]", model)


class _Strict(BaseModel):
    """The context of a graph, which LangGraph makes of what the caller gave."""

    model_config = STRICT

    def __init__(self, **given: Any) -> None:
        for name in given:
            if name not in type(self).model_fields:
                raise UnknownName("setting", name, type(self).model_fields)
        try:
            super().__init__(**given)
        except ValidationError as error:
            raise SettingError(explain(error)) from None


def _with_default(field: FieldInfo, value: Any) -> FieldInfo:
    if value is None:
        return field
    return FieldInfo.merge_field_infos(field, default=value)


def _choice(field: FieldInfo, names: Iterable[str]) -> FieldInfo:
    """Lists the names in the schema, for a form; the registry itself refuses others with a hint."""
    return FieldInfo.merge_field_infos(field, json_schema_extra={"enum": sorted(names)})


def _as_published(field: FieldInfo) -> FieldInfo:
    """Takes a default out of a form: sent with it untouched, it would hide what a task publishes.

    None says "not given". Where None is a value, the form sends nothing unless it is touched: a
    default that is computed is not part of the schema.
    """
    default = "none" if field.default is None else field.default
    text = f"{field.description} Empty: as published for the task, else {default}."
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
        raise SettingError(explain(error)) from None


def explain(error: ValidationError) -> str:
    """Returns pydantic's first complaint as one line."""
    first = error.errors()[0]
    name = ".".join(str(part) for part in first["loc"]) or "settings"
    complaint = f"setting {name!r}: {first['msg'].lower()}, not {first['input']!r}"
    return f"{complaint}; `thoughtgraph methods ID` tells what a method takes"
