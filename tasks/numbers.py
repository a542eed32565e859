r"""Canonical form of answers: numbers, choices, short lists, plain text.

Two answers are the same when their canonical texts are equal. Numbers become exact: `$1,200.50`,
`1200.5 dollars` and `\frac{2401}{2}` are `1200.5`. What a model wrote is matched, never evaluated,
with an effort linear in its length.
"""

import re
from collections.abc import Callable
from fractions import Fraction

LONGEST = 500
"""Characters of an answer that is read as more than plain text (ours)."""
MOST_DIGITS = 40
"""Digits of a number that is read exactly (ours)."""
MOST_ZEROS = 30
"""Largest power of ten that is read exactly (ours)."""

_DIGITS = r"(?:(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?|\.\d+)"
_NUMBER = re.compile(rf"(?:(?<![\w)\]}}])-\s?)?[$€£]?\s?{_DIGITS}(?:\s?/\s?{_DIGITS})?")
_QUANTITY = re.compile(
    rf"(?P<sign>[-+]?)\s?[$€£]?\s?(?P<minus>-?)(?P<top>{_DIGITS})"
    rf"(?:\s?/\s?(?P<bottom>{_DIGITS})|\s?(?:e|(?:\\times|\u00d7|\*)\s?10\s?\^)\s?(?P<power>[-+]?\d+))?"
    r"\s?(?:%|°|\^?\\circ)?(?P<unit>\s[a-z].*|[a-z]{2}.*)?",
    re.IGNORECASE,
)
_COUNT = re.compile(r"(?<![\^a-z-])\d", re.IGNORECASE)
"""A number inside what should be a unit: then it is none."""
_NOT_UNITS = frozenset(
    ("pi", "sqrt", "e", "i", "x", "y", "z", "n", "or", "and", "to", "plus", "minus", "times", "log")
)
_CHOICE = re.compile(r"\(?([A-Za-z])[).:]*")
_GROUPED = re.compile(r"(?<=\d)(?:\{,\}|,?\\!\s?|\\,)(?=\d{3}(?!\d))")
"""What LaTeX writes between groups of digits: `1{,}000`, `1,\\!000`, `1\\,000`."""
_SIGNS = str.maketrans({"\u2212": "-", "\u03c0": r"\pi "})
_ARGUMENT = r"\s*(?:\{([^{}]*)\}|([0-9a-z]|\\pi))"
_BARE_FRACTION = re.compile(rf"\\frac{_ARGUMENT}{_ARGUMENT}", re.I)
_STYLED = re.compile(r"\\[dt]frac")
_MIXED = re.compile(
    r"(?<![\w.,})/])(\d{1,9})(?:\s*\\frac\{(\d{1,9})\}\{(\d{1,9})\}|\s(\d{1,3})/(\d{1,3})(?![\w.]))"
)
_NAMED = re.compile(r"^\s*[a-z]\s*=\s*(?=[^=]+$)", re.I)
_ROUGHLY = re.compile(r"^\s*(?:approximately|about|\\approx|\u2248)\s*(?=[-+\d.\\])", re.I)
_FRACTION = re.compile(rf"(?<!\d)\\[dt]?frac\s*\{{(-?{_DIGITS})\}}\s*\{{({_DIGITS})\}}")
_WRAPPER = re.compile(r"\\(?:boxed|text|textbf|mathrm|mbox)\s*\{([^{}]*)\}")
_EXPONENT = re.compile(r"\^\{(?:([0-9a-z]|\\circ)\}(?!\d)|(-?\d+)\}(?![0-9a-z]))", re.I)
"""An exponent that is the same without its braces, unlike that of `2^{n+1}`."""
_ROOT = re.compile(r"\\sqrt(?:\s*(\d)|\s+([a-z]))", re.I)
_QUOTIENT = re.compile(
    r"(?<![^\s(\[,])(-?)(\d*(?:\\pi|\\sqrt\{\d+\}|[a-z]))\s?/\s?(\d+)(?![^\s)\],.])", re.I
)
_DECORATION = re.compile(r"\\left|\\right|\\[!,;:()\[\]]|\\(?=[$%])|\*\*|[`\"$]")
_SPACE_BEFORE_COMMAND = re.compile(r"(?<=\S)\s{1,20}(?=\\)")
_SPACE = re.compile(r"\s(?![^\W_])|(?<![^\W_])\s")
"""A space that parts no words."""


