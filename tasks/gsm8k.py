"""GSM8K: grade-school word problems with a number as answer (Cobbe et al. 2021)."""

import re

from thoughtgraph.tasks.answer_text import SENTENCE_END, Where, first_line
from thoughtgraph.tasks.numbers import first_number, last_number, number, plain, tidy
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
        strategy=True,
    )


def marked_number(text: str, where: Where) -> str | None:
    """Returns the number that is stated (an equation's result), else the last in the text."""
    text = plain(text)
    if where in ("sentence", "box"):
        return _stated(text if where == "box" else SENTENCE_END.split(first_line(text))[0])
    # A paragraph beside a header is the answer, or else the steps to it.
    beside = where == "header" and not text.startswith("\n")
    paragraph = text.partition("\n\n")[0] if beside else text
    sentence, *more = SENTENCE_END.split(first_line(paragraph))
    statement = tidy(_CLAUSE.split(sentence)[0])
    short = number(statement) is not None and len(statement.split()) <= LONGEST_UNIT + 1
    alone = beside and not more and paragraph.strip() == sentence.strip()
    if short or (alone and _BEGINNING.match(sentence)):
        return _stated(sentence)
    return last_number(paragraph)


def _stated(sentence: str) -> str | None:
    """Returns the number of the first clause that has one; empty for a range, a list or a sum."""
    clause = next((each for each in _CLAUSE.split(sentence) if _DIGIT.search(each)), "")
    result = clause.rpartition("=")[2] if _DIGIT.search(clause.rpartition("=")[2]) else clause
    value = None if _SEVERAL.search(result) else first_number(result)
    return value or ("" if clause else None)
