"""Reading a question about a scene: what it describes, how that hangs together, what it asks.

Questions in the words of CLEVR's and PTR's templates are read exactly: which description stands in
which relation to which other, and what is asked of which. Of any other question only the words are
known (`exact` is False). No model is asked, and no scene is looked at.
"""

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from thoughtgraph.tasks.scenes.question_tokens import Mention, Token, Tokens, tokenize
from thoughtgraph.tools.scenes.vocabulary import Style


class SameAs(NamedTuple):
    """What is the same: an attribute, the part if any (number, leg), and as whose."""

    attribute: str
    part: str | None
    other: int


class Description(NamedTuple):
    """One description of the question with what it is related to."""

    mention: Mention
    relations: tuple[tuple[str, int], ...] = ()
    shared: SameAs | None = None
    like: tuple[int, int, int] | None = None
    """Stands to the third description as the second stands to the first (analogy)."""


class Query(NamedTuple):
    """What is asked of one description.

    `kind` is count, exist, category, color, size, material, number (of a part), part (by color).
    """

    kind: str
    what: str | None
    of: int


@dataclass(frozen=True, slots=True)
class Reading:
    """What a question says.

    Attributes:
        exact: Whether it was understood completely; else only `content` and `opening` are there.
        content: The vocabulary's words in it, relations included, numbers as digits.
        descriptions: Its descriptions.
        join: How two queries are joined: sum, more_by, fewer_by, equal, more, fewer; None for one.
        queries: What is asked.
        opening: "number" or "truth" when the first words tell the kind of answer; else "".
    """

    exact: bool
    content: frozenset[str]
    descriptions: tuple[Description, ...] = ()
    join: str | None = None
    queries: tuple[Query, ...] = ()
    opening: str = ""


_ATTRIBUTES = {
    **{"color": "color", "size": "size", "shape": "category", "category": "category"},
    **{"material": "material", "made": "material", "number": "number"},
}
_MORE = {"more": "more", "greater": "more", "fewer": "fewer", "less": "fewer"}


class _Unread(Exception):
    """The question is none of the templates'."""


@lru_cache(maxsize=256)
def read(question: str, style: Style) -> Reading:
    """Returns what a question says, for a scene of that style."""
    sequence = tokenize(question, style)
    try:
        if not sequence.known or not sequence.mentions:
            raise _Unread
        return _Reader(sequence, style).read()
    except _Unread:
        words = [item.text for item in sequence.items if item.kind == "word"]
        return Reading(False, sequence.content, opening=_opening(words))


def _opening(words: list[str]) -> str:
    if {("how", "many"), ("what", "number")} & {*pairwise(words)}:
        return "number"
    return "truth" if words[:1] in (["is"], ["are"], ["do"], ["does"]) else ""


