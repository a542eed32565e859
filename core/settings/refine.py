"""The settings of iterative refinement."""

from collections.abc import Sequence

from pydantic import Field

from thoughtgraph.settings.base import Last, Settings
from thoughtgraph.task import Judges, Refines


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
    draft: str = Field(
        "", description="Output to start from, such as one of tot_bfs. Empty: an IO sample."
    )

    def needs(self, *, oracle: bool = False) -> Sequence[type]:
        return [Refines] if oracle else [Refines, Judges]
