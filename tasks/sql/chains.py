"""Queries as models write them, whole or as a chain of named parts (`name = SELECT …`)."""

import re
from collections.abc import Sequence
from typing import NamedTuple

_WITH = r'with\s++(?:recursive\s++)?+["\w]++\s*+(?:\([^()]{0,500}\)\s*+)?+as\b'
_BEGIN = re.compile(rf"^[ \t(]*+(?:select\b|{_WITH})", re.IGNORECASE | re.MULTILINE)
_OTHER = re.compile(
    r"\s*+(?:(?:insert|replace|merge)\s++into|delete\s++from|update\s++[\w.\"]++\s++set"
    r"|(?:create|alter|drop|truncate)\s++(?:table|view|index|database|schema)|attach|pragma)\b",
    re.IGNORECASE,
)
"""The beginning of what is no query: it is read, so that its refusal says so."""
_END = re.compile(r";[ \t]*+(?:\n|$)|\n[ \t]*+\n|```")
_LANGUAGE = re.compile(r"^[ \t]*+\w*+[ \t]*+\n")
_PART = re.compile(
    r"^[ \t*`>-]*+(?:(?:step|part)?[ \t]*+\d{1,3}[.:)][ \t*`]*+)?+"
    rf"(?:(?P<name>[a-z_]\w{{0,40}})[ \t`]*+:?=[ \t`]*+)?+(?=\(?select\b|{_WITH})",
    re.IGNORECASE,
)
_COMMENT = re.compile(r"('(?:[^']|'')*+'|\"[^\"]*+\")|--[^\n]*+")
_RECURSIVE = re.compile(r"(?i)\s*+with\s++(recursive\s++)?+")


class Part(NamedTuple):
    """A part of a chain."""

    name: str
    """What later parts call its rows; empty: it is the last one, the answer's."""
    query: str

    @property
    def text(self) -> str:
        """The part as it is written, on one line."""
        return f"{self.name} = {self.query}" if self.name else self.query


def query_in(text: str) -> str | None:
    """Returns the query of a completion: of its last block of code that has one, else of its text.

    A statement that is no query counts where there is no other. None if there is neither.
    """
    pieces = text.split("```")
    blocks = [_LANGUAGE.sub("", piece) for piece in pieces[1::2]]
    for piece in reversed(blocks):
        if begin := _BEGIN.search(piece):
            return _stripped(piece[begin.start() :])
    if begin := _BEGIN.search(text):
        return _stripped(_END.split(text[begin.start() :], maxsplit=1)[0])
    return next((_stripped(piece) for piece in [*blocks, text] if _OTHER.match(piece)), None)


def parts_in(text: str) -> list[Part]:
    """Returns the parts that a completion writes, each from its first line to the next one's."""
    written: list[tuple[str, list[str]]] = []
    going_on = False
    for line in text.split("\n"):
        begin = _PART.match(line)
        if begin and (begin["name"] or not going_on or not _goes_on(written[-1][1])):
            written.append((begin["name"] or "", [line[begin.end() :]]))
            going_on = True
        elif going_on := going_on and bool(line.strip()) and "```" not in line:
            written[-1][1].append(line)
    parts = (Part(name, _one_line("\n".join(lines))) for name, lines in written)
    return [part for part in parts if part.query]


def part_of(text: str) -> Part:
    """Returns a part that was read before."""
    begin = _PART.match(text)
    return Part(begin["name"] or "", text[begin.end() :]) if begin else Part("", text)


def chained(parts: Sequence[Part]) -> str:
    """Returns the query of the last part, with those before it as a WITH chain."""
    *before, last = parts
    if not before:
        return last.query
    begin = _RECURSIVE.match(last.query)
    recursive = "RECURSIVE " if begin and begin[1] else ""
    own = f", {last.query[begin.end() :]}" if begin else f" {last.query}"
    named = ", ".join(f"{part.name or 'part'} AS ({part.query})" for part in before)
    return f"WITH {recursive}{named}{own}"


def _goes_on(lines: Sequence[str]) -> bool:
    """Returns whether a part goes on in a line that begins with SELECT."""
    last, of_with = lines[-1].strip().lower(), lines[0].lstrip().lower().startswith("with")
    return last.endswith(("(", "union", "all", "except", "intersect")) or (
        of_with and last.endswith(")")
    )


def _one_line(text: str) -> str:
    plain = _COMMENT.sub(lambda match: match[1] or "", text)
    query = _stripped(" ".join(plain.split()))
    # As a part of a chain it gets brackets anyway, and SQLite takes no second ones.
    return query[1:-1].strip() if _closing(query) == len(query) - 1 else query


def _closing(query: str) -> int:
    """Returns where the bracket closes with which a query begins; -1 without one."""
    depth = 0
    for at, sign in enumerate(query):
        depth += {"(": 1, ")": -1}.get(sign, 0)
        if not depth:
            return at if at else -1
    return -1


def _stripped(text: str) -> str:
    return text.strip().rstrip("; \t\n\r`")
