"""Tree-of-Mixed-Thought's metrics of a search for a plan (section 4), from a finished problem.

Each function returns one value per problem; reports show means.
"""

from collections.abc import Mapping
from typing import Any

from thoughtgraph.bench.result_files import tree_of
from thoughtgraph.tree import ROOT

PLANNED = "tomt_"
"""Prefix of the ids of Tree-of-Mixed-Thought's methods."""
Row = Mapping[str, Any]


def calls(row: Row) -> int:
    """Returns the number of judged calls of the generator: the paper's reasoning steps.

    For a summary, which has no tree, and for other methods, it is the number of all requests.
    """
    if "tree" not in row or not row["method"].startswith(PLANNED):
        return int(row["usage"]["requests"])
    return len(tree_of(row)) - 1


def ahead(row: Row) -> int:
    """Returns the number of requests for calls that were generated ahead and never judged."""
    return max(0, int(row["usage"]["requests"]) - calls(row))


def right(row: Row, most: float = float("inf")) -> bool:
    """Returns whether the answer is right and took at most so many calls.

    A search that took more calls had no plan by then, so one run with a large T also covers all
    smaller T (appendix B).
    """
    return row["score"] == 1.0 and calls(row) <= most


def no_back(row: Row) -> bool:
    """Returns whether the answer is right and no call was refused."""
    thoughts = tree_of(row).items()
    refused = any(key != ROOT and thought["status"] == "pruned" for key, thought in thoughts)
    return right(row) and not refused


def inconsistent(row: Row) -> bool:
    """Returns whether a plan was accepted but its answer is wrong."""
    return row["answer"] is not None and not right(row)
