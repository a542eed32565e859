"""Builds drafts of questions on a scene: references to objects, and their texts."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from random import Random
from typing import NamedTuple

from thoughtgraph.bench.questions.descriptions import Phrasing, Words, unique_description
from thoughtgraph.bench.questions.gold_answers import Ask, Asked, Reference
from thoughtgraph.tools.scenes.scene import Part, Scene

DIRECTIONS = ("left", "right", "front", "behind")


class DeadEnd(Exception):
    """A draw that cannot become a question; the caller draws again."""


class QuestionDraft(NamedTuple):
    """A question before its check."""

    question: str
    references: tuple[Reference, ...]
    wanted: Asked


class DraftBuilder:
    """Builds one random question on a scene, reference by reference."""

    def __init__(self, scene: Scene, rng: Random) -> None:
        self.scene, self.rng = scene, rng
        self.phrasing = Phrasing(scene, rng)
        self.all = frozenset(range(len(scene.objects)))
        self.references: list[Reference] = []
        self.objects: list[int] = []

    def draft(self, question: str, *asks: Ask, join: str | None = None) -> QuestionDraft:
        text = question if self.scene.style == "ptr" else question[0].upper() + question[1:]
        return QuestionDraft(text, tuple(self.references), Asked(join, asks))

    def target(
        self,
        hidden: Words = frozenset(),
        domain: frozenset[int] | None = None,
        links: tuple[tuple[str, int], ...] = (),
    ) -> int:
        """Adds a reference to one new object of the domain; returns the reference's index.

        Raises:
            DeadEnd: The domain has no new object, or the drawn object has no unique description.
        """
        among = self.all if domain is None else domain
        pool = sorted(among - set(self.objects))
        at = self.rng.choice(pool) if pool else -1
        reference = unique_description(self.scene, at, among, self.rng, hidden) if pool else None
        if reference is None:
            raise DeadEnd
        return self.add(replace(reference, links=links), at)

    def targets(self, count: int, hidden: Words = frozenset()) -> list[int]:
        """Adds several references by `target`, and draws all even if one is a dead end.

        Raises:
            DeadEnd: At least one of them is.
        """
        indices: list[int] = []
        for _ in range(count):
            with suppress(DeadEnd):
                indices.append(self.target(hidden))
        if len(indices) < count:
            raise DeadEnd
        return indices

    def add(self, reference: Reference, at: int = -1) -> int:
        self.references.append(reference)
        self.objects.append(at)
        return len(self.references) - 1

    def parts(self, at: int) -> Mapping[str, Part]:
        """Returns the parts of the object that reference `at` means."""
        return self.scene.objects[self.objects[at]].parts

    def around(self, of: int) -> tuple[str, frozenset[int]]:
        """Returns a random relation and the objects that have it to reference `of`."""
        name = self.rng.choice(DIRECTIONS)
        return name, frozenset(self.scene.relationships[name][self.objects[of]])

    def text(self, at: int, many: bool = False, article: bool = True) -> str:
        """Returns the text of a reference and its links: "the bed left of the cart"."""
        each = self.references[at]
        words = self.phrasing.words(each, many)
        phrases = [
            f"{self.phrasing.relation(name)} {self.text(other)}" for name, other in each.links
        ]
        verb = "are" if many else "is"
        both = "both " if len(phrases) == 2 else ""
        tail = f" that {verb} {both}{' and '.join(phrases)}" if phrases else ""
        return f"the {words}{tail}" if article and not many else f"{words}{tail}"

    def askable_attribute(self) -> str:
        """Returns a property to ask of an object: its category, or for CLEVR also an attribute."""
        if self.scene.style == "ptr":
            return "category"
        return self.rng.choice(("category", "color", "size", "material"))
