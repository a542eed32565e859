"""A question about a scene as a sequence of what it names: descriptions, relations, parts, words.

The first half of reading a question (`question_reading.py` is the second). It knows the words of
CLEVR's and PTR's templates; a word it does not know makes the sequence inexact, nothing else.
"""

import re
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

from thoughtgraph.tools.scenes.scene import PartGroup
from thoughtgraph.tools.scenes.vocabulary import (
    ANY,
    KINDS,
    RELATIONS,
    SINGULARS,
    SIZES,
    SYNONYMS,
    Style,
    canonical,
    number_of,
)


class Mention(NamedTuple):
    """A description of objects in the question's own words, without what it is related to."""

    text: str
    category: str | None
    words: frozenset[str] = frozenset()
    group: PartGroup | None = None
    some: bool = False
    """Whether the group's number is only an article: "a red back"."""


class Token(NamedTuple):
    """One thing the question says, in order.

    `kind` is mention (`at` counts them), relation, part, shade (a color before "part") or word.
    """

    kind: str
    text: str
    at: int = -1


@dataclass(frozen=True, slots=True)
class Tokens:
    """What a question says, in order.

    Attributes:
        items: Everything but punctuation.
        mentions: The descriptions among them.
        content: The vocabulary's words in it, relations included, numbers as digits.
        known: Whether every word is one of the templates', in a place where they have it.
    """

    items: tuple[Token, ...]
    mentions: tuple[Mention, ...]
    content: frozenset[str]
    known: bool


FUNCTION_WORDS = frozenset(
    (
        *("a", "also", "an", "analogy", "and", "another", "any", "anything", "are", "as", "both"),
        *("by", "category", "certain", "color", "do", "does", "else", "equal", "fewer", "greater"),
        *("has", "have", "how", "in", "is", "it", "its", "less", "made", "many", "material"),
        *("more", "number", "of", "on", "other", "part", "positional", "relation", "same", "shape"),
        *("size", "sum", "than", "that", "the", "there", "to", "visible", "what", "which", "with"),
    )
)
"""The words of the public templates that name nothing of a scene."""

_TOKEN = re.compile(r"[a-z]+|\d+")


def tokenize(question: str, style: Style) -> Tokens:
    """Returns what a question says, for a scene of that style."""
    return _Lexer(question, style).scan()


def quoted(question: str, meaning: str) -> str:
    """Returns the question's own words for one of its `content`: "six" for 6, "legs" for leg."""
    own = _TOKEN.findall(question.lower())
    for at, size in product(range(len(own)), (1, 2, 3)):
        words = " ".join(own[at : at + size])
        if meaning in (canonical(words), str(number_of(words))):
            return words
    return meaning


