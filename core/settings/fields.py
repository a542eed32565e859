"""Types of the fields that several families of settings share."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from thoughtgraph.settings.marks import Ceiling, Constrains, Exact, Offer

JUDGING = "The model of the judging roles. Empty: the same as `model`."
Few = Annotated[int, Field(ge=1, le=100)]
Count = Annotated[int, Field(ge=1, le=1000)]
Many = Annotated[int, Field(ge=1, le=100_000)]
Amount = Annotated[float, Field(ge=0, le=1000)]
Temperature = Annotated[float | None, Field(ge=0, le=2)]
Nucleus = Annotated[float | None, Field(gt=0, le=1)]
Shots = Annotated[int, Field(ge=0, le=20)]
SHOTS = "How many of the task's worked examples a prompt shows"
Limit = Annotated[int | None, Ceiling(), Field(ge=0)]
Length = Annotated[int, Ceiling(4_000), Field(ge=1, le=100_000)]
"""Tokens of a completion; a server allows 4,000 unless its operator sets another number (ours)."""

Examples = Annotated[
    str,
    Offer("", "Worked examples that prompts show: the task's own, or none.", ("", "own", "none")),
    Field(
        description="Worked examples before the question: own (the task's; as many as `shots`, "
        "where there is that setting; all of them for 0 where the question is about pages), none, "
        "or a text file that is shown as it is. Empty: own, but none where a question about pages "
        "is asked directly and `shots` is 0 (ours)."
    ),
]
Review = Annotated[
    Literal["off", "select", "answer"],
    Field(
        description="Pause for a person: select, wherever thoughts are chosen (to keep, drop, add "
        "or revalue them); answer, before the search ends (to accept or replace it). The run needs "
        "a checkpointer (ours: off)."
    ),
]


def _refuse_select(review: str) -> str:
    if review == "select":
        raise ValueError("this method has nothing to select from; choose 'off' or 'answer'")
    return review


Last = Annotated[
    Literal["off", "select", "answer"],
    AfterValidator(_refuse_select),
    Field(
        description="Pause for a person before the search ends, who accepts or replaces the "
        "answer. The run needs a checkpointer (ours: off).",
        json_schema_extra={"enum": ["off", "answer"]},
    ),
]
"""`Review` for a method that follows one trajectory and has nothing to choose among."""
ExactCheck = Annotated[
    bool,
    Exact(),
    Field(
        description="Answers are checked by the task itself, exactly and without a gold answer, "
        "not by the model (ours: off). The result is then labelled oracle."
    ),
]
Layout = Annotated[
    Literal["text", "turns"],
    Field(
        description="Show worked examples in one text, as published, or as turns of the "
        "conversation, which weak chat models follow better (scenes, game24's proposals, questions "
        "about pages; ours)."
    ),
]
Grammar = Annotated[
    bool,
    Constrains(),
    Field(
        description="Hold completions to the form that the task reads, by a grammar that the "
        "server obeys: the embedded model's alone is known to (game24, scenes, questions about "
        "pages; ours: off, as in the papers)."
    ),
]
