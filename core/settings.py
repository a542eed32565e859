"""Settings: the plain values a run can be given, with bounds, descriptions and published defaults.

A method's settings are a pydantic model; `thoughtgraph.context` makes the context of a graph of it.
"""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, cast

from pydantic import BaseModel, ConfigDict, Field

from thoughtgraph.usage import Limits

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
MOST_DOLLARS = 10.0
"""What a search may cost unless it is told (ours)."""

# Settings of one meaning that methods of several kinds share.
EXAMPLES = Field(
    "",
    description="Worked examples before the question: own (the task's; as many as `shots`, where "
    "there is that setting; all of them for 0 where the question is about pages), none, or a text "
    "file that is shown as it is. Empty: own, but none where a question about pages is asked "
    "outright and `shots` is 0 (ours).",
)
SHOTS = "How many of the task's worked examples a prompt shows"


def judge_examples(judge: str, own: int) -> Any:
    """Returns the field of the worked examples that a judge of steps or answers is shown.

    Args:
        judge: What the judge is called.
        own: How many of our own it has.
    """
    return Field(
        "own",
        description=f"Worked examples that {judge} is shown where a question is about pages: own "
        f"({own}, made of training questions), none, or a text file that is shown as it is (ours: "
        "own).",
    )


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
    listed: ClassVar[str] = "`thoughtgraph methods ID` tells what a method takes"
    """Where they are listed, for whoever gave a wrong one."""

    task: str = Field(
        "question", description="Id of the task that reads and checks the problem (ours: question)."
    )
    model: str = Field(
        "",
        description="Model specifier: local, openai:NAME, http://HOST:PORT/v1#NAME, PROVIDER:NAME "
        "such as anthropic:NAME. Empty: $THOUGHTGRAPH_MODEL, else openai:gpt-4o-mini when a key is "
        "set, else local.",
    )
    evaluator_model: str = Field(
        "", description="Model specifier of the judging roles. Empty: the same as `model`."
    )
    seed: int = Field(
        0,
        ge=0,
        le=2**63 - 1,
        description="Seed of every random choice of the search, the embedded model's sampling "
        "included (ours: 0).",
    )
    temperature: float | None = Field(
        0.7,
        ge=0,
        le=2,
        description="Sampling temperature (ToT section 4: 0.7; its script for writing: 1.0).",
    )
    max_completion_tokens: int = Field(
        1000,
        ge=1,
        le=100_000,
        description="Longest completion, in tokens (official code of ToT and Thought Rollback: "
        "1000; else ours).",
    )
    share_evaluations: bool = Field(
        False,
        description="Reuse evaluations of earlier runs from the cache. The run then depends on "
        "those runs (ours: off).",
    )
    limit_requests: int | None = Field(
        2_000,
        ge=0,
        description="Most requests to the model (ours); the samples of one question are one "
        "request, however many calls the endpoint needs for them. None: no limit.",
    )
    limit_tokens: int | None = Field(
        5_000_000, ge=0, description="Most prompt and completion tokens together (ours)."
    )
    limit_dollars: float | None = Field(
        # Computed: a form then sends none unless it is touched, so that one that is given is known.
        default_factory=lambda: MOST_DOLLARS,
        ge=0,
        description="Most US dollars. Empty: 10, or no limit where the price of a model is unknown "
        "(ours). One that is given is refused there.",
    )
    limit_seconds: float | None = Field(
        7_200.0,
        ge=0,
        description="Most seconds spent waiting for models and tools; what is then in flight is "
        "cancelled (ours).",
    )
    limit_thoughts: int | None = Field(20_000, ge=0, description="Most thoughts created (ours).")
    limit_depth: int | None = Field(
        100, ge=1, description="Deepest thought; the root has depth 0 (ours)."
    )
    limit_rounds: int | None = Field(1_000, ge=1, description="Most search rounds (ours).")
    prices: dict[str, tuple[Price, Price]] = Field(
        default_factory=dict,
        description="US dollars a million prompt tokens and a million completion tokens, by model "
        'name, such as {"qwen2.5": [0.15, 0.6]}. Without an entry: the public price of openai:… '
        "and other providers, none for the embedded model, unknown for servers of your own.",
    )

    def limits(self) -> Limits:
        """Returns the limits among the settings."""
        return limits_of(self.model_dump())


class ShowingSettings(Settings):
    """What every method can be told whose prompts may show worked examples."""

    examples: str = EXAMPLES
    shots: int = Field(0, ge=0, le=20, description=f"{SHOTS} (papers: 0; TR + CoT 5).")


class ReasoningSettings(ShowingSettings):
    """What Thought Rollback and its baselines can be told, which reason step by step."""

    steps: int = Field(
        19, ge=1, le=1000, description="Most thoughts on a path (official code: 19; game24 3)."
    )
    top_p: float | None = Field(
        0.7, gt=0, le=1, description="Nucleus of the sampling (official code: 0.7)."
    )
    temperature: float | None = Field(
        0.7, ge=0, le=2, description="Sampling temperature (official code: 0.7)."
    )


class OutrightSettings(ShowingSettings):
    """What every method can be told that asks the model outright, for one sample or for a vote."""

    zero_shot: Literal["strategy", "steps"] = Field(
        "strategy",
        description="How gsm8k is asked without worked examples: strategy (ToT appendix B.1), or "
        "steps, as Thought Rollback's ZeroShot and ZeroShot-CoT are; its other tasks always are.",
    )
    top_p: float | None = Field(
        None,
        gt=0,
        le=1,
        description="Nucleus of the sampling (ToT's code: none; Thought Rollback's: 0.7).",
    )


class AskingSettings(OutrightSettings):
    """What the methods can be told that ask the model outright and count each sample."""

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
        0,
        ge=0,
        le=20,
        description=f"{SHOTS} (game24's proposals 1, 3 and more for weak models; questions none: "
        "appendix B.1 is zero-shot).",
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
        "a second, a dollar. Those not named cost 1, Finish 0; what calls no tool is ranked like "
        "the dearest call (ours).",
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
