"""The settings of FGDIP."""

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from thoughtgraph.acting import Concludes, Extracts, Moves, Verifies
from thoughtgraph.settings.acting import ActingSettings
from thoughtgraph.settings.fields import ExactCheck, Limit
from thoughtgraph.task import Checks, Estimates


class FgdipSettings(ActingSettings):
    """What `fgdip` can be told."""

    n_generate: int = Field(
        3, ge=1, le=100, description="n: children per thought (lost in the paper; ours: 3)."
    )
    max_depth: int = Field(
        7, ge=1, le=1000, description="Thoughts of a trajectory (unpublished; ours: 7, as ReAct)."
    )
    max_answer_checks: int = Field(
        5, ge=1, le=1000, description="Answers that are checked (unpublished; ours: 5)."
    )
    extractor: bool = Field(
        True,
        description="Begin at the problem's entities. Off: the first layer is generated (appendix "
        "C.1: without extractor).",
    )
    step_evaluator: bool = Field(
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
    layer_scope: Literal["siblings", "global"] = Field(
        "siblings",
        description="Which steps are fed back: the children of the same thought, or all of the "
        "same depth (section 3.2.2 leaves it open; ours: siblings).",
    )
    exact_check: ExactCheck = False
    temperature: float | None = Field(
        0.7, ge=0, le=2, description="Sampling temperature (appendix A.1: 0.7)."
    )
    limit_requests: Limit = Field(
        150,
        ge=0,
        description="Most requests to the model (unpublished; ours: 150). None: any.",
    )

    def needs(self, *, oracle: bool = False) -> Sequence[type]:
        needed: list[type] = [Moves, Concludes]
        if self.extractor:
            needed.append(Extracts)
        if self.step_evaluator:
            needed.append(Estimates)
        if self.answer_evaluator:
            needed.append(Checks if self.exact_check else Verifies)
        return needed
