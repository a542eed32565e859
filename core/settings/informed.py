"""The settings of Informed Tree of Thought."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from thoughtgraph.acting import Acts
from thoughtgraph.settings.acting import ActingSettings
from thoughtgraph.settings.fields import Amount, Count, Few, Many, Temperature
from thoughtgraph.settings.marks import Bounds
from thoughtgraph.task import Estimates

SCORING = 0.0
"""Temperature of the scores (unpublished; ours)."""


class ItotDfsSettings(ActingSettings):
    """What `itot_dfs` can be told, and every method of this file."""

    capabilities: ClassVar[tuple[type, ...]] = (Acts,)

    rounds: Annotated[Many, Bounds("rounds")] = Field(
        30, description="R: search rounds (section 4: 30)."
    )
    n_generate: Few = Field(5, description="K: thoughts per expansion (section 4: 5).")
    max_depth: Annotated[Count, Bounds("depth")] = Field(
        7,
        description="L: the deepest thought that is expanded (section 4: 7), so that trajectories "
        "have up to L + 1 thoughts, as Algorithm 1 is printed.",
    )
    width: Few = Field(1, description="Thoughts taken and expanded per round (ours; the paper: 1).")
    temperature: Temperature = Field(
        1.0, description="Sampling temperature (unpublished; ours: 1.0, as LATS)."
    )


class ValuedSettings(ItotDfsSettings):
    """What `itot_a_star` and `itot_best_first` can be told."""

    capabilities = (Acts, Estimates)

    value_weight: Amount = Field(
        1.0,
        description="lambda: what a point of V is worth in units of cost (implicit in Algorithm 1: "
        "1).",
    )
    n_evaluate: Few = Field(1, description="Scores a value is the mean of (ours: 1, as LATS).")

    def parameters(self, *, judging: bool) -> dict[str, Any]:
        own = {"temperature": SCORING} if judging else {}
        return {**super().parameters(judging=judging), **own}


class ItotDStarLiteSettings(ValuedSettings):
    """What `itot_d_star_lite` can be told."""

    failure_cost: Amount = Field(
        1.0,
        description="delta_T: what a failed call costs its thought and those above it "
        "(unpublished; ours: 1).",
    )
    sibling_base: Literal["live", "snapshot"] = Field(
        "live",
        description="Children start from g(s) as the failures of their elder siblings left it, "
        "which depends on their order (Algorithm 2 as printed), or as it was (snapshot, ours).",
    )
