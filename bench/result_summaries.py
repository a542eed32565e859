"""Summaries of results: rows that are small enough to be published, which reports read as any.

A summary says what a run scored and cost, at every budget. It holds no tree, no text of a problem,
no answer and no gold answer, so sets of problems that are not ours to publish stay where they are.
Of a problem it holds digests: who has the problem can tell that it is the same.
A benchmark goes on from summaries as from results: what is in them is finished.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from thoughtgraph import registry
from thoughtgraph.bench.budget import Point, points
from thoughtgraph.bench.result_files import Row
from thoughtgraph.llm.store import digest
from thoughtgraph.settings import WATCHING

KEPT = ("key", "seed", "data", "task", "method", "model", "evaluator_model", "given", "facts")
"""What is kept of a row as it is."""
SPENT = (
    *("requests", "samples", "prompt_tokens", "cached_prompt_tokens", "completion_tokens"),
    *("dollars", "seconds"),
)
"""What is kept of its usage."""
GIVEN = "given"
"""What stands for an answer in a summary."""


def summary(row: Row) -> Row:
    """Returns the summary of a finished problem; of a summary, the same again.

    Settings that nobody chose are told by a digest: lines that differ in one never merge.
    """
    if "points" in row:
        return row
    chosen, settings = row["given"], row["settings"]
    others = {
        name: value for name, value in settings.items() if name not in (*chosen, "seed", *WATCHING)
    }
    ensembles = row.get("ensembles", {})
    usage = {name: row["usage"].get(name) for name in SPENT}
    return {
        **{name: row[name] for name in KEPT if name in row},
        # Not the id itself: in a file of one's own it may say anything.
        "id": digest({"id": row["id"], "problem": row["problem"]})[:16],
        "problem": "",
        "settings": {
            **{name: settings[name] for name in chosen if name in settings},
            **{name: settings[name] for name in ("ensemble", "oracle") if name in settings},
            "others": digest(others)[:12],
        },
        "answer": row["answer"] and GIVEN,
        "score": row["score"],
        "scores": row["scores"],
        "ensembles": {name: answer and GIVEN for name, answer in ensembles.items()},
        "ensemble_scores": row.get("ensemble_scores", []),
        "usage": {**usage, "parse_errors": row["usage"].get("parse_errors", {})},
        "points": [_point(each) for each in _points(row)],
    }


def _points(row: Row) -> Sequence[Point]:
    scored = row["score"] is not None and row["task"] in registry.TASKS
    return points(row) if scored else []


def _point(point: Point) -> tuple[Mapping[str, Any], float]:
    return {name: round(value, 6) for name, value in point.spent.items()}, point.score
