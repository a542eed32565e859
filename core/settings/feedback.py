"""The settings of FGDIP."""

from typing import Annotated

from pydantic import Field

from thoughtgraph.acting import Concludes, Extracts, Moves, Verifies
from thoughtgraph.settings.acting import ActingSettings
from thoughtgraph.settings.fields import Count, ExactCheck, Few, Limit, Temperature
from thoughtgraph.settings.marks import Bounds, Needs
from thoughtgraph.task import Checks, Estimates


class FgdipSettings(ActingSettings):
    """What `fgdip` can be told."""

    capabilities = (Moves, Concludes)

    n_generate: Few = Field(3, description="n: children per thought (lost in the paper; ours: 3).")
    max_depth: Annotated[Count, Bounds("depth")] = Field(
        7, description="Thoughts of a trajectory (unpublished; ours: 7, as ReAct)."
    )
    max_answer_checks: Count = Field(
        5, description="Answers that are checked (unpublished; ours: 5)."
    )
    extractor: Annotated[bool, Needs({True: Extracts})] = Field(
        True,
        description="Begin at the problem's entities. Off: the first layer is generated (appendix "
        "C.1: without extractor).",
    )
    step_evaluator: Annotated[bool, Needs({True: Estimates})] = Field(
        True,
        description="Label the steps. Off: all are visited, in order (appendix C.2: without "
        "step evaluator).",
    )
    answer_evaluator: bool = Field(
        True,
        description="Check answers. Off: the first one is returned (appendix C.3: without "
        "answer evaluator, hence without error analysis).",
    )
    feedback: bool = Field(
        True, description="Show each generation the children before it (switch: ours)."
    )
    error_analysis: bool = Field(
        True, description="Show each generation the rejected answers (switch: ours)."
    )
    exact_check: ExactCheck = False
    temperature: Temperature = Field(0.7, description="Sampling temperature (appendix A.1: 0.7).")
    limit_requests: Limit = Field(
        150, description="Most requests to the model (unpublished; ours: 150). None: any."
    )

    def needs(self, *, oracle: bool = False) -> list[type]:
        judge = Checks if self.exact_check else Verifies
        return [*super().needs(oracle=oracle), *([judge] if self.answer_evaluator else [])]
