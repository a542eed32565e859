"""A query before it runs (exactly one SELECT, which changes nothing), and after it failed."""

import re
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from typing import Any, NamedTuple

from thoughtgraph.tools.sql.tables import QueryError, Table, brief

LONGEST_QUERY = 10_000
"""Characters of a query (ours)."""
DEEPEST = 40
"""Nested brackets of a query (ours): its parser calls itself for each."""

_OPENING = ("L_PAREN", "CASE", "L_BRACKET", "L_BRACE")
_CLOSING = ("R_PAREN", "END", "R_BRACKET", "R_BRACE")
MOST_LISTS = 8
"""Nested square brackets (ours): the parser takes twice as long for each."""
_CHANGES = ("Into", "Lock", "Command", "DML", "DDL")
"""Parts of a statement that is more than a question, as sqlglot names them."""
_REACHING = re.compile(
    r"(?i)(?:pg|lo|txid|brin|gin|binary)_|lo(?:read|write)\b|ts_(?:stat|rewrite)|crosstab|connectby"
    r"|xpath_table|dblink|postgres_fdw|http|current_setting|set_config|nextval|setval|\w*_?to_xml"
)
"""Beginnings of functions of PostgreSQL that reach beyond the data (files, settings, sessions) or
run a query written as a text. Extensions may have more, so the role should have SELECT only."""
_ESCAPED = re.compile(r"""(?i)(?<![\w$])u&["']""")
"""Names and texts in which PostgreSQL reads escapes: the parser here does not know them."""
_COLOUR = re.compile(r"\x1b\[\d{1,3}m")
_UNKNOWN = re.compile(
    r"(?i)no such (column|table): ([^\n;]{1,100})|(column|relation) ([^\n;]{1,100}) does not exist"
)


class Query(NamedTuple):
    """A query that may run."""

    text: str
    """Without the semicolon at its end."""
    ordered: bool
    """Whether it says in which order its rows come."""


def read_query(text: str, dialect: str) -> Query:
    """Reads a query.

    Args:
        text: What a model or a person wrote.
        dialect: The database's, as sqlglot names it.

    Raises:
        QueryError: It is no single SELECT.
    """
    if len(text) > LONGEST_QUERY:
        raise QueryError(
            f"a query of {len(text)} characters is too long; write {LONGEST_QUERY} at most"
        )
    if dialect == "postgres" and _ESCAPED.search(text):
        raise QueryError("U&'…' is not read here; write the letters themselves")
    glot: Any = import_module("sqlglot")  # it takes a moment, which lists of tasks do without
    try:
        _look_at(glot.tokenize(text, read=dialect))
        statements = [each for each in glot.parse(text, read=dialect) if each is not None]
    except glot.errors.ParseError as error:
        first = error.errors[0] if error.errors else {"description": str(error)}
        near = f" near {first['highlight']!r}" if first.get("highlight") else ""
        said = _COLOUR.sub("", first["description"]).partition(" but got <Token")[0]
        raise QueryError(f"syntax error{near}: {said}") from None
    except (glot.errors.SqlglotError, RecursionError) as error:
        raise QueryError(f"syntax error: {_COLOUR.sub('', str(error))}") from None
    if len(statements) != 1:
        raise QueryError(
            f"one query is run at a time, and this is {len(statements)}; write one SELECT"
        )
    _refuse_changes(glot.exp, statements[0], dialect)
    return Query(text.strip().rstrip("; \n\t\r"), statements[0].args.get("order") is not None)


def _look_at(tokens: Sequence[Any]) -> None:
    """Refuses by its tokens what is no SELECT, or nested too deep to be parsed."""
    kinds = [token.token_type.name for token in tokens]
    if not kinds or kinds[0] not in ("SELECT", "WITH", "L_PAREN"):
        begin = brief(tokens[0].text, 20) if kinds else "nothing"
        raise QueryError(f"only a SELECT is run here, and this begins with {begin!r}")
    depth = deepest = lists = 0
    for kind in kinds:
        lists += (kind == "L_BRACKET") - (kind == "R_BRACKET")
        if lists > MOST_LISTS:
            raise QueryError(
                f"square brackets nest deeper than {MOST_LISTS}; write a simpler query"
            )
        depth += (kind in _OPENING) - (kind in _CLOSING)
        deepest = max(deepest, depth)
    if deepest > DEEPEST:
        raise QueryError(f"the query is nested deeper than {DEEPEST} brackets; write a simpler one")


def _refuse_changes(kinds: Any, tree: Any, dialect: str) -> None:
    """Refuses a statement that writes or reaches beyond the data, wherever in it."""
    changing = tree.find(*(getattr(kinds, name) for name in _CHANGES))
    if changing is not None or not isinstance(tree, kinds.Query):
        part = tree if changing is None else changing
        raise QueryError(f"only a SELECT is run here, and this has {part.key.upper()} in it")
    if dialect == "postgres":
        for function in tree.find_all(kinds.Anonymous):
            if _REACHING.match(str(function.name)):
                raise QueryError(f"the function {brief(function.name)} is not for questions")
        for table in tree.find_all(kinds.Table):
            if table.name.lower().startswith("pg_"):  # other sessions' queries, the server's files
                raise QueryError(f"the table {brief(table.name)} is the server's own")


def hint(error: str, tables: Sequence[Table]) -> str:
    """Returns what a person would look up after an error: names like an unknown one (ours)."""
    unknown = _UNKNOWN.search(error)
    if unknown is None:
        return ""
    kind, name = (
        (unknown[1] or unknown[3]).lower(),
        plain_name((unknown[2] or unknown[4]).rpartition(".")[2]),
    )
    if kind != "column":
        return nearest(name, [table.name for table in tables])
    having = [t.name for t in tables if name in (plain_name(column) for column, _ in t.columns)]
    if having:
        return f"; {brief(name)} is a column of {', '.join(map(brief, having[:5]))}"
    return nearest(name, [f"{t.name}.{column}" for t in tables for column, _ in t.columns])


def nearest(name: str, known: Sequence[str]) -> str:
    """Returns the names like one; of those with a dot, what stands behind it is compared."""
    plain = {each: plain_name(each.rpartition(".")[2]) for each in known[:5_000]}
    close = get_close_matches(brief(plain_name(name)), [*plain.values()], n=3, cutoff=0.5)
    near = [each for word in dict.fromkeys(close) for each, own in plain.items() if own == word]
    return f"; there is {', '.join(map(brief, near[:3]))}" if near else ""


def plain_name(name: str) -> str:
    """Returns a name by which it is compared: without quotes and case."""
    return name.strip().strip('"`').casefold()
