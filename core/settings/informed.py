"""The settings of Informed Tree of Thought."""

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field

from thoughtgraph.acting import Acts
from thoughtgraph.settings.acting import ActingSettings
from thoughtgraph.task import Estimates

SCORING = 0.0
"""Temperature of the scores (unpublished; ours)."""


class ItotDfsSettings(ActingSettings):
    """What `itot_dfs` can be told, and every method of this file."""

    rounds: int = Field(30, ge=1, le=100_000, description="R: search rounds (section 4: 30).")
    n_generate: int = Field(
        5, ge=1, le=100, description="K: thoughts per expansion (section 4: 5)."
    )
    max_depth: int = Field(
        7,
        ge=1,
        le=1000,
        description="L: the deepest thought that is expanded (section 4: 7), so that trajectories "
        "have up to L + 1 thoughts, as Algorithm 1 is printed.",
    )
    fallback: Literal["none", "best_open_terminal"] = Field(
        "none",
        description="What a search that ran out of rounds answers: nothing (as printed), or its "
        "best answer that was never taken (ours).",
    )
    width: int = Field(
        1, ge=1, le=100, description="Thoughts taken and expanded per round (ours; the paper: 1)."
    )
    temperature: float | None = Field(
        1.0, ge=0, le=2, description="Sampling temperature (unpublished; ours: 1.0, as LATS)."
    )

    def needs(self, *, oracle: bool = False) -> Sequence[type]:
        return [Acts]


class ValuedSettings(ItotDfsSettings):
    """What `itot_a_star` and `itot_best_first` can be told."""

    value_weight: float = Field(
        1.0,
        ge=0,
        le=1000,
        description="lambda: what a point of V is worth in units of cost (implicit in Algorithm 1: "
        "1).",
    )
    n_evaluate: int = Field(
        1, ge=1, le=100, description="Scores a value is the mean of (ours: 1, as LATS)."
    )

    def parameters(self, *, judging: bool) -> dict[str, Any]:
        own = {"temperature": SCORING} if judging else {}
        return {**super().parameters(judging=judging), **own}

    def needs(self, *, oracle: bool = False) -> Sequence[type]:
        return [Acts, Estimates]


class ItotDStarLiteSettings(ValuedSettings):
    """What `itot_d_star_lite` can be told."""

    failure_cost: float = Field(
        1.0,
        ge=0,
        le=1000,
        description="delta_T: what a failed call costs its thought and those above it "
        "(unpublished; ours: 1).",
    )
    sibling_base: Literal["live", "snapshot"] = Field(
        "live",
        description="Children start from g(s) as the failures of their elder siblings left it, "
        "which depends on their order (Algorithm 2 as printed), or as it was (snapshot, ours).",
    )
