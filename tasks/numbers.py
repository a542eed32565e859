r"""Canonical form of answers: numbers, choices, short lists, plain text.

Two answers are the same when their canonical texts are equal. Numbers become exact: `$1,200.50`,
`1200.5 dollars` and `\frac{2401}{2}` are `1200.5`. A model's text is matched, never evaluated, in
time linear in its length.
"""

import re
from collections.abc import Callable
from fractions import Fraction
from unicodedata import normalize

LONGEST_NUMBER = 500
"""Longest answer read as more than plain text (ours)."""
MOST_DIGITS = 40
"""Most digits of a number that is read exactly (ours)."""
MOST_ZEROS = 30
"""Largest power of ten that is read exactly (ours)."""

_DIGITS = r"(?:(?:(?!0)\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?|(?<![\w.])\.\d+)"
_MONEY = "[$€£¥₹₩₽]"
_SCALE = r"(?:hundred|thousand|million|billion|trillion|lakh|crore)s?\b"
_UNSURE = (
    rf"[\s-]?(?:{_SCALE}|(?:milli(?:on|ard)|mill[oó]n|milh|billón|tausend|dozen|dutzend)\w*"
    r"|(?:mi[lo]|ml[nr]d?|mrd)\b|[百千]\d*)|\s?(?-i:M)\b|(?<=[万萬億亿])\d+|(?:_\d+)+"
    r"|\s?(?:\\pi|\\sqrt|\u221a|sqrt)\b|[xyn]\b"
    r"|(?<=\.\d{3})\s?(?:€|euros?\b|eur\b)|(?<=\.000)\s(?=[a-z])|(?<=[€£][1-9]\.\d{3})"
    r"|(?<=[€£]\d\d\.\d{3})|(?<=[€£]\d{3}\.\d{3})"
)
"""Text that makes a number ambiguous: an unknown multiplier, a factor, a grouping point."""
_VALUE = (
    rf"(?:(?P<money>{_MONEY})\s?(?P<minus>-?))?(?P<top>{_DIGITS})(?:\s?/\s?(?P<bottom>{_DIGITS})"
    r"|(?:e(?=[-+\d])|\s?(?:\\times|\\cdot|[x*])\s?10\s?\^)\s?\{?(?P<power>[-+]?\d+)\}?"
    r"|\s?\^\s?\{?(?P<tens>[-+]?\d+)\}?)?"
    rf"(?P<scale>[\s-]?{_SCALE}|\s?[万萬億亿]"
    rf"|k\b|(?(money)[mb]n?\b|(?!)))?(?P<unsure>{_UNSURE})?"
    rf"\s?(?:\\?%|°|\^?\\circ)?{_MONEY}?"
)
"""A number in ASCII. Prices have no third decimal: `1.200 €` is ambiguous."""
_NUMBER = re.compile(
    rf"(?:(?<![\w)\]}}])(?P<sign>-)\s?)?(?<![\d^])(?<!\^\{{){_VALUE}"
    rf"(?P<rest>(?:(?:[-+*/^.:'x]{{1,3}}{_MONEY}?|,)\d+)*)",
    re.IGNORECASE,
)
"""A number; `rest` is the remainder of a longer expression: `5-7`, `3:2`."""
_QUANTITY = re.compile(
    rf"(?P<sign>[-+]?)\s?{_VALUE}"
    r"(?P<unit>\s?[\u3040-\u9fff\uac00-\ud7a3].*|\s[a-z].*|[a-z]{2}.*)?",
    re.IGNORECASE,
)
_POWERS = {
    **{"hundred": 2, "k": 3, "thousand": 3, "lakh": 5, "m": 6, "mn": 6, "million": 6, "crore": 7},
    **{"b": 9, "bn": 9, "billion": 9, "trillion": 12, "万": 4, "萬": 4, "億": 8, "亿": 8},
}
_GROUPS = re.compile(
    r"(?<![\d.,'])(\d{1,3}(?:(?: \d{3})+|(?:'\d{3})+|(?:\.\d{3})+(?=,\d)|(?:\.\d{3}){2,})"
    r"|\d{1,2}(?:,\d{2})+,\d{3})(?:[.,](\d+))?(?![ .,']?\d)"
)
"""Digits grouped by spaces, apostrophes, points (one: only before a comma) or as in India."""
_DECIMAL_COMMA = re.compile(r"(?<![\w.,])(\d+),(\d\d?|\d{4,}|(?<=\b0,)\d+)(?![\d,]|\.\d)")
_DIGIT_IN_UNIT = re.compile(r"(?<![\^a-z-])\d", re.IGNORECASE)
"""A digit inside a supposed unit, which is then no unit."""
_NOT_UNITS = frozenset(
    ("pi", "sqrt", "e", "i", "x", "y", "z", "n", "or", "and", "to", "plus", "minus", "times", "log")
)
_CHOICE = re.compile(r"\(?([A-Za-z])[).:]*")
_GROUPED = re.compile(r"(?<=\d)(?:\{,\}|,?\\!\s?|\\,)(?=\d{3}(?!\d))")
"""LaTeX separators between groups of digits: `1{,}000`, `1,\\!000`, `1\\,000`."""
KEYBOARD = {0xFEE0 + code: code for code in range(33, 127)} | str.maketrans(
    "\u00b7\u22c5\u2219\u00d7\u2715\u2217\u00f7\u2215\u2212\u2010\u2011\u2012\u2013"
    "\u066b\u066c\u3001\u2019\xa0\u2007\u2009\u202f\u3000",
    "******//-----.,,'     ",
)
"""Typographic signs and their ASCII equivalents, one character each."""
_MINUS = re.compile(r"\b(?:minus|negative)\s+(?=[$€£]?\.?\d)", re.IGNORECASE)
_SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻"
_EXPONENT_SIGNS = re.compile(f"[{_SUPERSCRIPTS}]+")
_SIGNS = (
    KEYBOARD
    | str.maketrans(_SUPERSCRIPTS, "0123456789-")
    | {ord(sign): f" {normalize('NFKC', sign)}" for sign in "¼½¾⅐⅑⅒⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞"}
    | {ord("\u03c0"): r"\pi ", ord("\u3002"): ". "}
)
_ARGUMENT = r"\s*(?:\{([^{}]*)\}|([0-9a-z]|\\pi))"
_BARE_FRACTION = re.compile(rf"\\frac{_ARGUMENT}{_ARGUMENT}", re.I)
_STYLED = re.compile(r"\\[dt]frac")
_MIXED = re.compile(
    r"(?<![\w.,})/])(\d{1,9})(?:\s*\\frac\{(\d{1,9})\}\{(\d{1,9})\}|\s{1,2}(\d{1,3})/(\d{1,3})(?!\w|\.\d))"
)
_NAMED = re.compile(r"^\s*[a-z]\s*=\s*(?=[^=]+$)", re.I)
_ROUGHLY = re.compile(r"^\s*(?:approximately|about|\\approx|\u2248)\s*(?=[-+\d.\\])", re.I)
_FRACTION = re.compile(rf"(?<!\d)\\[dt]?frac\s*\{{(-?{_DIGITS})\}}\s*\{{({_DIGITS})\}}")
_WRAPPER = re.compile(r"\\(?:boxed|fbox|text|textbf|mathrm|mathbf|mbox)\s*\{([^{}]*)\}")
"""LaTeX commands that only change the look of words."""
_EXPONENT = re.compile(r"\^\{(?:([0-9a-z]|\\circ)\}(?!\d)|(-?\d+)\}(?![0-9a-z]))", re.I)
"""An exponent that needs no braces, unlike `2^{n+1}`."""
_ROOT = re.compile(r"\\sqrt(?:\s*(\d)|\s+([a-z]))", re.I)
_QUOTIENT = re.compile(
    r"(?<![^\s(\[,])(-?)(\d*(?:\\pi|\\sqrt\{\d+\}|[a-z]))\s?/\s?(\d+)(?![^\s)\],.])", re.I
)
_DECORATION = re.compile(
    r"\\left|\\right|\\displaystyle\b|\\[!,;:()\[\]]|\\(?=[$%])|(?<!\d)\*\*|\*\*(?!\d)|[`\"]"
    r"|\$(?!\d[\d.,]*+(?:k|[mb]n?)\b(?!\$))",
    re.IGNORECASE,
)
"""Keeps a currency sign that gives a letter its meaning: `$5m`."""
_SPACE_BEFORE_COMMAND = re.compile(r"(?<=\S)\s{1,20}(?=\\)")
_BEGINNING = re.compile(r"^(?:[ *_]|\.(?!\d))+")
_SPACE = re.compile(r"\s(?![^\W_])|(?<![^\W_])\s")
"""A space that separates no words."""


