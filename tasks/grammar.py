"""Grammars in llama.cpp's GBNF, for what a server is to hold completions to."""

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
    r"""Returns the text itself as part of a rule.

    >>> literal('say "x"')
    '"say \\"x\\""'
    """
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def one_of(texts: Iterable[str]) -> str:
    """Returns one of the texts as part of a rule."""
    return f"({' | '.join(map(literal, texts))})"