class _Lexer:
    def __init__(self, question: str, style: Style) -> None:
        self.own = _TOKEN.findall(question.lower())
        """The question's own words, to be quoted; `words` are the same in canonical form."""
        singular = [SINGULARS.get(word, word) for word in self.own]
        self.words = [SYNONYMS.get(word, word) for word in singular]
        self.kinds = KINDS[style]
        self.style = style
        self.at = 0
        self.items: list[Token] = []
        self.mentions: list[Mention] = []
        self.content: set[str] = set()
        self.known = True

    def scan(self) -> Tokens:
        # A relation or part of several words goes before the words that it begins with.
        read = (self.relation, self.part, self.clevr_mention, self.ptr_mention, self.shade)
        while self.at < len(self.words):
            names = self.words[self.at] in _NAMING
            if not (names and any(step() for step in read)):
                self.word()
        return Tokens(tuple(self.items), tuple(self.mentions), frozenset(self.content), self.known)

    def relation(self) -> bool:
        for phrase, name in _RELATIONS.get(self.words[self.at], ()):
            if self.next_is(phrase):
                self.at += len(phrase)
                self.content.add(name)
                self.items.append(Token("relation", name))
                return True
        return False

    def part(self) -> bool:
        found = self.part_here(self.at)
        if found is None:
            return False
        self.at += len(found.split())
        self.content.add(found)
        self.items.append(Token("part", found))
        return True

    def clevr_mention(self) -> bool:
        if self.style != "clevr":
            return False
        end = self.at
        while self.kind(end) in ("color", "size", "material"):
            end += 1
        noun = "" if end >= len(self.words) else self.words[end]
        if noun not in (ANY, "anything") and self.kind(end) != "category":
            return False
        words = self.words[self.at : end]
        category = noun if self.kind(end) == "category" else None
        begin, self.at = self.at, end + 1
        self.mention(begin, category, words=frozenset(words))
        return True

    def ptr_mention(self) -> bool:
        noun = self.words[self.at]
        if self.style != "ptr" or (noun != ANY and self.kind(self.at) != "category"):
            return False
        begin = self.at
        self.at += 1
        category = noun if noun != ANY else None
        if not self.next_is(("with",)):
            self.mention(begin, category)
            return True
        color, here = None, self.at + 1
        first = "" if here >= len(self.words) else self.words[here]
        article, number = first in ("a", "an"), number_of(first)
        if number is not None:
            here += 1
        if self.kind(here) == "color":
            color, here = self.words[here], here + 1
        part = self.part_here(here)
        if part is None:
            self.mention(begin, category)
            return True
        self.at = here + len(part.split())
        self.mention(begin, category, group=PartGroup(number, color, part), some=article)
        return True

    def mention(
        self,
        begin: int,
        category: str | None,
        words: frozenset[str] = frozenset(),
        group: PartGroup | None = None,
        some: bool = False,
    ) -> None:
        """Keeps a description that reaches from a word to where the lexer stands."""
        text = " ".join(self.own[begin : self.at])
        self.content |= {*words, *([category] if category else [])}
        if group:
            counts = [str(group.number)] if group.number is not None and not some else []
            self.content |= {*counts, *(each for each in group[1:] if each)}
        self.items.append(Token("mention", text, len(self.mentions)))
        self.mentions.append(Mention(text, category, words, group, some))

    def shade(self) -> bool:
        if self.kind(self.at) != "color" or self.words[self.at + 1 : self.at + 2] != ["part"]:
            return False
        self.content.add(self.words[self.at])
        self.items.append(Token("shade", self.words[self.at]))
        self.at += 2
        return True

    def word(self) -> None:
        word = self.words[self.at]
        if word in SIZES and self.words[self.at - 1] == "how":
            word = "size"  # "how big is it"
        elif word in self.kinds:
            self.content.add(word)
        elif word not in FUNCTION_WORDS and (number := number_of(word)) is not None:
            self.content.add(str(number))
        self.known = self.known and word in FUNCTION_WORDS
        self.items.append(Token("word", word))
        self.at += 1

    def next_is(self, phrase: tuple[str, ...]) -> bool:
        return tuple(self.words[self.at : self.at + len(phrase)]) == phrase

    def kind(self, at: int) -> str | None:
        return self.kinds.get(self.words[at]) if at < len(self.words) else None

    def part_here(self, at: int) -> str | None:
        if self.style != "ptr":
            return None
        texts = (" ".join(self.words[at : at + length]) for length in (3, 2, 1))
        return next((text for text in texts if self.kinds.get(text) == "part"), None)


def _phrases() -> dict[str, list[tuple[tuple[str, ...], str]]]:
    """Returns the phrases of relations by their first word."""
    texts = {name: name for name in RELATIONS if name not in ("left", "right", "front")}
    texts["in front of"] = "front"
    for side in ("left", "right"):
        for phrase in (f"to the {side} of", f"on the {side} side of", f"{side} of"):
            texts[phrase] = side
    phrases: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for text, name in texts.items():
        words = tuple(text.split())
        phrases.setdefault(words[0], []).append((words, name))
    return phrases


_RELATIONS = _phrases()
_NAMING = frozenset(
    (
        *_RELATIONS,
        *(text.partition(" ")[0] for kinds in KINDS.values() for text in kinds),
        *(ANY, "anything"),
    )
)
"""The first words of everything that is not a function word."""
