"""Multiple choice: one text holds a question and its options; the answer is a letter."""

import re
from collections.abc import Sequence

from thoughtgraph.tasks.answer_text import Where
from thoughtgraph.tasks.numbers import plain

LETTERS = "ABCDEFGHIJ"

_LATIN = r"[^\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]"
"""A letter or digit that would make a choice part of a word; Han, kana and Hangul do not."""
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
"""A letter at the start, alone or before its choice; "A)" before text may start a list."""
_OPTION = r"\W{0,8}(?:(?:either|both|option|choice|be|or|nor)\b\W{1,4}){0,3}"
_SEVERAL = re.compile(
    rf"{_OPTION}[A-J]\W{{0,4}}(?:\bor\b|\band\b|[,/&]|、){_OPTION}(?!I [a-z])[A-J](?!{_LATIN})"
)
_DENIED = re.compile(
    r"\s?(?i:\b(?:not|cannot|nor|over|rather\sthan|instead\sof)|n['\u2019]t|不[是选選])"
    rf"(?:{_OPTION}[A-J](?!{_LATIN})){{1,4}}"
)
"""Choices that the text rejects in favour of another."""
_LISTED = re.compile(r"^[\s*_(]{0,8}[A-J][).:].*$", re.MULTILINE)


def stated(question: str, options: Sequence[str]) -> str:
    """Returns a question followed by its lettered options."""
    lines = (f"{mark}) {text.strip()}" for mark, text in zip(LETTERS, options, strict=False))
    return "\n".join([question.strip(), "Answer choices:", *lines])


def letter(letters: str, text: str, where: Where) -> str | None:
    """Returns the letter that a text chooses; None without one, empty if it names several.

    The candidates are, in this order, the letter at the beginning, the last letter called right
    and the letters that stand alone, last first. The first candidate that is an option counts.

    Args:
        letters: The letters of the options.
        text: The text to read.
        where: The mark that precedes the text.
    """
    text = _DENIED.sub("", plain(text))
    if where != "text" and _SEVERAL.match(text):
        return ""
    first = (_HEADED if where == "text" else _FIRST).match(text)
    leading = [each.upper() for each in first.groups() if each] if first else []
    # A list that repeats the options chooses none of them.
    bare = _LISTED.sub("", text) if len(_LISTED.findall(text)) > 1 else text
    candidates = [*leading, *_RIGHT.findall(text)[-1:], *reversed(_CAPITAL.findall(bare))]
    return next((each for each in candidates if each in letters), None)
