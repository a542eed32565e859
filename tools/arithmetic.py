"""Exact arithmetic on expressions: fractions, the four operations, nothing else.

Expressions come from models, so they are parsed, never evaluated as code, and their size is
bounded.
"""

import ast
import operator
import re
from collections.abc import Callable
from fractions import Fraction

from thoughtgraph.errors import InputError

MOST_LETTERS = 200
"""Characters an expression may have (ours)."""
MOST_DIGITS = 12
"""Characters a number may have (ours); the bound keeps every result small."""

_ALLOWED = re.compile(r"[0-9+\-*/(). ]+")
_OPERATIONS: dict[type[ast.operator], Callable[[Fraction, Fraction], Fraction]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


class ExpressionError(InputError):
    """The text is no arithmetic expression, or it divides by zero."""


def evaluate(text: str) -> Fraction:
    """Returns the exact value of an expression of numbers, `+ - * /` and parentheses.

    Args:
        text: The expression; decimals such as `1.5` are read exactly.

    Raises:
        ExpressionError: The text is no such expression, is too long, or divides by zero.

    >>> evaluate("8 / (3 - 8 / 3)")
    Fraction(24, 1)
    """
    try:
        return _value(_parse(text))
    except ZeroDivisionError:
        raise ExpressionError(f"{text.strip()!r} divides by zero") from None


def integers(text: str) -> list[int]:
    """Returns the integer literals of an expression in order.

    Raises:
        ExpressionError: The text is no expression, or a literal is not an integer.
    """
    literals: list[int] = []
    for node in ast.walk(_parse(text)):
        if isinstance(node, ast.Constant):
            if type(node.value) is not int:
                raise ExpressionError(f"{node.value!r} is not an integer")
            literals.append(node.value)
    return literals


def _parse(text: str) -> ast.expr:
    expression = text.strip()
    if len(expression) > MOST_LETTERS:
        raise ExpressionError(f"an expression of {len(expression)} characters is too long")
    if not _ALLOWED.fullmatch(expression):
        raise ExpressionError(f"{expression!r} is no arithmetic expression")
    try:
        return ast.parse(expression, mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise ExpressionError(f"{expression!r} is no arithmetic expression") from None


def _value(node: ast.expr) -> Fraction:
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATIONS:
        return _OPERATIONS[type(node.op)](_value(node.left), _value(node.right))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand)
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        digits = repr(node.value)  # as written: 0.1 is a tenth, not the nearest binary fraction
        if len(digits) <= MOST_DIGITS and "e" not in digits and "n" not in digits:
            return Fraction(digits)
    raise ExpressionError("only numbers, + - * / and parentheses can be evaluated exactly")
