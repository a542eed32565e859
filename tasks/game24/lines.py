"""The lines of Game of 24: equations, the numbers they leave, answers (ToT, section 4.1)."""

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from thoughtgraph.tasks.judgements import plain
from thoughtgraph.tools.arithmetic import ExpressionError, evaluate
from thoughtgraph.tree import Path

LONGEST_LINE = 400
"""Longest line that can be a thought (ours)."""

EQUATION = re.compile(
    r"(?>(-[\d./]+|(?<![\d./,])[\d./]+)[\s)]*+([-+*/]))[\s(]*+(-?[\d./]++)[\s)]*+="
    r"[\s(]*+(-?[\d./]++)(?:[^\w\n]|_){0,9}(?:the )?(?:numbers )?(?:left|remaining)"
    r"(?: numbers)?(?: are)?[\s:=]{0,6}+(?:\((?!-?[\d./]++\))\s*+)?"
    r"((?:(?:-?[\d./]++|\(-?[\d./]++\))[\s,;|&\u2022]*+(?:and\s)?)++)"
    r"(?:(?<=[.;])|(?<=[.;]\s)|(?=[])*_]|[^\w\n(+*/-]{0,9}$|\((?!-?\d)|-\s[a-z]))",
    re.I,
)
"""Numbers match from their start only, so that matching takes linear time."""
_CHAIN = re.compile(r"(?<!step )[\d)]\s*+[-+*/][\s(]*+$", re.I)
"""A number and an operator that make the equation after them part of a longer one."""
ANSWER = re.compile(
    r"(?i)\b(?:answer|solution)[^\w\n:=]{0,6}(?::|(?:=|-\s|\bis\b:?)(?=[\s*_]*+[-(\[\d\\]))\s*+([^\n]+)"
)
_OPERATION = re.compile(r"[\d)]\s*+[-+*/]\s*+[-(\d]")
_FOREIGN = re.compile(r"\(?[^-+*/().\d\s].*", re.S)
_BARE = re.compile(
    r"(?:[^\d(=\n+*/-]{0,40}(?:[Ss]tep \d)?(?::|\s|[^\W\d])\s*+)?"
    r"((?:24\s*+=)?[\d\s().]+[-+*/][-+*/\d\s().]*+(?:=[\s\d.]*+)?)[^\w(]{0,9}"
)
_GAPS = re.compile(r"(?:[\s,;|&\u2022()]|and|\.(?!\d))+")
_SIGNS = str.maketrans({"x": "*", "X": "*", "[": "(", "]": ")"})
_TEX_SIGNS = {"times": "*", "cdot": "*", "ast": "*", "div": "/"}
_TEX_SIGN = re.compile(r"\\(times|cdot|ast|div)\b")
_TEX_NUMBER = re.compile(r"\\[dt]?frac\{(\d{1,9})\}\{(\d{1,9})\}")
_TEX_FRACTION = re.compile(r"\\[dt]?frac\{([^{}]*)\}\{([^{}]*)\}")


def answer_in(text: str) -> str | None:
    """Returns the expression after the last `Answer:`, else on the last line with a digit.

    Of an equation, the side with an operation counts. An explanation after it is left out.
    """
    candidates = [text[each.start(1) : each.end(1)] for each in ANSWER.finditer(plain(text))]
    if answers := [_tidy(each) or "" for each in reversed(candidates)]:
        return next(filter(_OPERATION.search, answers), answers[0]) or None
    last = next((line for line in reversed(text.split("\n")) if re.search(r"\d", line)), "")
    bare = _BARE.fullmatch(keyboard(last).strip()) if len(last) <= LONGEST_LINE else None
    return _tidy(bare[1]) if bare else None


def remaining(problem: str, path: Path) -> str:
    """Returns the numbers that the last line of a path leaves; at the root, the puzzle."""
    if not path:
        return problem
    return path[-1]["text"].strip().split("\n")[-1].rpartition("left: ")[2].partition(")")[0]


