"""Rows of result files: what a benchmark writes of one problem."""

from typing import Any

from thoughtgraph.bench.result_files import packed
from thoughtgraph.tree import Thought, Tree, root

ROW = {
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

PUZZLES = {"1": "1 1 4 6", "2": "4 9 10 13"}

RIGHT = {"1": "(1 + 1) * 4 * 6 / 2", "2": "(13 - 9) * (10 - 4)"}

WRONG = "1 + 1"


def row(method: str, at: str, scores: list[float], tokens: int, **more: Any) -> dict[str, Any]:
    answers: list[str | None] = [RIGHT["2"] if score else WRONG for score in scores]
    usage = {"requests": 1, "samples": len(scores), "prompt_tokens": 100, "dollars": None}
    usage |= {"completion_tokens": tokens, "seconds": 1.0, "parse_errors": {"generate": 1}}
    root = {"id": "0", "parent": None, "depth": 0, "status": "expanded", "text": "SECRET"}
    return {
        "key": f"{method}-{at}",
        "id": at,
        "seed": 0,
        "task": "game24",
        "data": "puzzles",
        "method": method,
        "model": "m",
        "evaluator_model": "",
        "problem": PUZZLES[at],
        "gold": "SECRET",
        "facts": {"level": "easy"},
        "given": {"n_generate": len(scores)},
        "settings": {"n_generate": len(scores), "temperature": 0.7, "seed": 0, "oracle": False},
        "stop_reason": "finished",
        "outcome": "SECRET",
        "answer": answers[0] if answers else None,
        "candidates": answers,
        "score": scores[0] if scores else None,
        "scores": scores,
        "ensembles": {},
        "ensemble_scores": [],
        "usage": usage,
        "tree": packed({"0": root}),
        **more,
    }


def runs() -> list[dict[str, Any]]:
    """Four votes of 10 tokens each beside a search of 125 tokens: three votes cost 130."""
    return [
        row("cot_sc", "1", [0.0, 0.0, 0.0, 0.0], 40, score=0.0),
        row("cot_sc", "2", [0.0, 1.0, 1.0, 1.0], 40, score=1.0),
        row("tot_bfs", "1", [1.0], 20),
        row("tot_bfs", "2", [1.0], 30),
    ]


def tree_of(*rows: tuple[str, str, dict[str, Any]]) -> Tree:
    tree: Tree = {"0": root()}
    for at, (parent, text, more) in enumerate(rows, 1):
        depth = tree[parent]["depth"] + 1
        base = Thought(id=str(at), parent=parent, depth=depth, text=text, status="expanded")
        tree[str(at)] = Thought(**{**base, **more})  # type: ignore[typeddict-item]
    return tree
