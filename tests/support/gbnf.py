"""Grammars in llama.cpp's GBNF, as far as ours go: what they accept, and texts that they allow."""

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

TOKEN = re.compile(
    r'\s*(?:"((?:[^"\\]|\\.)*)"|\[((?:[^\]\\]|\\.)+)\]|([a-z0-9-]+)|\{(\d+)(,?)(\d*)\}|([()|?*+]))'
)
OTHERS = "".join(map(chr, range(32, 127))) + "é≤—"
"""Letters that are tried where a class leaves out some."""
MOST = 3
"""Repetitions beyond the least that are tried."""
SIGNS = {"?": (0, 1), "*": (0, 10**4), "+": (1, 10**4)}


@dataclass
class Literal:
    text: str

    def ends(self, grammar: "Gbnf", text: str, starts: set[int]) -> set[int]:
        return {at + len(self.text) for at in starts if text.startswith(self.text, at)}

    def some(self, grammar: "Gbnf", rng: random.Random) -> str:
        return self.text


@dataclass
class Letter:
    pattern: str

    def ends(self, grammar: "Gbnf", text: str, starts: set[int]) -> set[int]:
        return {at + 1 for at in starts if re.match(self.pattern, text[at : at + 1])}

    def some(self, grammar: "Gbnf", rng: random.Random) -> str:
        return rng.choice([each for each in OTHERS if re.match(self.pattern, each)])


@dataclass
class Rule:
    name: str

    def ends(self, grammar: "Gbnf", text: str, starts: set[int]) -> set[int]:
        return grammar.rules[self.name].ends(grammar, text, starts)

    def some(self, grammar: "Gbnf", rng: random.Random) -> str:
        return grammar.rules[self.name].some(grammar, rng)


@dataclass
class Repeated:
    what: Any
    least: int
    most: int

    def ends(self, grammar: "Gbnf", text: str, starts: set[int]) -> set[int]:
        found: set[int] = set(starts) if self.least == 0 else set()
        for times in range(1, self.most + 1):
            if not (starts := self.what.ends(grammar, text, starts)):
                break
            found |= starts if times >= self.least else set()
        return found

    def some(self, grammar: "Gbnf", rng: random.Random) -> str:
        times = rng.choice([self.least, rng.randint(self.least, min(self.most, self.least + MOST))])
        return "".join(self.what.some(grammar, rng) for _ in range(times))


@dataclass
class Choice:
    alternatives: list[list[Any]]

    def ends(self, grammar: "Gbnf", text: str, starts: set[int]) -> set[int]:
        found: set[int] = set()
        for sequence in self.alternatives:
            at = starts
            for each in sequence:
                at = each.ends(grammar, text, at) if at else at
            found |= at
        return found

    def some(self, grammar: "Gbnf", rng: random.Random) -> str:
        return "".join(each.some(grammar, rng) for each in rng.choice(self.alternatives))


class Gbnf:
    """A grammar.

    Args:
        text: The grammar, a rule a line.
    """

    def __init__(self, text: str) -> None:
        named = (line.split(" ::= ") for line in text.split("\n"))
        self.rules = {name: _choice(_tokens(body)) for name, body in named}

    def accepts(self, text: str) -> bool:
        """Returns whether a text is what the grammar says, from its beginning to its end."""
        return len(text) in self.rules["root"].ends(self, text, {0})

    def some(self, rng: random.Random) -> str:
        """Returns a text that the grammar allows."""
        return self.rules["root"].some(self, rng)


def _tokens(body: str) -> Iterator[Any]:
    at = 0
    while at < len(body.rstrip()):
        found = TOKEN.match(body, at)
        assert found, f"no GBNF: {body[at:]}"
        literal, letters, name, least, comma, most, sign = found.groups()
        at = found.end()
        if literal is not None:
            yield Literal(re.sub(r"\\(.)", lambda c: {"n": "\n"}.get(c[1], c[1]), literal))
        elif letters is not None:
            yield Letter(f"[{letters}]")
        elif name is not None:
            yield Rule(name)
        elif least is not None:
            yield int(least), int(most or (10**4 if comma else least))
        else:
            yield SIGNS.get(sign, sign)


def _choice(tokens: Iterator[Any]) -> Choice:
    """Reads as far as the bracket that closes, or to the end."""
    alternatives: list[list[Any]] = [[]]
    for token in tokens:
        if token == ")":
            break
        if token == "|":
            alternatives.append([])
        elif token == "(":
            alternatives[-1].append(_choice(tokens))
        elif isinstance(token, tuple):
            alternatives[-1].append(Repeated(alternatives[-1].pop(), *token))
        else:
            alternatives[-1].append(token)
    return Choice(alternatives)
