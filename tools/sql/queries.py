"""Checks that a query is one SELECT that changes nothing, and gives hints after a failure."""

import re
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from typing import Any, NamedTuple

from thoughtgraph.tools.sql.tables import QueryError, Table, brief

LONGEST_QUERY = 10_000
"""Characters that a query may have (ours)."""
DEEPEST = 40
"""Depth of brackets that a query may have (ours): the parser recurses at each."""

_OPENING = ("L_PAREN", "CASE", "L_BRACKET", "L_BRACE")
_CLOSING = ("R_PAREN", "END", "R_BRACKET", "R_BRACE")
MOST_LISTS = 8
"""Depth of square brackets (ours): each level doubles the parser's time."""
_CHANGES = ("Into", "Lock", "Command", "DML", "DDL")
"""sqlglot's names for the parts of a statement that do more than read."""
_REACHING = re.compile(
    r"(?i)(?:pg|lo|txid|brin|gin|binary)_|lo(?:read|write)\b|ts_(?:stat|rewrite)|crosstab|connectby"
    r"|xpath_table|dblink|postgres_fdw|http|current_setting|set_config|nextval|setval|\w*_?to_xml"
)
"""Prefixes of PostgreSQL functions that reach beyond the data (files, settings, sessions) or run a
query passed as text. Extensions may have more, so the role should have SELECT only."""
_ESCAPED = re.compile(r"""(?i)(?<![\w$])u&["']""")
"""Names and strings with Unicode escapes of PostgreSQL, which sqlglot does not read."""
_COLOUR = re.compile(r"\x1b\[\d{1,3}m")
_UNKNOWN = re.compile(
    r"(?i)no such (column|table): ([^\n;]{1,100})|(column|relation) ([^\n;]{1,100}) does not exist"
)


class Query(NamedTuple):
    """A query that passed the checks."""

    text: str
    """The query without a semicolon at its end."""
    ordered: bool
    """Whether the query has an ORDER BY for its rows."""


def read_query(text: str, dialect: str) -> Query:
    """Checks a query.

    Args:
        text: The query as a model or a person wrote it.
        dialect: The database's dialect, as sqlglot names it.

    Raises:
        QueryError: The text is not one SELECT, is too long or too deep, or reaches too far.
    """
    if len(text) > LONGEST_QUERY:
        raise QueryError(
            f"a query of {len(text)} characters is too long; write {LONGEST_QUERY} at most"
        )
    if dialect == "postgres" and _ESCAPED.search(text):
        raise QueryError("U&'…' is not read here; write the letters themselves")
    glot: Any = import_module("sqlglot")  # slow, so not imported to list the tasks
    try:
        _check_tokens(glot.tokenize(text, read=dialect))
        statements = [each for each in glot.parse(text, read=dialect) if each is not None]
    except glot.errors.ParseError as error:
        first = error.errors[0] if error.errors else {"description": str(error)}
        near = f" near {first['highlight']!r}" if first.get("highlight") else ""
        message = _COLOUR.sub("", first["description"]).partition(" but got <Token")[0]
        raise QueryError(f"syntax error{near}: {message}") from None
    except (glot.errors.SqlglotError, RecursionError) as error:
        raise QueryError(f"syntax error: {_COLOUR.sub('', str(error))}") from None
    if len(statements) != 1:
        raise QueryError(
            f"one query is run at a time, and this is {len(statements)}; write one SELECT"
        )
    _refuse_changes(glot.exp, statements[0], dialect)
    return Query(text.strip().rstrip("; \n\t\r"), statements[0].args.get("order") is not None)


def _check_tokens(tokens: Sequence[Any]) -> None:
    """Refuses a text whose tokens are no SELECT or nest too deep for the parser."""
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


def _refuse_changes(expressions: Any, tree: Any, dialect: str) -> None:
    """Refuses a statement if any part of it writes or reaches beyond the data."""
    changing = tree.find(*(getattr(expressions, name) for name in _CHANGES))
    if changing is not None or not isinstance(tree, expressions.Query):
        word = "none" if changing is None else changing.key.upper().replace("LOCK", "FOR UPDATE")
        raise QueryError(f"only a SELECT is run here, and this has {word} in it")
    if dialect == "postgres":
        for function in tree.find_all(expressions.Anonymous):
            if _REACHING.match(str(function.name)):
                raise QueryError(f"the function {brief(function.name)} is not for questions")
        for table in tree.find_all(expressions.Table):
            if table.name.lower().startswith("pg_"):  # other sessions' queries, the server's files
                raise QueryError(f"the table {brief(table.name)} is the server's own")


def hint(error: str, tables: Sequence[Table]) -> str:
    """Returns a hint on the unknown name in an error: its tables or similar names (ours)."""
    unknown = _UNKNOWN.search(error)
    if unknown is None:
        return ""
    kind, name = (
        (unknown[1] or unknown[3]).lower(),
        plain_name((unknown[2] or unknown[4]).rpartition(".")[2]),
    )
    if kind != "column":
        return nearest(name, [table.name for table in tables])
    owners = [t.name for t in tables if name in (plain_name(column) for column, _ in t.columns)]
    if owners:
        return f"; {brief(name)} is a column of {', '.join(map(brief, owners[:5]))}"
    return nearest(name, [f"{t.name}.{column}" for t in tables for column, _ in t.columns])


def nearest(name: str, known: Sequence[str]) -> str:
    """Returns a hint with known names like a name; only the part after a dot is compared."""
    plain = {each: plain_name(each.rpartition(".")[2]) for each in known[:5_000]}
    close = get_close_matches(brief(plain_name(name)), [*plain.values()], n=3, cutoff=0.5)
    near = [each for word in dict.fromkeys(close) for each, key in plain.items() if key == word]
    return f"; there is {', '.join(map(brief, near[:3]))}" if near else ""


def plain_name(name: str) -> str:
    """Returns a name in the form in which names are compared: without quotes and case."""
    return name.strip().strip('"`').casefold()
