"""GSM8K: grade-school word problems with a number as answer (Cobbe et al. 2021)."""

import re

from thoughtgraph.tasks.answer_text import SENTENCE_END, Where, first_line
from thoughtgraph.tasks.numbers import number, numbers_in, plain, tidy
from thoughtgraph.tasks.stepwise import Stepwise

NUMBER = "a number"
FORM = '"the answer is n" where n is a number'
LONGEST_UNIT = 2
"""Words after a number that begins a text, with which it is still an answer alone (ours)."""

_DIGIT = re.compile(r"\d")
_BEGINNING = re.compile(r"[^\w\n]{0,6}\d")
_CLAUSE = re.compile(r"\s?[(\[]|[,;](?!\s?\d)\s?|\s(?:because|since|as|which|where|so|after)\b")
_SEVERAL = re.compile(
    r"\d\s*+(?:,\s++(?:and|or)?|and\b|or\b|to\b|through\b|[-+~]|[*x\u00d7](?!\s*+10\s*+\^))\s*+[$€£]?\.?\d"
)
"""Two numbers where one is asked for: a range, a list, a sum that is not worked out."""


def gsm8k() -> Stepwise:
    """Makes the task `gsm8k`; answers are numbers such as `18` or `0.5`."""
    return Stepwise(
        "gsm8k",
        topic="GSM8K: grade-school math word problems",
        answers=NUMBER,
        reader=marked_number,
        form=FORM,
        examples="stepwise/numbers",
        numeric=True,
        strategy=True,
    )


def marked_number(text: str, where: Where) -> str | None:
    """Returns the number that is stated (an equation's result), else the last in the text."""
    text = plain(text)
    beside = where == "header" and not text.startswith("\n")
    if beside:  # The paragraph is the answer, or else the steps to it.
        text = text.partition("\n\n")[0]
    sentence = text if where == "box" else SENTENCE_END.split(first_line(text))[0]
    opening = _CLAUSE.split(sentence)[0]
    short = number(tidy(opening)) is not None and len(opening.split()) <= LONGEST_UNIT + 1
    begins = beside and "=" not in sentence and _BEGINNING.match(sentence)
    if where in ("sentence", "box") or short or begins:
        return _stated(sentence)
    return (numbers_in(text) or [None])[-1]


def _stated(sentence: str) -> str | None:
    """Returns the number of the first clause that has one; empty for a range, a list or a sum."""
    clause = next((each for each in _CLAUSE.split(sentence) if _DIGIT.search(each)), None)
    if clause is None:
        return None
    result = clause.rpartition("=")[2] if _DIGIT.search(clause.rpartition("=")[2]) else clause
    return "" if _SEVERAL.search(result) else (numbers_in(result) or [None])[0] or ""
