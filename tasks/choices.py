"""Multiple choice: a question with its options as one text, a letter as answer."""

import re
from collections.abc import Sequence
from functools import partial

from thoughtgraph.tasks.stepwise import CHOICE, Stepwise

CHOSEN = "the letter of the right choice"
LETTERS = "ABCDEFGHIJ"

_DECORATION = r"[\s*_:\"'`$(]|\\(?:text|boxed)\{|\bchoice\b|\boption\b"
_REASON = r"[ \t]+(?:because|since)\b"
# "A" and "I" before a word are words themselves, unless a reason follows.
_FIRST = re.compile(
    rf"(?:{_DECORATION}){{0,12}}(?:([B-HJ])\b|([AI])\b(?!'|(?!{_REASON})[ \t]+[a-z]))", re.I
)
_CAPITAL = re.compile(rf"(?<![\w'])\(?([A-J])(?:\)|\b(?:(?={_REASON})|(?![' \w])))")


def multiple_choice(name: str, topic: str, letters: str, examples: str) -> Stepwise:
    """Makes a task whose answers are letters, such as `C`.

    Args:
        name: The task's id.
        topic: What the questions are about, as prompts name it.
        letters: The letters that its choices have, such as `ABCD`.
        examples: The prompt file that holds its worked examples.
    """
    return Stepwise(
        name,
        topic=topic,
        answers=CHOSEN,
        reader=partial(letter, letters),
        examples=examples,
        marker=CHOICE,
    )


def stated(question: str, options: Sequence[str]) -> str:
    """Returns a question with its options, each after its letter."""
    lines = (f"{mark}) {text.strip()}" for mark, text in zip(LETTERS, options, strict=False))
    return "\n".join([question.strip(), "Answer choices:", *lines])


def letter(letters: str, marked: str, text: str) -> str | None:
    """Returns the choice that follows the marker, else the last letter that stands alone.

    Args:
        letters: The letters that choices have.
        marked: What follows the marker; empty without one.
        text: The whole text.
    """
    if (found := _FIRST.match(marked)) and (first := (found[1] or found[2]).upper()) in letters:
        return first
    letters_alone = [found for found in _CAPITAL.findall(text) if found in letters]
    return letters_alone[-1] if letters_alone else None
