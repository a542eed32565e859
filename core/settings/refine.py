"""The settings of iterative refinement."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from thoughtgraph.settings.base import Settings
from thoughtgraph.settings.fields import ExactCheck, Last
from thoughtgraph.settings.marks import FreeText
from thoughtgraph.task import Checks, Judges, Refines


class RefineSettings(Settings):
    """What `refine` can be told."""

    review: Last = "off"
    task: str = Field(
        "creative_writing",
        description="Id of the task that reads the problem (ours: one that needs no oracle).",
    )
    refinements: int = Field(
        10,
        ge=0,
        le=1000,
        description="k: most refinements; the first output is none (game24 10, writing 5).",
    )
    draft: Annotated[str, FreeText()] = Field(
        "", description="Output to start from, such as one of tot_bfs. Empty: an IO sample."
    )

    exact_check: ExactCheck = False

    def needs(self, *, oracle: bool = False) -> Sequence[type]:
        judge = Checks if self.exact_check else Judges
        return [Refines] if oracle else [Refines, judge]
