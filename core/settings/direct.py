"""The settings of the methods that ask the model directly, and of iterative refinement."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from thoughtgraph.settings.base import Settings, ShowingSettings
from thoughtgraph.settings.fields import Count, ExactCheck, Last, Nucleus
from thoughtgraph.settings.marks import Bounds, FreeText, Needs
from thoughtgraph.task import Answers, Checks, Judges, Refines


class DirectSettings(ShowingSettings):
    """Settings of every method that asks the model directly, for one sample or for a vote."""

    capabilities: ClassVar[tuple[type, ...]] = (Answers,)

    zero_shot: Literal["strategy", "steps"] = Field(
        "strategy",
        description="How a question is asked without worked examples: strategy (ToT appendix B.1: "
        "`cot` plans first), or steps: `cot` thinks step by step, and gsm8k is asked in Thought "
        "Rollback's words, as its other tasks always are.",
    )
    wording: Literal["published", "chat"] = Field(
        "published",
        description="How a question is asked without worked examples: in the papers' words, or in "
        "ours for chat models, which reason first and end with the answer on a line of its own "
        "(ours).",
    )
    top_p: Nucleus = Field(
        None, description="Nucleus of the sampling (ToT's code: none; Thought Rollback's: 0.7)."
    )


class IoSettings(DirectSettings):
    """Settings of `io` and `cot`; each sample counts on its own."""

    review: Last = "off"
    n_generate: Count = Field(
        1,
        description="Samples of the model's answer (ours: 1; the paper's rows are means over 100 "
        "for game24 and 10 for writing and crosswords).",
    )


class CotSettings(IoSettings):
    """Settings of `cot`."""


class CotScSettings(DirectSettings):
    """Settings of `cot_sc`."""

    review: Last = "off"
    n_generate: Count = Field(20, description="k: samples that vote (game24 100; else ours: 20).")


class RefineSettings(Settings):
    """Settings of `refine`."""

    capabilities = (Refines,)

    review: Last = "off"
    task: Annotated[str, FreeText()] = Field(
        "creative_writing",
        description="Id of the task that reads the problem (ours: one that needs no oracle).",
    )
    refinements: Annotated[int, Bounds("rounds")] = Field(
        10,
        ge=0,
        le=1000,
        description="k: most refinements; the first output is none (game24 10, writing 5).",
    )
    draft: Annotated[str, FreeText()] = Field(
        "", description="Output to start from, such as one of tot_bfs. Empty: an IO sample."
    )
    exact_check: Annotated[ExactCheck, Needs({True: Checks, False: Judges}, untold=True)] = False
