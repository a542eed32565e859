"""Stored results, as `thoughtgraph solve --json` writes them, made without running a search."""

import random
from collections.abc import Sequence
from typing import Any

from thoughtgraph import registry
from thoughtgraph.context import effective
from thoughtgraph.task import Prompt, Question, each
from thoughtgraph.tree import Path, Tree, grow, root, texts


def stored(tree: Tree, *, answer: str | None = None, **changes: Any) -> dict[str, Any]:
    """A result of `tot_bfs` on Game of 24 around a given tree."""
    base = registry.settings("tot_bfs")
    settings = effective(base, registry.task("game24").published("tot_bfs"), {"task": "game24"})
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
    output = {"text": "Answer: (10 - 4) * (13 - 9) = 24", "status": "terminal", "value": 60.0}
    return tree | grow(tree, "1", [output])


def failing(method: str = "itot_d_star_lite", **changes: Any) -> dict[str, Any]:
    """A search of D* Lite: 2 failed and raised the root; 4 failed and raised 1 and the root."""
    dearer = {"note": "dearer by a failed call below it"}
    tree: Tree = {"0": root()}
    tree["0"].update({"tools": "Search[x]: finds a page", "cost": 2.0, "priority": -3.0, **dearer})  # type: ignore[typeddict-item]
    first = _called("Milan", 7.0, 2.0, **dearer)
    tree |= grow(tree, "0", [first, _failed("b", 8.0, 2.0, "2", ("0", 0.0, 1.0))])
    raises = [("1", 1.0, 2.0), ("0", 1.0, 2.0)]
    tree |= grow(tree, "1", [_called("Oslo", 9.0, 2.0), _failed("d", 3.0, 3.0, "4", *raises)])
    tree |= grow(tree, "3", [_called("Rome", 9.0, 2.0, status="terminal", answer="Italy")])
    tree["3"]["status"] = "expanded"
    settings = effective(registry.settings(method), {}, {"task": "hotpotqa"} | changes)
    known = {"method": method, "task": "hotpotqa", "settings": settings}
    return stored(tree, answer="Italy", problem="Where is Milan?", **known)


def _called(place: str, value: float, cost: float, **fields: Any) -> dict[str, Any]:
    """A thought's fields: a search that cost 1 and was judged."""
    action = {"name": "Search", "argument": place}
    seen = {"text": f"to {place}", "action": action, "observation": f"{place} is a place."}
    judged = {"price": 1.0, "value": value, "cost": cost, "priority": cost - value}
    return {**seen, "failed": False, **judged, "usage": {"value": {"requests": 1}}, **fields}


def _failed(
    place: str, value: float, cost: float, last: str, *raises: tuple[str, float, float]
) -> dict[str, Any]:
    """A search that failed, and what it raised: thought, cost before, cost after."""
    raised = [{"thought": key, "before": low, "after": high} for key, low, high in raises]
    told = {"failed": True, "observation": f"Could not find {place}."}
    return _called(place, value, cost, **told, propagation={"last": last, "raised": raised})


def bushy(thoughts: int, *, pruned: bool = True, seed: int = 0) -> Tree:
    """A tree of many thoughts, eight to an expansion, most of them leaves that were pruned."""
    draws = random.Random(seed)
    tree: Tree = {"0": root()}
    while len(tree) <= thoughts:
        parent = draws.choice([key for key in tree if tree[key]["status"] == "open"])
        size = min(8, thoughts + 1 - len(tree))
        lefts = (f"{draws.randint(1, 99)} {len(tree)} {at}" for at in range(size))
        new = grow(tree, parent, [step(left, value=draws.uniform(0, 60)) for left in lefts])
        for thought in list(new.values())[3:] if pruned else []:
            thought["status"] = "pruned"
        tree[parent]["status"] = "expanded"
        tree |= new
    return tree


class Motto:
    """A task that is sampled and voted on, with a system message."""

    id = "motto"

    def read(self, text: str) -> str:
        return text

    def published(self, method: str) -> dict[str, Any]:
        return {"breadth": 2, "n_generate": 3, "n_evaluate": 2, "steps": 3}

    def sample(self, problem: str, path: Path, options: Any) -> Question[list[dict[str, Any]]]:
        prompt = Prompt(f"{problem}\n{'/'.join(texts(path))}", system="One word.")
        return Question(prompt, each(lambda text: {"text": text}))

    def vote(
        self, problem: str, paths: Sequence[Path], options: Any
    ) -> Question[Sequence[int | None]]:
        prompt = Prompt("\n".join(["Which?", *("/".join(texts(path)) for path in paths)]))
        return Question(prompt, each(lambda text: int(text) % len(paths)))

    def output(self, problem: str, path: Path) -> str | None:
        return "/".join(texts(path)) or None
