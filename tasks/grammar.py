"""Grammars in llama.cpp's GBNF that constrain completions."""

from collections.abc import Iterable


def grammar(root: str, **rules: str) -> str:
    """Returns a grammar in GBNF.

    Args:
        root: The body of the rule for a whole completion.
        rules: The bodies of the other rules by name; the grammar has `-` for `_` in a name.
    """
    bodies = {"root": root, **rules}
    return "\n".join(f"{name.replace('_', '-')} ::= {body}" for name, body in bodies.items())


def literal(text: str) -> str:
    r"""Quotes a text for use in a rule.

    >>> literal('say "x"')
    '"say \\"x\\""'
    """
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def one_of(texts: Iterable[str]) -> str:
    """Returns the alternatives of a rule, one for each text."""
    return f"({' | '.join(map(literal, texts))})"
