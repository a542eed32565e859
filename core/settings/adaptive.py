"""The settings of `adaptive`."""

from typing import Annotated, Literal

from pydantic import Field

from thoughtgraph.planning import Plans
from thoughtgraph.settings.direct import DirectSettings
from thoughtgraph.settings.fields import Count, ExactCheck
from thoughtgraph.settings.marks import Needs
from thoughtgraph.settings.mixed_thought import PlanSettings
from thoughtgraph.task import Answers, Checks


class AdaptiveSettings(PlanSettings, DirectSettings):
    """Settings of `adaptive`."""

    capabilities = ()

    draw: Annotated[Literal["answers", "plans"], Needs({"answers": Answers, "plans": Plans})] = (
        Field(
            "answers",
            description="What a sample is: a whole answer, which votes, or a plan, which is run "
            "(scenes; ours).",
        )
    )
    samples: Count = Field(40, description="Most samples (Aggarwal et al. 2023: 40).")
    confidence: float = Field(
        0.95,
        gt=0.5,
        lt=1,
        description="How sure the vote must be before it ends the search: the posterior that the "
        "leader is more probable than the runner-up (Aggarwal et al. 2023, section 3: 0.95).",
    )
    exact_check: Annotated[ExactCheck, Needs({True: Checks}, untold=True)] = False
