"""The settings of ReAct, Reflexion, Informed Tree of Thought and FGDIP, which call tools."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from thoughtgraph.acting import Acts, Concludes, Extracts, Moves, Reflects, Verifies
from thoughtgraph.settings.base import Settings
from thoughtgraph.settings.fields import (
    Amount,
    Count,
    ExactCheck,
    Examples,
    Few,
    Grammar,
    Last,
    Layout,
    Limit,
    Many,
    Temperature,
)
from thoughtgraph.settings.marks import Bounds, ForTools, FreeText, Needs, Offer, Operators
from thoughtgraph.task import Checks, Estimates, Judges

Recording = Literal["fresh", "keep", "record", "replay"]
SCORING = 0.0
"""Temperature for the scores of iToT (unpublished; ours)."""
PAGES = "Which of the pages here to search; else the problem's own, or the first."


class ActingSettings(Settings):
    """Settings of every method that calls tools."""

    corpus: Annotated[str, Offer("corpora", PAGES, ("",)), ForTools()] = Field(
        "",
        description="Where pages come from: a file of pages, wikipedia:LANGUAGE, the address of a "
        "MediaWiki's api.php, or community. Empty: live English Wikipedia (ours).",
    )
    observations: Annotated[Literal["clean", "react"], ForTools()] = Field(
        "clean",
        description="How observations read: repaired (ours), or as ReAct's code gives them.",
    )
    examples: Examples = ""
    layout: Layout = "text"
    grammar: Grammar = False
    tool_costs: Annotated[str, FreeText(), ForTools()] = Field(
        "",
        description="What tools cost (V_T), such as 'Search=1, Lookup=0.5+2/s, Paid=10/$': a call, "
        "a second, a dollar. Those not named cost 1, Finish 0; what calls no tool is ranked like "
        "the dearest call (ours).",
    )
    tool_deadline: Annotated[float, ForTools()] = Field(
        30.0, gt=0, le=600, description="Seconds after which a tool has failed (ours: 30)."
    )
    recording: Annotated[Recording, Operators(), ForTools()] = Field(
        "keep",
        description="What a live wiki's answers are kept for: fresh: nothing; keep: a day; record: "
        "for good; replay: only recorded ones are used, the wiki is never asked (ours: keep).",
    )
    contact: Annotated[str, Operators(), ForTools()] = Field(
        "",
        description="Address at which a wiki's operator can reach you, sent to live wikis. Empty: "
        "$THOUGHTGRAPH_CONTACT.",
    )


class ReactSettings(ActingSettings):
    """Settings of `react`."""

    capabilities: ClassVar[tuple[type, ...]] = (Acts,)

    review: Last = "off"
    max_steps: Annotated[Count, Bounds("depth")] = Field(
        7, description="Steps of a trajectory (its code: 7)."
    )
    temperature: Temperature = Field(
        0.7,
        description="Sampling temperature (FGDIP appendix A.1, whose baseline it is: 0.7; its own "
        "code: 0).",
    )


class ReflexionSettings(ReactSettings):
    """Settings of `reflexion`."""

    capabilities = (Acts, Reflects)

    trials: Annotated[Few, Bounds("rounds")] = Field(
        2, description="Trials (unpublished; ours: 2, by FGDIP's token costs)."
    )
    max_steps: Annotated[Count, Bounds("depth")] = Field(
        6, description="Steps of a trial (its code: 6)."
    )
    exact_check: Annotated[ExactCheck, Needs({True: Checks, False: Judges}, untold=True)] = False


class ItotDfsSettings(ActingSettings):
    """Settings of `itot_dfs`, shared by every method of its paper."""

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
    """Settings of `itot_a_star` and `itot_best_first`."""

    capabilities = (Acts, Estimates)

    value_weight: Amount = Field(
        1.0,
        description="lambda: what a point of V is worth in units of cost (implicit in Algorithm 1: "
        "1).",
    )
    n_evaluate: Few = Field(1, description="Scores a value is the mean of (ours: 1, as LATS).")

    def parameters(self, *, judging: bool) -> dict[str, Any]:
        changes = {"temperature": SCORING} if judging else {}
        return {**super().parameters(judging=judging), **changes}


class ItotDStarLiteSettings(ValuedSettings):
    """Settings of `itot_d_star_lite`."""

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


class FgdipSettings(ActingSettings):
    """Settings of `fgdip`."""

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
