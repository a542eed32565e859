"""The settings of Thought Rollback and its baselines."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from thoughtgraph.reasoning import Reviews, Steps
from thoughtgraph.settings.base import ShowingSettings
from thoughtgraph.settings.fields import Count, Few, Last, Limit, Nucleus, Temperature
from thoughtgraph.settings.marks import Bounds
from thoughtgraph.task import Estimates

Ensemble = Literal["first", "last", "majority", "ratio", "difference"]
"""How to choose one answer from several solutions."""


class ReasoningSettings(ShowingSettings):
    """Settings of Thought Rollback and its baselines, which reason step by step."""

    capabilities: ClassVar[tuple[type, ...]] = (Steps,)

    steps: Annotated[Count, Bounds("depth")] = Field(
        19, description="Most thoughts on a path (official code: 19; game24 3)."
    )
    top_p: Nucleus = Field(0.7, description="Nucleus of the sampling (official code: 0.7).")
    temperature: Temperature = Field(0.7, description="Sampling temperature (official code: 0.7).")


class RollbackSettings(ReasoningSettings):
    """Settings of `rollback`."""

    capabilities = (Steps, Reviews)

    parallel: bool = Field(
        True,
        description="Grow all open paths at once (appendix B.4, third trick), or one request at a "
        "time. Both ask for the same steps by the same prompts if they end `exhausted`, neither "
        "`solutions` nor `incoming` was reached and `drop_paths` is off. Solutions are put into "
        "the order of one at a time.",
    )
    solutions: Count = Field(8, description="K: stop after this many solutions (official code: 8).")
    incoming: int = Field(
        3, ge=0, le=1000, description="U: most rollbacks into one thought (official code: 3)."
    )
    path_rollbacks: int = Field(
        3,
        ge=0,
        le=1000,
        description="A path that more rollbacks than this have left is no longer analysed "
        "(official code: 3, hence at most 4). At most one rollback leaves a thought.",
    )
    drop_paths: bool = Field(
        False,
        description="Also stop growing such a path (paper: 'ignored'; official code: off). With "
        "`parallel` it has gone on for a round or two by then.",
    )
    ensemble: Ensemble = Field(
        "ratio",
        description="The answer. ratio, difference: the winner of a vote (section 4.4: W-Voting); "
        "a solution weighs (1 + experiences) / (1 + rollbacks), or 1 + experiences - rollbacks "
        "(formulas ours, the paper's is missing). majority: each weighs 1. first: the first "
        "solution that growing one path at a time would find (TR); the search stops once it is "
        "known. last: the last one.",
    )
    protocol: Literal["two_call", "single_call"] = Field(
        "two_call",
        description="Analyse and name the bad steps in two requests (the paper's experiments), or "
        "in one (official code since December 2024).",
    )
    growth_order: Literal["experience", "dfs"] = Field(
        "experience",
        description="Which open path grows first: that made with most experiences (appendix B.4), "
        "or depth first (official code). With `parallel` all grow; this orders their solutions.",
    )
    experiences: bool = Field(
        True,
        description="Show mistakes and their analysis to later steps (section 4.3: on): for each "
        "thought on the path that a rollback made, those of all rollbacks to its parent up to that "
        "one. Those that led to it count, not those of branches beside it (ours).",
    )
    limit_requests: Limit = Field(
        300, description="Most requests to the model (ours: 300). None: no limit."
    )


class ChainSettings(ReasoningSettings):
    """Settings of `chain`."""

    review: Last = "off"


class LevelTotSettings(ReasoningSettings):
    """Settings of `level_tot`."""

    capabilities = (Steps, Estimates)

    n_generate: Few = Field(
        5, description="Next steps per level, in one request (official code: 5)."
    )
