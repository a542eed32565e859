r"""MATH: competition problems with LaTeX answers (Hendrycks et al. 2021)."""

import re

from thoughtgraph.tasks.numbers import LONGEST, canonical, tidy
from thoughtgraph.tasks.stepwise import Stepwise

FORMULA = "the answer alone, in LaTeX"

_BOXED = re.compile(r"\\(?:boxed|fbox)\s{0,3}\{")
_NEXT_SENTENCE = re.compile(r"\.\s+(?=[A-Z])")
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


def formula(marked: str, text: str) -> str | None:
    r"""Returns the answer after the marker: what is `\boxed` or between dollars, else the sentence.

    Several formulas in a row are one answer. Without a marker only a boxed answer counts.
    """
    line = next((line for line in marked.split("\n") if line.strip(" *_:.$")), "")
    line = _NEXT_SENTENCE.split(line, maxsplit=1)[0]
    box = boxed(marked) or boxed(text)
    if box is None and (display := _DISPLAY.match(marked)):
        box = display[1] or display[2]
    answer = box or _formulas(line) or line
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


def boxed(text: str) -> str | None:
    r"""Returns what the last `\boxed{…}` of a text holds, its braces balanced; None without one."""
    begin = max((mark.end() for mark in _BOXED.finditer(text)), default=None)
    if begin is None:
        return None
    depth = 1
    for at in range(begin, min(len(text), begin + LONGEST)):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if depth == 0:
            return text[begin:at]
    return None
