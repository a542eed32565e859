"""A grammar of plans: numbered steps with known tools and words.

It is built from the tables of the plan parser and the tools. It allows calls of known tools with
arguments of the right kind, but does not check whether these fit the scene or the question.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from thoughtgraph.tasks.grammar import grammar, literal, one_of
from thoughtgraph.tasks.scenes.plan_language import ALL, ANSWER, LONGEST_LIST
from thoughtgraph.tools.scenes.scene_tools import TOOLS, SceneTool
from thoughtgraph.tools.scenes.vocabulary import (
    ANY,
    KINDS,
    NUMBERS,
    RELATIONS,
    SYNONYMS,
    Style,
    canonical,
    plural,
)

_ARGUMENTS: Mapping[str, str] = {
    **dict.fromkeys(("object", "object_list"), "name"),
    **dict.fromkeys(("num1", "num2"), "(name | number)"),
    **dict.fromkeys(("input1", "input2"), "(name | number | word)"),
    "object_or_part": "(name | word)",
    "category": "(name | category)",
    "part": "(name | part)",
    "color": "(name | color)",
    "relation": "(name | relation)",
    "part_list": "(name | word | list)",
}
"""Grammar rule for each argument of a tool."""


@lru_cache(maxsize=256)
def plan_grammar(style: Style, tools: frozenset[str], first: int, last: int, end: int) -> str:
    """Returns the grammar of a plan's next steps, one numbered line each.

    Each step may assign the answer, which ends the plan; step `end` must.

    Args:
        style: The data set whose words may be used.
        tools: The names of the tools that may be called.
        first: The number of the first step.
        last: The number of the last step to write now; at most `end`.
        end: The number of the last step that a plan may have.
    """
    forms = [form for name in sorted(tools) for form in _calls(TOOLS[name])]
    return grammar(
        f"step-{first}",
        **dict(_steps(first, last, end)),
        answer=f"{literal(f'{ANSWER} = ')} call",
        value='target " = " call',
        call=" | ".join(forms),
        next='"," " "?',
        name=f"{literal(ALL)} | target",
        target="[a-z]{1,10} [0-9]{1,2}",
        number='"0" | [1-9] [0-9]{0,2}',
        list=f'"[" item (next item){{0,{LONGEST_LIST - 1}}} "]"',
        item="name | number | word | amount",
        amount=_quoted(NUMBERS),
        relation=_quoted(RELATIONS),
        word=_quoted(_spellings(style)),
        **{kind: _quoted(_spellings(style, kind)) for kind in ("category", "part", "color")},
    )


def _steps(first: int, last: int, end: int) -> Iterator[tuple[str, str]]:
    for at in range(first, last + 1):
        after = "" if at == last else f' "\\n" step-{at + 1}'
        value = "" if at == end else f" | value{after}"
        yield f"step_{at}", f'{literal(f"Step {at}:")} " "? (answer{value})'


def _calls(tool: SceneTool) -> Iterator[str]:
    """Yields the calls of a tool; leading arguments may be optional."""
    for missing in range(tool.optional + 1):
        arguments = " next ".join(_ARGUMENTS[each] for each in tool.arguments[missing:])
        yield f'{literal(f"{tool.name}(")} {arguments} ")"'


def _quoted(words: Iterable[str]) -> str:
    return f'"\\"" {one_of(words)} "\\""'


def _spellings(style: Style, kind: str = "") -> list[str]:
    """Returns the spellings of all words of a kind; of all kinds if it is empty or has no word."""
    kinds = {ANY: "category", **KINDS[style]}
    forms = sorted({form for word in (*kinds, *SYNONYMS) for form in (word, plural(word))})
    words = [form for form in forms if canonical(form) in kinds]
    return [form for form in words if kind in ("", kinds[canonical(form)])] or words
