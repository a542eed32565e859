"""Reads answers that are numbers (GSM8K, SVAMP)."""

import re

from thoughtgraph.tasks.answer_text import SENTENCE_END, Where, first_line
from thoughtgraph.tasks.numbers import number, numbers_in, plain, tidy

_DIGIT = re.compile(r"\d")
_BEGINNING = re.compile(r"[^\w\n]{0,6}\d")
_CLAUSE = re.compile(
    r"\s?[(\[]|[,;](?!\s?-?\d)\s?|[.!?]\s"
    r"|\s(?:because|since|as|which|where|so|after)\b"
)
_REMARK = re.compile(r"(?<=\d)((?:\*{0,2}\s[a-z]{1,20}){0,2}\*{0,2})\s\([^()\n]{1,200}\)")
"""A number, at most two words and a parenthesis that explains it."""
_BOLD = re.compile(r"\*\*([^*\n]{1,40})\*\*")
_PLACE = r"(?:for|per|in|at|by|over|on|from|after|with)\b"
_SEVERAL = re.compile(
    r"\d\s*+(?:,\s++(?:and|or)?|and\b|or\b|to\b|through\b|[-+~]|[*x](?!\s*+10\s*+\^)|h"
    rf"|(?!{_PLACE})[a-z]{{1,12}}\s++(?:(?:and|of|than)\b)?)\s*+[-$€£]?\.?\d"
    r"|\d\s*+(?:[a-z]{1,12}\s++)?and\s++\w{1,5}\s++(?:half|halves|thirds?|quarters?)\b"
    r"|(?:[<>≤≥]|\bthan\b)\s*+[$€£]?\d",
    re.IGNORECASE,
)
"""Several numbers, or a bound: `5-7`, `3 days and 4 hours`, `more than 5`."""


def marked_number(text: str, where: Where) -> str | None:
    """Returns the stated number: at the start, in bold or after "="; else the last number."""
    text = _REMARK.sub(r"\1", plain(text))
    same_line = where == "header" and (not text.startswith("\n") or "\n" not in text.strip())
    text = text.strip().partition("\n\n")[0] if same_line else text
    sentence = SENTENCE_END.split(first_line(text))[0]
    opening = _CLAUSE.split(sentence)[0]
    short = number(tidy(opening)) is not None and len(opening.split()) <= 3
    begins = same_line and "=" not in sentence and _BEGINNING.match(sentence)
    if where in ("sentence", "box") or short or begins:
        return _clause_number(sentence)
    if not same_line or not _DIGIT.search(text):
        return (numbers_in(text) or [None])[-1]
    bold = [each for each in _BOLD.findall(text) if number(tidy(each)) is not None]
    values = set(numbers_in(bold[0] if len(bold) == 1 else text.rpartition("=")[2]))
    return (values.pop() if len(values) == 1 else None) or ""


def _clause_number(sentence: str) -> str | None:
    """Returns the number of the first clause with a digit; empty for a range, a list or a sum."""
    clause = next(filter(_DIGIT.search, _CLAUSE.split(sentence)), None)
    if clause is None:
        return None
    sides = filter(_DIGIT.search, reversed(clause.split("=")))
    result = next((each for each in sides if not _SEVERAL.search(each)), "")
    return (numbers_in(result) or [None])[0] or ""
