"""Finds the solvable puzzles of Game of 24, by exhaustive search."""

from fractions import Fraction
from functools import lru_cache
from itertools import combinations

from thoughtgraph.tasks.game24.game24 import TARGET


def puzzles() -> list[str]:
    """Returns every solvable puzzle of four cards from 1 to 13: 1,362 of them, in lexical order."""
    from_one = range(1, 14)
    hands = (
        (a, b, c, d)
        for a in from_one
        for b in range(a, 14)
        for c in range(b, 14)
        for d in range(c, 14)
    )
    return [" ".join(map(str, hand)) for hand in hands if solvable(tuple(map(Fraction, hand)))]


@lru_cache(maxsize=1 << 17)
def solvable(numbers: tuple[Fraction, ...]) -> bool:
    """Returns whether some expression over all the numbers equals 24 exactly."""
    if len(numbers) == 1:
        return numbers[0] == TARGET
    for i, j in combinations(range(len(numbers)), 2):
        a, b = numbers[i], numbers[j]
        rest = [n for k, n in enumerate(numbers) if k not in (i, j)]
        results = {a + b, a - b, b - a, a * b, *([a / b] if b else []), *([b / a] if a else [])}
        # Sorted, so that the cache recognises equal hands.
        if any(solvable(tuple(sorted([*rest, result]))) for result in results):
            return True
    return False
