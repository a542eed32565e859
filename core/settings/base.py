"""Settings: the plain values of a run, with bounds, descriptions and published defaults.

A method's settings are a pydantic model; `thoughtgraph.context` makes it the context of a graph.
"""

from collections.abc import Mapping
from reprlib import Repr
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar, cast

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, ValidationError

from thoughtgraph.errors import InputError, SettingError, UnknownName
from thoughtgraph.settings.fields import (
    JUDGING,
    SHOTS,
    Examples,
    Length,
    Limit,
    Review,
    Shots,
    Temperature,
)
from thoughtgraph.settings.marks import (
    Ceiling,
    ForDatabases,
    FreeText,
    Needs,
    Offer,
    Operators,
    Served,
)
from thoughtgraph.usage import Limits

M = TypeVar("M")

LIMIT_PREFIX = "limit_"
CHOICES = ("task", "model", "evaluator_model")
"""Settings that name an object; a graph that was built around the object does not take them."""
WATCHING = ("review", "on_error")
"""Settings for the person or program that watches a run: an unwatched run finds the same."""
MOST_DOLLARS = 10.0
"""Default limit on the cost of a search, in US dollars (ours)."""
Price = Annotated[float, Field(ge=0)]
_excerpt = Repr()
_excerpt.maxlevel, _excerpt.maxstring, _excerpt.maxother, _excerpt.maxlong = 3, 80, 80, 40
"""Shortens a refused value for a message: a request may send a very large or deep one."""


