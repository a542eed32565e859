"""Rows of results, and the cells of a paper's table that are made of them."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from thoughtgraph.bench.result_files import ResultFolder, packed
from thoughtgraph.tree import Thought, Tree, root

USAGE: dict[str, Any] = {
    **dict.fromkeys(("requests", "samples", "prompt_tokens", "completion_tokens"), 1),
    "dollars": None,
    "seconds": 1.0,
}
ROW: dict[str, Any] = {
    "task": "game24",
    "problem": "p",
    "model": "m",
    "evaluator_model": "",
    "given": {},
    "settings": {"seed": 0},
    "stop_reason": "finished",
    "answer": "x",
    "scores": [1.0],
}
TOP = {"id": "0", "parent": None, "depth": 0, "status": "expanded", "text": "SECRET"}
TREE = packed({"0": TOP})
PUZZLES = {"1": "1 1 4 6", "2": "4 9 10 13"}
RIGHT = {"1": "(1 + 1) * 4 * 6 / 2", "2": "(13 - 9) * (10 - 4)"}
WRONG = "1 + 1"


def finished(method: str, **more: Any) -> dict[str, Any]:
    """A problem that a method answered with one request; its score is that of its first output.

    `more` says what is different, and `usage` what differs from one of everything.
    """
    key = f"{method}-{more.get('id', '1')}"
    known = {"key": key, "id": "1", "seed": 0, "method": method, "tree": TREE}
    scores = more.get("scores", ROW["scores"])
    usage = {**USAGE, **more.pop("usage", {})}
    return {**ROW, **known, "score": scores[0] if scores else None, **more, "usage": usage}


def row(method: str, at: str, scores: list[float], tokens: int, **more: Any) -> dict[str, Any]:
    """A puzzle's row with an output for each score, and texts that a summary must not repeat."""
    answers: list[str | None] = [RIGHT["2"] if score else WRONG for score in scores]
    spent = {"prompt_tokens": 100, "completion_tokens": tokens, "parse_errors": {"generate": 1}}
    known = {
        "id": at,
        "data": "puzzles",
        "problem": PUZZLES[at],
        "gold": "SECRET",
        "facts": {"level": "easy"},
        "given": {"n_generate": len(scores)},
        "settings": {"n_generate": len(scores), "temperature": 0.7, "seed": 0, "oracle": False},
        "outcome": "SECRET",
        "answer": answers[0] if answers else None,
        "candidates": answers,
        "scores": scores,
        "ensembles": {},
        "ensemble_scores": [],
        "usage": {"samples": len(scores), **spent},
    }
    return finished(method, **{**known, **more})


def runs() -> list[dict[str, Any]]:
    """Four votes of 10 tokens each beside a search of 125 tokens: three votes cost 130."""
    return [
        row("cot_sc", "1", [0.0, 0.0, 0.0, 0.0], 40),
        row("cot_sc", "2", [0.0, 1.0, 1.0, 1.0], 40, score=1.0),
        row("tot_bfs", "1", [1.0], 20),
        row("tot_bfs", "2", [1.0], 30),
    ]


def kept(folder: Path | str, rows: Iterable[dict[str, Any]]) -> None:
    """Writes rows as a benchmark does."""
    results = ResultFolder(folder)
    results.open()
    for each in rows:
        results.append(each)
    results.close()


def tree_of(*rows: tuple[str, str, dict[str, Any]]) -> Tree:
    tree: Tree = {"0": root()}
    for at, (parent, text, more) in enumerate(rows, 1):
        depth = tree[parent]["depth"] + 1
        base = Thought(id=str(at), parent=parent, depth=depth, text=text, status="expanded")
        tree[str(at)] = Thought(**{**base, **more})  # type: ignore[typeddict-item]
    return tree


class Cell(NamedTuple):
    """What a table says of one line on one of its sets, or on several together."""

    row: str
    problems: str
    figure: str
    ours: str
    n: str


def cells_of(report: str, source: str) -> list[Cell]:
    """The cells of the table from one source."""
    (section,) = [each for each in report.split("## ") if each.split("\n")[0].endswith(source)]
    return [Cell(*(line[name] for name in Cell._fields)) for line in lines_of(section)]


def lines_of(section: str) -> list[dict[str, str]]:
    """The lines of the first table of a text, each by its headings."""
    rows = re.findall(r"^\|.*\|$", re.split(r"(?<=\|)\n(?!\|)", section, maxsplit=1)[0], re.M)
    headings, _, *lines = [
        [cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]] for row in rows
    ]
    return [dict(zip(headings, line, strict=True)) for line in lines]
