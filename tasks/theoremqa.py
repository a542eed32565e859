"""TheoremQA: university questions that need a theorem (Chen et al. 2023)."""

import re

from thoughtgraph.tasks.answer_text import Where
from thoughtgraph.tasks.math import formula
from thoughtgraph.tasks.stepwise import Stepwise

ANSWERS = "a number, a list of numbers, True, False or the choice alone"

_TRUTH = re.compile(r"[\s*_:\"'`$(]{0,10}(true|false|yes|no)\b", re.IGNORECASE)
_OPTION = re.compile(r"[\s*_:$]{0,10}(?:the\s)?(?:option|choice)\s\(?([a-e])\b", re.IGNORECASE)
_WORDS = {"yes": "true", "no": "false"}


def theoremqa() -> Stepwise:
    """Makes the task `theoremqa`; answers are numbers, lists such as `0, 5`, `true` or `false`."""
    return Stepwise(
        "theoremqa",
        topic="TheoremQA: theorem-driven questions",
        answers=ANSWERS,
        reader=_answer,
        examples="stepwise/formulas",
    )


def _answer(text: str, where: Where) -> str | None:
    if where != "text" and (found := _TRUTH.match(text)):
        word = found[1].lower()
        return _WORDS.get(word, word)
    if where != "text" and (found := _OPTION.match(text)):
        return found[1].upper()
    return formula(text, where)
