"""Grammars in llama.cpp's GBNF that constrain completions."""

from collections.abc import Iterable


def grammar(root: str, **rules: str) -> str:
    """Returns a grammar.

    Args:
        root: What a completion is.
        rules: What the rules are that it names; a `_` of a name is written `-`.
    """
    named = {"root": root, **rules}
    return "\n".join(f"{name.replace('_', '-')} ::= {body}" for name, body in named.items())


def literal(text: str) -> str:
    r"""Quotes a text for use in a rule.

    >>> literal('say "x"')
    '"say \\"x\\""'
    """
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def one_of(texts: Iterable[str]) -> str:
    """Returns a choice among texts for use in a rule."""
    return f"({' | '.join(map(literal, texts))})"