class _Reader:
    def __init__(self, sequence: Tokens, style: Style) -> None:
        self.items = sequence.items
        self.tokens = sequence
        self.style = style
        self.words = [item.text if item.kind == "word" else "" for item in self.items]
        self.relations: list[tuple[int, str, int]] = []
        self.shared: dict[int, SameAs] = {}
        self.like: dict[int, tuple[int, int, int]] = {}
        self.spoken: set[int] = set()
        """Items that say with what something is shared, and so are not asked."""

    def read(self) -> Reading:
        comparing = self.comparing()
        self.read_relations()
        if "analogy" in self.words:
            self.read_analogy()
        elif not comparing:
            self.read_shared()
        join, queries = self.read_queries(comparing)
        descriptions = tuple(self.description(at) for at in range(len(self.tokens.mentions)))
        if self.reached(descriptions, queries) != set(range(len(descriptions))):
            raise _Unread
        words = [word for word in self.words if word]
        return Reading(True, self.tokens.content, descriptions, join, queries, _opening(words))

    def comparing(self) -> bool:
        """Whether two descriptions are compared: "do the … and the …", "…; is it the same …"."""
        verbs = ("is", "are", "do", "does")
        same = self.words.index("same") if "same" in self.words else 0
        pairs = [pair for pair in pairwise(self.words[:same]) if pair[0] in verbs]
        about = any(pair[1] in ("it", "its") for pair in pairs)
        return about or (self.words[0] in verbs and self.words[1:2] == ["the"])

    def description(self, at: int) -> Description:
        relations = tuple((name, other) for one, name, other in self.relations if one == at)
        return Description(
            self.tokens.mentions[at], relations, self.shared.get(at), self.like.get(at)
        )

    def reached(
        self, descriptions: tuple[Description, ...], queries: tuple[Query, ...]
    ) -> set[int]:
        found: set[int] = set()
        waiting = [query.of for query in queries]
        while waiting:
            at = waiting.pop()
            if at not in found:
                found.add(at)
                each = descriptions[at]
                waiting += [other for _, other in each.relations]
                waiting += [each.shared.other] if each.shared else []
                waiting += each.like or ()
        return found

    def read_relations(self) -> None:
        for at, item in enumerate(self.items):
            if item.kind != "relation":
                continue
            following = next((i for i in self.items[at + 1 :] if i.text != "the"), item)
            if following.kind == "mention":
                other = following.at
            elif following.text == "it":
                other = 0
            else:
                raise _Unread
            one = self.subject(at)
            if one == other:
                raise _Unread
            self.relations.append((one, item.text, other))

    def subject(self, at: int) -> int:
        """Returns the description that the relation at an item says something of."""
        back = at - 1
        while back > 0 and self.words[back] in ("that", "is", "are", "both"):
            back -= 1
        # "a cube left of the ball and behind the cone": both are said of the cube.
        if back >= 0 and self.words[back] == "and":
            if not self.relations:
                raise _Unread
            return self.relations[-1][0]
        return self.mention_before(at)

    def read_shared(self) -> None:
        if "same" not in self.words or "as" not in self.words:
            return
        at, to = self.words.index("same"), self.words.index("as")
        attribute = _ATTRIBUTES.get(" ".join(self.words[at + 1 : at + 2]))
        part = next((item.text for item in self.items[at:to] if item.kind == "part"), None)
        if attribute is None or self.words.count("same") > 1 or to < at:
            raise _Unread
        self.spoken = set(range(at, to))
        if self.words[at - 3 : at] == ["made", "of", "the"]:
            self.spoken.add(at - 3)
        one, other = self.mention_before(at), self.mention_after(to)
        self.shared[one] = SameAs(attribute, part, other)

    def read_analogy(self) -> None:
        """Reads "a has certain relation to b. by analogy, c has the same relation to …"."""
        at = self.words.index("analogy")
        before = [item.at for item in self.items[:at] if item.kind == "mention"]
        after = [item for item in self.items[at:] if item.kind == "mention"]
        if len(before) != 2 or len(after) != 2:
            raise _Unread
        third = next((i for i in after if self.followed_by(i, ("has", "have"))), None)
        if third is None:
            raise _Unread
        (other,) = (item for item in after if item is not third)
        self.like[other.at] = (before[0], before[1], third.at)

    def followed_by(self, item: Token, words: tuple[str, ...]) -> bool:
        at = self.items.index(item) + 1
        return at < len(self.items) and self.words[at] in words

    def read_queries(self, comparing: bool) -> tuple[str | None, tuple[Query, ...]]:
        queries = self.part_queries()
        heads = self.heads()
        join = self.join(comparing)
        if join is None:
            if queries[1:] or len(heads) != 1:
                raise _Unread
            return None, tuple(queries or [self.query_of(heads[0])])
        if not queries:
            kind = "count" if self.counting(comparing) else self.compared()
            queries = [Query(kind, None, at) for at in heads]
        if len(queries) != 2 or len({query.kind for query in queries}) != 1:
            raise _Unread
        return join, tuple(queries)

    def heads(self) -> list[int]:
        """Returns the descriptions that no other one refers to."""
        used = {other for _, _, other in self.relations}
        used |= {shared.other for shared in self.shared.values()}
        used |= {each for like in self.like.values() for each in like}
        return [at for at in range(len(self.tokens.mentions)) if at not in used]

    def join(self, comparing: bool) -> str | None:
        if "sum" in self.words:
            return "sum"
        by = next((_MORE[word] for word in self.words if word in _MORE), None)
        if by:
            return f"{by}_by" if self.words[:2] == ["how", "many"] else by
        unlike = "same" in self.words and not self.shared and not self.like
        return "equal" if comparing or "equal" in self.words or unlike else None

    def counting(self, comparing: bool) -> bool:
        return "number" in self.words or not comparing

    def compared(self) -> str:
        found = [_ATTRIBUTES[word] for word in self.words if word in _ATTRIBUTES]
        if len(set(found)) != 1:
            raise _Unread
        return found[0]

    def part_queries(self) -> list[Query]:
        queries: list[Query] = []
        for at, item in enumerate(self.items):
            if at in self.spoken or item.kind not in ("part", "shade"):
                continue
            kind = "part" if item.kind == "shade" else self.part_attribute(at)
            queries.append(Query(kind, item.text, self.mention_after(at)))
        return queries

    def part_attribute(self, at: int) -> str:
        """Returns whether a part's color or its number is asked."""
        names = {
            "color": "color",
            "number": "number",
            "many": "number",
            **dict.fromkeys(_MORE, "number"),
        }
        # "the color of the leg" names it before the part, comparisons only at their end.
        near = [names[word] for word in self.words[:at] if word in names]
        far = [names[word] for word in self.words[at:] if word in names]
        if not (near or far):
            raise _Unread
        return near[-1] if near else far[0]

    def query_of(self, head: int) -> Query:
        pairs = [*pairwise(self.words)]
        if ("how", "many") in pairs or ("what", "number") in pairs:
            return Query("count", None, head)
        asked = {
            _ATTRIBUTES[word]
            for at, word in enumerate(self.words)
            if word in _ATTRIBUTES and at not in self.spoken
        }
        if len(asked) == 1:
            return Query(asked.pop(), None, head)
        if not asked and {("is", "there"), ("are", "there"), ("are", "any")} & {*pairs}:
            return Query("exist", None, head)
        raise _Unread

    def mention_before(self, at: int) -> int:
        found = [item.at for item in self.items[:at] if item.kind == "mention"]
        if not found:
            raise _Unread
        return found[-1]

    def mention_after(self, at: int) -> int:
        found = next((item.at for item in self.items[at:] if item.kind == "mention"), None)
        if found is None:
            raise _Unread
        return found
