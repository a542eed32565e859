"""Level-greedy search over reasoning steps: scores a level's candidates, keeps the best."""

import re
from typing import Any

from langgraph.types import Send

from thoughtgraph.jobs import Job, Order
from thoughtgraph.llm.port import Draw
from thoughtgraph.nodes.ask import Asker
from thoughtgraph.nodes.chart import Node
from thoughtgraph.nodes.jobs import fanned_out
from thoughtgraph.nodes.limits import grants
from thoughtgraph.nodes.steps import counted, ended, numbered
from thoughtgraph.parts import Parts
from thoughtgraph.prompts import fill, load
from thoughtgraph.state import SearchState
from thoughtgraph.task import Prompt, Steps
from thoughtgraph.tree import Path, Thought, cut

UNSCORED = 0.5
"""The score of a candidate whose score cannot be read (official code)."""
UNREAD = "no score could be read, so a default counts"

_NUMBER = r"(\d{1,6}(?:\.\d{1,20})?|\.\d{1,20})"
_SCORE = re.compile(rf"evaluation score[*_ \t]{{0,4}}:[*_ \t]{{0,4}}{_NUMBER}", re.I)


def score(parts: Parts) -> Node:
    """Makes the node that scores one candidate; it runs as one task a candidate.

    Args:
        parts: The graph's objects.

    Returns:
        The node: from an `Order` to the candidate's value in [0, 1].
    """

    async def node(job: Job) -> dict[str, Any]:
        asker, path = Asker(parts, job), job["path"]
        task = parts.task_for(job["settings"], Steps)
        prompt = score_prompt(task, job["problem"], path)
        draw = Draw(job["problem"], job["thought"])
        samples = await asker.samples(prompt, role="score", draw=draw)
        if samples is None:
            return asker.update()
        value = score_of(samples[0])
        if value is None:
            asker.meter.parse_error("score")
        asker.meter.add({"evaluated": 1})
        scored = Thought(
            value=UNSCORED if value is None else value,
            value_raw=cut(samples[0]),
            usage=asker.meter.by_role(),
        )
        if value is None:
            scored["unread"] = 1
            if "note" not in path[-1]:  # one that says why the path ends stays
                scored["note"] = UNREAD
        return asker.update(tree={job["thought"]: scored})

    return fanned_out(node)


def score_prompt(task: Steps, problem: str, path: Path) -> Prompt:
    """Returns the prompt that has a path's steps scored."""
    values = {"topic": task.topic, "question": problem, "count": counted(path)}
    asked = fill("rollback/score", **values, steps=numbered(path))
    return Prompt(asked, system=load("rollback/analyse_system"))


def score_of(text: str) -> float | None:
    """Returns the last score of a completion; None without one from 0 to 1."""
    found = _SCORE.findall(text)
    value = float(found[-1]) if found else -1.0
    return value if 0 <= value <= 1 else None


def scores_wanted(state: SearchState) -> list[Send]:
    """Returns the requests for the scores of this level's candidates, as the limits allow."""
    if state["stop_reason"]:
        return []
    missing = [key for key in state["generation"] if "value" not in state["tree"][key]]
    return [Send("evaluate", Order(thought=key)) for key in missing[: grants(state)]]


def keep_best() -> Node:
    """Makes the node that goes on with the best candidate of a level, the first of equals.

    A level without a positive score ends the search dead. One that a limit left without scores ends
    it too.
    """

    async def node(state: SearchState) -> dict[str, Any]:
        tree, level = state["tree"], state["generation"]
        if state["stop_reason"]:
            return {}
        if not level or any("value" not in tree[key] for key in level):
            return {"stop_reason": "budget"}
        best = max(level, key=lambda key: tree[key]["value"])
        lost = {key: Thought(status="pruned") for key in level if key != best}
        update = {"generation": [], "step": state["step"] + 1, "usage": {"rounds": 1}}
        if tree[best]["value"] <= 0:
            lost[best] = Thought(status="pruned")
            return {**update, "tree": lost, "frontier": [], "stop_reason": "dead_end"}
        reason, left = ended(tree[best])
        return {**update, "tree": lost, "frontier": left, "stop_reason": reason}

    return node
