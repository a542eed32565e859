"""Plans from the functional programs of public CLEVR and PTR questions.

A program's chains of one-attribute filters become the filters of ToMT's plans: attributes in one
filter_part and the shape in a filter_object (CLEVR), the category in a filter_object and number,
color and part in one filter_part (PTR). `unique` is no step: a tool that needs one object checks.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from thoughtgraph.tools.scenes.vocabulary import ANY, NUMBERS

Node = Mapping[str, Any]

_WORDS = {value: word for word, value in NUMBERS.items()}
_ENDS = {
    **{"count": "count_object", "exist": "exist", "intersect": "intersection"},
    **{"query_size": "query_size", "query_material": "query_material"},
    **{"query_shape": "query_category", "query_object-category": "query_category"},
    **{"query_color": "query_color", "query_positional-relation": "get_relation"},
    **{"sum": "sum", "minus_more": "minus", "greater_than": "more_than", "less_than": "few_than"},
}
"""Functions that are one tool of the same arguments."""
_QUERIES = {
    "query_part-color": "query_color",
    "query_part-count": "count_part",
    "query_part-category": "query_part",
}
_SAME = {
    **{"same_color": "query_color", "same_size": "query_size"},
    **{"same_material": "query_material", "same_shape": "query_category"},
    **{"same_object-category": "query_category", "same_part-color": "query_color"},
    **{"same_part-count": "count_part"},
}
_NAMES = {
    **{"query_category": "category", "query_color": "color", "query_size": "size"},
    **{"query_material": "material", "get_relation": "relation", "query_part": "category"},
    **{"count_part": "num", "count_object": "num", "sum": "num", "minus": "num"},
}
_ANALOGIES = {"category": "query_category", "count": "count_object", "exist": "exist"}


class NoPlan(Exception):
    """The program needs a tool that ToMT has not, such as union."""


def plan_of(program: Sequence[Node]) -> tuple[str, ...]:
    """Returns the plan of a program.

    Args:
        program: Its nodes: `function` and `value_inputs` (CLEVR), or `type` and `side_inputs`
            (PTR), and `inputs`.

    Returns:
        The plan's lines, the last of which assigns `ans`.

    Raises:
        NoPlan: A function has no tool.
    """
    writer = _ProgramReader(program)
    for at in range(len(program)):
        writer.add(at)
    last = writer.lines[-1].partition(" = ")[2]
    return (*writer.lines[:-1], f"ans = {last}")


@dataclass(frozen=True, slots=True)
class _Filters:
    """Filters that are gathered before they are written."""

    source: str
    category: str | None = None
    words: tuple[str, ...] = ()
    number: int | None = None
    color: str | None = None
    part: str | None = None


class _ProgramReader:
    def __init__(self, program: Sequence[Node]) -> None:
        self.program = program
        self.lines: list[str] = []
        self.used: Counter[str] = Counter()
        self.values: list[str | _Filters] = []

    def step(self, tool: str, *arguments: str) -> str:
        stem = _NAMES.get(tool, "obj")
        self.used[stem] += 1
        name = f"{stem}{self.used[stem]}"
        self.lines.append(f"{name} = {tool}({','.join(arguments)})")
        return name

    def add(self, at: int) -> None:
        node = self.program[at]
        function = node.get("function", node.get("type", ""))
        side = [*node.get("value_inputs", node.get("side_inputs", ()))]
        inputs = node["inputs"]
        if function == "scene":
            self.values.append("all_obj")
        elif function == "unique":
            self.values.append(self.values[inputs[0]])
        elif function.startswith("filter_"):
            self.values.append(self.filtered(self.values[inputs[0]], function, side[0]))
        else:
            self.values.append(self.call(function, [self.name(i) for i in inputs], side))

    def call(self, function: str, names: list[str], side: list[str]) -> str:
        if function in _ENDS:
            return self.step(_ENDS[function], *names)
        if function in _QUERIES:
            return self.step(_QUERIES[function], f'"{side[0]}"', *names)
        if function in _SAME:
            return self.same(function, names[0], side)
        if function.startswith("equal_"):
            return self.step("equal", *names)
        if function == "relate":
            return self.step("query_relation", f'"{side[0]}"', *names)
        if function == "minus_less":
            return self.step("minus", *reversed(names))
        kind = function.removeprefix("query_positional-analogy-")
        if kind in _ANALOGIES:
            found = self.step("filter_relation", *names, "all_obj")
            return self.step(_ANALOGIES[kind], found)
        raise NoPlan(f"no tool does {function!r}")

    def same(self, function: str, it: str, side: list[str]) -> str:
        part = [f'"{side[0]}"'] if side else []
        value = self.step(_SAME[function], *part, it)
        if _SAME[function] == "query_category":
            found = self.step("filter_category", value, "all_obj")
        else:
            found = self.step("filter_part", f"[{','.join([value, *part])}]", "all_obj")
        return self.step("exclude_object", it, found)

    def filtered(self, before: str | _Filters, function: str, side: Any) -> _Filters:
        found = before if isinstance(before, _Filters) else _Filters(before)
        kind = function.removeprefix("filter_")
        if kind in ("shape", "object-category"):
            return replace(found, category=side.lower())
        if kind == "part-category":
            return replace(found, part=side)
        if kind == "part-count":
            return replace(found, number=next(iter(side.values())))
        if isinstance(side, Mapping):
            return replace(found, color=next(iter(side.values())))
        return replace(found, words=(*found.words, side))

    def name(self, at: int) -> str:
        """Returns the name of a node's value, and writes the filters that led to it."""
        value = self.values[at]
        if isinstance(value, _Filters):
            value = self.write(value)
            self.values[at] = value
        return value

    def write(self, found: _Filters) -> str:
        words = list(found.words)
        if found.part:
            words = [_WORDS[found.number]] if found.number is not None else []
            words += [found.color] if found.color else []
            words.append(found.part)
        steps: list[Callable[[str], str]] = []
        if words:
            listed = ", ".join(f'"{word}"' for word in words)
            steps.append(lambda source: self.step("filter_part", f"[{listed}]", source))
        if found.category not in (None, ANY, "object"):
            at = 0 if found.part else len(steps)
            steps.insert(
                at, lambda source: self.step("filter_object", f'"{found.category}"', source)
            )
        source = found.source
        for step in steps:
            source = step(source)
        return source
