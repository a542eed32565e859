"""Multiple choice: a question with its options as one text, a letter as answer."""

import re
from collections.abc import Sequence
from functools import partial

from thoughtgraph.tasks.answer_text import Where
from thoughtgraph.tasks.numbers import plain
from thoughtgraph.tasks.stepwise import CHOICE, Stepwise

CHOSEN = "the letter of the right choice"
LETTERS = "ABCDEFGHIJ"

_LATIN = r"[^\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]"
"""A letter or digit that would go on with a word: Han and Kana stand beside a choice."""
_DECORATION = r"[\s*_:\"'`$(\u201c\u300c]|\\(?:text|boxed)\{|\bchoice\b|\boption\b"
_REASON = r"[ \t]+(?:because|since)\b"
# "A" and "I" before a word are words themselves, unless a reason follows.
_FIRST = re.compile(
    rf"(?:{_DECORATION}){{0,12}}"
    rf"(?:([B-HJ])(?!{_LATIN})|([AI])(?!{_LATIN}|'|(?!{_REASON})[ \t]+[a-z]))",
    re.I,
)
_CAPITAL = re.compile(
    rf"(?<!{_LATIN})(?<!')\(?([A-J])(?:\)|(?!{_LATIN})(?:(?={_REASON})|(?![' ])))"
)
_RIGHT = re.compile(
    rf"(?<!{_LATIN})([A-J])(?:(?:[).:][^.\n]{{0,80}}?)? is (?:the )?(?:correct|right|best)\b"
    r"|(?:选项)?是?正确)"
)
_HEADED = re.compile(r"[\s*_(]{0,8}(?:([B-J])[).:]|(?i:([A-J]))[).:*_\s]{0,8}(?:\n|$))")
"""A letter that begins a text: alone, or before its choice. "A)" may begin a list of all."""
_OPTION = r"\W{0,8}(?:(?:either|both|option|choice|be|or|nor)\b\W{1,4}){0,3}"
_SEVERAL = re.compile(
    rf"{_OPTION}[A-J]\W{{0,4}}(?:\bor\b|\band\b|[,/&]|、){_OPTION}(?!I [a-z])[A-J](?!{_LATIN})"
)
_DENIED = re.compile(
    r"\s?(?i:\b(?:not|cannot|nor|over|rather\sthan|instead\sof)|n['\u2019]t|不[是选選])"
    rf"(?:{_OPTION}[A-J](?!{_LATIN})){{1,4}}"
)
"""Choices that are none: denied in favour of another."""
_LISTED = re.compile(r"^[\s*_(]{0,8}[A-J][).:].*$", re.MULTILINE)


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


def letter(letters: str, text: str, where: Where) -> str | None:
    """Returns the choice that is stated, called right or begins the text, else the last alone."""
    text = _DENIED.sub("", plain(text))
    if where != "text" and _SEVERAL.match(text):
        return ""
    first = (_HEADED if where == "text" else _FIRST).match(text)
    said = [each.upper() for each in first.groups() if each] if first else []
    bare = _LISTED.sub("", text) if len(_LISTED.findall(text)) > 1 else text
    found = [*said, *_RIGHT.findall(text)[-1:], *reversed(_CAPITAL.findall(bare))]
    return next((each for each in found if each in letters), None)
