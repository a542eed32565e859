"""The words of scene graphs: the vocabulary of each data set, and the canonical form of words.

Words are compared in canonical form: lower case, singular, synonyms replaced ("Leg bars" and
"leg_bar" are both "leg bar"; "tiny shiny ball" is "small metal sphere"). CLEVR and PTR each have
their own vocabulary: a word of one means nothing in a scene of the other.
"""

import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from typing import Literal

Style = Literal["clevr", "ptr"]
Kind = Literal["category", "part", "color", "size", "material"]

LONGEST_WORD = 64
"""Characters that a word or phrase may have (ours)."""

ANY = "thing"
"""The canonical word for an object of any category."""

COLORS = ("gray", "red", "blue", "green", "brown", "purple", "cyan", "yellow")
SIZES = ("large", "small")
MATERIALS = ("metal", "rubber")
SHAPES = ("cube", "cylinder", "sphere")
FURNITURE = ("Chair", "Table", "Bed", "Refrigerator", "Cart")
PARTS = (
    *("arm", "leg", "back", "seat", "central support", "pedestal", "leg bar", "wheel"),
    *("arm vertical bar", "arm horizontal bar", "back vertical bar", "back horizontal bar"),
    *("door", "frame", "sleep area", "top", "drawer", "shelf", "body"),
)
RELATIONS = ("left", "right", "front", "behind", "above", "below")

_NUMBER_WORDS = (
    *("zero", "one", "two", "three", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve"),
)
NUMBERS: Mapping[str, int] = {word: value for value, word in enumerate(_NUMBER_WORDS)}

KINDS: Mapping[Style, Mapping[str, Kind]] = {
    "clevr": {
        **dict.fromkeys(SHAPES, "category"),
        **dict.fromkeys(COLORS, "color"),
        **dict.fromkeys(SIZES, "size"),
        **dict.fromkeys(MATERIALS, "material"),
    },
    "ptr": {
        **dict.fromkeys(map(str.lower, FURNITURE), "category"),
        **dict.fromkeys(PARTS, "part"),
        **dict.fromkeys(COLORS, "color"),
    },
}
"""The kind of each canonical word, in one table per data set."""

SYNONYMS: Mapping[str, str] = {
    **{"ball": "sphere", "block": "cube", "big": "large", "tiny": "small"},
    **{"metallic": "metal", "shiny": "metal", "matte": "rubber", "grey": "gray"},
    **{"fridge": "refrigerator", "object": ANY, "item": ANY},
}

_NOUNS = {word for kinds in KINDS.values() for text in kinds for word in text.split()}
_IRREGULAR = {"bodies": "body", "shelves": "shelf"}
SINGULARS: Mapping[str, str] = {
    **{f"{word}s": word for word in (*_NOUNS, *SYNONYMS, ANY)},
    **_IRREGULAR,
}
"""The singular of every plural that is understood; PTR itself writes "bodys"."""

_GAPS = re.compile(r"[\s_-]+")
_RELATION_PHRASE = re.compile(r"(?:(?:to|on|at|in) )?(?:the )?(\w+)(?: side)?(?: of| to)?")


@lru_cache(maxsize=4096)
def canonical(text: str) -> str:
    """Returns a word or phrase in canonical form, in which words are compared.

    >>> canonical("Leg_Bars"), canonical("tiny"), canonical("objects"), canonical("shelves")
    ('leg bar', 'small', 'thing', 'shelf')
    """
    plain = _GAPS.sub(" ", unicodedata.normalize("NFKC", text)).strip().lower()
    words = (SINGULARS.get(word, word) for word in plain.split(" "))
    return " ".join(SYNONYMS.get(word, word) for word in words)


def number_of(value: str | int) -> int | None:
    """Returns a number, also from a text: digits, zero to twelve, "a" or "an".

    Any other text gives None.
    """
    return _number_word(value) if isinstance(value, str) else value


@lru_cache(maxsize=4096)
def _number_word(text: str) -> int | None:
    plain = text.strip().lower()
    if plain in ("a", "an"):
        return 1
    if plain.isascii() and plain.isdigit() and len(plain) <= 4:
        return int(plain)
    return NUMBERS.get(plain)


@lru_cache(maxsize=4096)
def relation_of(text: str) -> str | None:
    """Returns the relation that a text names, however phrased; None for an unknown one.

    >>> relation_of("to the left of"), relation_of("in front of"), relation_of("near")
    ('left', 'front', None)
    """
    match = _RELATION_PHRASE.fullmatch(_GAPS.sub(" ", text).strip().lower())
    name = match[1] if match else ""
    name = "behind" if name == "back" else name
    return name if name in RELATIONS else None


def plural(noun: str) -> str:
    """Returns the plural of a noun of the vocabulary.

    >>> plural("leg bar"), plural("shelf"), plural("body")
    ('leg bars', 'shelves', 'bodies')
    """
    head, gap, last = noun.rpartition(" ")
    irregular = {single: many for many, single in _IRREGULAR.items()}
    return head + gap + irregular.get(last, f"{last}s")
