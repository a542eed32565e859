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
class Part:
    """A literal, a class of letters, a rule by its name, a repetition or a choice."""

    kind: str
    value: Any
    least: int = 1
    most: int = 1

    def ends(self, rules: dict[str, "Part"], text: str, starts: set[int]) -> set[int]:
        """Returns where the part can end that begins at one of some places."""
        if self.kind == "literal":
            return {at + len(self.value) for at in starts if text.startswith(self.value, at)}
        if self.kind == "letters":
            return {at + 1 for at in starts if re.match(self.value, text[at : at + 1])}
        if self.kind == "rule":
            return rules[self.value].ends(rules, text, starts)
        found = set(starts) if self.least == 0 else set[int]()
        if self.kind == "repetition":
            for times in range(1, self.most + 1):
                if not (starts := self.value.ends(rules, text, starts)):
                    break
                found |= starts if times >= self.least else set()
            return found
        for sequence in self.value:
            at = starts
            for each in sequence:
                at = each.ends(rules, text, at) if at else at
            found |= at
        return found

    def some(self, rules: dict[str, "Part"], rng: random.Random) -> str:
        """Returns a text that the part allows."""
        if self.kind == "literal":
            return str(self.value)
        if self.kind == "letters":
            return rng.choice([each for each in OTHERS if re.match(self.value, each)])
        if self.kind == "rule":
            return rules[self.value].some(rules, rng)
        if self.kind == "repetition":
            more = rng.randint(self.least, min(self.most, self.least + MOST))
            times = rng.choice([self.least, more])
            return "".join(self.value.some(rules, rng) for _ in range(times))
        return "".join(each.some(rules, rng) for each in rng.choice(self.value))


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
        return len(text) in self.rules["root"].ends(self.rules, text, {0})

    def some(self, rng: random.Random) -> str:
        """Returns a text that the grammar allows."""
        return self.rules["root"].some(self.rules, rng)


def _tokens(body: str) -> Iterator[Any]:
    at = 0
    while at < len(body.rstrip()):
        found = TOKEN.match(body, at)
        assert found, f"no GBNF: {body[at:]}"
        literal, letters, name, least, comma, most, sign = found.groups()
        at = found.end()
        if literal is not None:
            yield Part("literal", re.sub(r"\\(.)", lambda c: {"n": "\n"}.get(c[1], c[1]), literal))
        elif letters is not None:
            yield Part("letters", f"[{letters}]")
        elif name is not None:
            yield Part("rule", name)
        elif least is not None:
            yield int(least), int(most or (10**4 if comma else least))
        else:
            yield SIGNS.get(sign, sign)


def _choice(tokens: Iterator[Any]) -> Part:
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
            alternatives[-1].append(Part("repetition", alternatives[-1].pop(), *token))
        else:
            alternatives[-1].append(token)
    return Part("choice", alternatives)
