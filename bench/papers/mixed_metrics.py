"""What Tree-of-Mixed-Thought counts of a search for a plan (section 4), from a finished problem.

Each is one number a problem; of several its mean is told.
"""

from collections.abc import Mapping
from typing import Any

from thoughtgraph.bench.result_files import tree_of
from thoughtgraph.tree import ROOT

PLANNED = "tomt_"
"""What the methods of Tree-of-Mixed-Thought begin with."""
Row = Mapping[str, Any]


def calls(row: Row) -> int:
    """Returns the calls of the generator that were judged: the paper's reasoning steps.

    Of a summary, which has no tree, and of other methods it is all requests.
    """
    if "tree" not in row or not row["method"].startswith(PLANNED):
        return int(row["usage"]["requests"])
    return len(tree_of(row)) - 1


def ahead(row: Row) -> int:
    """Returns the requests paid for calls that were generated ahead and never judged."""
    return max(0, int(row["usage"]["requests"]) - calls(row))


def right(row: Row, most: float = float("inf")) -> bool:
    """Returns whether the answer is right, had there been so many calls at most.

    A search that ended after more calls had no plan yet, so one run with a large T holds all
    smaller ones (appendix B).
    """
    return row["score"] == 1.0 and calls(row) <= most


def no_back(row: Row) -> bool:
    """Returns whether the answer is right and no call was refused."""
    thoughts = tree_of(row).items()
    refused = any(key != ROOT and thought["status"] == "pruned" for key, thought in thoughts)
    return right(row) and not refused


def inconsistent(row: Row) -> bool:
    """Returns whether a plan was accepted and its answer is wrong."""
    return row["answer"] is not None and not right(row)
