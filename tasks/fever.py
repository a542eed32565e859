"""FEVER: claims that Wikipedia supports, refutes, or says too little about (Thorne et al. 2018)."""

import re

from thoughtgraph.tasks.knowledge import Knowledge, Wording

VERDICTS = ("SUPPORTS", "REFUTES", "NOT ENOUGH INFO")
"""The labels of the data set."""

_WORDING = Wording(
    answers="SUPPORTS, REFUTES or NOT ENOUGH INFO",
    finish="SUPPORTS, REFUTES or NOT ENOUGH INFO, by what Wikipedia says about the claim",
    label="Claim",
)
_VERDICT = re.compile(
    r"\b(?:(support)s?|(refute)s?|(not enough info)(?:rmation)?)\b", re.IGNORECASE
)


def fever() -> Knowledge:
    """Makes the task `fever`; an answer is one of `VERDICTS`."""
    return Fever("fever", wording=_WORDING, reader=_verdict)


class Fever(Knowledge):
    """The task `fever`."""

    def closed_book(self, problem: str) -> str:
        """Returns the claim as a question."""
        return (
            f"Does Wikipedia support this claim, refute it, or say too little about it? {problem}"
        )


def _verdict(marked: str, text: str) -> str | None:
    """Returns the verdict that follows the marker, else the last one of the text."""
    found = _VERDICT.findall(marked)[:1] or _VERDICT.findall(text)[-1:]
    return VERDICTS[[bool(part) for part in found[0]].index(True)] if found else None
