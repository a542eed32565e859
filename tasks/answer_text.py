r"""Finds the answer that a completion states, and reads answers in words.

A sentence ("the answer is"), a header (`Answer:`, `####`) or a box states it; the last one with a
value counts. An explanation with its own header and a question that the model made up are cut off.
"""

import re
import string
from collections.abc import Callable, Sequence
from typing import Literal

from thoughtgraph.tasks.numbers import LONGEST_NUMBER

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_PUNCTUATION = frozenset(string.punctuation)

Where = Literal["sentence", "header", "box", "text"]
"""The mark that precedes a text to read; `text`: none, as the text is a whole completion."""
Reader = Callable[[str, Where], str | None]
"""Reads an answer in canonical form. None: the text has no answer. Empty: the text states an answer
that cannot be read, so no other value may be taken for the answer."""

VALUE = re.compile(r"[^\W_]")
"""A letter or digit; a value has at least one."""
SENTENCE_END = re.compile(r"[.!?]\s+(?=[^\W\d_])")
_QUOTES = "['\"`\u2018\u2019\u201c\u201d]"
_SENTENCES = (
    r"\banswer\s+(?:to\s[^.\n]{1,80}?\s)?(?:is|(?:would|should|must)\s+be)\b"
    r"|\b(?:the|my|final|correct)\s+answer\s*[=:\uff1a\u2013\u2014]"
    r"|\b(?:final|correct|right|best)\s+(?:choice|option|result|solution)\s*(?:\bis\b|[=:\uff1a])"
    r"|\b(?:antwort|respuesta|réponse|risposta|resposta)\s+(?:fin\w+\s+)?(?:ist|lautet|es|est|è|é)\b"
    r"|(?:答案|答え|正解|정답)\s*(?:应?[是为為]|は|은)|正确的是|正しいのは"
    r"|(?<!不)[选選][择擇]?(?=\s*[(\uff08]?[A-J\uff21-\uff2a])"
)
"""The last alternative is "choose" in Chinese before the letter of a choice."""
LINE = r"^[ \t]*+[#*_>]{0,6}+[ \t]*+"
"""The start of a line, with the decoration that models add."""
COLON = r"[ \t]*+[*_]{0,3}[:\uff1a]"
_HEADERS = (
    rf"(?:{LINE}|(?<=[.!?] ))(?:(?:the\s|final\s|correct\s){{0,2}}answer|antwort|respuesta"
    r"|réponse|risposta|resposta|ответ|(?:最终|参考)?答案|答え|正解|回答|정답)[ \t]*+[*_]{0,3}"
    r"[ \t]*+(?:[:=\uff1a\u2013\u2014]|$)"
    r"|<(?:final_)?answer>|\"(?:final_)?answer\"\s{0,9}:|【(?:答案|正解)】"
    r"|####(?!\s?\d{1,2}[.):]\s)(?=[^\w\n]{0,4}\d)|(?=\\(?:boxed|fbox)(?![a-z]))"
)
_BOX = re.compile(r"\\(?:boxed|fbox)\s{0,3}(?:\{|([^\s{}\\$]{1,40}))")
_ONE_BOX = r"\\boxed\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*+\})*+\}){1,99}+)\}"
_BOXES = re.compile(rf"{_ONE_BOX}(?:[\s$,]{{0,9}}(?:(?:and|or)[\s$]{{1,9}})?{_ONE_BOX}){{1,9}}")
"""Consecutive boxes form one answer."""
_ASIDE = re.compile(
    rf"{LINE}(?:explanation|reason(?:ing|s)?|justification|rationale|proof|notes?|details"
    rf"|(?:double.)?check|verification|解[释釋析説说]|説明){COLON}"
    r"|</(?:final_)?answer>|,\s{0,20}+\"\w{1,40}\"\s{0,9}+:|(?<=\")\s{0,20}\}",
    re.IGNORECASE | re.MULTILINE,
)
_QUESTION = re.compile(
    rf"{LINE}(?:(?:next |new )?question|q|claim|human|user|问题|問題){COLON}[*_\s]*+"
    rf"|(?P<other>{LINE}(?:question|problem|exercise|example|instruction)(?: \d{{1,3}})?"
    rf"(?:{COLON}|[*_]{{0,3}}$)[*_\s]*+|<\|\w)",
    re.IGNORECASE | re.MULTILINE,
)
"""Where a made-up question may begin; `other`: only between two stated answers."""
_WRAPPED = re.compile(
    r"\$([^$]+)\$|\\\((.*)\\\)|\\\[(.*)\\\]|[\"\u201c\u201e]([^\"\u201c\u201d]+)[\"\u201c\u201d]"
    r"|[\u300c\xab]([^\u300d\xbb]+)[\u300d\xbb]|\\(?:boxed|fbox|text\w{0,4}|math\w{1,4})\{([^{}]*)\}"
    r"|['`\u2018]((?:[^'\u2018\u2019]|\b['\u2019]\b)+)['`\u2019]",
    re.DOTALL,
)
_NOT_ABBREVIATED = r"(?<!\b[JS]r)(?<!\b(?:Inc|Ltd|Gen|Mrs))(?<!\b(?:Corp|Bros|Prof))"
_FINAL_PERIOD = re.compile(rf"(?<!\.[^\W\d]){_NOT_ABBREVIATED}[.\u3002]$")
_END = re.compile(
    rf"(?<!\b\w)(?<!\b\w\w){_NOT_ABBREVIATED}(?:\.\s+(?=[^\W\d_])|[!?]\s+(?=[A-Z]))|\u3002"
)
"""The end of a short answer; a word of one or two letters before it may be an abbreviation."""
_LEADING = re.compile(r"\A(?:[\s_`]|\*(?!\s))+")


