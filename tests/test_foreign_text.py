"""Texts from models, pages and users cannot stall or end a run, however they are written.

Every regular expression of the source is tried on texts made of its own parts, and every reader on
long, repeated and nested ones. What counts is how the effort grows with the text: twice the text
may cost about twice the time. `-m slow` tries more and longer texts.
"""

import copy
import json
import re
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
from support import patterns
from support.hostile import BEGINNINGS, PUMPS, readers, survived
from support.patterns import Expression, attacks, expressions, repeated, steep, work

from thoughtgraph import registry
from thoughtgraph.errors import ProblemError

TRIED = 120
"""Texts of an expression's parts that are tried without `-m slow`."""
EXPRESSIONS = expressions()
SLOW = {
    "leads to a bracket": r"\s*(?:[,;]|,?\s+(?:and|or)\s)\s*",
    "blanks twice": r"(?i)[ `]*(?:[-*+] +)?[ `]*(?:step ?\d|[a-z_][a-z_0-9]* ?=(?!=))",
    "a header": r"(?m)^[ \t]*[#*_>]{0,6}[ \t]*Passage[ \t]*[*_]{0,3}:|^[ \t]*Passage[*_ \t]*$",
    "a word at its end": r"\b\d[\w.]*?(?:and|else|for|if|in|is|or|not)\b",
    "three numbers": r"(-?[\d./]+)\s*([-+*/])\s*(-?[\d./]+)\s*=",
    "nested": r"(?:a+)+b",
    "any letter twice": r"may refer to\b.*:",
    "a name": r"(?<!\w)[A-Za-z][\w-]*(?=\[)",
}


def test_every_expression_of_the_source_is_known() -> None:
    written = sum(
        len(
            re.findall(
                r"(?<![\w.])re\.(?:compile|match|fullmatch|search|sub|split|find\w+)\(", text
            )
        )
        for text in (file.read_text() for room in patterns.ROOMS for file in patterns.files(room))
    )
    assert len(EXPRESSIONS) == written > 80


@pytest.mark.ci
@pytest.mark.parametrize("pattern", SLOW.values(), ids=SLOW)
def test_an_expression_that_is_not_linear_is_found(pattern: str) -> None:
    assert _slow(Expression("", re.compile(pattern), frozenset()), TRIED)


@pytest.mark.parametrize("one", EXPRESSIONS, ids=[each.where for each in EXPRESSIONS])
def test_an_expression_is_linear(one: Expression) -> None:
    assert not _slow(one, TRIED)


@pytest.mark.slow
@pytest.mark.parametrize("one", EXPRESSIONS, ids=[each.where for each in EXPRESSIONS])
def test_an_expression_is_linear_on_every_pair_of_its_letters(one: Expression) -> None:
    assert not _slow(one, None)


def _slow(one: Expression, most: int | None) -> str:
    tried = attacks(one.pattern, pairs=most is None)
    if most is not None:
        tried = tried[:: len(tried) // most + 1]
    for attack in tried:
        if grown := steep(work(one), partial(repeated, attack)):
            return f"{one.pattern.pattern!r} on {attack}: {grown}"
    return ""


@pytest.mark.parametrize("task", [*registry.TASKS, ""])
def test_what_reads_foreign_text_is_linear(task: str) -> None:
    for name, reader in readers():
        if name.rpartition(".")[0] == task:
            for pump in PUMPS:
                text_of = partial(repeated, ("", pump, ""))
                # Readers do more than match: only a time that a pause cannot make counts.
                grown = steep(survived(reader), text_of, (2_048, 4_096), readable=0.02)
                assert not grown, f"{name} on {pump!r}: {grown}"


@pytest.mark.slow
@pytest.mark.parametrize("task", [*registry.TASKS, ""])
@pytest.mark.parametrize("begin", BEGINNINGS)
def test_what_reads_a_long_foreign_text_is_linear(task: str, begin: str) -> None:
    sizes = (16_384, 32_768, 65_536, 131_072)
    for name, reader in readers():
        if name.rpartition(".")[0] == task:
            for pump in PUMPS:
                grown = steep(survived(reader), partial(repeated, (begin, pump, "")), sizes)
                assert not grown, f"{name} on {begin!r} and {pump!r}: {grown}"


VALUES = (None, True, -1, 10**40, 1e308, "", "x", "9" * 5_000, [], [1], [[]], {}, {"a": 1})


def _changed(value: Any) -> Iterator[Any]:
    """Yields the value with each of its parts replaced, in turn, by something else."""
    yield from VALUES
    keys: Any = range(len(value)) if isinstance(value, list) else value
    for key in keys if isinstance(value, list | dict) else ():
        for part in _changed(value[key]):
            changed = copy.copy(value)
            changed[key] = part
            yield changed


@pytest.mark.parametrize("task", ["clevr", "ptr", "crosswords", "hotpotqa"])
def test_a_problem_in_json_is_read_or_refused_whatever_is_in_it(task: str) -> None:
    example = registry.TASKS[task].example
    if task == "hotpotqa":
        example = '{"question": "Who?", "context": [["Title", ["A sentence.", "Another."]]]}'
    for problem in _changed(json.loads(example)):
        try:
            registry.task(task).read(json.dumps(problem))
        except ProblemError as error:
            assert "\n" not in str(error)
