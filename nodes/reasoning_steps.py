"""Reasoning step by step: the next step of a path, and its place in the tree."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from langgraph.types import Send

from thoughtgraph.fan_out import Expansion, NodeInput, SendArg
from thoughtgraph.llm.port import Draw
from thoughtgraph.method import ChooseGenerator, ThoughtQuestion
from thoughtgraph.nodes.asker import Asker
from thoughtgraph.nodes.generate import samples_allowed
from thoughtgraph.nodes.limits import requests_left
from thoughtgraph.nodes.method_graph import Node
from thoughtgraph.nodes.node_input import fanned_out
from thoughtgraph.outcome import StopReason
from thoughtgraph.parts import Parts
from thoughtgraph.reasoning import Steps
from thoughtgraph.settings import limits_of
from thoughtgraph.state import SearchState
from thoughtgraph.tree import Thought, Tree, bounded, grow
from thoughtgraph.usage import remaining_thoughts

NOTHING = "(no output)"
"""The thought that stands for an empty completion, asked for twice (ours)."""
SURPLUS = "ended after the last solution that was wanted"
TOO_LONG = "the longest path ends here"


def next_step(parts: Parts, given: NodeInput) -> ThoughtQuestion:
    """Asks for the next step after a path, warned by the lessons of earlier paths (appendix B.3).

    Args:
        parts: The graph's objects.
        given: What to continue; `lessons` holds the experiences.
    """
    settings, path = given["settings"], given["path"]
    task, lessons = parts.task_for(settings, Steps), given.get("lessons", [])
    question = task.step(given["problem"], path, lessons, settings)
    return replace(question, n=question.n or settings.get("n_generate", 1))


def generate_step(parts: Parts, generator: ChooseGenerator) -> Node:
    """Makes the node that takes one step from one thought; it runs as one task a thought.

    An empty completion is asked for once more, then stands as a thought that says so.

    Args:
        parts: The graph's objects.
        generator: From the run's settings to the generator of steps.

    Returns:
        The node: from a `SendArg` to one `Expansion`.
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


def place_steps(state: SearchState, expansions: Sequence[Expansion]) -> Tree:
    """Returns the new thoughts of expansions in their order, and the changes to their parents.

    A step at the greatest depth ends its path. Thoughts beyond the limit are not created.
    """
    settings, tree = state["settings"], state["tree"]
    room = remaining_thoughts(limits_of(settings), state["usage"])
    new: Tree = {}
    changed: Tree = {}
    for expansion in expansions:
        kept = expansion["thoughts"][: max(0, room - len(new))] if expansion["served"] else []
        if kept:
            new |= grow(tree, expansion["parent"], kept, offset=len(new))
            old = changed.get(expansion["parent"], tree[expansion["parent"]]).get("usage", {})
            both = _both(old, expansion["usage"])
            changed[expansion["parent"]] = {"status": "expanded", "usage": both}
    for thought in new.values():
        if thought["depth"] >= longest_path(settings) and thought["status"] == "open":
            thought |= Thought(status="terminal", answer=None, note=TOO_LONG)
    return {**changed, **new}


def register_steps() -> Node:
    """Makes the node that gives steps their place and keeps the open paths and the solutions.

    Solutions beyond the K-th are dropped in the order of their ids.
    """

    async def node(state: Any) -> dict[str, Any]:
        expansions = [
            expansion for expansion in state.get("expansions") or [] if expansion["served"]
        ]
        written, new = _written(state)
        sinks = [key for key in new if written[key]["status"] == "terminal"]
        room = state["settings"].get("solutions", 1) - len(state["solutions"])
        for key in sinks[room:]:
            written[key] |= Thought(status="pruned", note=SURPLUS)
        sources = {expansion["source"] for expansion in expansions if "source" in expansion}
        grown = {expansion["parent"] for expansion in expansions if "source" not in expansion}
        counts = {"thoughts": len(new), "expansions": len(expansions)}
        return {
            "tree": written,
            "frontier": [*(at for at in state["frontier"] if at not in grown), *new],
            "pending": [at for at in state["pending"] if at not in sources],
            "solutions": [*state["solutions"], *sinks[:room]],
            "usage": {name: number for name, number in counts.items() if number},
        }

    return node


def append_step() -> Node:
    """Makes the node that puts the one next step of a chain into the tree."""

    async def node(state: SearchState) -> dict[str, Any]:
        written, new = _written(state)
        if not new:
            return {"stop_reason": "budget"}
        reason, left = end_reason(written[new[0]])
        if not reason and remaining_thoughts(limits_of(state["settings"]), state["usage"]) == 1:
            reason = "budget"
        counts = {"thoughts": 1, "expansions": 1, "rounds": 1}
        return {"tree": written, "frontier": left, "usage": counts, "stop_reason": reason}

    return node


def add_steps() -> Node:
    """Makes the node that puts a level's candidates into the tree; which goes on is open."""

    async def node(state: SearchState) -> dict[str, Any]:
        written, new = _written(state)
        counts = {"thoughts": len(new), "expansions": int(bool(new))}
        return {"tree": written, "generation": new, "usage": counts}

    return node


def end_reason(step: Thought) -> tuple[StopReason, list[str]]:
    """Returns why a path ends with its newest step, and the open path's last thought if not."""
    if step["status"] != "terminal":
        return "", [step["id"]]
    return ("step_limit" if step.get("note") == TOO_LONG else "finished"), []


def finished_paths(state: SearchState) -> list[str]:
    """Returns the thoughts that end a path."""
    return [key for key, thought in state["tree"].items() if thought["status"] == "terminal"]


def step_sends(state: SearchState) -> list[Send]:
    """Returns the request for the next step of the one open path, if it is allowed."""
    if state["stop_reason"] or not state["frontier"] or not requests_left(state):
        return []
    return [Send("generate", SendArg(thought=state["frontier"][0], expansion=0))]


def longest_path(settings: Mapping[str, Any]) -> int:
    """Returns how many steps a path may have."""
    steps: int = settings["steps"]
    return min(steps, int(settings["limit_depth"] or steps))


def _written(state: SearchState) -> tuple[Tree, list[str]]:
    """Returns what the expansions of this superstep write, and the ids of the new thoughts."""
    expansions = [expansion for expansion in state.get("expansions") or [] if expansion["served"]]
    written = place_steps(state, expansions)
    return written, [key for key in written if key not in state["tree"]]


def _step(thought: Mapping[str, Any], given: NodeInput) -> dict[str, Any]:
    made = bounded(thought)
    if not made["text"]:
        made["text"] = NOTHING
    if given.get("experiences"):
        made["experiences"] = list(given["experiences"])
    if "source" in given:
        made["caused_by"] = given["source"]
    return made


def _both(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Adds up what several expansions of one thought cost, by role."""
    both = {role: dict(numbers) for role, numbers in old.items()}
    for role, numbers in new.items():
        mine = both.setdefault(role, {})
        for name, number in numbers.items():
            mine[name] = mine.get(name, 0) + number
    return both
