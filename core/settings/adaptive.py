"""The settings of `adaptive`."""

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from thoughtgraph.planning import Plans
from thoughtgraph.settings.direct import DirectSettings
from thoughtgraph.settings.fields import ExactCheck
from thoughtgraph.settings.mixed_thought import PlanSettings
from thoughtgraph.task import Checks


class AdaptiveSettings(PlanSettings, DirectSettings):
    """What `adaptive` can be told."""

    draw: Literal["answers", "plans"] = Field(
        "answers",
        description="What a sample is: a whole answer, which votes, or a plan, which is run "
        "(scenes; ours).",
    )
    samples: int = Field(40, ge=1, le=1000, description="Most samples (Aggarwal et al. 2023: 40).")
    confidence: float = Field(
        0.95,
        gt=0.5,
        lt=1,
        description="How sure the vote must be before it ends the search: the posterior that the "
        "leader is more probable than the runner-up (Aggarwal et al. 2023, section 3: 0.95).",
    )

    exact_check: ExactCheck = False

    def needs(self, *, oracle: bool = False) -> Sequence[type]:
        drawn = [Plans] if self.draw == "plans" else super().needs(oracle=oracle)
        return [*drawn, *([Checks] if self.exact_check and not oracle else [])]
