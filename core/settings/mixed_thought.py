"""The settings of Tree-of-Mixed-Thought, and those of every method over plans."""

from typing import Annotated, Literal

from pydantic import Field

from thoughtgraph.planning import Plans
from thoughtgraph.settings.base import Settings
from thoughtgraph.settings.fields import (
    SHOTS,
    Count,
    Few,
    Grammar,
    Layout,
    Length,
    Shots,
    Temperature,
)
from thoughtgraph.settings.marks import Bounds


class PlanSettings(Settings):
    """Settings of every method whose thoughts are steps of a plan."""

    empty: Literal["strict", "lazy"] = Field(
        "strict", description="Whether a filter that finds nothing is refused (ours: strict)."
    )
    ambiguous: Literal["error", "first"] = Field(
        "error",
        description="Several objects where a tool takes one: refused, or the first is taken (the "
        "paper does not say; ours: error).",
    )
    tools_profile: Literal["extended", "paper"] = Field(
        "extended",
        description="The paper's tools alone, with the examples that make do with them, or also "
        "those that its questions need (ours).",
    )
    redraw: Literal["call", "question"] = Field(
        "call",
        description="Draw the examples for each call (section 3.3.3), or once a question, so that "
        "a server can reuse its work on the prompt; then temperature alone varies calls (ours).",
    )
    layout: Layout = "text"
    grammar: Grammar = False
    max_steps: Annotated[Count, Bounds("depth")] = Field(
        32, description="Most steps of a plan (ours)."
    )


class TomtTotSettings(PlanSettings):
    """Settings of `tomt_tot`, shared by every method of this file."""

    capabilities = (Plans,)

    max_calls: int = Field(
        30, ge=1, le=10_000, description="T: calls of the generator (section 4.1: 30)."
    )
    branches: Few = Field(3, description="b: calls per state (section 4.1: 3; tomt_block 5).")
    shots: Shots = Field(4, description=f"{SHOTS} (appendix A.4: 4 of 20).")
    speculate: int = Field(
        0,
        ge=0,
        le=100,
        description="Siblings generated ahead of need, side by side: the requests are more, the "
        "result is the same while no limit on requests, tokens, dollars or time is reached (ours: "
        "0, the paper's cost).",
    )
    temperature: Temperature = Field(1.0, description="Sampling temperature (section 4.1: 1).")
    max_completion_tokens: Length = Field(
        400, description="Longest completion, in tokens (ours: 400)."
    )


class TomtOneStopSettings(TomtTotSettings):
    """Settings of `tomt_one_stop`. More calls and branches make it a repeated one-stop."""

    max_calls: int = Field(1, ge=1, le=10_000, description="T: calls of the generator (paper: 1).")
    branches: Few = Field(1, description="b: calls per state (paper: 1).")


class TomtOsSettings(TomtTotSettings):
    """Settings of `tomt_os`."""

    start_depth: int = Field(
        2,
        ge=1,
        le=10_000,
        description="sn: from this depth on a state's first call writes all that remains; the "
        "first step has depth 1 (section 4.4.1: 2).",
    )


class TomtBlockSettings(TomtTotSettings):
    """Settings of `tomt_block`."""

    branches: Few = Field(5, description="b: calls per state (section 4.1: 5).")
    block_size: Count = Field(2, description="k: steps per call (section 3.3.2; table 5: 2 to 4).")
