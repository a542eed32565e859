"""Texts from models, pages and users cannot stall a run, however they are written.

Every regular expression of the source is tried on texts made of its own parts, and every reader on
repeated ones. What counts is the number of steps: each further piece of a text may cost as many as
the piece before it.
"""

import re
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from support import patterns
from support.hostile import BEGINNINGS, PUMPS, Reader, readers, survived
from support.patterns import Expression, attacks, expressions
from support.pools import few
from support.stepper import Endless, Matcher

from thoughtgraph import registry

SCALES = (1, 4, 16)
"""Repetitions grow until a limit of what an expression looks ahead is behind them."""
HANGING = 60.0
"""Seconds of the processor for a text of 200,000 letters: the bound of what comes back at all."""
EXPRESSIONS = expressions()
NAMES = [each.where for each in EXPRESSIONS]
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


@pytest.fixture(autouse=True)
def deep() -> Iterator[None]:
    """The matcher goes one level deeper with each repetition."""
    usual = sys.getrecursionlimit()
    sys.setrecursionlimit(100_000)
    yield
    sys.setrecursionlimit(usual)


def steep(steps: Callable[[str], int], attack: tuple[str, str, str]) -> str:
    """Returns how the steps grow where they do so faster than a text; empty if they do not."""
    begin, pump, end = attack
    told = ""
    for scale in SCALES:
        unit = max(3, 16 // len(pump)) * scale
        try:
            one, two, three = (steps(begin + pump * (unit * times) + end) for times in (1, 2, 3))
        except Endless:
            return f"{told}{attack}, {unit} times: endless"
        if three - two <= 1.1 * (two - one) + 10:
            return ""
        told += f"{attack}, {unit} times: {one}, {two}, {three}; "
    return told


def slow(one: Expression, most: int | None) -> str:
    tried = attacks(one.pattern, pairs=most is None)
    tried = tried if most is None else tried[:: len(tried) // most + 1]
    matcher = Matcher(one.pattern, anchored=one.anchored)

    def steps(text: str) -> int:
        spans = matcher.spans(text)
        tried = [one.pattern.match(text)] if one.anchored else one.pattern.finditer(text)
        assert spans == [each.span() for each in tried if each], "the matcher is no other than `re`"
        return matcher.steps

    return next(filter(None, (steep(steps, attack) for attack in tried)), "")


def test_every_expression_of_the_source_is_known() -> None:
    called = r"(?<![\w.])re\.(?:compile|match|fullmatch|search|sub|split|find\w+)\("
    sources = [file.read_text() for room in patterns.ROOMS for file in patterns.files(room)]
    assert len(EXPRESSIONS) == sum(len(re.findall(called, text)) for text in sources) > 80


@pytest.mark.parametrize("pattern", few(SLOW.values(), 1))
def test_an_expression_that_is_not_linear_is_found(pattern: str) -> None:
    assert slow(Expression("", re.compile(pattern), anchored=False), 120)


@pytest.mark.parametrize("most", [8, pytest.param(24, marks=pytest.mark.ci)])
@pytest.mark.parametrize("one", EXPRESSIONS, ids=NAMES)
def test_an_expression_is_linear(one: Expression, most: int) -> None:
    assert not slow(one, most)


def lines_of(reader: Reader) -> Callable[[str], int]:
    """Returns what counts the lines of Python that a reader runs."""

    def lines(text: str) -> int:
        count = 0

        def trace(frame: Any, event: str, argument: Any) -> Any:
            nonlocal count
            count += event == "line"
            return trace

        usual = sys.gettrace()
        sys.settrace(trace)
        try:
            reader(text)
        finally:
            sys.settrace(usual)
        return count

    return lines


ONE_IN = [12, pytest.param(4, marks=pytest.mark.ci), pytest.param(1, marks=pytest.mark.slow)]
"""Each reader is given a share of the pieces, every reader another one."""


@pytest.mark.parametrize("every", ONE_IN)
@pytest.mark.parametrize("task", [*registry.TASKS, ""])
def test_what_reads_foreign_text_is_linear(task: str, every: int) -> None:
    for at, (name, reader) in enumerate(readers(task)):
        for pump in PUMPS[at % every :: every]:
            grown = steep(lines_of(survived(reader)), ("", pump, ""))
            assert not grown, f"{name}: {grown}"


@pytest.mark.parametrize(
    ("begin", "every"),
    [
        *(pytest.param("", every, marks=mark) for every, mark in ((111, ()), (30, pytest.mark.ci))),
        *(pytest.param(begin, 1, marks=pytest.mark.slow) for begin in BEGINNINGS),
    ],
)
@pytest.mark.parametrize("task", [*registry.TASKS, ""])
def test_a_long_foreign_text_comes_back(task: str, begin: str, every: int) -> None:
    for at, (name, reader) in enumerate(readers(task)):
        for pump in PUMPS[at % every :: every]:
            began = time.process_time()
            survived(reader)(begin + pump * (200_000 // len(pump)))
            assert time.process_time() - began < HANGING, f"{name} on {begin!r} and {pump!r}"
