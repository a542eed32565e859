"""A matcher of regular expressions that backtracks as `re` does, and counts its steps."""

import re
from collections.abc import Iterator
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any

from support.patterns import LETTER, REPEATS, letter

MOST = 1_500
"""Steps for each letter of a text, beyond which no end is in sight."""
SAME_WORDS = {op.AT_BOUNDARY: False, op.AT_NON_BOUNDARY: True}


class Endless(Exception):
    """A text costs more steps than any linear expression takes."""


class Matcher:
    """Finds what an expression finds, as a test makes sure.

    Args:
        pattern: The expression.
        anchored: Whether it is tried at the beginning of a text alone.
    """

    def __init__(self, pattern: re.Pattern[str], *, anchored: bool = False) -> None:
        self._parsed = _parser.parse(pattern.pattern, pattern.flags)
        self._flags, self._anchored = pattern.flags, anchored

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Returns where a text matches; `steps` says how many steps that took.

        Raises:
            Endless: It takes too many.
        """
        self.text, self.steps = text, 0
        self._known: dict[tuple[Any, int, int], frozenset[str]] = {}
        self._groups: dict[int | None, tuple[int, int]] = {}
        found: list[tuple[int, int]] = []
        at, moves_on = 0, False
        while at <= (0 if self._anchored else len(text)):
            ends = self._ends(self._parsed, self._flags, at)
            end = next((each for each in ends if each > at or not moves_on), None)
            if end is not None:
                found.append((at, end))
            moves_on = end == at
            at = at + 1 if end is None else end
            if self._anchored:
                break
        return found

    def _letters(self, kind: Any, value: Any, flags: int) -> frozenset[str]:
        """Returns which letters of the text a part matches."""
        key = kind, id(value), flags
        if key not in self._known:
            self._known[key] = frozenset(filter(letter(kind, value, flags).match, set(self.text)))
        return self._known[key]

    def _step(self) -> None:
        self.steps += 1
        if self.steps > MOST * (len(self.text) + 100):
            raise Endless

    def _ends(self, parts: Any, flags: int, at: int, first: int = 0) -> Iterator[int]:
        """Yields where the parts of an expression can end, what `re` tries first at first."""
        if first == len(parts):
            yield at
            return
        kind, value = parts[first]
        for end in self._part(kind, value, flags, at):
            yield from self._ends(parts, flags, end, first + 1)

    def _part(self, kind: Any, value: Any, flags: int, at: int) -> Iterator[int]:
        self._step()
        if kind in LETTER:
            if at < len(self.text) and self.text[at] in self._letters(kind, value, flags):
                yield at + 1
        elif kind is op.SUBPATTERN:
            group, more, fewer, parts = value
            for end in self._ends(parts, (flags | more) & ~fewer, at):
                self._groups[group] = at, end
                yield end
        elif kind is op.BRANCH:
            for parts in value[1]:
                yield from self._ends(parts, flags, at)
        elif kind is op.ATOMIC_GROUP:
            yield from self._first(self._ends(value, flags, at))
        elif kind in REPEATS:
            least, most, body = value
            ends = self._repeated(kind is op.MIN_REPEAT, least, most, body, flags, at)
            yield from self._first(ends) if kind is op.POSSESSIVE_REPEAT else ends
        elif kind in (op.ASSERT, op.ASSERT_NOT):
            way, parts = value
            if self._looks(way, parts, flags, at) is (kind is op.ASSERT):
                yield at
        elif kind is op.AT:
            if self._stands(value, flags, at):
                yield at
        elif kind is op.GROUPREF:
            begin, end = self._groups.get(value, (at, at))
            if self.text.startswith(self.text[begin:end], at):
                yield at + end - begin
        elif kind is op.GROUPREF_EXISTS:
            group, if_there, if_not = value
            parts = if_there if group in self._groups else if_not
            yield from self._ends(parts or [], flags, at)
        else:
            raise ValueError(f"{kind} is not known here")

    def _first(self, ends: Iterator[int]) -> Iterator[int]:
        yield from [end for end in [next(ends, None)] if end is not None]

    def _repeated(
        self, lazy: bool, least: int, most: int, body: Any, flags: int, at: int
    ) -> Iterator[int]:
        kind, value = body[0]
        if len(body) == 1 and kind in LETTER and not lazy:
            end = at
            while end - at < most and any(self._part(kind, value, flags, end)):
                end += 1
            for back in range(end, at + least - 1, -1):
                self._step()
                yield back
            return
        if lazy and least <= 0:
            yield at
        if most > 0:
            for end in self._ends(body, flags, at):
                if end > at or least > 0:
                    yield from self._repeated(lazy, least - 1, most - 1, body, flags, end)
        if not lazy and least <= 0:
            yield at

    def _looks(self, way: int, parts: Any, flags: int, at: int) -> bool:
        begin = at if way > 0 else at - parts.getwidth()[0]
        if begin < 0:
            return False
        return any(way > 0 or end == at for end in self._ends(parts, flags, begin))

    def _stands(self, where: Any, flags: int, at: int) -> bool:
        before, after = self.text[:at][-1:], self.text[at : at + 1]
        if where in SAME_WORDS:
            words = [bool(re.match(r"\w", each)) for each in (before, after)]
            return (words[0] == words[1]) is SAME_WORDS[where]
        lines = flags & re.M
        if where in (op.AT_BEGINNING, op.AT_BEGINNING_STRING):
            return not before or bool(where is op.AT_BEGINNING and lines and before == "\n")
        last = not after or (where is op.AT_END and after == "\n" and at == len(self.text) - 1)
        return last or bool(where is op.AT_END and lines and after == "\n")
