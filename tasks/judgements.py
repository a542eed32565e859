"""Reads verdicts, scores and entities out of completions (iToT and FGDIP).

Unreadable output gets a default and counts as malformed.
"""

import json
import re
from collections.abc import Container, Iterable, Sequence
from typing import cast

from thoughtgraph.acting import LOWEST, Label, labelled
from thoughtgraph.task import Verdict
from thoughtgraph.tasks.numbers import KEYBOARD
from thoughtgraph.tools.one_line import one_line

HIGHEST = 10.0
"""The upper end of the scale of iToT's evaluator."""
LONGEST_ENTITY = 200
"""Maximum characters of an entity (ours)."""

_SIGNS = KEYBOARD | {ord("\u2014"): "-"}
_MARKS = re.compile(
    r"\*\*|[`$#{}]|\\(?:(?:boxed|text\w*|math\w+|left|right|quad)\b|[()\[\]!,;:\\]|(?=[-+*_]))"
)


def after(label: str, value: str) -> str:
    """Returns the pattern of a label, a separator and a value."""
    apart = r"(?:\s{0,2}\([^()\n]{0,30}\))?[^\w:=?\n-]{0,6}(?:[:=?\n-]|\b(?:is|are|was|would be)\b)"
    return rf"(?<![^\W_])(?:{label}){apart}\W{{0,30}}(?:(?:an?|about|therefore|thus)\s)?{value}"


def points(best: int | str) -> str:
    """Returns the pattern of a score; ranges and other scales do not match."""
    scale = rf"(?:\s{{0,3}}(?:/|(?:out )?of)\s{{0,3}}{best}(?:\.0)?)?+"
    more = r"[.,]?\d|\w|\s{0,3}(?:[/%]|(?:out )?of\b|(?:-|or|to|and)\s?\d)"
    return rf"(?<![-.\d])(\d{{1,9}}+(?:\.\d{{1,20}}+)?+|\.\d{{1,20}}+){scale}(?!{more})"


_WORDS = "sure|likely|maybe|impossible"
_ONE = rf"(?!\W{{1,3}}(?:or |and )?(?:{_WORDS}|yes|no\b(?!\s?\w))|[^\w\n]{{0,3}}\?)"
"""Excludes lists of the allowed words, and questions."""
_END = r"(?=[^\w\n]{0,9}$|\s?(?:[.,;:(-]|because\b|since\b|as\b))"
_LABELS = "judge?ment|judge|verdict|evaluation|conclusion|reply|answer"
_LABELLED = re.compile("(?im)" + after(_LABELS, rf"({_WORDS})\b{_ONE}{_END}"))
_ALONE = re.compile(
    rf"(?im)^[^\w\n]{{0,20}}({_WORDS})\b[^\w\n(?]{{0,20}}(?:\([^()\n]{{0,200}}\)[^\w\n]{{0,9}})?$"
)
_SCORE = re.compile(after("score", points(10)), re.IGNORECASE)
_REPLY = re.compile(after("reply", rf"(sure|maybe|impossible)\b{_ONE}"), re.IGNORECASE)
_JUDGEMENT = re.compile(after("judge?ment", rf"(yes|no)\b{_ONE}"), re.IGNORECASE)
_LIST = re.compile(r"\[[^\[\]]*\]")
_QUOTED = re.compile(r"[\"“]([^\"“”\n]+)[\"”]")
_LABEL = re.compile(r"^[\s*_]*(?:Thought|Reason|Reflection|Entities)[\s*_]*:[\s*_]*", re.IGNORECASE)


def plain(text: str) -> str:
    """Replaces typographic signs by ASCII, keeping the length.

    Markdown and LaTeX markup becomes blanks; single `*` and `_` stay, as they can be operators.
    """
    return _MARKS.sub(lambda match: " " * len(match[0]), text.translate(_SIGNS))


def last(pattern: re.Pattern[str], text: str) -> str:
    """Returns the first non-empty group of the last match; empty without a match."""
    matches = list(pattern.finditer(plain(text)))
    return next(filter(None, matches[-1].groups()), "") if matches else ""


def verdict(text: str) -> str:
    """Returns the final verdict in lower case; empty if there is none.

    It stands alone on the last line, else after the last label, else alone on lines that all agree.
    A word within a sentence is no verdict.
    """
    body = plain(text).strip()
    ends = _ALONE.findall(body.rpartition("\n")[2]) or _LABELLED.findall(body)
    words = {word.lower() for word in ends[-1:] or _ALONE.findall(body)}
    return words.pop() if len(words) == 1 else ""


def verdicts(samples: Sequence[str], labels: Container[str]) -> list[str]:
    """Returns the verdict of each sample; `?` for an unknown one."""
    words = map(verdict, samples)
    return [word if word in labels else "?" for word in words]


def score(text: str) -> float | None:
    """Returns the last `Score: x`, clamped to 1..10; None if there is none."""
    number = last(_SCORE, text)
    return min(HIGHEST, max(LOWEST, float(number))) if number else None


def label(samples: Sequence[str]) -> Verdict:
    """Reads the last `Reply: sure`, `maybe` or `impossible`."""
    return labelled(cast("Label", last(_REPLY, samples[0]).lower()) or None)


def judgement(samples: Sequence[str]) -> Verdict:
    """Reads the last `JUDGMENT: YES` or `NO`, with the text before it as reason."""
    text = samples[0]
    matches = list(_JUDGEMENT.finditer(plain(text)))
    if not matches:
        return Verdict(0.0, lesson(text), malformed=1)
    good = matches[-1][1].lower() == "yes"
    return Verdict(float(good), lesson(text[: matches[-1].start()].rstrip(' \n*_`#>{"')))


def lesson(text: str) -> str:
    """Returns a thought on one line without its label."""
    return one_line(_LABEL.sub("", text))


def entities(text: str) -> list[str]:
    """Returns the distinct entities of a text in order.

    It reads the last list in brackets, else all quoted texts, else the texts between commas.
    """
    lists = _LIST.findall(text)
    names = _names_in(lists[-1]) if lists else None
    if names is None:
        names = _QUOTED.findall(text) or lesson(text).split(",")
    return _distinct(names)


def _names_in(text: str) -> list[str] | None:
    try:
        items = json.loads(text)
    except ValueError:
        return _QUOTED.findall(text) or text.strip("[]").split(",")
    return [item for item in items if isinstance(item, str)]


def _distinct(names: Iterable[str]) -> list[str]:
    stripped = (one_line(name).strip(" .\"'`*") for name in names)
    distinct: dict[str, str] = {}
    for name in filter(None, stripped):
        distinct.setdefault(name.casefold(), name[:LONGEST_ENTITY])
    return list(distinct.values())
