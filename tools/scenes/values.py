"""Reads arguments of plans as values: objects, numbers, truth values, texts and relations.

Objects are an ordered tuple of indices, relations a frozenset of relation names. The other values
have Python's own types.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from thoughtgraph.errors import InputError
from thoughtgraph.tools.scenes.scene import Scene
from thoughtgraph.tools.scenes.vocabulary import (
    ANY,
    KINDS,
    LONGEST_WORD,
    Kind,
    canonical,
    number_of,
    relation_of,
)

Objects = tuple[int, ...]
Relations = frozenset[str]
Value = Objects | Relations | bool | int | str
Item = Value | tuple[int | str, ...] | list[int | str]
"""An argument: a value, or the list of filter_part."""

LARGEST = 1000
"""Largest number in a plan (ours)."""


FAULTS: Mapping[str, str] = {
    "E_SYNTAX": "the line cannot be read as a step, or there is none",
    "E_STMT": "the line is more or less than one tool call assigned to one name",
    "E_FUNC": "there is no such tool, or it is none of the paper's (`tools=paper`)",
    "E_ARITY": "the tool takes other arguments, or another number of them",
    "E_NAME": "a name that no earlier step assigned, or that may not be assigned",
    "E_TYPE": "an argument that the tool cannot take, such as a word where objects are needed",
    "E_LIMIT": "the line, a list, a number or the whole plan is too large",
    "E_VOCAB": "a word that no scene has, or of another kind than is needed here",
    "E_SCHEMA": "what only scenes of the other data set have: a word, a tool, numbered parts; or a "
    "relation that this scene lacks",
    "E_EMPTY": "no object or relation of the scene is like that",
    "E_AMBIG": "several objects or parts are like that, and one is needed",
    "E_PART": "the object does not have the part, or not in a known color",
    "E_NOANS": "what the plan ends with is no number, no word, and neither yes nor no",
}
"""Reasons for refusing a plan, by the code in front of the message."""


class PlanError(InputError):
    """A step of a plan cannot be read or does not run on the scene.

    Args:
        code: The kind of error, a key of `FAULTS`.
        message: One line for a reader.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class View:
    """A scene, and how strictly a plan is evaluated on it.

    Attributes:
        scene: The scene.
        strict: Whether a filter must leave an object (ours); otherwise it may leave none.
        first: Whether the first of several objects counts as the one that is meant; otherwise
            several are an error.
    """

    scene: Scene
    strict: bool = True
    first: bool = False

    @property
    def everything(self) -> Objects:
        """All objects of the scene: `all_obj`."""
        return tuple(range(len(self.scene.objects)))


def objects(value: Item) -> Objects:
    """Returns a value as objects; E_TYPE for any other value."""
    if isinstance(value, tuple) and all(type(each) is int for each in value):
        return value  # type: ignore[return-value]  # all of its items are numbers
    raise PlanError("E_TYPE", f"objects are needed here, not {shown(value)}")


def one(view: View, value: Item) -> int:
    """Returns the one object in a value; E_EMPTY for none, E_AMBIG for several."""
    items = objects(value)
    if len(items) == 1 or (items and view.first):
        return items[0]
    if not items:
        raise PlanError("E_EMPTY", "one object is needed here, and there is none")
    names = ", ".join(view.scene.objects[each].name for each in items[:4])
    raise PlanError("E_AMBIG", f"one object is needed here, and there are {len(items)}: {names}")


def number(value: Item) -> int:
    """Returns a number, also from a text; E_TYPE for any other value, E_LIMIT out of bounds."""
    whole = number_of(value) if isinstance(value, (str, int)) else None
    if type(whole) is not int:
        raise PlanError("E_TYPE", f"a number is needed here, not {shown(value)}")
    if not 0 <= whole <= LARGEST:
        raise PlanError("E_LIMIT", f"{whole} is out of bounds")
    return whole


def text(value: Item) -> str:
    """Returns a text in canonical form; E_TYPE for any other value, E_LIMIT if it is too long."""
    if not isinstance(value, str):
        raise PlanError("E_TYPE", f"a word is needed here, not {shown(value)}")
    if len(value) > LONGEST_WORD:
        raise PlanError("E_LIMIT", f"a word of {len(value)} letters is too long")
    return canonical(value)


def relations(view: View, value: Item) -> Relations:
    """Returns relations: a set of them unchanged, or the one relation that a text names."""
    if isinstance(value, frozenset):
        return value
    name = relation_of(text(value))
    if name is None:
        raise PlanError("E_VOCAB", f"{shown(value)} is no known relation")
    if name not in view.scene.relationships:
        raise PlanError("E_SCHEMA", f"this scene says nothing of {name!r}")
    return frozenset([name])


def kind(view: View, word: str) -> Kind:
    """Returns the kind of a canonical word in the scene's vocabulary.

    Raises:
        PlanError: E_SCHEMA for a word of the other data set, E_VOCAB for a word of neither.
    """
    style = view.scene.style
    word_kind = KINDS[style].get(word)
    if word_kind is None:
        other = KINDS["clevr" if style == "ptr" else "ptr"]
        code, why = ("E_SCHEMA", f"in {style} scenes") if word in other else ("E_VOCAB", "at all")
        raise PlanError(code, f"{word!a} is no word {why}")
    return word_kind


def word_of(view: View, value: Item, wanted: str) -> str:
    """Returns a canonical word of the wanted kind; E_VOCAB for a word of another kind."""
    word = text(value)
    if word == ANY and wanted == "category":
        return word
    if kind(view, word) != wanted:
        raise PlanError("E_VOCAB", f"{word!a} is no {wanted}")
    return word


def read(view: View, wanted: str, item: Item) -> Any:
    """Returns an argument in the form in which a tool takes it.

    Args:
        view: The scene.
        wanted: The argument's name in the paper: `object`, `object_list`, `relation`, `num1`,
            `num2`, or a kind of word. An argument of any other name is returned unchanged.
        item: The argument as a plan or an agent gives it.

    Raises:
        PlanError: The argument does not have the form.
    """
    match wanted:
        case "object":
            return one(view, item)
        case "object_list":
            return objects(item)
        case "relation":
            return relations(view, item)
        case "num1" | "num2":
            return number(item)
        case "category" | "part" | "color":
            return word_of(view, item, wanted)
    return item


def answer_of(value: Value) -> str | None:
    """Returns a value as an answer (yes or no, digits, a word); None if it cannot be one."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (int, str)):
        return str(value).lower()
    return None


def shown(value: Item) -> str:
    """Returns a value in words for a reader, on one line, without names of objects."""
    match value:
        case bool():
            return "yes" if value else "no"
        case int():
            return str(value)
        case str():
            return ascii(value)
        case frozenset():
            return " and ".join(sorted(value))
        case tuple():
            return f"{len(value)} objects"
    return "a list"


def in_words(view: View, value: Value) -> str:
    """Returns a value in words: "2 objects: Chair0, Table0", "left and front", "red", "3"."""
    if isinstance(value, tuple):
        names = ", ".join(view.scene.objects[each].name for each in value)
        count = "1 object" if len(value) == 1 else f"{len(value)} objects"
        return f"{count}: {names}" if names else "no objects"
    return value if isinstance(value, str) else shown(value)
