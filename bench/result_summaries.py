"""Summarises results as rows that are small enough to publish; reports read them like any row.

A summary holds the score and the cost of a run at every budget. It has no tree, no problem text, no
answer and no gold answer, so it publishes nothing of data sets that are not ours. A digest
identifies the problem to anyone who has it.
A benchmark resumes from summaries as from results: their problems count as finished.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from thoughtgraph import registry
from thoughtgraph.bench.budget import Point, points
from thoughtgraph.bench.result_files import Row
from thoughtgraph.llm.store import digest
from thoughtgraph.settings import WATCHING

KEPT = ("key", "seed", "data", "task", "method", "model", "evaluator_model", "given", "facts")
"""The fields of a row that a summary keeps unchanged."""
SPENT = (
    *("requests", "samples", "prompt_tokens", "cached_prompt_tokens", "completion_tokens"),
    *("dollars", "seconds"),
)
"""The fields of its usage that a summary keeps."""
GIVEN = "given"
"""Stands for an answer in a summary."""


def summary(row: Row) -> Row:
    """Returns the summary of a finished problem; returns a summary unchanged.

    A digest stands for the settings that nobody chose, so lines that differ in one never merge.
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
        # Not the id itself: a user's own file may have any text there.
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
