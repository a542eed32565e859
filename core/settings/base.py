"""Settings: the plain values a run can be given, with bounds, descriptions and published defaults.

A method's settings are a pydantic model; `thoughtgraph.context` makes the context of a graph of it.
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
"""Settings that name an object; a graph that was built around the object does not have them."""
WATCHING = ("review", "on_error")
"""Settings for whoever watches a run: by itself it finds the same whatever they are."""
MOST_DOLLARS = 10.0
"""What a search may cost unless it is told (ours)."""
Price = Annotated[float, Field(ge=0)]
_short = Repr()
_short.maxlevel, _short.maxstring, _short.maxother, _short.maxlong = 3, 80, 80, 40
"""How a refused value is shown: it may be as large and as deep as a request can be."""


class Settings(BaseModel):
    """What every method can be told."""

    # Nothing unknown, nothing changed later, no number that JSON cannot hold.
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
    capabilities: ClassVar[tuple[type, ...]] = ()
    """What a task must be able to do, whatever the values are."""
    listed: ClassVar[str] = "`thoughtgraph methods ID` tells what a method takes"
    """Where they are listed, for whoever gave a wrong one."""
    closed: ClassVar[frozenset[str]] = frozenset()
    """Those that a graph was built around, or that are an operator's: no run can be given them."""
    presets: ClassVar[Mapping[str, Any]] = {}
    """Those that a graph was built with."""
    defers: ClassVar[bool] = False
    """Whether wrong settings become a `refusal` instead of an error: a graph's first node tells it,
    as LangGraph makes a context before any node runs."""
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
        # Computed: a form then sends none unless it is touched, so that one that is given is known.
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
        """Reads settings.

        Raises:
            UnknownName: One has no such name, or is closed.
            SettingError: A value is outside its bounds.
        """
        known = type(self).model_fields.keys() - self.closed
        refusal: InputError | None = None
        for name in values.keys() - known:
            refusal = UnknownName("setting", name, known)
        try:
            super().__init__(**({} if refusal else values))
        except ValidationError as error:
            first = error.errors()[0]
            name = ".".join(str(part) for part in first["loc"])[:80] or "settings"
            wrong = f"{first['msg'].lower()}, not {_short.repr(first['input'])}"
            refusal = SettingError(f"setting {name!r}: {wrong}; {self.listed}")
        if refusal and not self.defers:
            raise refusal
        if refusal:  # told as the run was meant to tell its failures
            super().__init__(**({"on_error": "raise"} if values.get("on_error") == "raise" else {}))
        self._refusal = refusal

    @property
    def refusal(self) -> InputError | None:
        """Why they are no settings of the graph; None where they are, or where that is raised."""
        return self._refusal

    @classmethod
    def __get_pydantic_json_schema__(cls, core: Any, handler: Any) -> Any:
        """Leaves what is closed out of forms."""
        schema = handler.resolve_ref_schema(handler(core))
        for name in cls.closed:
            schema["properties"].pop(name, None)
        return schema

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """Returns the settings of a run's state, which were checked before, as an object.

        What another program wrote there and is no setting is left out.
        """
        known = {name: values[name] for name in cls.model_fields if name in values}
        return cls.model_construct(**known)

    @classmethod
    def marked(cls, kind: type[M]) -> dict[str, M]:
        """Returns the settings that have a mark of a kind, and the marks."""
        fields = cls.model_fields.items()
        return {n: each for n, field in fields for each in field.metadata if isinstance(each, kind)}

    def needs(self, *, oracle: bool = False) -> list[type]:
        """Returns the capabilities that a task must have to be searched with these settings.

        Args:
            oracle: Whether the method is told if an answer is right; else, where it has to know,
                the task must be able to judge.
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
        """Returns the parameters of a request.

        Args:
            judging: Whether a judge is asked.
        """
        return {
            "temperature": self.temperature,
            "top_p": getattr(self, "top_p", None),
            "seed": self.seed,
            "max_tokens": self.max_completion_tokens,
        }


class ShowingSettings(Settings):
    """What every method can be told whose prompts may show worked examples."""

    examples: Examples = ""
    shots: Shots = Field(0, description=f"{SHOTS} (papers: 0; Thought Rollback with CoT5: 5).")

    @property
    def own_shots(self) -> int:
        """How many of the task's own worked examples are asked for."""
        return self.shots if self.examples in ("", "own") else 0
