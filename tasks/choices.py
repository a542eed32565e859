"""Multiple choice: a question with its options as one text, a letter as answer."""

import re
from collections.abc import Sequence

from thoughtgraph.tasks.stepwise import CHOICE, Stepwise

FORM = '"the answer is X" where X is the letter of the right choice'
LETTERS = "ABCDEFGHIJ"

_DECORATION = r"[\s*_:\"'`$(]|\\(?:text|boxed)\{|\bchoice\b|\boption\b"
_FIRST = re.compile(rf"(?:{_DECORATION}){{0,12}}([A-J])\b", re.I)
_CAPITAL = re.compile(r"(?<![\w'])\(?([A-J])(?:\)|\b(?![' \w]))")


def multiple_choice(name: str, topic: str) -> Stepwise:
    """Makes a task whose answers are letters, such as `C`.

    Args:
        name: The task's id.
        topic: What the questions are about, as prompts name it.
    """
    return Stepwise(
        name, topic=topic, form=FORM, reader=letter, examples="stepwise/choices", marker=CHOICE
    )


def stated(question: str, options: Sequence[str]) -> str:
    """Returns a question with its options, each after its letter."""
    lines = (f"{mark}) {text.strip()}" for mark, text in zip(LETTERS, options, strict=False))
    return "\n".join([question.strip(), "Answer choices:", *lines])


def letter(marked: str, text: str) -> str | None:
    """Returns the letter that follows the marker, else the last one that stands alone."""
    if found := _FIRST.match(marked):
        return found[1].upper()
    alone = _CAPITAL.findall(text)
    return alone[-1] if alone else None