def _improper(match: re.Match[str]) -> str:
    """Writes a mixed number as one fraction."""
    whole, top, bottom = match[1], match[2] or match[4], match[3] or match[5]
    return f"{int(whole) * int(bottom) + int(top)}/{bottom}"


_Rewriting = tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]
_FRACTIONS: tuple[_Rewriting, ...] = (
    (_STYLED, r"\\frac"),
    (_BARE_FRACTION, r"\\frac{\1\2}{\3\4}"),
    (_MIXED, _improper),
    (_FRACTION, r"\1/\2"),
)
_REWRITINGS: tuple[_Rewriting, ...] = (
    (_WRAPPER, r"\1"),
    (_WRAPPER, r"\1"),  # again for \boxed{\text{…}}
    *_FRACTIONS,
    (_EXPONENT, r"^\1\2"),
    (_ROOT, r"\\sqrt{\1\2}"),
    (_DECORATION, ""),
    (_NAMED, ""),
    (_ROUGHLY, ""),
    (_SPACE_BEFORE_COMMAND, ""),
    (_QUOTIENT, r"\1\\frac{\2}{\3}"),
)
_SEPARATOR = re.compile(r"([\[\](){},;])")


def canonical(text: str) -> str:
    r"""Returns an answer in canonical form; equal answers give equal texts.

    >>> canonical("$1,200.50."), canonical(r"\frac{3}{4}"), canonical("(b)"), canonical("[1.0, 2]")
    ('1200.5', '0.75', 'B', '1, 2')
    """
    if len(text) > LONGEST_NUMBER:
        return " ".join(text.split())
    tidied = tidy(text)
    if choice := _CHOICE.fullmatch(tidied):
        return choice[1].upper()
    if number(tidied) is None and _SEPARATOR.search(tidied):
        if tidied.startswith("[") and tidied.find("]") == len(tidied) - 1:
            tidied = tidied[1:-1]
        return "".join(
            f"{part} " if part in (",", ";") else _scalar(part) for part in _SEPARATOR.split(tidied)
        )
    return _scalar(tidied)


