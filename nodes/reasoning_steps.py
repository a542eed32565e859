"""Reasoning step by step: the next step of a path, and its place in the tree."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from langgraph.types import Send

from thoughtgraph.fan_out import Expansion, NodeInput, SendArg
from thoughtgraph.llm.port import Draw
from thoughtgraph.method import ChooseGenerator, ThoughtGenerator, ThoughtQuestion
from thoughtgraph.nodes.asker import Asker
from thoughtgraph.nodes.generate import samples_allowed
from thoughtgraph.nodes.limits import requests_left, thoughts_left
from thoughtgraph.nodes.node import Node, fanned_out
from thoughtgraph.nodes.placement import Placed, place
from thoughtgraph.outcome import StopReason
from thoughtgraph.parts import Parts
from thoughtgraph.reasoning import Steps
from thoughtgraph.settings.rollback import ReasoningSettings, RollbackSettings
from thoughtgraph.state import RollbackState, SearchState
from thoughtgraph.tree import Thought, bounded

NOTHING = "(no output)"
"""The thought that stands for an empty completion, asked for twice (ours)."""
SURPLUS = "ended after the last solution that was wanted"
TOO_LONG = "the longest path ends here"


def next_step(n: int = 1) -> ThoughtGenerator:
    """Returns the generator of the next step after a path.

    It is warned by the lessons of earlier paths (appendix B.3).

    Args:
        n: How many next steps are asked for, where the task does not say it.
    """

    def generator(parts: Parts, given: NodeInput) -> ThoughtQuestion:
        settings, path = given["settings"], given["path"]
        task, lessons = parts.task_for(settings, Steps), given.get("lessons", [])
        question = task.step(given["problem"], path, lessons, settings)
        return replace(question, n=question.n or n)

    return generator


def generate_step(parts: Parts, generator: ChooseGenerator) -> Node:
    """Makes the node that takes one step from one thought; it runs as one task a thought.

    Unlike `generate`'s, any text is a step, and none is malformed but an empty one. That is asked
    for once more, then stands as a thought that says so.

    Args:
        generator: From the run's settings to the generator of steps.
    """

    async def node(given: NodeInput) -> dict[str, Any]:
        question = generator(given["settings"])(parts, given)
        prompt, read = question.prompt, question.read
        asker, n = Asker(parts, given), samples_allowed(given, question.n or 1)
        draw = Draw(given["problem"], given["thought"], given["expansion"])
        samples = await asker.samples(prompt, role="generate", n=n, draw=draw)
        if samples and not any(step["text"].strip() for step in read(samples)):
            asker.meter.parse_error("generate")
            again = draw._replace(first=n)
            samples = await asker.samples(prompt, role="generate", n=n, draw=again) or samples
        expansion: Expansion = {"parent": given["thought"], "served": samples is not None}
        if "source" in given:
            expansion["source"] = given["source"]
        if samples is not None:
            expansion["thoughts"] = [_step(thought, given) for thought in read(samples)]
            expansion["usage"] = asker.meter.by_role()
        return asker.update(expansions=expansion)

    return fanned_out(node)


async def register_steps(state: RollbackState) -> dict[str, Any]:
    """Gives steps their place and keeps the open paths and the solutions.

    Solutions beyond the K-th are dropped in the order of their ids.
    """
    expansions = [expansion for expansion in state.get("expansions") or [] if expansion["served"]]
    placed = _placed(state)
    sinks = [key for key, step in placed.new.items() if step["status"] == "terminal"]
    room = RollbackSettings.of(state["settings"]).solutions - len(state["solutions"])
    for key in sinks[room:]:
        placed.new[key] |= Thought(status="pruned", note=SURPLUS)
    sources = {expansion["source"] for expansion in expansions if "source" in expansion}
    grown = {expansion["parent"] for expansion in expansions if "source" not in expansion}
    counts = {"thoughts": len(placed.new), "expansions": len(expansions)}
    return {
        "tree": placed.tree,
        "frontier": [*(at for at in state["frontier"] if at not in grown), *placed.new],
        "pending": [at for at in state["pending"] if at not in sources],
        "solutions": [*state["solutions"], *sinks[:room]],
        "usage": {name: number for name, number in counts.items() if number},
    }


async def append_step(state: SearchState) -> dict[str, Any]:
    """Puts the one next step of a chain into the tree."""
    placed = _placed(state)
    if not placed.new:
        return {"stop_reason": "budget"}
    reason, left = end_reason(next(iter(placed.new.values())))
    if not reason and thoughts_left(state) == 1:
        reason = "budget"
    counts = {"thoughts": 1, "expansions": 1, "rounds": 1}
    return {"tree": placed.tree, "frontier": left, "usage": counts, "stop_reason": reason}


async def add_steps(state: SearchState) -> dict[str, Any]:
    """Puts a level's candidates into the tree; which goes on is open."""
    placed = _placed(state)
    counts = {"thoughts": len(placed.new), "expansions": int(bool(placed.new))}
    return {"tree": placed.tree, "generation": list(placed.new), "usage": counts}


def end_reason(step: Thought) -> tuple[StopReason, list[str]]:
    """Returns why a path ends with its newest step, and the open path's last thought if not."""
    if step["status"] != "terminal":
        return "", [step["id"]]
    return ("step_limit" if step.get("note") == TOO_LONG else "finished"), []


def step_sends(state: SearchState) -> list[Send]:
    """Returns the request for the next step of the one open path, if it is allowed."""
    if state["stop_reason"] or not state["frontier"] or not requests_left(state):
        return []
    return [Send("generate", SendArg(thought=state["frontier"][0], expansion=0))]


def longest_path(settings: ReasoningSettings) -> int:
    """Returns how many steps a path may have."""
    return min(settings.steps, settings.limit_depth or settings.steps)


def _placed(state: SearchState) -> Placed:
    """Places the steps of this superstep; one at the greatest depth ends its path."""
    placed = place(state, state.get("expansions") or [])
    longest = longest_path(ReasoningSettings.of(state["settings"]))
    for thought in placed.new.values():
        if thought["depth"] >= longest and thought["status"] == "open":
            thought |= Thought(status="terminal", answer=None, note=TOO_LONG)
    return placed


def _step(thought: Mapping[str, Any], given: NodeInput) -> dict[str, Any]:
    made = bounded(thought)
    if not made["text"]:
        made["text"] = NOTHING
    if given.get("experiences"):
        made["experiences"] = list(given["experiences"])
    if "source" in given:
        made["caused_by"] = given["source"]
    return made
