"""Answers and verdicts in words: read, and the form in which equal ones are equal."""

import re
import string

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_PUNCTUATION = frozenset(string.punctuation)


def normalize_answer(text: str) -> str:
    """Returns an answer as HotpotQA's scorer compares it.

    Case, punctuation, articles and double spaces are gone.

    >>> normalize_answer("The  Eiffel-Tower.")
    'eiffeltower'
    """
    lowered = "".join(letter for letter in text.lower() if letter not in _PUNCTUATION)
    return " ".join(_ARTICLES.sub(" ", lowered).split())


def last_line(text: str) -> str:
    """Returns the last line of a judgement, rid of marks: its verdict, if it has one."""
    return text.strip().rpartition("\n")[2].strip(" .!*`:\t").lower()


def short_answer(marked: str, text: str) -> str | None:
    """Returns the line that follows the marker "the answer is", else the whole text."""
    answer = marked.strip().partition("\n")[0].strip() or text.strip()
    plain = answer.strip(" \"'`*_").removesuffix(".").strip(" \"'`*_")
    return plain or None