class Settings(BaseModel):
    """Settings of every method."""

    # No unknown names, no later changes, no numbers that JSON cannot hold.
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
    capabilities: ClassVar[tuple[type, ...]] = ()
    """Capabilities that a task must have, whatever the values are."""
    listed: ClassVar[str] = "`thoughtgraph methods ID` tells what a method takes"
    """Tells the caller of an invalid setting where the valid ones are listed."""
    closed: ClassVar[frozenset[str]] = frozenset()
    """Settings closed to runs: the graph was built around their object, or an operator has them."""
    presets: ClassVar[Mapping[str, Any]] = {}
    """The values that the graph was built with."""
    defers: ClassVar[bool] = False
    """Whether wrong settings are stored as `refusal` instead of raised. LangGraph makes the context
    before any node runs, so that the first node reports the refusal."""
    _refusal: InputError | None = PrivateAttr(None)

    task: Annotated[str, FreeText()] = Field(
        "question", description="Id of the task that reads and checks the problem (ours: question)."
    )
    model: Annotated[str, Offer("models", "One of the models here.")] = Field(
        "",
        description="Model specifier: local, local:smollm2, local:PATH.gguf, openai:NAME, "
        "http://HOST:PORT/v1#NAME, PROVIDER:NAME such as anthropic:NAME. Empty: "
        "$THOUGHTGRAPH_MODEL, else openai:gpt-4o-mini when a key is set, else local.",
    )
    evaluator_model: Annotated[str, Offer("models", JUDGING, ("",))] = Field(
        "", description="Model specifier of the judging roles. Empty: the same as `model`."
    )
    database: Annotated[
        str,
        Offer("databases", "Which of the databases here; else the first.", ("",)),
        ForDatabases(),
    ] = Field(
        "",
        description="What task sql asks: a file of SQLite, a folder of them for problems that "
        "name one, or postgresql://ROLE@HOST/DATABASE. Empty: a small example (ours).",
    )
    sample_values: Annotated[int, ForDatabases()] = Field(
        0, ge=0, le=3, description="Values of each column that a prompt shows (task sql; ours: 0)."
    )
    seed: int = Field(
        0,
        ge=0,
        le=2**63 - 1,
        description="Seed of every random choice of the search, the embedded model's sampling "
        "included (ours: 0).",
    )
    temperature: Temperature = Field(
        0.7, description="Sampling temperature (ToT section 4: 0.7; its script for writing: 1.0)."
    )
    max_completion_tokens: Length = Field(
        1000,
        description="Longest completion, in tokens (official code of ToT and Thought Rollback: "
        "1000; else ours).",
    )
    share_evaluations: Annotated[bool, Operators()] = Field(
        False,
        description="Reuse evaluations of earlier runs from the cache. The run then depends on "
        "those runs (ours: off).",
    )
    limit_requests: Limit = Field(
        2_000,
        description="Most requests to the model (ours); the samples of one question are one "
        "request, however many calls the endpoint needs for them. None: no limit.",
    )
    limit_tokens: Limit = Field(
        5_000_000, description="Most prompt and completion tokens together (ours)."
    )
    limit_dollars: Annotated[float | None, Ceiling()] = Field(
        # A form does not send an untouched computed default: a value that arrives was chosen.
        default_factory=lambda: MOST_DOLLARS,
        ge=0,
        description="Most US dollars. Empty: 10, or no limit where the price of a model is unknown "
        "(ours). Setting it is an error there.",
    )
    limit_seconds: Annotated[float | None, Ceiling()] = Field(
        7_200.0,
        ge=0,
        description="Most seconds spent waiting for models and tools; what is then in flight is "
        "cancelled (ours).",
    )
    limit_thoughts: Limit = Field(20_000, description="Most thoughts created (ours).")
    limit_depth: Annotated[int | None, Ceiling()] = Field(
        100, ge=1, description="Deepest thought; the root has depth 0 (ours)."
    )
    limit_rounds: Annotated[int | None, Ceiling()] = Field(
        1_000, ge=1, description="Most search rounds (ours)."
    )
    review: Review = "off"
    on_error: Annotated[Literal["report", "raise"] | None, Served("report")] = Field(
        None,
        description="What a run does whose model fails for good, or that is refused. raise: it "
        "fails with one line; the error's `result` has what was found and paid for. report: it "
        "ends with a result whose `stop_reason` is error; on a server, and in a conversation whose "
        "problem cannot be read, also refused. None: report on a server, in "
        "the command, in benchmarks and in a conversation, which is replied to; else raise (ours).",
    )
    prices: Annotated[dict[str, tuple[Price, Price]], Operators()] = Field(
        default_factory=dict,
        description="US dollars a million prompt tokens and a million completion tokens, by model "
        'name, such as {"qwen2.5": [0.15, 0.6]}. Without an entry: the public price of openai:… '
        "and other providers, none for the embedded model, unknown for servers of your own.",
    )

    def __init__(self, **values: Any) -> None:
        """Validates settings.

        Raises:
            UnknownName: A setting does not exist, or is closed.
            SettingError: A value is outside its bounds.
        """
        names = type(self).model_fields.keys() - self.closed
        refusal: InputError | None = None
        for name in values.keys() - names:
            refusal = UnknownName("setting", name, names)
        try:
            super().__init__(**({} if refusal else values))
        except ValidationError as error:
            first = error.errors()[0]
            name = ".".join(str(part) for part in first["loc"])[:80] or "settings"
            problem = f"{first['msg'].lower()}, not {_excerpt.repr(first['input'])}"
            refusal = SettingError(f"setting {name!r}: {problem}; {self.listed}")
        if refusal and not self.defers:
            raise refusal
        if refusal:  # keeps `on_error`, by which the run reports failures
            super().__init__(**({"on_error": "raise"} if values.get("on_error") == "raise" else {}))
        self._refusal = refusal

    @property
    def refusal(self) -> InputError | None:
        """The stored error of wrong settings; None if they are right, or if `defers` is off."""
        return self._refusal

    @classmethod
    def __get_pydantic_json_schema__(cls, core: Any, handler: Any) -> Any:
        """Leaves closed settings out of the schema, and so out of forms."""
        schema = handler.resolve_ref_schema(handler(core))
        for name in cls.closed:
            schema["properties"].pop(name, None)
        return schema

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """Returns the settings in a run's state as an object; they were validated before.

        Keys that are no settings, which another program wrote there, are left out.
        """
        own = {name: values[name] for name in cls.model_fields if name in values}
        return cls.model_construct(**own)

    @classmethod
    def marked(cls, kind: type[M]) -> dict[str, M]:
        """Returns the marks of one kind, by the names of the settings that have them."""
        fields = cls.model_fields.items()
        return {n: each for n, field in fields for each in field.metadata if isinstance(each, kind)}

    def needs(self, *, oracle: bool = False) -> list[type]:
        """Returns the capabilities that a task must have to be searched with these settings.

        Args:
            oracle: Whether something tells the method if an answer is right. Otherwise a method
                that has to know needs a task that can judge or check answers.
        """
        capabilities = list(self.capabilities)
        for name, mark in self.marked(Needs).items():
            protocol = mark.protocols.get(getattr(self, name))
            if protocol and not (oracle and mark.untold):
                capabilities.append(protocol)
        return capabilities

    @property
    def limits(self) -> Limits:
        """The limits among the settings."""
        names = Limits.__annotations__
        return cast("Limits", {name: getattr(self, f"{LIMIT_PREFIX}{name}") for name in names})

    def parameters(self, *, judging: bool) -> dict[str, Any]:
        """Returns the sampling parameters of a request.

        Args:
            judging: Whether the request goes to a judging role.
        """
        return {
            "temperature": self.temperature,
            "top_p": getattr(self, "top_p", None),
            "seed": self.seed,
            "max_tokens": self.max_completion_tokens,
        }


class ShowingSettings(Settings):
    """Settings of every method whose prompts may show worked examples."""

    examples: Examples = ""
    shots: Shots = Field(0, description=f"{SHOTS} (papers: 0; Thought Rollback with CoT5: 5).")

    @property
    def own_shots(self) -> int:
        """Number of the task's own worked examples that the settings request."""
        return self.shots if self.examples in ("", "own") else 0
