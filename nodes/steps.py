"""Reasoning step by step: the next step of a path, and its place in the tree."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from langgraph.types import Send

from thoughtgraph.jobs import Draft, Job, Order
from thoughtgraph.llm.port import Draw
from thoughtgraph.method import Choose, Thoughts
from thoughtgraph.nodes.ask import Asker
from thoughtgraph.nodes.chart import Node
from thoughtgraph.nodes.generate import fitting
from thoughtgraph.nodes.jobs import fanned_out
from thoughtgraph.nodes.limits import grants
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


def next_step(parts: Parts, job: Job) -> Thoughts:
    """Asks for the next step after a path, warned by the job's lessons (appendix B.3).

    Args:
        parts: The graph's objects.
        job: What to continue; `lessons` holds the experiences.
    """
    settings, path = job["settings"], job["path"]
    task, lessons = parts.task_for(settings, Steps), job.get("lessons", [])
    question = task.step(job["problem"], path, lessons, settings)
    return replace(question, n=question.n or settings.get("n_generate", 1))


def generate_step(parts: Parts, way: Choose) -> Node:
    """Makes the node that takes one step from one thought; it runs as one task a thought.

    An empty completion is asked for once more, then stands as a thought that says so.

    Args:
        parts: The graph's objects.
        way: From the run's settings to the way steps are generated.

    Returns:
        The node: from an `Order` to one `Draft`.
    """

    async def node(job: Job) -> dict[str, Any]:
        question = way(job["settings"])(parts, job)
        prompt, read = question.prompt, question.read
        asker, n = Asker(parts, job), fitting(job, question.n or 1)
        draw = Draw(job["problem"], job["thought"], job["expansion"])
        samples = await asker.samples(prompt, role="generate", n=n, draw=draw)
        if samples and not any(step["text"].strip() for step in read(samples)):
            asker.meter.parse_error("generate")
            again = draw._replace(first=n)
            samples = await asker.samples(prompt, role="generate", n=n, draw=again) or samples
        draft: Draft = {"parent": job["thought"], "served": samples is not None}
        if "source" in job:
            draft["source"] = job["source"]
        if samples is not None:
            draft["thoughts"] = [_step(thought, job) for thought in read(samples)]
            draft["usage"] = asker.meter.by_role()
        return asker.update(drafts=draft)

    return fanned_out(node)


def place_steps(state: SearchState, drafts: Sequence[Draft]) -> Tree:
    """Returns the new thoughts of drafts in their order, and the changes to their parents.

    A step at the greatest depth ends its path. Thoughts beyond the limit are not created.
    """
    settings, tree = state["settings"], state["tree"]
    room = remaining_thoughts(limits_of(settings), state["usage"])
    new: Tree = {}
    changed: Tree = {}
    for draft in drafts:
        kept = draft["thoughts"][: max(0, room - len(new))] if draft["served"] else []
        if kept:
            new |= grow(tree, draft["parent"], kept, offset=len(new))
            old = changed.get(draft["parent"], tree[draft["parent"]]).get("usage", {})
            both = _both(old, draft["usage"])
            changed[draft["parent"]] = {"status": "expanded", "usage": both}
    for thought in new.values():
        if thought["depth"] >= longest(settings) and thought["status"] == "open":
            thought |= Thought(status="terminal", answer=None, note=TOO_LONG)
    return {**changed, **new}


def register_steps() -> Node:
    """Makes the node that gives steps their place and keeps the open paths and the solutions.

    Solutions beyond the K-th are dropped in the order of their ids.
    """

    async def node(state: Any) -> dict[str, Any]:
        drafts = [draft for draft in state.get("drafts") or [] if draft["served"]]
        written, new = _written(state)
        sinks = [key for key in new if written[key]["status"] == "terminal"]
        room = state["settings"].get("solutions", 1) - len(state["solutions"])
        for key in sinks[room:]:
            written[key] |= Thought(status="pruned", note=SURPLUS)
        sources = {draft["source"] for draft in drafts if "source" in draft}
        grown = {draft["parent"] for draft in drafts if "source" not in draft}
        counts = {"thoughts": len(new), "expansions": len(drafts)}
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
        reason, left = ended(written[new[0]])
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


def ended(step: Thought) -> tuple[StopReason, list[str]]:
    """Returns why a path ends with its newest step, and the open path's last thought if not."""
    if step["status"] != "terminal":
        return "", [step["id"]]
    return ("step_limit" if step.get("note") == TOO_LONG else "finished"), []


def ends(state: SearchState) -> list[str]:
    """Returns the thoughts that end a path."""
    return [key for key, thought in state["tree"].items() if thought["status"] == "terminal"]


def step_wanted(state: SearchState) -> list[Send]:
    """Returns the request for the next step of the one open path, if it is allowed."""
    if state["stop_reason"] or not state["frontier"] or not grants(state):
        return []
    return [Send("generate", Order(thought=state["frontier"][0], expansion=0))]


def longest(settings: Mapping[str, Any]) -> int:
    """Returns how many steps a path may have."""
    steps: int = settings["steps"]
    return min(steps, int(settings["limit_depth"] or steps))


def _written(state: SearchState) -> tuple[Tree, list[str]]:
    """Returns what the drafts of this superstep write, and the ids of the new thoughts."""
    drafts = [draft for draft in state.get("drafts") or [] if draft["served"]]
    written = place_steps(state, drafts)
    return written, [key for key in written if key not in state["tree"]]


def _step(thought: Mapping[str, Any], job: Job) -> dict[str, Any]:
    made = bounded(thought)
    if not made["text"]:
        made["text"] = NOTHING
    if job.get("experiences"):
        made["experiences"] = list(job["experiences"])
    if "source" in job:
        made["caused_by"] = job["source"]
    return made


def _both(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Adds up what several expansions of one thought cost, by role."""
    both = {role: dict(numbers) for role, numbers in old.items()}
    for role, numbers in new.items():
        mine = both.setdefault(role, {})
        for name, number in numbers.items():
            mine[name] = mine.get(name, 0) + number
    return both