def _improper(found: re.Match[str]) -> str:
    """Writes a mixed number as one fraction."""
    whole, top, bottom = found[1], found[2] or found[4], found[3] or found[5]
    return f"{int(whole) * int(bottom) + int(top)}/{bottom}"


_PLAINER: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (_WRAPPER, r"\1"),
    (_WRAPPER, r"\1"),  # \boxed{\text{…}}
    (_STYLED, r"\\frac"),
    (_BARE_FRACTION, r"\\frac{\1\2}{\3\4}"),
    (_MIXED, _improper),
    (_FRACTION, r"\1/\2"),
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
    if len(text) > LONGEST:
        return " ".join(text.split())
    plain = tidy(text)
    if choice := _CHOICE.fullmatch(plain):
        return choice[1].upper()
    if number(plain) is None and _SEPARATOR.search(plain):
        if plain.startswith("[") and plain.find("]") == len(plain) - 1:
            plain = plain[1:-1]
        return "".join(
            f"{part} " if part in (",", ";") else _scalar(part) for part in _SEPARATOR.split(plain)
        )
    return _scalar(plain)


def tidy(text: str) -> str:
    """Returns a text without the decoration of LaTeX and Markdown, in single spaces.

    Gone, too, are the name before a value (`x = 5`) and a word that it is rounded.
    """
    text = _joined(text)
    for pattern, into in _PLAINER:
        text = pattern.sub(into, text)
    return " ".join(text.split()).strip(" .*")


def number(text: str) -> Fraction | None:
    """Returns the exact value of a text that is one number, perhaps with a unit; else None."""
    found = _QUANTITY.fullmatch(text.strip()) if len(text) <= LONGEST else None
    if found is None or _COUNT.search(unit := found["unit"] or ""):
        return None
    if unit and re.split(r"\W", unit.strip().lower())[0] in _NOT_UNITS:
        return None
    top, bottom = _exact(found["top"]), _exact(found["bottom"] or "1")
    # A power is worked out exactly: a large one would take all memory.
    power = int(found["power"] or 0) if len(found["power"] or "") < 4 else MOST_ZEROS + 1
    if top is None or not bottom or abs(power) > MOST_ZEROS:
        return None
    value = top / bottom * Fraction(10) ** power
    return -value if "-" in (found["sign"], found["minus"]) else value


def first_number(text: str) -> str | None:
    """Returns the first number in a text, in canonical form."""
    found = _NUMBER.search(_fractions(text))
    return None if found is None else _decimal_of(found[0])


def last_number(text: str) -> str | None:
    """Returns the last number in a text, in canonical form."""
    found = _NUMBER.findall(_fractions(text))
    return _decimal_of(found[-1]) if found else None


def decimal(value: Fraction) -> str:
    """Returns a number as a decimal where that is exact, else as a fraction."""
    places, rest = 0, value.denominator
    while rest % 10 == 0 or rest % 5 == 0 or rest % 2 == 0:
        rest //= 10 if rest % 10 == 0 else 5 if rest % 5 == 0 else 2
        places += 1
    if rest != 1:
        return str(value)
    digits = str(abs(value.numerator) * 10**places // value.denominator).zfill(places + 1)
    sign = "-" if value < 0 else ""
    cut = len(digits) - places
    decimals = digits[cut:].rstrip("0")
    return f"{sign}{digits[:cut]}{'.' if decimals else ''}{decimals}"


def _joined(text: str) -> str:
    """Returns a text whose numbers have no gaps, and whose signs are those of a keyboard."""
    return _GROUPED.sub("", text.translate(_SIGNS))


def _fractions(text: str) -> str:
    """Returns a text whose mixed numbers and fractions of LaTeX are written `a/b`."""
    text = _BARE_FRACTION.sub(r"\\frac{\1\2}{\3\4}", _STYLED.sub(r"\\frac", _joined(text)))
    return _FRACTION.sub(r"\1/\2", _MIXED.sub(_improper, text))


def _decimal_of(text: str) -> str | None:
    value = number(text.strip())
    return None if value is None else decimal(value)


def _scalar(text: str) -> str:
    text = text.strip()
    value = number(text)
    return _SPACE.sub("", text).casefold() if value is None else decimal(value)


def _exact(digits: str) -> Fraction | None:
    plain = digits.replace(",", "")
    return Fraction(plain) if len(plain) <= MOST_DIGITS else None
