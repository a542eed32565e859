"""The nine question types of Tree-of-Mixed-Thought in both styles (appendix A.1): meaning and text.

Each type draws references to objects of a scene, decides what to ask about them, and words the
question as the templates of the public data sets do. A draw may end in a `DeadEnd`.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from random import Random
from typing import Literal

from thoughtgraph.bench.questions.descriptions import group_description, words_of
from thoughtgraph.bench.questions.draft_builder import DeadEnd, DraftBuilder, QuestionDraft
from thoughtgraph.bench.questions.gold_answers import Ask, Reference, matching
from thoughtgraph.tools.scenes.scene import Part, Scene
from thoughtgraph.tools.scenes.vocabulary import COLORS, PARTS, plural

Type = Literal[
    "short", "long", "sum", "compare", "logic", "query_part", "exist", "count", "analogy"
]
Links = tuple[tuple[str, int], ...]
"""Relations to other references, as in `Reference.links`."""


def draft(kind: Type, scene: Scene, rng: Random) -> QuestionDraft | None:
    """Returns a random, unchecked question of a type on a scene; None for a dead end."""
    try:
        return _DRAWS[kind](DraftBuilder(scene, rng))
    except DeadEnd:
        return None


def _dead_end_if(senseless: bool) -> None:
    """Raises `DeadEnd` if a draw makes no sense."""
    if senseless:
        raise DeadEnd


def _chain(hops: int, d: DraftBuilder) -> QuestionDraft:
    at = d.target()
    for _ in range(hops - 1):
        name, domain = d.around(at)
        at = d.target(domain=domain, links=((name, at),))
    name, domain = d.around(at)
    return _last_question(d, ((name, at),), domain)


def _logic(d: DraftBuilder) -> QuestionDraft:
    first, second = d.targets(2)
    (one, left), (two, right) = d.around(first), d.around(second)
    _dead_end_if(left & right in (left, right))
    return _last_question(d, ((one, first), (two, second)), left & right)


def _last_question(d: DraftBuilder, links: Links, domain: frozenset[int]) -> QuestionDraft:
    """Finishes a draft with a random ask about objects of the domain that the links describe."""
    kinds = ["count", "exist", "attribute", "attribute"]
    if d.scene.style == "ptr":
        kinds = ["count", "exist", "attribute", "color", "number", "part"]
    kind = d.rng.choice(kinds)
    if kind not in ("count", "exist"):
        return _ask_about_one(d, kind, links, domain)
    many = group_description(d.scene, domain, d.rng)
    _dead_end_if(len(matching(d.scene, many)) <= len(matching(d.scene, many) & domain))
    at = d.add(replace(many, links=links))
    verb = "are" if len(links) == 2 else d.rng.choice(("that are", "are"))
    lead = "how many {}" if kind == "count" else "are there any {}"
    tail = d.text(at, many=True)
    if kind == "count" and verb != "are" and d.scene.style == "clevr":
        tail += " are there"
    elif kind == "count":
        tail = tail.replace(" that are ", " are ", 1)
    return d.draft(f"{lead.format(tail)}?", Ask(kind, at))


def _ask_about_one(
    d: DraftBuilder, kind: str, links: Links, domain: frozenset[int]
) -> QuestionDraft:
    if kind == "attribute":
        attribute = d.askable_attribute()
        at = d.target(frozenset([attribute]), domain, links)
        return d.draft(_attribute_question(d, attribute, d.text(at)), Ask(attribute, at))
    part = d.rng.choice(PARTS)
    at = d.target(frozenset([part]), domain, links)
    parts = d.parts(at)
    if kind == "part":
        color = d.rng.choice(sorted({each.color or "" for each in parts.values()}))
        question = f"what is the category of the {color} part of {d.text(at)}?"
        group = d.references[at].group
        _dead_end_if(group is not None and group.color == color)
        return d.draft(question, Ask("part", at, color))
    if part not in parts:
        part = d.rng.choice(sorted(parts))
    _dead_end_if(part in words_of(d.references[at]))
    target = d.text(at)
    phrases = {
        "color": f"what is the color of the {_part_noun(parts, part)} of {target}?",
        "number": f"how many {plural(part)} does {target} have?",
    }
    return d.draft(phrases[kind], Ask(kind, at, part))


def _part_noun(parts: Mapping[str, Part], part: str) -> str:
    """Returns the noun of a part, in the plural if the object has several of it."""
    return plural(part) if parts[part].count > 1 else part


def _attribute_question(d: DraftBuilder, wanted: str, target: str) -> str:
    if d.scene.style == "ptr":
        return f"what is the category of {target}?"
    if wanted == "material":
        return d.rng.choice((f"what is {target} made of?", f"what material is {target}?"))
    word = "shape" if wanted == "category" else wanted
    return d.rng.choice((f"what {word} is {target}?", f"what is the {word} of {target}?"))


def _two_counts(d: DraftBuilder) -> tuple[Ask, Ask, str, str]:
    """Draws two counts with their texts: each counts a part (PTR) or objects (CLEVR)."""
    if d.scene.style == "clevr":
        counted = [d.add(group_description(d.scene, d.all, d.rng)) for _ in range(2)]
        first, second = (words_of(d.references[at]) for at in counted)
        _dead_end_if(not (first and second) or first == second)
        one, two = (d.text(at, many=True) for at in counted)
        return Ask("count", counted[0]), Ask("count", counted[1]), one, two
    asks, texts = [], []
    for _ in range(2):
        at = d.target()
        part = d.rng.choice(sorted(d.parts(at)))
        _dead_end_if(part in words_of(d.references[at]))
        asks.append(Ask("number", at, part))
        texts.append(f"{plural(part)} in {d.text(at)}")
    return asks[0], asks[1], texts[0], texts[1]


def _sum(d: DraftBuilder) -> QuestionDraft:
    first, second, first_text, second_text = _two_counts(d)
    comma = "," if d.scene.style == "ptr" else ""
    counts = f"{first_text}{comma} and the number of {second_text}"
    question = f"what is the sum of the number of {counts}?"
    return d.draft(question, first, second, join="sum")


def _compare(d: DraftBuilder) -> QuestionDraft:
    if d.scene.style == "clevr" and d.rng.random() < 0.3:
        return _same_attribute(d)
    first, second, one, two = _two_counts(d)
    join = d.rng.choice(("equal", "more", "fewer", "more_by", "fewer_by"))
    comma = "," if d.scene.style == "ptr" else ""
    word = "more" if join.startswith("more") else "fewer"
    texts = {
        "equal": f"are there an equal number of {one}{comma} and {two}?",
        word: f"are there {word} {one}{comma} than {two}?",
        f"{word}_by": f"how many {word} {one}{comma} than the number of {two}?",
    }
    if d.scene.style == "clevr":
        texts[f"{word}_by"] = f"how many {word} {one} are there than {two}?"
    return d.draft(texts[join], first, second, join=join)


def _same_attribute(d: DraftBuilder) -> QuestionDraft:
    wanted = d.askable_attribute()
    first, second = d.targets(2, frozenset([wanted]))
    word = "shape" if wanted == "category" else wanted
    one, two = d.text(first), d.text(second)
    question = d.rng.choice(
        (f"do {one} and {two} have the same {word}?", f"does {one} have the same {word} as {two}?")
    )
    return d.draft(question, Ask(wanted, first), Ask(wanted, second), join="equal")


def _query_part(d: DraftBuilder) -> QuestionDraft:
    shared = d.askable_attribute()
    first = d.target(frozenset([shared]))
    other = d.add(Reference(same=(shared, None, first)))
    if d.scene.style == "ptr":
        color = d.rng.choice(COLORS)
        question = (
            f"what is the category of the {color} part of the thing that is of the same category "
            f"as {d.text(first)}?"
        )
        return d.draft(question, Ask("part", other, color))
    wanted = d.askable_attribute()
    _dead_end_if(wanted == shared)
    thing = d.phrasing.words(Reference())
    target = f"the other {thing} that is {_sharing_words(d, shared)} as {d.text(first)}"
    return d.draft(_attribute_question(d, wanted, target), Ask(wanted, other))


def _exist(d: DraftBuilder) -> QuestionDraft:
    other, things, condition = _sharing(d)
    return d.draft(f"are there any {things} that {condition}?", Ask("exist", other))


def _count(d: DraftBuilder) -> QuestionDraft:
    if d.scene.style == "ptr" and d.rng.random() < 0.35:
        return _count_of_other(d)
    other, things, condition = _sharing(d)
    return d.draft(f"how many {things} {condition}?", Ask("count", other))


def _sharing(d: DraftBuilder) -> tuple[int, str, str]:
    """Draws a reference to objects that share something with another: index, noun, condition."""
    kind = d.askable_attribute()
    if d.scene.style == "ptr":
        kind = d.rng.choice(("category", "color", "number"))
    part = d.rng.choice(PARTS) if kind != "category" and d.scene.style == "ptr" else None
    first = d.target(frozenset([part or kind]))
    parts = d.parts(first)
    if part and part not in parts:
        part = d.rng.choice(sorted(parts))
        _dead_end_if(part in words_of(d.references[first]))
    other = d.add(Reference(same=(kind, part, first)))
    things = d.phrasing.words(Reference(), many=True)
    if part:
        noun = plural(part) if kind == "number" else _part_noun(parts, part)
        shared = f"the same {kind} of {noun} as {d.text(first)}"
    else:
        things, shared = f"other {things}", f"{_sharing_words(d, kind)} as {d.text(first)}"
    verb = "have" if shared.startswith("the same number") or " of " in shared[4:] else "are"
    return other, things, f"{verb} {shared}"


def _sharing_words(d: DraftBuilder, attribute: str) -> str:
    if d.scene.style == "ptr":
        return f"of the same {attribute}"
    if attribute == "material":
        return "made of the same material"
    return f"the same {'shape' if attribute == 'category' else attribute}"


def _count_of_other(d: DraftBuilder) -> QuestionDraft:
    first = d.target()
    parts = d.parts(first)
    part = d.rng.choice(sorted(parts))
    _dead_end_if(part in words_of(d.references[first]))
    other = d.add(Reference(same=("color", part, first)))
    wanted = d.rng.choice(PARTS)
    question = (
        f"what is the number of the {plural(wanted)} of the thing that has the same color of "
        f"{_part_noun(parts, part)} as {d.text(first)}?"
    )
    _dead_end_if(wanted == part)
    return d.draft(question, Ask("number", other, wanted))


def _analogy(d: DraftBuilder) -> QuestionDraft:
    """Asks about the objects that have the relations to c that b has to a."""
    a, b, c = d.targets(3)
    other = d.add(Reference(like=(a, b, c)))
    kind = d.rng.choice(("attribute", "count", "exist"))
    lead = f"{d.text(a)} has certain positional relation to {d.text(b)}. by analogy, "
    target = d.text(c)
    if kind == "count":
        tail = f"how many objects does {target} have the same positional relation to?"
    elif kind == "exist":
        tail = f"is there an object that {target} has the same positional relation to?"
    else:
        kind = d.askable_attribute()  # `Ask` names the attribute itself
        word = "shape" if kind == "category" and d.scene.style == "clevr" else kind
        tail = f"{target} has the same positional relation to an object of what {word}?"
    return d.draft(lead + tail, Ask(kind, other))


_DRAWS: dict[Type, Callable[[DraftBuilder], QuestionDraft]] = {
    **{"short": partial(_chain, 1), "long": partial(_chain, 3), "sum": _sum},
    **{"compare": _compare, "logic": _logic},
    **{"query_part": _query_part, "exist": _exist, "count": _count, "analogy": _analogy},
}
TYPES: tuple[Type, ...] = tuple(_DRAWS)
"""Every question type, in the paper's order."""
