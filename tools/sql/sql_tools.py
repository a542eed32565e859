"""A database as LangChain tools, for methods that act and for any agent."""

from collections.abc import Callable

from langchain_core.tools import BaseTool, StructuredTool

from thoughtgraph.tools.costs import Priced
from thoughtgraph.tools.sql.database import Database
from thoughtgraph.tools.sql.queries import nearest, plain_name
from thoughtgraph.tools.sql.tables import QueryError, brief

SHOWN = 10
"""Rows of an observation (ours)."""
COSTS = {"list_tables": 0.1, "describe_table": 0.2, "sample_rows": 0.5, "run_query": 1.0}
"""Cost of a call unless the caller sets another (ours); Finish costs 0."""

Observed = tuple[str, dict[str, bool]]
"""An observation on one line, and an artifact that says whether the call failed."""


def sql_tools(database: Database) -> list[Priced]:
    """Returns list_tables, describe_table, sample_rows, run_query and Finish.

    Cells are quoted and cut. Each tool is a plain function, which LangChain runs in a thread when
    the call is awaited.

    Args:
        database: The database that the tools read.
    """
    by_name = {plain_name(each.name): each for each in database.tables}

    def list_tables() -> Observed:
        """Lists the tables."""
        return _success(", ".join(each.name for each in database.tables) or "there are no tables")

    def describe_table(table: str) -> Observed:
        """Shows a table's columns with their types and keys."""
        entry = by_name.get(plain_name(table))
        return _unknown(table) if entry is None else _success(entry.shown({}))

    def sample_rows(table: str) -> Observed:
        """Shows three rows of a table."""
        entry = by_name.get(plain_name(table))
        return (
            _unknown(table) if entry is None else run_query(f"SELECT * FROM {entry.name} LIMIT 3")
        )

    def run_query(query: str) -> Observed:
        """Runs one SELECT, written on one line, and shows its first rows."""
        outcome = database.run_now(query)
        if isinstance(outcome, QueryError):
            return str(outcome), {"failed": True}
        return outcome.shown(SHOWN, "; "), {"failed": False}

    def finish(query: str) -> Observed:
        """Ends with this query as the answer; one that fails ends nothing."""
        observation, artifact = run_query(query)
        return observation if artifact["failed"] else query, artifact

    def _unknown(table: str) -> Observed:
        return f"there is no table {brief(table)}{nearest(table, [*by_name])}", {"failed": True}

    functions = (list_tables, describe_table, sample_rows, run_query)
    priced = [Priced(_tool(each), COSTS[each.__name__]) for each in functions]
    return [*priced, Priced(_tool(finish, "Finish", ends=True), 0.0)]


def _tool(
    work: Callable[..., Observed], name: str | None = None, *, ends: bool = False
) -> BaseTool:
    return StructuredTool.from_function(
        work, name=name, return_direct=ends, response_format="content_and_artifact"
    )


def _success(text: str) -> Observed:
    return brief(text, 2_000), {"failed": False}
