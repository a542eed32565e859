"""Texts from models, pages and users cannot stall a run, however they are written.

Every regular expression of the source is tried on texts made of its own parts, and every reader on
repeated ones, all so long that only what is linear comes back.
"""

import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from support import patterns
from support.hostile import BEGINNINGS, PUMPS, readers, survived
from support.patterns import Expression, attacks, expressions
from support.pools import few

from thoughtgraph import registry

LONG = 100_000
"""Letters of a text. What is linear takes milliseconds for it, what is quadratic minutes."""
HANGING = 30.0
"""Seconds of the processor for such a text: the bound of what comes back at all."""
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


@contextmanager
def bounded(what: str, seconds: float = HANGING) -> Iterator[None]:
    """Ends what takes the processor longer; `re` looks for signals as it goes."""

    def stop(*_: object) -> None:
        raise TimeoutError(what)

    usual = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, usual)


def tried(one: Expression, most: int) -> None:
    hard = attacks(one.pattern)
    for begin, pump, end in hard[:: len(hard) // most + 1]:
        text = begin + pump * (LONG // len(pump)) + end
        for _ in [one.pattern.match(text)] if one.anchored else one.pattern.finditer(text):
            pass


def test_every_expression_of_the_source_is_known() -> None:
    called = r"(?<![\w.])re\.(?:compile|match|fullmatch|search|sub|split|find\w+)\("
    sources = [file.read_text() for room in patterns.ROOMS for file in patterns.files(room)]
    assert len(EXPRESSIONS) == sum(len(re.findall(called, text)) for text in sources) > 80


@pytest.mark.parametrize("pattern", few(SLOW.values(), 1))
def test_an_expression_that_is_not_linear_is_found(pattern: str) -> None:
    with pytest.raises(TimeoutError), bounded(pattern, 2):
        tried(Expression("", re.compile(pattern), anchored=False), 200)


MOST = [
    8,
    *(pytest.param(n, marks=mark) for n, mark in ((24, pytest.mark.ci), (200, pytest.mark.slow))),
]


@pytest.mark.parametrize("most", MOST)
@pytest.mark.parametrize("one", EXPRESSIONS, ids=NAMES)
def test_an_expression_is_linear(one: Expression, most: int) -> None:
    with bounded(one.where):
        tried(one, most)


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
            with bounded(f"{name} on {begin!r} and {pump!r}"):
                survived(reader)(begin + pump * (LONG // len(pump)))