def normalize_answer(text: str) -> str:
    """Returns an answer in the form that HotpotQA's scorer compares.

    The form is lower case, without punctuation, articles or repeated spaces.

    >>> normalize_answer("The  Eiffel-Tower.")
    'eiffeltower'
    """
    lowered = "".join(letter for letter in text.lower() if letter not in _PUNCTUATION)
    return " ".join(_ARTICLES.sub(" ", lowered).split())


def marks(sentences: str, headers: str = "(?!)") -> re.Pattern[str]:
    """Compiles the pattern of the marks that precede a stated answer."""
    spoken = rf"(?P<spoken>{_QUOTES}(?:the\s)?(?:{sentences}){_QUOTES})"
    return re.compile(
        rf"(?:{spoken}|(?:{sentences})|(?P<header>{headers}))[*_: \t\uff1a]*+", re.I | re.M
    )


STATED = marks(_SENTENCES, _HEADERS)


def read_stated(
    text: str, stated: re.Pattern[str], read: Reader, mention: re.Pattern[str] | None
) -> str | None:
    """Returns the last answer that a text states; empty if it cannot be read, None without one.

    A mark in quotation marks counts only if no other has a value; a mark before `mention`, never.
    """
    text = _BOXES.sub(lambda row: f"\\boxed{{{', '.join(re.findall(_ONE_BOX, row[0]))}}}", text)
    matches = list(stated.finditer(text))
    ends = [*(mark.start() for mark in matches), len(text)][1:]
    marked = zip(matches, ends, strict=True)
    for mark, end in sorted(marked, key=lambda each: (bool(each[0]["spoken"]), -each[1])):
        span = without_aside(text[mark.end() : end])
        if not VALUE.search(span) or (mention and mention.match(span)):
            continue
        where: Where = "sentence" if mark["header"] is None else "header"
        box = boxed(span)
        if (value := read(span, where) if box is None else read(box, "box")) is not None:
            return value
    return None


def read_answer(text: str, read: Reader, mention: re.Pattern[str] | None) -> str | None:
    """Returns the stated answer, else a value from the whole completion; None without one."""
    value = read_stated(text, STATED, read, mention)
    return (read(without_aside(text), "text") if value is None else value) or None


def own_part(text: str, problem: str) -> str:
    """Cuts off a made-up question, other than `problem`, after an answer or a blank line."""
    starts = [each.start() for each in STATED.finditer(text)] or [len(text)]
    for match in _QUESTION.finditer(text):
        at = match.start()
        answered = starts[0] < at or text.startswith("\n\n", at - 2)
        if match["other"]:
            answered = starts[0] < at < starts[-1]
        if answered and text[:at].strip() and not text.startswith(problem, match.end()):
            return text[:at]
    return text


def without_aside(text: str) -> str:
    """Cuts off an explanation that has its own header."""
    asides = (each.start() for each in _ASIDE.finditer(text))
    return text[: next((at for at in asides if VALUE.search(text, 0, at)), None)]


def boxed(text: str) -> str | None:
    r"""Returns the content of the last `\boxed`, in balanced braces or up to a space; else None."""
    boxes = list(_BOX.finditer(text))
    if not boxes or boxes[-1][1]:
        return boxes[-1][1] if boxes else None
    begin, depth = boxes[-1].end(), 1
    for at in range(begin, min(len(text), begin + LONGEST_NUMBER)):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if depth == 0:
            return text[begin:at]
    return None


def first_or_last(matches: Sequence[re.Match[str]], where: Where) -> re.Match[str] | None:
    """Returns the first match after a sentence, in a box or at the start; else the last."""
    if not matches:
        return None
    begins = not VALUE.search(matches[0].string, 0, matches[0].start())
    return matches[0 if begins or where in ("sentence", "box") else -1]


def first_line(text: str) -> str:
    """Returns the first line with a letter or digit; empty without one."""
    return next((line for line in text.split("\n") if VALUE.search(line)), "")


def short_answer(text: str, where: Where) -> str | None:
    """Returns the first sentence of a stated answer; all of a box or of a whole completion."""
    return _undecorated(text if where in ("box", "text") else _END.split(first_line(text))[0])


def whole_answer(text: str, where: Where) -> str | None:
    """Returns an answer of any length: the rest of the line after "the answer is", or all text."""
    line = text.partition("\n")[0]
    alone = where == "sentence" and VALUE.search(line) and not line.rstrip(" *_").endswith(":")
    return _undecorated(line if alone else text)


def _undecorated(text: str) -> str | None:
    """Strips Markdown, dollar signs, quotation marks and the final period."""
    for _ in range(4):  # "**`x`**." and the like
        text = _FINAL_PERIOD.sub("", _LEADING.sub("", text).rstrip(" *_`\n\t"))
        if match := _WRAPPED.fullmatch(text):
            text = next(filter(None, match.groups()), "")
    return text or None
