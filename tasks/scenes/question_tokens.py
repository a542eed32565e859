"""Tokenizes a question about a scene: descriptions, relations, parts, words.

The first half of reading a question (`question_reading.py` is the second). It knows the words of
CLEVR's and PTR's templates; a word it does not know makes the sequence inexact, nothing else.
"""

import re
from collections.abc import Iterable, Mapping
from itertools import product
from typing import NamedTuple

from thoughtgraph.tools.scenes.scene import PartGroup
from thoughtgraph.tools.scenes.vocabulary import (
    ANY,
    KINDS,
    NUMBERS,
    SIZES,
    Style,
    canonical,
    number_of,
    relation_of,
)


class Mention(NamedTuple):
    """A description in the question's own words, without relations."""

    text: str
    category: str | None = None
    words: frozenset[str] = frozenset()
    group: PartGroup | None = None
    some: bool = False
    """Whether the number is only an article: "a red back"."""


class Token(NamedTuple):
    """One token of a question."""

    kind: str
    """mention, relation, part, shade (a color before "part") or word."""
    text: str
    """The canonical word; for a mention, its number."""


class Tokens(NamedTuple):
    """What a question says, in order."""

    items: tuple[Token, ...]
    """All tokens but punctuation."""
    mentions: tuple[Mention, ...]
    """The mentions among them."""
    content: frozenset[str]
    """Vocabulary words, including relations; numbers as digits."""
    known: bool
    """Whether the templates use every word where it stands."""


FUNCTION_WORDS = frozenset(
    (
        *("a", "also", "an", "analogy", "and", "another", "any", "anything", "are", "as", "both"),
        *("by", "category", "certain", "color", "do", "does", "else", "equal", "fewer", "greater"),
        *("has", "have", "how", "in", "is", "it", "its", "less", "made", "many", "material"),
        *("more", "number", "of", "on", "other", "part", "positional", "relation", "same", "shape"),
        *("size", "sum", "than", "that", "the", "there", "to", "visible", "what", "which", "with"),
    )
)
"""Words of the public templates that name nothing of a scene."""

_WORD = re.compile(r"[a-z]+|\d+")


def _tokens(style: Style) -> re.Pattern[str]:
    """Compiles the pattern of a token among canonical words."""

    def one_of(words: Iterable[str]) -> str:
        return "|".join(sorted(words, key=len, reverse=True))

    def named(*kinds: str) -> str:
        return one_of(word for word, kind in KINDS[style].items() if kind in kinds)

    side = "(?:left|right)"
    relation = f"(?:to the )?{side} of|on the {side} side of|in front of|behind|above|below"
    category, color, part = named("category"), named("color"), named("part")
    if style == "clevr":
        attribute = named("color", "size", "material")
        # Within a row of attributes no mention begins: one before it would have matched.
        first = "".join(rf"(?<!\b{word} )" for word in attribute.split("|"))
        mention = rf"{first}(?P<words>(?:(?:{attribute}) )*+)(?P<noun>{ANY}|anything|{category})"
        part = "(?!)"
    else:
        number = rf"an?|\d{{1,4}}|{one_of(NUMBERS)}"
        group = rf"(?: (?P<number>{number}))?(?: (?P<color>{color}))? (?P<own>{part})"
        mention = rf"(?P<noun>{ANY}|{category})(?: with{group})?"
    return re.compile(
        rf"(?<!\S)(?:(?P<relation>{relation})|(?P<part>{part})|(?P<mention>{mention})"
        rf"|(?P<shade>{color}) part|(?P<word>\S+))(?!\S)"
    )


_CLEVR, _PTR = _tokens("clevr"), _tokens("ptr")


def tokenize(question: str, style: Style) -> Tokens:
    """Parses a question about a scene of a style."""
    own = _WORD.findall(question.lower())
    line = " ".join(map(canonical, own))
    items: list[Token] = []
    mentions: list[Mention] = []
    content: set[str] = set()
    for match in (_CLEVR if style == "clevr" else _PTR).finditer(line):
        kind = match.lastgroup or "word"
        text = match[kind]
        if kind == "mention":
            begin = line.count(" ", 0, match.start())
            written = " ".join(own[begin : begin + text.count(" ") + 1])
            text = str(len(mentions))
            mentions.append(_mention(written, match.groupdict()))
            content |= _content(mentions[-1])
        elif kind == "relation":
            text = relation_of(text) or ""
        elif kind == "word" and text in SIZES and line.endswith("how ", 0, match.start()):
            text = "size"  # "how big is it"
        if kind in ("relation", "part", "shade"):
            content.add(text)
        elif kind == "word":
            content |= _vocabulary(text, style)
        items.append(Token(kind, text))
    known = all(kind != "word" or text in FUNCTION_WORDS for kind, text in items)
    return Tokens(tuple(items), tuple(mentions), frozenset(content), known)


def quoted(question: str, meaning: str) -> str:
    """Returns the question's own words for a content word: "six" for 6, "legs" for leg."""
    own = _WORD.findall(question.lower())
    for at, size in product(range(len(own)), (1, 2, 3)):
        words = " ".join(own[at : at + size])
        if meaning in (canonical(words), str(number_of(words))):
            return words
    return meaning


def _mention(text: str, read: Mapping[str, str | None]) -> Mention:
    """Builds a mention from the groups of its match."""
    category = None if read["noun"] in (ANY, "anything") else read["noun"]
    words = frozenset((read.get("words") or "").split())
    if not (part := read.get("own")):
        return Mention(text, category, words)
    word = read["number"]
    number = number_of(word) if word else None
    group = PartGroup(number, read["color"], part)
    return Mention(text, category, words, group, some=word in ("a", "an"))


def _content(mention: Mention) -> set[str]:
    group = mention.group or PartGroup()
    number = None if group.number is None or mention.some else str(group.number)
    return {*filter(None, (mention.category, number, group.color, group.part)), *mention.words}


def _vocabulary(word: str, style: Style) -> set[str]:
    """Returns the content of a word that is part of no other token."""
    if word in KINDS[style]:
        return {word}
    number = None if word in FUNCTION_WORDS else number_of(word)
    return set() if number is None else {str(number)}
