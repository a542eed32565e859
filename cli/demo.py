"""The search that `thoughtgraph demo` shows: a real one, small enough for a laptop."""

import json
import os
import shlex
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from thoughtgraph import registry

TASK = "sql"
METHOD = "tot_dfs"
SETTINGS: Mapping[str, Any] = {"seed": 5, "max_completion_tokens": 160, "proposal_samples": 3}
"""Ours: the limit suits a part of a query, which is short, and three lists of proposals leave
another part to go back to. Of 20 seeds, only 5 and 13 go back and then find the right rows; the
embedded model samples by the seed, so the search repeats. The rest is the task's default."""
QUESTION = "How many pages has each member borrowed in 2025?"
GOLD = (
    "SELECT member.name, sum(book.pages) FROM member JOIN loan ON loan.member_id = member.id "
    "JOIN book ON book.id = loan.book_id WHERE loan.borrowed LIKE '2025%' GROUP BY member.id"
)
"""A query that returns the right rows; the search never sees it."""


def tables() -> Sequence[str]:
    """Returns the tables of the example database, each with its columns."""
    # Imported here: it imports LangChain's tools, which would delay every command.
    schema = import_module("thoughtgraph.tools.sql.database").open_database("").tables
    return [f"{each.name} ({', '.join(column for column, _ in each.columns)})" for each in schema]


def is_right(query: str | None) -> bool:
    """Returns whether a query returns the rows that answer the question."""
    options = {"database": "", "sample_values": 0}
    task: Any = registry.task(TASK)
    return query is not None and bool(task.score(QUESTION, query, json.dumps([GOLD]), options))


def next_steps(model: str) -> tuple[str, ...]:
    """Returns commands to try after the demonstration, ready to paste, with a remark each.

    They name its model, as another one may cost money.

    Under `uv run` they begin with `uv run --no-sync`: `thoughtgraph` may not be on the path, and
    nothing must be installed, neither groups for developers nor weights of a model.
    """
    command = (
        "uv run --no-sync thoughtgraph"
        if "UV_RUN_RECURSION_DEPTH" in os.environ
        else "thoughtgraph"
    )
    option = f"--model {shlex.quote(model)}"
    return (
        f"{command} view last --open   (the page of this search)",
        f"{command} demo {option} --set seed=13   (another search)",
        f'{command} solve "Who joined first?" --task sql {option}   '
        "(of your own: --database shop.sqlite)",
    )
