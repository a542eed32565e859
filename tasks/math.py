r"""MATH: competition problems with LaTeX answers (Hendrycks et al. 2021)."""

import re

from thoughtgraph.tasks.answer_text import VALUE, Where, first_line
from thoughtgraph.tasks.numbers import LONGEST, canonical, number, tidy
from thoughtgraph.tasks.stepwise import Stepwise

FORMULA = "the answer alone, in LaTeX"

_NEXT_SENTENCE = re.compile(r"\.\s+(?=\(?[A-Z])")
_INLINE = re.compile(r"(?<!\\)\$((?:[^$\\]|\\.){1,500})\$|\\\(((?:[^$\\]|\\[^()]){1,500}+)\\\)")
_DISPLAY = re.compile(r"[\s*_:.]{0,20}(?:\$\$([^$]{1,500})\$\$|\\\[([^$]{1,500}?)\\\])")
_AND = re.compile(r"\s*+(?:[,;]|(?:,\s++|(?<=\s))(?:and|or)\s)\s*+")


def math() -> Stepwise:
    r"""Makes the task `math`; answers are numbers or LaTeX such as `\frac{\pi}{6}`."""
    return Stepwise(
        "math",
        topic="MATH: competition mathematics",
        answers=FORMULA,
        reader=formula,
        examples="stepwise/formulas",
    )


def formula(text: str, where: Where) -> str | None:
    r"""Returns the answer that is stated: boxed, between dollars, else the sentence.

    Several formulas in a row are one answer. Below a header a line must be a formula or a number
    alone, and without any mark nothing is an answer.
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
    return canonical(answer) or None if len(answer) <= LONGEST else None


def _formulas(line: str) -> str:
    """Returns the first formulas between dollars that commas, "and" or "or" join; "" for none."""
    formulas: list[str] = []
    end = 0
    for found in _INLINE.finditer(line):
        if formulas and not _AND.fullmatch(line, end, found.start()):
            break
        formulas.append(tidy(found[1] or found[2]))
        end = found.end()
    return ", ".join(formulas)
