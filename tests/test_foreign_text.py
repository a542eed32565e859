"""Texts from models, pages and users cannot stall a run, however they are written.

Every regular expression of the source is tried on texts made of its own parts, and every reader on
repeated ones. Time of the processor is measured at a length at which what takes a linear time is
far from its bound, and what takes a quadratic one is far beyond it.
"""

import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from support.hostile import BEGINNINGS, PUMPS, readers, survived
from support.patterns import Expression, attacks, expressions

from thoughtgraph import registry

LONG = 30_000
"""Letters of a text that an expression is tried on."""
SLOW = 2.0
"""Seconds of the processor that no expression takes for one."""
HANGING = 60.0
"""Seconds for a reader's text of 200,000 letters: the bound of what comes back at all."""
EXPRESSIONS = expressions()


class Endless(Exception):
    """A text took longer than anything linear can take."""


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Ends its body after so many seconds of the processor.

    Raises:
        Endless: It was not done by then.
    """

    def stop(*given: object) -> None:
        raise Endless

    usual = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, usual)


def endless(one: Expression, most: int, slow: float = SLOW) -> tuple[str, str, str] | None:
    """Returns a text that takes an expression too long, if there is one."""
    for begin, pump, end in attacks(one.pattern, most):
        text = begin + pump * (LONG // len(pump)) + end
        try:
            with within(slow):
                one.pattern.match(text) if one.anchored else one.pattern.sub("", text)
        except Endless:
            return begin, pump, end
    return None


def test_an_expression_that_is_not_linear_is_found() -> None:
    assert len(EXPRESSIONS) > 120
    for pattern in (r"\s*(?:[,;]|,?\s+(?:and|or)\s)\s*", r"(?:a+)+b", r"(?<!\w)[a-z][\w-]*(?=\[)"):
        assert endless(Expression(re.compile(pattern), anchored=False), 60, slow=0.2)


MOST = [6, pytest.param(30, marks=pytest.mark.ci), pytest.param(300, marks=pytest.mark.slow)]


@pytest.mark.parametrize("most", MOST)
@pytest.mark.parametrize("one", EXPRESSIONS.values(), ids=EXPRESSIONS)
def test_an_expression_is_linear(one: Expression, most: int) -> None:
    assert not endless(one, most)


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
            text = begin + pump * (200_000 // len(pump))
            try:
                with within(HANGING):
                    survived(reader)(text)
            except Endless:
                pytest.fail(f"{name} on {begin!r} and {pump!r}")
