"""Grammars of the lines of Game of 24: fixed form, free numbers."""

from functools import cache
from math import comb

from thoughtgraph.tasks.grammar import grammar, one_of

NUMBER = '"-"? [0-9]{1,6} ([./] [0-9]{1,6})?'
"""An integer, decimal or fraction of bounded length (ours): the decimals of `1/3` never end."""
SIGN = '" " [-+*/] " "'
MOST_NUMBERS = 4
"""Numbers of a puzzle."""
WAYS = 6
"""Results of two numbers: their sum and product, and two differences and quotients."""
BRACKETS = 3
"""Maximum depth of brackets in an answer; four numbers need no more."""
LINES = 8
"""Maximum lines before a verdict (ours): the prompt's longest example has four."""
LONGEST_LINE = 120
"""Maximum characters of such a line (ours)."""


@cache
def steps(numbers: int, most: int | None = None) -> str:
    """Returns the grammar of equations on the remaining numbers, one a line.

    Args:
        numbers: The count of these numbers. One number allows no step, and the model made up more
            than four: the grammar is then empty and constrains nothing.
        most: The maximum number of equations; None: all possible ones.
    """
    if not 2 <= numbers <= MOST_NUMBERS:
        return ""
    lines, left = most or WAYS * comb(numbers, 2), numbers - 1
    return grammar(
        "equation" if lines == 1 else f'equation ("\\n" equation){{0,{lines - 1}}}',
        equation=f'number {SIGN} number " = " number " (left: " left ")"',
        left=' " " '.join(["number"] * left),
        number=NUMBER,
    )


@cache
def answer() -> str:
    """Returns the grammar of an answer: an expression with bounded nesting, then `= 24`."""

    def joined(depth: int, least: int) -> str:
        return f"term-{depth} ({SIGN} term-{depth}){{{least},3}}"

    inner = {f"term_{at}": f'number | "(" {joined(at - 1, 1)} ")"' for at in range(BRACKETS, 0, -1)}
    return grammar(
        f'"Answer: " {joined(BRACKETS, 0)} " = 24"',
        **inner,
        term_0="number",
        number="[0-9]{1,4}",
    )


@cache
def verdict(*words: str) -> str:
    """Returns the grammar of a verdict: lines of reasoning, then one of the words."""
    return grammar(
        f"line{{0,{LINES}}} {one_of(words)}", line=f'[-0-9(A-Z] [^\\n]{{0,{LONGEST_LINE}}} "\\n"'
    )
