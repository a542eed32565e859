"""Parses a question about a scene: descriptions, their relations, the query.

Questions in the words of CLEVR's and PTR's templates are read exactly: which description stands in
which relation to which other, and what is asked of which. Of any other question only the words are
known (`exact` is False). No model is asked, and no scene is looked at.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from thoughtgraph.tasks.scenes.question_tokens import Mention, Token, Tokens, tokenize
from thoughtgraph.tools.scenes.vocabulary import Style


class Query(NamedTuple):
    """A value of one description that is queried, or shared with another."""

    kind: str
    """count, exist, category, color, size, material, number (of a part), part (by color)."""
    what: str | None
    """The part, or its color; None for a whole object."""
    of: int


class Description(NamedTuple):
    """A description in the question, with its relations."""

    mention: Mention
    relations: tuple[tuple[str, int], ...] = ()
    shared: Query | None = None
    """Has this value in common with another description."""
    like: tuple[int, int, int] | None = None
    """Analogy: is to the third description as the second is to the first."""

    def others(self) -> set[int]:
        """Returns the descriptions it refers to."""
        shared = (self.shared.of,) if self.shared else ()
        return {*(other for _, other in self.relations), *shared, *(self.like or ())}


class Reading(NamedTuple):
    """What a question says."""

    exact: bool
    """Whether it was parsed completely; if not, only `content` and `opening` are set."""
    content: frozenset[str]
    """Vocabulary words, including relations; numbers as digits."""
    descriptions: tuple[Description, ...] = ()
    join: str | None = None
    """How two queries are joined: sum, more_by, fewer_by, equal, more, fewer; None for one."""
    queries: tuple[Query, ...] = ()
    """What is asked."""
    opening: str = ""
    """"number" or "truth" when the first words tell the kind of answer; else "". """


_ATTRIBUTES = {
    **{"color": "color", "size": "size", "shape": "category", "category": "category"},
    **{"material": "material", "made": "material", "number": "number"},
}
_MORE = {"more": "more", "greater": "more", "fewer": "fewer", "less": "fewer"}
_OF_PARTS = {"color": "color", **dict.fromkeys(("number", "many", *_MORE), "number")}
"""Words that ask for a part's color or number."""
_COMPARES = re.compile(r"(?:is|are|do|does) the\b")
_COMPARES_IT = re.compile(r"\b(?:is|are|do|does) its?\b")


class _Unread(Exception):
    """The question fits no template."""


@lru_cache(maxsize=256)
def read(question: str, style: Style) -> Reading:
    """Parses a question about a scene of a style."""
    tokens = tokenize(question, style)
    try:
        if not tokens.known or not tokens.mentions:
            raise _Unread
        return _Reader(tokens).read()
    except _Unread:
        words = [text for kind, text in tokens.items if kind == "word"]
        asks_number = {("how", "many"), ("what", "number")} & {*pairwise(words)}
        asks_truth = words[:1] in (["is"], ["are"], ["do"], ["does"])
        opening = "number" if asks_number else "truth" if asks_truth else ""
        return Reading(False, tokens.content, opening=opening)


