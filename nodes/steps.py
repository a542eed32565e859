"""Reasoning step by step: the prompt with its experiences, the next step, its place in the tree."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from langgraph.types import Send

from thoughtgraph.jobs import Draft, Job, Order
from thoughtgraph.llm.port import Draw
from thoughtgraph.method import Choose, Read
from thoughtgraph.nodes.ask import Asker
from thoughtgraph.nodes.chart import Node
from thoughtgraph.nodes.generate import fitting
from thoughtgraph.nodes.jobs import fanned_out
from thoughtgraph.nodes.limits import grants
from thoughtgraph.outcome import StopReason
from thoughtgraph.parts import Parts
from thoughtgraph.prompts import fill, load, worked
from thoughtgraph.settings import limits_of
from thoughtgraph.state import SearchState
from thoughtgraph.task import Prompt, Steps
from thoughtgraph.tree import Path, Thought, Tree, bounded, cut, grow, texts
from thoughtgraph.usage import remaining_thoughts

NOTHING = "(no output)"
"""The thought that stands for an empty completion, asked for twice (ours)."""
SURPLUS = "ended after the last solution that was wanted"
TOO_LONG = "the longest path ends here"

_HEAD = r"[ \t#*_>-]{0,10}(?:(?:the )?next )?step[ \t]{0,4}"
_LABEL = re.compile(
    rf"\s{{0,10}}{_HEAD}(?:\d{{1,4}}[*_]{{0,3}}[.:)]|[*_]{{0,3}}:)[*_]{{0,3}}\s*", re.I
)
_LABELS = re.compile(rf"^{_HEAD}(\d{{1,4}})[*_]{{0,3}}[.:)]", re.I | re.M)
"""The labels of steps at the beginnings of lines."""


def next_step(parts: Parts, job: Job) -> tuple[Prompt, int, Read]:
    """Asks for the next step after a path, warned by the job's lessons (appendix B.3).

    Args:
        parts: The graph's objects.
        job: What to continue; `lessons` holds the experiences.
    """
    task, settings, path = parts.task_for(job["settings"], Steps), job["settings"], job["path"]

    def read(samples: list[str]) -> list[dict[str, Any]]:
        return [
            {
                **task.reasoned(job["problem"], path, bare(own(text, len(path) + 1))),
                "raw": cut(text),
            }
            for text in samples
        ]

    blocks = [
        task.head(settings),
        demonstrations(task, settings),
        lessons(job.get("lessons", [])),
        fill("rollback/question", question=job["problem"]),
        _wanted(path, task.form() or load("rollback/form")),
    ]
    prompt = Prompt("\n\n".join(filter(None, blocks)), system=_role(settings))
    return prompt, settings.get("n_generate", 1), read


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
        prompt, n, read = way(job["settings"])(parts, job)
        asker, n = Asker(parts, job), fitting(job, n)
        draw = Draw(job["problem"], job["thought"], job["expansion"])
        samples = await asker.samples(prompt, role="generate", n=n, draw=draw)
        if samples == [""] or (samples and not any(bare(text).strip() for text in samples)):
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


def numbered(path: Path) -> str:
    """Returns a path's steps, each after its number."""
    return "\n".join(f"Step {at}. {text}" for at, text in enumerate(texts(path), 1))


def counted(path: Path) -> str:
    """Returns how many steps a path has, in words."""
    return "1 step" if len(path) == 1 else f"{len(path)} steps"


def lessons(paths: Sequence[Path]) -> str:
    """Returns the block of experiences; empty without any."""
    if not paths:
        return ""
    blocks = [
        fill(
            "rollback/experience",
            index=str(at),
            steps=numbered(path),
            analysis=path[-1]["analysis"],
        )
        for at, path in enumerate(paths, 1)
    ]
    return fill("rollback/experiences", experiences="\n\n".join(blocks))


def demonstrations(task: Steps, settings: Mapping[str, Any]) -> str:
    """Returns the block of worked examples: the caller's file, else as many of the task's."""
    examples = worked(task.demonstrations, settings)
    if not examples:
        return ""
    return fill("rollback/demonstrations", examples="\n\n".join(examples))


def own(text: str, number: int) -> str:
    """Returns the one step that was asked for, of a response with several numbered ones (ours).

    A response is one step (appendix B.3), but models like to go on to the end, or repeat the steps
    that they were given: what comes before the step's own label or from a later one on is left out.

    Args:
        text: The response.
        number: The step's number on its path, from 1.
    """
    text = text.strip()
    marks = [(mark.start(), int(mark[1])) for mark in _LABELS.finditer(text)]
    repeats = bool(marks) and marks[0][0] == 0 and marks[0][1] < number
    begin = next((at for at, named in marks if repeats and named == number), 0)
    end = next((at for at, named in marks if at > begin and named > number), len(text))
    return text[begin:end]


def bare(text: str) -> str:
    """Returns a step without the labels (`Step 3:`, `Next step:`) that a model repeats."""
    begin = 0
    while label := _LABEL.match(text, begin):
        begin = label.end()
    return text[begin:].strip()


def _wanted(path: Path, form: str) -> str:
    """Returns the request for the step after a path, and how it is to be written."""
    if not path:
        return fill("rollback/first", form=form)
    return fill("rollback/next", steps=numbered(path), form=form)


def _role(settings: Mapping[str, Any]) -> str:
    """Returns the system prompt; of experiences it speaks only where there may be some."""
    role = load("rollback/system")
    return f"{role} {load('rollback/system_experience')}" if settings.get("experiences") else role


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
