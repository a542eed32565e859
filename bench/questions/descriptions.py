"""Descriptions of objects: drawing one that fits, and writing it in the data sets' words."""

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
"""How the public data sets say a relation."""
DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_ALSO = {
    **{"large": ("large", "big"), "small": ("small", "tiny")},
    **{"metal": ("metal", "metallic", "shiny"), "rubber": ("rubber", "matte")},
    **{"sphere": ("sphere", "ball"), "cube": ("cube", "block")},
}
Words = frozenset[str]
"""Attributes and parts that a description may not tell, because they are asked."""


def descriptions_of(scene: Scene, at: int, hidden: Words = frozenset()) -> list[Reference]:
    """Returns every description that fits object `at`, the empty one included.

    Args:
        scene: The scene.
        at: The object.
        hidden: What may not be told: "category", "color", "size", "material", or names of parts.
    """
    each = scene.objects[at]
    nouns = [None] if "category" in hidden else [None, each.category.lower()]
    if scene.style == "clevr":
        shown = [
            word
            for kind, word in zip(("color", "size", "material"), each.attributes, strict=True)
            if kind not in hidden
        ]
        subsets = [set(some) for n in range(len(shown) + 1) for some in combinations(shown, n)]
        order = (each.attributes[1], each.attributes[0], each.attributes[2])
        texts = [tuple(word for word in order if word in some) for some in subsets]
        return [Reference(noun, words) for noun in nouns for words in texts]
    groups = [
        g for name, part in each.parts.items() if name not in hidden for g in _groups(name, part)
    ]
    return [Reference(noun, group=group) for noun in nouns for group in (None, *groups)]


def unique_description(
    scene: Scene, at: int, domain: frozenset[int], rng: Random, hidden: Words = frozenset()
) -> Reference | None:
    """Returns a random description that fits object `at` and no other object of the domain.

    In a domain that is a relation's result, the words alone must fit more objects of the scene than
    the domain leaves, so that the relation matters.
    """
    whole = len(domain) == len(scene.objects)
    choices = []
    for reference in descriptions_of(scene, at, hidden):
        words = matching(scene, reference)
        matters = _describes(reference) if whole else len(words) > 1
        if words & domain == {at} and matters:
            choices.append(reference)
    return rng.choice(choices) if choices else None


def group_description(scene: Scene, domain: frozenset[int], rng: Random) -> Reference:
    """Returns a description of some objects of the domain; the empty one half the time."""
    if not domain or rng.random() < 0.5:
        return Reference()
    choices = [
        each for each in descriptions_of(scene, rng.choice(sorted(domain))) if _describes(each)
    ]
    return rng.choice(choices)


def words_of(reference: Reference) -> Words:
    """Returns the nouns, words and parts that a description names."""
    words = {reference.noun, *reference.attributes}
    if reference.group:
        words.add(reference.group.part)
    return frozenset(word for word in words if word)


class Phrasing:
    """Writes descriptions and relations, drawing among the data set's synonyms."""

    def __init__(self, scene: Scene, rng: Random) -> None:
        self.scene = scene
        self.style: Style = scene.style
        self.rng = rng

    def words(self, reference: Reference, many: bool = False) -> str:
        """Returns the description without an article, in the plural if asked."""
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
        return self.rng.choice(_ALSO.get(word, (word,)))

    def _group(self, group: Group, reference: Reference) -> str:
        number, color, part = group
        counts = [self.scene.objects[i].parts[part].count for i in matching(self.scene, reference)]
        noun = plural(part) if (number or max(counts)) > 1 else part
        words = [color, noun] if color else [noun]
        if number == 1:
            article = "an" if words[0][0] in "aeiou" else "a"
            return " ".join([self.rng.choice(("one", article)), *words])
        return " ".join([DIGITS[number], *words] if number is not None else words)


def _describes(reference: Reference) -> bool:
    return bool(reference.noun or reference.attributes or reference.group)


def _groups(name: str, part: Part) -> list[Group]:
    numbers = (None, part.count) if part.count < 10 else (None,)
    colors = (None, part.color) if part.color else (None,)
    return [Group(number, color, name) for number in numbers for color in colors]