LONGEST_SENTENCE = 2_000
"""Maximum characters of a text that may list a puzzle's numbers (ours)."""
_LIST = re.compile(r"\d+(?:,\d+)*")
_UNLIKE = re.compile(
    r"""
    [A-Za-z_](?!24(?!\d))\d | (?<!(?<!\d)24)(?<=\d)[A-Za-z_%]  # x4, 2nd, 50%; but game24
    | [-\u2212\u2013+\#]\d | (?<!(?<!\d)24)(?<=\d)[-\u2212\u2013](?!>)  # -4; but 24-game
    | \d[.:/'\u2019\u00a0\u2009\u202f]\d | (?<!\d)(?:\.\d|0\d)  # 4.5, 1/2, 1'000, .5, 007
    | (?<![\d,])\d{1,3}(?:,\d{3})++(?!,?\d)  # 1,000
    | \d[^\S\n]*+[-\u2212\u2013+*/\u00d7÷·⋅^][^\S\n]*+\d  # 4 + 9
    | [\u00b2\u00b3\u00b9\u00bc-\u00be\u2070-\u218b\u2460-\u249b]  # powers, fractions
    """,
    re.VERBOSE,
)
"""Digits that are no whole number in a list."""
_SPACED, _COMMA = re.compile(r"\d \d{3}(?!\d)"), re.compile(r"\d, *+\d")
_TARGET_SIGN = re.compile(r"[^\W\d_]|[=→>:]")
"""A letter or sign of a text that may name the target; a bare list of numbers has none."""


def listed_numbers(text: str) -> list[str]:
    """Returns the whole numbers that a sentence lists, without the target 24.

    The list is empty if the text has numbers of another kind, or if it is unclear which digits form
    a number.
    """
    if len(text) > LONGEST_SENTENCE or _UNLIKE.search(text):
        return []
    if _SPACED.search(text) and _COMMA.search(text):  # 4, 9 and 1 000
        return []
    parts = [digits.split(",") for digits in _LIST.findall(text)]
    if any(len(each) not in (1, 4) for each in parts):  # 4,5 may be a decimal fraction
        return []
    numbers = [number for each in parts for number in each]
    if "24" in numbers and _TARGET_SIGN.search(text):
        numbers.pop(-1 if numbers[-1] == "24" else numbers.index("24"))
    return numbers


def exact_step(numbers: Sequence[str], equation: re.Match[str]) -> str | None:
    """Returns the step of an equation with the exact result and the exact numbers left.

    Args:
        numbers: The numbers before the step.
        equation: The match of the model's equation; only its operation is used.

    Returns:
        The step as a thought; None if it uses a missing number or divides by zero.
    """
    a, sign, b = equation.group(1, 2, 3)
    try:
        left = combine([Operand(evaluate(number), number) for number in numbers], a, sign, b)
    except ExpressionError:
        return None
    if left is None:
        return None
    values = " ".join(map(str, sorted(operand.value for operand in left)))
    return f"{a} {sign} {b} = {left[-1].value} (left: {values})"


class Operand(NamedTuple):
    """A number of the current set with the expression that made it."""

    value: Fraction
    expression: str


def combine(operands: Sequence[Operand], a: str, sign: str, b: str) -> list[Operand] | None:
    """Returns the numbers after a step, result last; None if an operand is missing.

    Raises:
        ExpressionError: The step divides by zero, or an operand is no number.
    """
    result, left, used = evaluate(f"({a}) {sign} ({b})"), list(operands), list[Operand]()
    for value in (evaluate(a), evaluate(b)):
        operand = next((each for each in left if each.value == value), None)
        if operand is None:
            return None
        left.remove(operand)
        used.append(operand)
    first, second = used
    return [*left, Operand(result, f"({first.expression} {sign} {second.expression})")]


def step_in(line: str) -> str | None:
    """Returns the thought in a line without bullets and comments; None without one."""
    if len(line) > LONGEST_LINE:
        return None
    text = keyboard(_TEX_NUMBER.sub(r"\1/\2", line))
    if (equation := EQUATION.search(text)) and not _CHAIN.search(text[: equation.start()]):
        a, sign, b, result, left = (_GAPS.sub(" ", part).strip() for part in equation.groups())
        return f"{a} {sign} {b} = {result} (left: {left})"
    if answer := ANSWER.search(plain(line)):
        return f"Answer: {' '.join(line[answer.start(1) :].split()).strip(' *`$')}"
    return None


def keyboard(text: str) -> str:
    """Replaces LaTeX and typographic signs, `x` and square brackets by keyboard signs."""
    return plain(_TEX_SIGN.sub(lambda match: _TEX_SIGNS[match[1]], text)).translate(_SIGNS)


def _tidy(expression: str) -> str | None:
    expression = expression[:LONGEST_LINE]
    while (flat := _TEX_FRACTION.sub(r"((\1) / (\2))", expression)) != expression:
        expression = flat
    text = " ".join(keyboard(expression).replace(")(", ") * (").split())
    sides = (_FOREIGN.sub("", side).rstrip(" -") for side in text.split("="))
    return next(filter(_OPERATION.search, sides), text.partition("=")[0]).strip(" .`$*") or None
