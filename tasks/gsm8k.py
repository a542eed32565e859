"""GSM8K: grade-school word problems with a number as answer (Cobbe et al. 2021)."""

import re

from thoughtgraph.tasks.answer_text import SENTENCE_END, Where, first_line
from thoughtgraph.tasks.numbers import number, numbers_in, plain, tidy
from thoughtgraph.tasks.stepwise import Stepwise

NUMBER = "a number"
FORM = '"the answer is n" where n is a number'

_DIGIT = re.compile(r"\d")
_BEGINNING = re.compile(r"[^\w\n]{0,6}\d")
_CLAUSE = re.compile(r"\s?[(\[]|[,;](?!\s?\d)\s?|\s(?:because|since|as|which|where|so|after)\b")
_SEVERAL = re.compile(
    r"\d\s*+(?:,\s++(?:and|or)?|and\b|or\b|to\b|through\b|[-+~]|[*x](?!\s*+10\s*+\^))\s*+[$€£]?\.?\d"
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
    text = text.partition("\n\n")[0] if beside else text
    sentence = SENTENCE_END.split(first_line(text))[0]
    opening = _CLAUSE.split(sentence)[0]
    short = number(tidy(opening)) is not None and len(opening.split()) <= 3
    begins = beside and "=" not in sentence and _BEGINNING.match(sentence)
    if where in ("sentence", "box") or short or begins:
        return _stated(sentence)
    return (numbers_in(text) or [None])[-1]


def _stated(sentence: str) -> str | None:
    """Returns the number of the first clause that has one; empty for a range, a list or a sum."""
    clause = next(filter(_DIGIT.search, _CLAUSE.split(sentence)), None)
    if clause is None:
        return None
    result = next(filter(_DIGIT.search, reversed(clause.split("="))))
    return "" if _SEVERAL.search(result) else numbers_in(result)[0] or ""
