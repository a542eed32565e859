"""The settings of ReAct and Reflexion, and of every method that calls tools."""

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field

from thoughtgraph.acting import Acts, Reflects
from thoughtgraph.settings.base import Settings
from thoughtgraph.settings.fields import EXAMPLES, ExactCheck, Examples, Grammar, Last, Layout
from thoughtgraph.settings.marks import FreeText, Offer, Operators
from thoughtgraph.task import Checks, Judges

PAGES = "Which of the pages here to search; else the problem's own, or the first."


class ActingSettings(Settings):
    """What every method that calls tools can be told."""

    corpus: Annotated[str, Offer("corpora", PAGES, ("",))] = Field(
        "",
        description="Where pages come from: a file of pages, wikipedia:LANGUAGE, the address of a "
        "MediaWiki's api.php, or community. Empty: live English Wikipedia (ours).",
    )
    observations: Literal["clean", "react"] = Field(
        "clean",
        description="How observations read: repaired (ours), or as ReAct's code gives them.",
    )
    examples: Examples = EXAMPLES
    layout: Layout = "text"
    grammar: Grammar = False
    tool_costs: Annotated[str, FreeText()] = Field(
        "",
        description="What tools cost (V_T), such as 'Search=1, Lookup=0.5+2/s, Paid=10/$': a call, "
        "a second, a dollar. Those not named cost 1, Finish 0; what calls no tool is ranked like "
        "the dearest call (ours).",
    )
    lenient_lookup: bool = Field(
        False,
        description="On: a Lookup that has shown all its results is no failure, one that never had "
        "any is. Off: both are (ours).",
    )
    tool_deadline: float = Field(
        30.0, gt=0, le=600, description="Seconds after which a tool has failed (ours: 30)."
    )
    recording: Annotated[Literal["fresh", "keep", "record", "replay"], Operators()] = Field(
        "keep",
        description="What a live wiki's answers are kept for: fresh: nothing; keep: a day; record: "
        "for good; replay: only recorded ones are used, the wiki is never asked (ours: keep).",
    )
    contact: Annotated[str, Operators()] = Field(
        "",
        description="Address at which a wiki's operator can reach you, sent to live wikis. Empty: "
        "$THOUGHTGRAPH_CONTACT.",
    )


PROMPTED = ("examples", "grammar", "layout", "shots", "wording", "zero_shot")
"""Settings of methods that act which prompts depend on."""
TOOLED = tuple(sorted(ActingSettings.model_fields.keys() - {*Settings.model_fields, *PROMPTED}))
"""Settings that only tools depend on."""


class ReactSettings(ActingSettings):
    """What `react` can be told."""

    review: Last = "off"
    max_steps: int = Field(7, ge=1, le=1000, description="Steps of a trajectory (its code: 7).")
    temperature: float | None = Field(
        0.7,
        ge=0,
        le=2,
        description="Sampling temperature (FGDIP appendix A.1, whose baseline it is: 0.7; its own "
        "code: 0).",
    )

    def needs(self, *, oracle: bool = False) -> Sequence[type]:
        return [Acts]


class ReflexionSettings(ActingSettings):
    """What `reflexion` can be told."""

    review: Last = "off"
    trials: int = Field(
        2, ge=1, le=100, description="Trials (unpublished; ours: 2, by FGDIP's token costs)."
    )
    max_steps: int = Field(6, ge=1, le=1000, description="Steps of a trial (its code: 6).")
    temperature: float | None = Field(
        0.7,
        ge=0,
        le=2,
        description="Sampling temperature (FGDIP appendix A.1, whose baseline it is: 0.7; its own "
        "code: 0).",
    )

    exact_check: ExactCheck = False

    def needs(self, *, oracle: bool = False) -> Sequence[type]:
        judge = Checks if self.exact_check else Judges
        return [Acts, Reflects] if oracle else [Acts, Reflects, judge]
