"""Stored results, as `thoughtgraph solve --json` writes them, made without running a search."""

import random
from typing import Any

from thoughtgraph import registry
from thoughtgraph.context import resolve_settings
from thoughtgraph.tree import Tree, grow, root


def stored(tree: Tree, *, answer: str | None = None, **changes: Any) -> dict[str, Any]:
    """A result of `tot_bfs` on Game of 24 around a given tree."""
    base = registry.settings("tot_bfs")
    settings = resolve_settings(
        base, registry.task("game24").published("tot_bfs"), {"task": "game24"}
    )
    return {
        "method": "tot_bfs",
        "task": "game24",
        "problem": "4 9 10 13",
        "answer": answer,
        "candidates": [answer],
        "stop_reason": "finished" if answer else "dead_end",
        "error": "",
        "usage": {"requests": 9, "prompt_tokens": 1200, "completion_tokens": 80, "seconds": 2.5},
        "settings": settings,
        "tree": tree,
        "versions": {"thoughtgraph": "0.1.0"},
        **changes,
    }


def step(numbers: str, **fields: Any) -> dict[str, Any]:
    """A thought's fields: an equation that leaves some numbers."""
    text = f"1 + 1 = 2 (left: {numbers})"
    verdict = {"value": 1.0, "label": "likely, likely, likely"}
    known = {"value": 1.0, "note": "likely, likely, likely", "verdicts": {numbers: verdict}}
    return {"text": text, "raw": text, **known, **fields}


def small(**root_child: Any) -> Tree:
    """The problem, an expanded and a pruned thought, and the answer, ids 0 to 3."""
    usage: dict[str, dict[str, float]] = {
        "generate": {"requests": 1, "samples": 1, "prompt_tokens": 70}
    }
    tree: Tree = {"0": {**root(), "status": "expanded", "usage": usage}}
    first = step("6 9 13", status="expanded", value_raw="sure\n-----\nsure", **root_child)
    tree |= grow(tree, "0", [first, step("5 10 13", status="pruned", value=0.003)])
    output: dict[str, Any] = {
        "text": "Answer: (10 - 4) * (13 - 9) = 24",
        "status": "terminal",
        "value": 60.0,
    }
    output["chosen"] = True
    return tree | grow(tree, "1", [output])


def bushy(thoughts: int) -> Tree:
    """A tree of many thoughts, eight to an expansion, most of them leaves that were pruned."""
    draws = random.Random(0)
    tree: Tree = {"0": root()}
    while len(tree) <= thoughts:
        parent = draws.choice([key for key in tree if tree[key]["status"] == "open"])
        size = min(8, thoughts + 1 - len(tree))
        lefts = (f"{draws.randint(1, 99)} {len(tree)} {at}" for at in range(size))
        new = grow(tree, parent, [step(left, value=draws.uniform(0, 60)) for left in lefts])
        for thought in list(new.values())[3:]:
            thought["status"] = "pruned"
        tree[parent]["status"] = "expanded"
        tree |= new
    return tree
