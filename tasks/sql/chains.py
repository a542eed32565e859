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
"""The beginning of other statements, which are read so that their refusal can say so."""
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
    """Name of its rows in later parts; empty for the last part, which gives the answer."""
    query: str

    @property
    def text(self) -> str:
        """The part on one line, as prompts show it."""
        return f"{self.name} = {self.query}" if self.name else self.query


def query_in(text: str) -> str | None:
    """Returns the query in a completion: in the last code block with a query, else in the text.

    Without a query, it returns another statement; without any statement, None.
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
    """Returns the parts in a completion; the next one, a blank line or a code fence ends a part."""
    sections: list[tuple[str, list[str]]] = []
    in_part = False
    for line in text.split("\n"):
        begin = _PART.match(line)
        if begin and (begin["name"] or not in_part or not _continues(sections[-1][1])):
            sections.append((begin["name"] or "", [line[begin.end() :]]))
            in_part = True
        elif in_part := in_part and bool(line.strip()) and "```" not in line:
            sections[-1][1].append(line)
    parts = (Part(name, _one_line("\n".join(lines))) for name, lines in sections)
    return [part for part in parts if part.query]


def part_of(text: str) -> Part:
    """Parses the `text` of a part."""
    begin = _PART.match(text)
    return Part(begin["name"] or "", text[begin.end() :]) if begin else Part("", text)


def chained(parts: Sequence[Part]) -> str:
    """Returns the query of the last part, with the parts before it as a WITH chain."""
    *before, last = parts
    if not before:
        return last.query
    begin = _RECURSIVE.match(last.query)
    recursive = "RECURSIVE " if begin and begin[1] else ""
    body = f", {last.query[begin.end() :]}" if begin else f" {last.query}"
    definitions = ", ".join(f"{part.name or 'part'} AS ({part.query})" for part in before)
    return f"WITH {recursive}{definitions}{body}"


def _continues(lines: Sequence[str]) -> bool:
    """Returns whether a part continues in the next line, although that begins with SELECT."""
    last, is_with = lines[-1].strip().lower(), lines[0].lstrip().lower().startswith("with")
    return last.endswith(("(", "union", "all", "except", "intersect")) or (
        is_with and last.endswith(")")
    )


def _one_line(text: str) -> str:
    plain = _COMMENT.sub(lambda match: match[1] or "", text)
    query = _stripped(" ".join(plain.split()))
    # A chain puts brackets around each part, and SQLite rejects a second pair.
    return query[1:-1].strip() if _closing(query) == len(query) - 1 else query


def _closing(query: str) -> int:
    """Returns the index at which a query's first bracket closes; -1 if it begins with none."""
    depth = 0
    for at, char in enumerate(query):
        depth += {"(": 1, ")": -1}.get(char, 0)
        if not depth:
            return at if at else -1
    return -1


def _stripped(text: str) -> str:
    return text.strip().rstrip("; \t\n\r`")
