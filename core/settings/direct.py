"""The settings of the methods that ask the model directly."""

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field

from thoughtgraph.settings.base import ShowingSettings
from thoughtgraph.settings.fields import Last
from thoughtgraph.task import Answers


class DirectSettings(ShowingSettings):
    """What every method can be told that asks the model directly, for one sample or for a vote."""

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
    top_p: float | None = Field(
        None,
        gt=0,
        le=1,
        description="Nucleus of the sampling (ToT's code: none; Thought Rollback's: 0.7).",
    )

    def parameters(self, *, judging: bool) -> dict[str, Any]:
        return {**super().parameters(judging=judging), "top_p": self.top_p}

    def needs(self, *, oracle: bool = False) -> Sequence[type]:
        return [Answers]


class IoSettings(DirectSettings):
    """What `io` can be told; it counts each sample."""

    review: Last = "off"
    n_generate: int = Field(
        1,
        ge=1,
        le=1000,
        description="Samples of the model's answer (ours: 1; the paper's rows are means over 100 "
        "for game24 and 10 for writing and crosswords).",
    )


class CotSettings(IoSettings):
    """What `cot` can be told."""


class CotScSettings(DirectSettings):
    """What `cot_sc` can be told."""

    review: Last = "off"
    n_generate: int = Field(
        20, ge=1, le=1000, description="k: samples that vote (game24 100; else ours: 20)."
    )
