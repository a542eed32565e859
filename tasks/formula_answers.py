"""Reads answers that are formulas (MATH, TheoremQA)."""

import re

from thoughtgraph.tasks.answer_text import VALUE, Where, first_line
from thoughtgraph.tasks.numbers import LONGEST_NUMBER, canonical, number, tidy

_NEXT_SENTENCE = re.compile(r"\.\s+(?=\(?[A-Z])")
_INLINE = re.compile(r"(?<!\\)\$((?:[^$\\]|\\.){1,500})\$|\\\(((?:[^$\\]|\\[^()]){1,500}+)\\\)")
_DISPLAY = re.compile(r"[\s*_:.]{0,20}(?:\$\$([^$]{1,500})\$\$|\\\[([^$]{1,500}?)\\\])")
_AND = re.compile(r"\s*+(?:[,;]|(?:,\s++|(?<=\s))(?:and|or)\s)\s*+")
_TRUTH = re.compile(r"[\s*_:\"'`$(]{0,10}(true|false|yes|no)\b", re.IGNORECASE)
_OPTION = re.compile(r"[\s*_:$]{0,10}(?:the\s)?(?:option|choice)\s\(?([a-e])\b", re.IGNORECASE)
_WORDS = {"yes": "true", "no": "false"}


def formula(text: str, where: Where) -> str | None:
    r"""Returns the stated answer: the box, the formula in math mode, else the sentence.

    Several formulas in a row are one answer. After a header, the line must hold only formulas or a
    number. A completion without a mark has no answer.
    """
    if where == "text":
        return None
    line = _NEXT_SENTENCE.split(first_line(text), maxsplit=1)[0]
    alone = not VALUE.search(_INLINE.sub("", line)) or number(tidy(line)) is not None
    if where == "box":
        answer = text
    elif display := _DISPLAY.match(text):
        answer = display[1] or display[2]
    else:
        answer = (_formulas(line) or line) if alone or where == "sentence" else ""
    return canonical(answer) or None if len(answer) <= LONGEST_NUMBER else None


def _formulas(line: str) -> str:
    """Returns the first formulas that commas, "and" or "or" separate, as one list; "" for none."""
    formulas: list[str] = []
    end = 0
    for match in _INLINE.finditer(line):
        if formulas and not _AND.fullmatch(line, end, match.start()):
            break
        formulas.append(tidy(match[1] or match[2]))
        end = match.end()
    return ", ".join(formulas)


def theorem_answer(text: str, where: Where) -> str | None:
    """Returns a leading truth value (yes counts as true) or option letter, else the formula."""
    if where != "text" and (match := _TRUTH.match(text)):
        word = match[1].lower()
        return _WORDS.get(word, word)
    if where != "text" and (match := _OPTION.match(text)):
        return match[1].upper()
    return formula(text, where)
