r"""Where a completion states its answer, and answers in words.

What states an answer is a sentence ("the answer is"), a header (`Answer:`, `####`) or a box
(`\boxed`); the last one counts that has a value after it. What a model goes on with is none of it:
an explanation below its own header, and the next question that it makes up.
"""

import re
import string
from collections.abc import Callable, Sequence
from typing import Literal

from thoughtgraph.tasks.numbers import LONGEST, WRAPPER

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_PUNCTUATION = frozenset(string.punctuation)

Where = Literal["sentence", "header", "box", "text"]
"""What a text follows that is read for an answer; `text`: nothing, it is all that was written."""
Reader = Callable[[str, Where], str | None]
"""Reads an answer in canonical form. None: there is none here. Empty: one is stated that cannot be
read, so that nothing else may be taken for it."""

QUOTES = "'\"`\u2018\u2019\u201c\u201d"
VALUE = re.compile(r"[^\W_]")
"""A letter or digit: without one there is no value."""
SENTENCE_END = re.compile(r"[.!?]\s+(?=[^\W\d_])|[\u3002\uff01\uff1f]")
_SENTENCES = (
    r"\banswer\s+(?:to\s[^.\n]{1,80}?\s)?(?:is|(?:would|should|must)\s+be)\b",
    r"\b(?:the|my|final|correct)\s+answer\s*[=:\uff1a\u2013\u2014]",
    r"\b(?:final|correct|right|best)\s+(?:choice|option|result|solution)\s*(?:\bis\b|[=:\uff1a])",
    r"\b(?:antwort\s+ist|respuesta\s+es|réponse\s+est|risposta\s+è|resposta\s+é)\b",
    r"(?:答案|答え|正解)\s*(?:应?[是为為]|は)",
    r"[选選](?=\s*[(\uff08]?[A-J\uff21-\uff2a])",
)
"""English; German, Spanish, French, Italian and Portuguese; Chinese, Japanese; "choose C"."""
_LINE = r"^[ \t]*+[#*_>]{0,6}+[ \t]*+"
_NAMES = (
    r"(?:the\s|final\s|correct\s|short\s){0,2}answer|antwort|respuesta|réponse|risposta|resposta"
    r"|ответ|(?:最终)?答案|答え|正解|回答"
)
_HEADER = (
    rf"{_LINE}(?:{_NAMES})[ \t]*+[*_]{{0,3}}[ \t]*+(?:[:=\uff1a\u2013\u2014]|$)"
    r"|####(?!\s?\d{1,2}\.\s)(?=[^\w\n]{0,4}\d)"
)
_BOX = re.compile(r"\\(?:boxed|fbox)\s{0,3}(?:\{|([^\s{}\\$]{1,40}))")
_ASIDE = re.compile(
    rf"{_LINE}(?:(?:brief\s)?explanation|reasoning|reasons?|justification|rationale|proof|note|notes"
    r"|(?:double.?)?check|verification|details|解[释釋析説说]|説明)[ \t]*+"
    r"[*_]{0,3}[:\uff1a]",
    re.IGNORECASE | re.MULTILINE,
)
_QUESTION = re.compile(
    rf"{_LINE}(?:(?:next\s|new\s)?question|q|claim|human|user|问题|問題)[ \t]*+"
    r"[*_]{0,3}[:\uff1a][*_\s]*+",
    re.IGNORECASE | re.MULTILINE,
)
_BULLET = re.compile(r"\s*(?:[-*+\u2022]|\d{1,3}[.)])\s")
_MATHS = re.compile(r"\$([^$]+)\$|\\\((.*)\\\)|\\\[(.*)\\\]", re.DOTALL)
_QUOTED = re.compile(
    r"[\"\u201c\u201e]([^\"\u201c\u201d]+)[\"\u201c\u201d]|['`\u2018]((?:[^'\u2018\u2019]|\b['\u2019]\b)+)['`\u2019]"
    r"|[\u300c\xab]([^\u300d\xbb]+)[\u300d\xbb]"
)
LONGEST_WORD = 20
"""Letters before a point that may be an abbreviation (ours)."""
_SHORTENED = frozenset(
    ("jr", "sr", "inc", "co", "corp", "ltd", "bros", "st", "mt", "vs", "no")
    + ("dr", "mr", "mrs", "ms", "prof", "gen", "col")
)
_BEFORE = re.compile(r"(?:[\s_`]|\*(?!\s))+")


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


def marks(*sentences: str, header: bool = True) -> re.Pattern[str]:
    """Returns what finds where answers are stated.

    Args:
        sentences: Expressions of what comes before an answer; none: all that are known here.
        header: Whether headers count as well.
    """
    said = "|".join(sentences or _SENTENCES)
    headers = f"|(?P<header>{_HEADER})" if header else ""
    spoken = rf"(?P<spoken>[{QUOTES}](?:the\s)?(?:{said})[{QUOTES}])"
    return re.compile(rf"(?:{spoken}|(?:{said}){headers})[*_: \t\uff1a]*+", re.I | re.M)


STATED = marks()


