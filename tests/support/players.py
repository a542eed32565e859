"""Players of the Game of 24, as replies of a `FakeServer`."""

import re
from fractions import Fraction
from itertools import combinations, permutations

from support.fake_server import Seen

from thoughtgraph.bench.questions.game24_puzzles import solvable


def play(seen: Seen) -> str:
    """Proposes whole-numbered equations, judges exactly, answers."""
    prompt = seen.prompt
    numbers = re.findall(r"^Input:\s*([\d ]+)$", prompt, re.M)
    if "Evaluate if given numbers" in prompt:
        last = prompt.strip().splitlines()[-1].split()
        return "sure" if solvable(tuple(map(Fraction, last))) else "impossible"
    if "give a judgement" in prompt:
        return "sure"
    if "to obtain 24" in prompt:
        return f"Answer: {expression([(Fraction(n), n) for n in numbers[-1].split()])} = 24"
    return "\n".join(equations(numbers[-1].split()))


def equations(numbers: list[str]) -> list[str]:
    """Returns six equations, those that can still reach 24 first."""
    found: dict[str, bool] = {}
    for i, j in permutations(range(len(numbers)), 2):
        a, b = int(numbers[i]), int(numbers[j])
        rest = [n for k, n in enumerate(numbers) if k not in (i, j)]
        for sign, result in (("+", a + b), ("-", a - b), ("*", a * b)):
            if result >= 0 and (sign == "-" or i < j):
                left = [*rest, str(result)]
                good = solvable(tuple(map(Fraction, left)))
                found[f"{a} {sign} {b} = {result} (left: {' '.join(left)})"] = good
    return sorted(found, key=lambda line: not found[line])[:6]


def expression(terms: list[tuple[Fraction, str]]) -> str | None:
    if len(terms) == 1:
        return terms[0][1] if terms[0][0] == 24 else None
    for i, j in permutations(range(len(terms)), 2):
        (a, left), (b, right) = terms[i], terms[j]
        rest = [term for k, term in enumerate(terms) if k not in (i, j)]
        for sign, result in (("+", a + b), ("-", a - b), ("*", a * b)):
            if found := expression([*rest, (result, f"({left} {sign} {right})")]):
                return found
    return None


def add_up(seen: Seen) -> str:
    """Adds and does nothing else, which solves the puzzles whose numbers add up to 24."""
    prompt = seen.prompt
    if "judgement" in prompt or "Evaluate if given numbers" in prompt:
        return "sure"
    puzzle = prompt.rpartition("Input:")[2].strip().split("\n")[0].split()
    if not prompt.rstrip().endswith("Possible next steps:"):
        return f"Answer: {' + '.join(puzzle)} = 24"
    lines = []
    for i, j in combinations(range(len(puzzle)), 2):
        a, b = int(puzzle[i]), int(puzzle[j])
        rest = [n for k, n in enumerate(puzzle) if k not in (i, j)]
        lines.append(f"{a} + {b} = {a + b} (left: {' '.join([*rest, str(a + b)])})")
    return "\n".join(lines)