def tidy(text: str) -> str:
    """Strips LaTeX and Markdown decoration and extra spaces.

    It also drops the name before a value (`x = 5`) and words such as `about`.
    """
    text = plain(text)
    for pattern, replacement in _REWRITINGS:
        text = pattern.sub(replacement, text)
    return _BEGINNING.sub("", " ".join(text.split())).rstrip(" .*_")


def number(text: str) -> Fraction | None:
    """Returns the exact value of a text that is one number, perhaps with a unit; else None."""
    if len(text) > LONGEST_NUMBER:
        return None
    match = _QUANTITY.fullmatch(_GROUPS.sub(_ungrouped, text.strip()))
    if match is None or _DIGIT_IN_UNIT.search(unit := match["unit"] or ""):
        return None
    if match["scale"] in ("k", "K") and not match["money"]:  # `2k` may be a formula.
        return None
    if unit and re.split(r"\W", unit.strip().lower())[0] in _NOT_UNITS:
        return None
    return _value(match)


def numbers_in(text: str) -> list[str | None]:
    """Returns the numbers of a text, in order and in canonical form.

    None stands for a number that is ambiguous, too large or part of an expression: `5-7`, `3:2`.
    """
    text = plain(text)
    for pattern, replacement in (*_FRACTIONS, (_GROUPS, _ungrouped), (_DECIMAL_COMMA, r"\1.\2")):
        text = pattern.sub(replacement, text)
    values = (None if each["rest"] else _value(each) for each in _NUMBER.finditer(text))
    return [None if value is None else decimal(value) for value in values]


def decimal(value: Fraction) -> str:
    """Returns a number as a decimal where that is exact, else as a fraction."""
    max_places = 4 * (MOST_DIGITS + MOST_ZEROS)
    places = next((each for each in range(max_places) if 10**each % value.denominator == 0), None)
    if places is None:
        return str(value)
    digits = str(abs(value.numerator) * 10**places // value.denominator).zfill(places + 1)
    cut = len(digits) - places
    return f"{'-' if value < 0 else ''}{digits[:cut]}{'.' if places else ''}{digits[cut:]}"


def plain(text: str) -> str:
    """Replaces typographic signs by ASCII and joins digits that LaTeX groups."""
    text = _EXPONENT_SIGNS.sub(r"^\g<0>", text).translate(_SIGNS)
    return _MINUS.sub("-", _GROUPED.sub("", text.replace("\u2044", "/")))


def _ungrouped(match: re.Match[str]) -> str:
    whole = re.sub(r"\D", "", match[1])
    return f"{whole}.{match[2]}" if match[2] else whole


def _value(match: re.Match[str]) -> Fraction | None:
    """Returns the value of a `_VALUE` match; None if ambiguous, too large or a power not of ten."""
    top, bottom = _exact(match["top"]), _exact(match["bottom"] or "1")
    if match["unsure"] is not None or (match["tens"] and top != 10):
        return None
    # Powers are exact, so a large one would exhaust memory.
    exponent = match["power"] or match["tens"] or "0"
    power = int(exponent) - bool(match["tens"]) if len(exponent) < 4 else MOST_ZEROS + 1
    power += _POWERS.get((match["scale"] or "").strip(" -").lower().removesuffix("s"), 0)
    if top is None or not bottom or abs(power) > MOST_ZEROS:
        return None
    value = top / bottom * Fraction(10) ** power
    return -value if "-" in (match["sign"], match["minus"]) else value


def _scalar(text: str) -> str:
    text = text.strip()
    value = number(text)
    return _SPACE.sub("", text).casefold() if value is None else decimal(value)


def _exact(digits: str) -> Fraction | None:
    ungrouped = digits.replace(",", "")
    return Fraction(ungrouped) if len(ungrouped) <= MOST_DIGITS else None