def read_stated(
    text: str, found: re.Pattern[str], read: Reader, mention: re.Pattern[str] | None = None
) -> str | None:
    """Returns the last answer that a text states; empty for one that cannot be read.

    A mark in quotation marks is spoken about, so it counts only where no other has a value.

    Args:
        text: What a model wrote.
        found: What states an answer (`marks`).
        read: Reads it.
        mention: What follows a mark that is only mentioned.
    """
    places = list(found.finditer(text))
    ends = [*(place.start() for place in places), len(text)][1:]
    stated = sorted(
        zip(places, ends, strict=True), key=lambda each: (bool(each[0]["spoken"]), -each[1])
    )
    for place, end in stated:
        span = without_aside(text[place.end() : end])
        if not VALUE.search(span) or (mention and mention.match(span)):
            continue
        where: Where = "header" if place.groupdict().get("header") else "sentence"
        box = boxed(span)
        if (value := read(span, where) if box is None else read(box, "box")) is not None:
            return value
    return None


def read_answer(text: str, read: Reader, mention: re.Pattern[str] | None = None) -> str | None:
    """Returns the answer of a completion: stated, else boxed, else read out of all of it."""
    value = read_stated(text, STATED, read, mention)
    if value is None and (box := boxed(text)) is not None:
        value = read(box, "box")
    return (read(without_aside(text), "text") if value is None else value) or None


def own_part(text: str, problem: str) -> str:
    """Returns a completion up to the next question that the model made up.

    A question is made up where an answer is stated before it, or a paragraph; one that repeats
    the problem is not.
    """
    said = STATED.search(text) or _BOX.search(text)
    for found in _QUESTION.finditer(text):
        at = found.start()
        answered = (said and said.start() < at) or text.startswith("\n\n", at - 2)
        if answered and text[:at].strip() and not text.startswith(problem, found.end()):
            return text[:at]
    return text


def without_aside(text: str) -> str:
    """Returns a text up to the explanation that follows it below a header."""
    found = next(
        (each for each in _ASIDE.finditer(text) if VALUE.search(text, 0, each.start())), None
    )
    return text if found is None else text[: found.start()]


def boxed(text: str) -> str | None:
    r"""Returns what the last `\boxed` of a text holds: in balanced braces, or up to a space."""
    boxes = list(_BOX.finditer(text))
    if not boxes or boxes[-1][1]:
        return boxes[-1][1] if boxes else None
    begin, depth = boxes[-1].end(), 1
    for at in range(begin, min(len(text), begin + LONGEST)):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if depth == 0:
            return text[begin:at]
    return None


def first_or_last(found: Sequence[re.Match[str]], where: Where) -> re.Match[str] | None:
    """Returns the match that counts: the first one stated or beginning the text, else the last."""
    if not found:
        return None
    begins = not VALUE.search(found[0].string, 0, found[0].start())
    return found[0 if begins or where in ("sentence", "box") else -1]


def first_line(text: str) -> str:
    """Returns the first line that says something; empty without one."""
    return next((line for line in text.split("\n") if VALUE.search(line)), "")


def short_answer(text: str, where: Where) -> str | None:
    """Returns a short answer: the first line where it is stated, without the sentences after it."""
    if where in ("sentence", "header"):
        text = _first_sentence(first_line(text))
    return _bare(text)


def whole_answer(text: str, where: Where) -> str | None:
    """Returns an answer of any length: the line after "the answer is", or the block below it."""
    if where != "sentence":
        return _bare(text)
    line, _, below = text.partition("\n")
    return _bare(line if VALUE.search(line) else _block(below))


def _block(text: str) -> str:
    """Returns the first paragraph, with those after it that go on with a list."""
    first, *rest = [each for each in re.split(r"\n[ \t]*+\n", text) if VALUE.search(each)]
    for paragraph in rest:
        if not (_BULLET.match(first) and _BULLET.match(paragraph)):
            break
        first = f"{first.rstrip()}\n\n{paragraph}"
    return first


def _first_sentence(line: str) -> str:
    for end in SENTENCE_END.finditer(line):
        word = _last_word(line[max(0, end.start() - LONGEST_WORD) : end.start()])
        if len(word) > 1 and not _is_short(word):
            return line[: end.start() + 1]
    return line


def _last_word(text: str) -> str:
    return text.split()[-1].strip('("*').lower() if text.split() else ""


def _is_short(word: str) -> bool:
    """Returns whether the point after a word belongs to it: `U.S`, `Jr`."""
    parts = word.split(".")
    return word in _SHORTENED or (len(parts) > 1 and all(p.isalpha() and len(p) < 3 for p in parts))


def _bare(text: str) -> str | None:
    """Returns an answer without Markdown, dollars and quotation marks around it, or its point."""
    for _ in range(3):  # "**`x`**." and the like
        text = _BEFORE.sub("", text, count=1) if _BEFORE.match(text) else text
        text = text.rstrip(" *_`\n\t")
        for pattern in (_MATHS, _QUOTED, WRAPPER):
            if found := pattern.fullmatch(text):
                text = next(filter(None, found.groups()), "")
        if text.endswith((".", "\u3002")) and not _is_short(_last_word(text[:-1])):
            text = text[:-1]
    return text or None
