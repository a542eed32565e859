"""The settings of ReAct and Reflexion, and of every method that calls tools."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from thoughtgraph.acting import Acts, Reflects
from thoughtgraph.settings.base import Settings
from thoughtgraph.settings.fields import (
    Count,
    ExactCheck,
    Examples,
    Few,
    Grammar,
    Last,
    Layout,
    Temperature,
)
from thoughtgraph.settings.marks import Bounds, ForTools, FreeText, Needs, Offer, Operators
from thoughtgraph.task import Checks, Judges

Recording = Literal["fresh", "keep", "record", "replay"]
PAGES = "Which of the pages here to search; else the problem's own, or the first."


class ActingSettings(Settings):
    """What every method that calls tools can be told."""

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
    """What `react` can be told."""

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
    """What `reflexion` can be told."""

    capabilities = (Acts, Reflects)

    trials: Annotated[Few, Bounds("rounds")] = Field(
        2, description="Trials (unpublished; ours: 2, by FGDIP's token costs)."
    )
    max_steps: Annotated[Count, Bounds("depth")] = Field(
        6, description="Steps of a trial (its code: 6)."
    )
    exact_check: Annotated[ExactCheck, Needs({True: Checks, False: Judges}, untold=True)] = False
