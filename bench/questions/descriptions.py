"""Draws descriptions that fit objects, and writes them in the words of the data sets."""

from itertools import combinations
from random import Random

from thoughtgraph.bench.questions.gold_answers import Group, Reference, matching
from thoughtgraph.tools.scenes.scene import Part, Scene
from thoughtgraph.tools.scenes.vocabulary import Style, plural

PHRASES = {
    "left": ("left of", "to the left of", "on the left side of"),
    "right": ("right of", "to the right of", "on the right side of"),
    "front": ("in front of",),
    "behind": ("behind",),
}
"""The phrases of the public data sets for each relation."""
DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_SYNONYMS = {
    **{"large": ("large", "big"), "small": ("small", "tiny")},
    **{"metal": ("metal", "metallic", "shiny"), "rubber": ("rubber", "matte")},
    **{"sphere": ("sphere", "ball"), "cube": ("cube", "block")},
}
Words = frozenset[str]
"""Attributes and parts that a description must not name, because the question asks for them."""


def descriptions_of(scene: Scene, at: int, hidden: Words = frozenset()) -> list[Reference]:
    """Returns every description that fits object `at`, the empty one included.

    Args:
        scene: The scene.
        at: Index of the object.
        hidden: Words to leave out: "category", "color", "size", "material", or names of parts.
    """
    each = scene.objects[at]
    nouns = [None] if "category" in hidden else [None, each.category.lower()]
    if scene.style == "clevr":
        visible = [
            word
            for kind, word in zip(("color", "size", "material"), each.attributes, strict=True)
            if kind not in hidden
        ]
        choices = [set(some) for n in range(len(visible) + 1) for some in combinations(visible, n)]
        in_order = (each.attributes[1], each.attributes[0], each.attributes[2])
        texts = [tuple(word for word in in_order if word in some) for some in choices]
        return [Reference(noun, words) for noun in nouns for words in texts]
    groups = [
        g for name, part in each.parts.items() if name not in hidden for g in _groups(name, part)
    ]
    return [Reference(noun, group=group) for noun in nouns for group in (None, *groups)]


def unique_description(
    scene: Scene, at: int, domain: frozenset[int], rng: Random, hidden: Words = frozenset()
) -> Reference | None:
    """Returns a random description that fits object `at` and no other object of the domain.

    If the domain is the result of a relation, the description must fit other objects of the scene
    outside the domain, so that the question depends on the relation.
    """
    whole = len(domain) == len(scene.objects)
    choices = []
    for reference in descriptions_of(scene, at, hidden):
        words = matching(scene, reference)
        matters = _is_specific(reference) if whole else len(words) > 1
        if words & domain == {at} and matters:
            choices.append(reference)
    return rng.choice(choices) if choices else None


def group_description(scene: Scene, domain: frozenset[int], rng: Random) -> Reference:
    """Returns a description of some objects of the domain; the empty one half the time."""
    if not domain or rng.random() < 0.5:
        return Reference()
    choices = [
        each for each in descriptions_of(scene, rng.choice(sorted(domain))) if _is_specific(each)
    ]
    return rng.choice(choices)


def words_of(reference: Reference) -> Words:
    """Returns the nouns, words and parts that a description names."""
    words = {reference.noun, *reference.attributes}
    if reference.group:
        words.add(reference.group.part)
    return frozenset(word for word in words if word)


class Phrasing:
    """Writes descriptions and relations with random synonyms of the data set."""

    def __init__(self, scene: Scene, rng: Random) -> None:
        self.scene = scene
        self.style: Style = scene.style
        self.rng = rng

    def words(self, reference: Reference, many: bool = False) -> str:
        """Returns the description without an article; in the plural if `many`."""
        noun = self._noun(reference, many)
        if self.style == "clevr":
            return " ".join([*map(self._word, reference.attributes), noun])
        if reference.group is None:
            return noun
        return f"{noun} with {self._group(reference.group, reference)}"

    def relation(self, name: str) -> str:
        """Returns a phrase for a relation: "to the left of"."""
        return self.rng.choice(PHRASES[name])

    def _noun(self, reference: Reference, many: bool) -> str:
        noun = reference.noun or self.rng.choice(("thing", "object"))
        noun = self._word(noun) if self.style == "clevr" else noun
        return plural(noun) if many else noun

    def _word(self, word: str) -> str:
        return self.rng.choice(_SYNONYMS.get(word, (word,)))

    def _group(self, group: Group, reference: Reference) -> str:
        number, color, part = group
        counts = [self.scene.objects[i].parts[part].count for i in matching(self.scene, reference)]
        noun = plural(part) if (number or max(counts)) > 1 else part
        words = [color, noun] if color else [noun]
        if number == 1:
            article = "an" if words[0][0] in "aeiou" else "a"
            return " ".join([self.rng.choice(("one", article)), *words])
        return " ".join([DIGITS[number], *words] if number is not None else words)


def _is_specific(reference: Reference) -> bool:
    return bool(reference.noun or reference.attributes or reference.group)


def _groups(name: str, part: Part) -> list[Group]:
    numbers = (None, part.count) if part.count < 10 else (None,)
    colors = (None, part.color) if part.color else (None,)
    return [Group(number, color, name) for number in numbers for color in colors]
