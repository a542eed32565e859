"""The regular expressions of the source, and texts that are hard for them."""

import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random
from re import _compiler, _parser  # type: ignore[attr-defined]
from re import _constants as op  # type: ignore[attr-defined]
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[2]
ROOMS = ("core", "prompts", "tools", "tasks", "nodes", "graphs", "bench", "cli")
ALPHABET = (*map(chr, range(9, 14)), *map(chr, range(32, 127)), *"\xa0é€°÷\u2018\u2212")
LETTER = (op.LITERAL, op.NOT_LITERAL, op.IN, op.ANY)
SEARCHED = r"\b(\w+)(?: if \w+ else \w+\))?\.(?:search|subn?|split|findall|finditer)\("
REPEATS = (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT)


class Expression(NamedTuple):
    """One expression of the source."""

    pattern: re.Pattern[str]
    anchored: bool
    """Whether it is tried at one place of a text only, by `match` or `fullmatch`."""


def expressions() -> dict[str, Expression]:
    """Returns all regular expressions that a module of the source names, by where they are."""
    found: dict[re.Pattern[str], tuple[Path, str]] = {}
    files = [(room, file) for room in ROOMS for file in sorted((ROOT / room).rglob("*.py"))]
    for room, file in files:
        inner = file.relative_to(ROOT / room).with_suffix("").parts
        parts = [part for part in (room, *inner) if part not in ("core", "__init__")]
        module = importlib.import_module(".".join(["thoughtgraph", *parts]))
        for name, value in vars(module).items():
            found.update((each, (file, name)) for each in _in(value))
    sought = {file: set(re.findall(SEARCHED, file.read_text())) for _, file in files}
    everywhere = set[str]().union(*sought.values())
    return {
        f"{file.stem}.{name}.{at}": Expression(
            each, name not in (sought[file] if name.startswith("_") else everywhere)
        )
        for at, (each, (file, name)) in enumerate(found.items())
    }


def _in(value: object) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern):
        yield value
    for each in value if isinstance(value, list | tuple) else ():
        yield from _in(each)


def attacks(pattern: re.Pattern[str], most: int) -> Iterator[tuple[str, str, str]]:
    """Yields what makes texts hard: a beginning, what is repeated after it, an end."""
    hard: list[tuple[str, str]] = []
    whole = _sample(_parser.parse(pattern.pattern, pattern.flags), "", hard)
    begins = list(dict.fromkeys(begin for begin, _ in hard)) or [""]
    bodies = list(dict.fromkeys(body for _, body in hard if body)) or ["x"]
    draws = Random(pattern.pattern)
    for _ in range(most):
        body, other, begin = draws.choice(bodies), draws.choice(bodies), draws.choice(begins)
        pump = draws.choice([body, body, body + other, begin + body, whole + other])
        yield draws.choice(begins), pump, draws.choice(["", "!"])


def _sample(parsed: Any, before: str, hard: list[tuple[str, str]]) -> str:
    """Returns a text that matches; adds each part that may come again, and what leads to it."""
    made = ""
    for kind, value in parsed:
        at = before + made
        if kind in LETTER:
            one = _parser.SubPattern(parsed.state, [(kind, value)])
            made += next(filter(_compiler.compile(one, parsed.state.flags).match, ALPHABET), "?")
            hard.append(("", made[-1]))
        elif kind in REPEATS:
            body = _sample(value[2], at, hard)
            hard.append((at, body))
            made += body * value[0]
        elif kind is op.BRANCH:
            either = [_sample(each, at, hard) for each in value[1]]
            hard += [(at, each) for each in either]
            made += either[0]
        elif kind in (op.SUBPATTERN, op.ATOMIC_GROUP):
            made += _sample(value[3] if kind is op.SUBPATTERN else value, at, hard)
        elif kind in (op.ASSERT, op.ASSERT_NOT):
            _sample(value[1], at, hard)
    return made