class _Reader:
    def __init__(self, tokens: Tokens) -> None:
        self.tokens = tokens
        self.items = tokens.items
        self.words = [text if kind == "word" else "_" for kind, text in tokens.items]
        self.line = f"{' '.join(self.words)} "
        self.shared: dict[int, Query] = {}
        self.like: dict[int, tuple[int, int, int]] = {}
        self.spoken: set[int] = set()
        """Items that only say what is shared."""

    def read(self) -> Reading:
        relations, comparing = self.relations(), self.comparing()
        if "analogy" in self.words:
            self.read_analogy()
        elif not comparing and {"same", "as"} <= {*self.words}:
            self.read_shared()
        descriptions = tuple(
            Description(
                mention,
                tuple((name, other) for one, name, other in relations if one == at),
                self.shared.get(at),
                self.like.get(at),
            )
            for at, mention in enumerate(self.tokens.mentions)
        )
        others = {other for each in descriptions for other in each.others()}
        heads = [at for at in range(len(descriptions)) if at not in others]
        join = self.join(comparing)
        queries = self.one_query(heads) if join is None else self.two_queries(heads, comparing)
        reached = {query.of for query in queries}
        for _ in descriptions:
            reached |= {other for at in reached for other in descriptions[at].others()}
        if len(reached) != len(descriptions):
            raise _Unread
        return Reading(True, self.tokens.content, descriptions, join, tuple(queries))

    def comparing(self) -> bool:
        """Whether it compares two descriptions: "do the … and the …", "…; is it the same …"."""
        before, same, _ = self.line.partition("same ")
        return bool(_COMPARES.match(self.line) or (same and _COMPARES_IT.search(before)))

    def relations(self) -> list[tuple[int, str, int]]:
        """Returns triples of description, relation and other description."""
        relations: list[tuple[int, str, int]] = []
        for at, (kind, name) in enumerate(self.items):
            if kind != "relation":
                continue
            follows = next(
                (i for i in range(at + 1, len(self.items)) if self.words[i] != "the"), at
            )
            other = 0 if self.words[follows] == "it" else self._first(self.items[follows:][:1])
            one = self.subject(at, relations)
            if one == other:
                raise _Unread
            relations.append((one, name, other))
        return relations

    def subject(self, at: int, before: list[tuple[int, str, int]]) -> int:
        """Returns the subject of the relation at an item."""
        back = at - 1
        while back > 0 and self.words[back] in ("that", "is", "are", "both"):
            back -= 1
        if back < 0 or self.words[back] != "and":
            return self.mention_before(at)
        # "a cube left of the ball and behind the cone": the cube is the subject of both.
        if not before:
            raise _Unread
        return before[-1][0]

    def read_shared(self) -> None:
        """Reads "the same number of legs as the chair"."""
        at, to = self.words.index("same"), self.words.index("as")
        attribute = _ATTRIBUTES.get("".join(self.words[at + 1 : at + 2]))
        part = next((text for kind, text in self.items[at:to] if kind == "part"), None)
        if attribute is None or self.words.count("same") > 1 or to < at:
            raise _Unread
        self.spoken = {*range(at, to)}
        if self.words[at - 3 : at] == ["made", "of", "the"]:
            self.spoken.add(at - 3)
        self.shared[self.mention_before(at)] = Query(attribute, part, self.mention_after(to))

    def read_analogy(self) -> None:
        """Reads "a has certain relation to b. by analogy, c has the same relation to …"."""
        places = [at for at, item in enumerate(self.items) if item.kind == "mention"]
        then = self.words.index("analogy")
        if len(places) != 4 or not places[1] < then < places[2]:
            raise _Unread
        has = [self.words[at + 1 : at + 2] in (["has"], ["have"]) for at in places]
        if not (has[2] or has[3]):
            raise _Unread
        third, other = (2, 3) if has[2] else (3, 2)
        self.like[other] = (0, 1, third)

    def join(self, comparing: bool) -> str | None:
        if "sum" in self.words:
            return "sum"
        by = next((_MORE[word] for word in self.words if word in _MORE), None)
        if by:
            return f"{by}_by" if self.line.startswith("how many ") else by
        unlike = "same" in self.words and not self.shared and not self.like
        return "equal" if comparing or "equal" in self.words or unlike else None

    def one_query(self, heads: list[int]) -> list[Query]:
        queries = self.part_queries()
        if queries[1:] or len(heads) != 1:
            raise _Unread
        return queries or [Query(self.asked(), None, heads[0])]

    def two_queries(self, heads: list[int], comparing: bool) -> list[Query]:
        queries = self.part_queries()
        if not queries:
            counting = "number" in self.words or not comparing
            kind = "count" if counting else self.attribute()
            queries = [Query(kind, None, at) for at in heads]
        if len(queries) != 2 or queries[0].kind != queries[1].kind:
            raise _Unread
        return queries

    def part_queries(self) -> list[Query]:
        queries: list[Query] = []
        for at, (kind, text) in enumerate(self.items):
            if at not in self.spoken and kind in ("part", "shade"):
                attribute = "part" if kind == "shade" else self.part_attribute(at)
                queries.append(Query(attribute, text, self.mention_after(at)))
        return queries

    def part_attribute(self, at: int) -> str:
        """Returns whether a part's color or number is queried."""
        # "the color of the leg" names it before the part, comparisons at the end.
        for word in (*reversed(self.words[:at]), *self.words[at:]):
            if word in _OF_PARTS:
                return _OF_PARTS[word]
        raise _Unread

    def asked(self) -> str:
        pairs = {*pairwise(self.words)}
        if {("how", "many"), ("what", "number")} & pairs:
            return "count"
        if {("is", "there"), ("are", "there"), ("are", "any")} & pairs and not self.attributes():
            return "exist"
        return self.attribute()

    def attribute(self) -> str:
        """Returns the only attribute in question."""
        attributes = self.attributes()
        if len(attributes) != 1:
            raise _Unread
        return attributes.pop()

    def attributes(self) -> set[str]:
        named = ((at, _ATTRIBUTES.get(word)) for at, word in enumerate(self.words))
        return {each for at, each in named if each and at not in self.spoken}

    def mention_before(self, at: int) -> int:
        return self._first(reversed(self.items[:at]))

    def mention_after(self, at: int) -> int:
        return self._first(self.items[at:])

    def _first(self, items: Iterable[Token]) -> int:
        """Returns the first description among items."""
        number = next((item.text for item in items if item.kind == "mention"), None)
        if number is None:
            raise _Unread
        return int(number)
