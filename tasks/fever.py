"""FEVER: claims that Wikipedia supports, refutes, or says too little about (Thorne et al. 2018)."""

import re
from collections.abc import Mapping

from thoughtgraph.tasks.answer_text import Where, first_or_last
from thoughtgraph.tasks.knowledge import Knowledge

VERDICTS = ("SUPPORTS", "REFUTES", "NOT ENOUGH INFO")
"""The labels of the data set."""

_NOT = (
    r"(?:\b(?:not|no(?!\sdoubt)|nothing|nobody|never|hardly|barely|cannot|n?either|nor|lacks?"
    r"|fails?\sto|whether|would)|n['\u2019]t)[\s_\\-]++"
)
_DENIED = rf"{_NOT}(?:[^\W_]++[\s_]++){{0,3}}?"
_ONE = r"(?:support|refute)[sd]?(?:ed)?"
_VERDICT = re.compile(
    rf"(?P<little>(?:(?:\bin|{_DENIED})(?:enough|sufficient)[\s_\\-]++(?:info|evid)"
    rf"|too\slittle|{_DENIED}support(?:s|ed)?[\s_]++n?or[\s_]++refute)[^.\n]*)"
    rf"|(?P<denied>{_DENIED}(?:support|refute)|{_ONE}"
    rf"(?:(?:\s*+[/|,]\s*+(?:or\s++)?|\s++or\s++)(?:{_ONE}|not[\s_-]enough[\s_-]info))++)"
    r"|(?<![^\W_])(?:(?P<supports>support(?:s|ed)?)|refute[sd]?)(?![a-z])",
    re.IGNORECASE,
)
_LABELS: Mapping[str | None, str] = dict(zip(("supports", None, "little"), VERDICTS, strict=True))


def label(text: str, where: Where) -> str | None:
    """Returns the label that `first_or_last` selects; empty if the text denies every label.

    Neither support nor refutation is `NOT ENOUGH INFO`. A label in a list counts as denied.
    """
    matches = list(_VERDICT.finditer(text))
    match = first_or_last([each for each in matches if not each["denied"]], where)
    if match is None:
        return "" if matches else None
    return _LABELS[match.lastgroup]


class Fever(Knowledge):
    """The task `fever`; an answer is one of `VERDICTS`."""

    id = "fever"
    answers = "SUPPORTS, REFUTES or NOT ENOUGH INFO"
    finish = "SUPPORTS, REFUTES or NOT ENOUGH INFO, by what Wikipedia says about the claim"
    prefix = "Claim"
    _reader = staticmethod(label)

    def closed_book(self, problem: str) -> str:
        """Returns the claim as a question, for prompts without tools."""
        return (
            f"Does Wikipedia support this claim, refute it, or say too little about it? {problem}"
        )
