"""Depth-first search over plans: asks for steps, runs them, descends or backtracks."""

import random
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from itertools import takewhile
from typing import Any, NamedTuple, cast

from langgraph.types import Send

from thoughtgraph.fan_out import Expansion, NodeInput, SendArg
from thoughtgraph.method import ChooseGenerator, ThoughtQuestion
from thoughtgraph.nodes.limits import expansions_allowed
from thoughtgraph.nodes.method_graph import Node
from thoughtgraph.outcome import StopReason
from thoughtgraph.parts import Parts
from thoughtgraph.planning import Plans, Ruling
from thoughtgraph.settings import limits_of
from thoughtgraph.state import Level, PlanState
from thoughtgraph.task import Question, extras
from thoughtgraph.tree import ROOT, Path, Thought, Tree, cut, grow, path_to
from thoughtgraph.usage import Usage, add_usage, remaining_thoughts

ChunkSize = Callable[[Mapping[str, Any], int, int], int | None]
"""The paper's G(): from settings, depth of the chunk (the first has 1) and index among its siblings
to how many steps one call writes; None: all that remain."""

FIRST_LEVEL = Level(thought=ROOT, tried=0, ahead=[])
"""The first level of the stack."""
DEAD_END = "no continuation was accepted"


def next_steps(chunk_size: ChunkSize) -> ChooseGenerator:
    """Returns the generator of the next steps of a plan, with examples drawn for the call.

    Args:
        portion: How many steps the call writes.
    """

    def generator(parts: Parts, given: NodeInput) -> ThoughtQuestion:
        settings, problem, path = given["settings"], given["problem"], given["path"]
        task, index = parts.task_for(settings, Plans), given.get("expansion", 0)
        library = extras(task).shots(problem, settings)
        shots = draw_shots(settings, problem, given["thought"], index, library)
        most = chunk_size(settings, len(path) + 1, index)
        made = {"node": "generate", "expansion": index, "shots": shots, "steps": most}

        question = task.plan(problem, path, shots, most, settings)

        def read(samples: Sequence[str]) -> list[Mapping[str, Any]]:
            chunks = zip(question.read(samples), samples, strict=True)
            return [
                {"text": "\n".join(steps), "raw": cut(text), "created_by": made}
                for steps, text in chunks
            ]

        return Question(question.prompt, read, 1)

    return lambda settings: generator


def draw_shots(
    settings: Mapping[str, Any], problem: str, thought: str, index: int, library: int
) -> list[int]:
    """Returns which examples a call shows: no one twice, drawn by seed, problem and call.

    Args:
        settings: The run's settings: `seed`, `shots`, and in `redraw` whether all calls of a
            question show the same ones.
        problem: The problem.
        thought: Id of the continued thought.
        index: Which of its continuations the call writes.
        library: How many examples there are.
    """
    call = (thought, index) if settings["redraw"] == "call" else ()
    draws = random.Random(repr((settings["seed"], problem, *call)))
    return draws.sample(range(library), min(settings["shots"], library))


def generator_sends(state: PlanState) -> list[Send]:
    """Returns the next call to the generator, and the siblings that are generated ahead of need.

    There are none beyond b siblings or T calls, nor beyond what the limits allow. A sibling whose
    generation ahead failed is asked for again when its turn comes.
    """
    settings, top = state["settings"], state["stack"][-1]
    left = min(settings["branches"] - top["tried"], settings["max_calls"] - state["step"])
    count = min(1 + settings["speculate"], left, expansions_allowed(state))
    return [
        Send("generate", SendArg(thought=top["thought"], expansion=top["tried"] + at, ahead=at > 0))
        for at in range(count)
    ]


def evaluate_steps(parts: Parts) -> Node:
    """Makes the node that judges calls in the order of their indices, up to the first acceptable.

    Each judged call becomes a thought: a refused one is pruned, an accepted one is descended into
    unless it ends the plan. Calls generated ahead wait for the search to come back.

    Args:
        parts: The graph's objects; the task says which steps can stand.
    """

    async def node(state: PlanState) -> dict[str, Any]:
        *below, top = state["stack"]
        expansions = [*top["ahead"], *takewhile(_served, state.get("expansions") or [])]
        if not expansions:
            return {"stop_reason": "budget"}
        # Several may have waited since the limits allowed them.
        judged = _up_to_the_first_acceptable(parts, state, top, expansions[: _room(state)])
        size = len(judged.thoughts)
        stack = [*below, Level({**top, "tried": top["tried"] + size, "ahead": expansions[size:]})]
        last = next(reversed(judged.thoughts.values()))
        if last["status"] == "open":
            stack.append(Level(thought=last["id"], tried=0, ahead=[]))
        step = state["step"] + size
        reason = "finished" if last["status"] == "terminal" else _stop_reason(state, stack, step)
        used_up = reason == "budget" and step == state["settings"]["max_calls"]
        return {
            "limit": "max_calls" if used_up else "",
            "tree": {**_continued(state, top, expansions[:size]), **judged.thoughts},
            "stack": stack,
            "frontier": [stack[-1]["thought"]],
            "step": step,
            "usage": _counts(judged),
            "stop_reason": reason,
        }

    return node


def backtrack() -> Node:
    """Makes the node that leaves a chunk whose b continuations were all refused."""

    async def node(state: PlanState) -> dict[str, Any]:
        *stack, left = state["stack"]
        return {
            "tree": {left["thought"]: Thought(note=DEAD_END)},
            "stack": stack,
            "frontier": [stack[-1]["thought"]] if stack else [],
            "stop_reason": "" if stack else "dead_end",
        }

    return node


class _Judged(NamedTuple):
    thoughts: Tree
    """The judged calls; all but the last are refused."""
    malformed: int


def _room(state: PlanState) -> int:
    """Returns how many calls may still be judged: each counts towards T, a thought and a round."""
    settings, usage = state["settings"], state["usage"]
    room: int = settings["max_calls"] - state["step"]
    room = min(room, remaining_thoughts(limits_of(settings), usage))
    rounds: int | None = settings["limit_rounds"]
    return room if rounds is None else min(room, rounds - usage.get("rounds", 0))


def _served(expansion: Expansion) -> bool:
    return expansion["served"]


def _up_to_the_first_acceptable(
    parts: Parts, state: PlanState, top: Level, expansions: Sequence[Expansion]
) -> _Judged:
    task = parts.task_for(state["settings"], Plans)
    path = path_to(state["tree"], top["thought"])
    thoughts: Tree = {}
    malformed = 0
    for expansion in expansions:
        written = expansion["thoughts"][0]
        ruling = _ruled(task, state, path, written["text"].split("\n") if written["text"] else [])
        fields = {**written, **_fields(ruling)}
        thoughts |= grow(state["tree"], top["thought"], [fields], offset=len(thoughts))
        malformed += ruling.malformed
        if ruling.accepted:
            break
    return _Judged(thoughts, malformed)


def _ruled(task: Plans, state: PlanState, path: Path, steps: Sequence[str]) -> Ruling:
    """Returns the task's ruling, or the refusal of a plan that is too long."""
    settings = state["settings"]
    before = sum(len(thought["text"].split("\n")) for thought in path)
    if before + len(steps) > settings["max_steps"]:
        return _refused(steps, f"a plan has at most {settings['max_steps']} steps")
    ruling = task.execute(state["problem"], path, steps, settings)
    deepest = settings["limit_depth"]
    if ruling.accepted and ruling.answer is None and len(path) + 1 == deepest:
        return _refused(steps, f"the plan does not end within the depth limit of {deepest}")
    return ruling


def _refused(steps: Sequence[str], reason: str) -> Ruling:
    return Ruling(False, "\n".join(steps), code="E_LIMIT", reason=reason)


def _fields(ruling: Ruling) -> dict[str, Any]:
    if not ruling.accepted:
        note = cut(f"{ruling.code}: {ruling.reason}")
        return {"status": "pruned", "text": cut(ruling.text), "note": note}
    ended = {} if ruling.answer is None else {"status": "terminal", "answer": ruling.answer}
    return {
        "text": ruling.text,
        "observation": ruling.observation,
        "tool_state": dict(ruling.tool_state),
        **ended,
    }


def _continued(state: PlanState, top: Level, expansions: Sequence[Expansion]) -> Tree:
    """Returns the change to the continued thought: what its judged continuations cost so far."""
    before = state["tree"][top["thought"]].get("usage", {})
    costs = [cast("Usage", expansion["usage"]) for expansion in expansions]
    spent = cast("Any", reduce(add_usage, costs, cast("Usage", before)))
    return {top["thought"]: {"status": "expanded", "usage": spent}}


def _counts(judged: _Judged) -> dict[str, Any]:
    size = len(judged.thoughts)
    counts: dict[str, Any] = dict.fromkeys(("thoughts", "evaluated", "expansions", "rounds"), size)
    if judged.malformed:
        counts["parse_errors"] = {"generate": judged.malformed}
    return counts


def _stop_reason(state: PlanState, stack: Sequence[Level], step: int) -> StopReason:
    """Returns which limit forbids the next call, if there is one to be made.

    A search whose levels are all used up is no matter of limits: it ends dead.
    """
    settings = state["settings"]
    if all(level["tried"] == settings["branches"] for level in stack):
        return ""
    made = state["usage"].get("thoughts", 0) + step - state["step"]
    if step == settings["max_calls"] or made == settings["limit_thoughts"]:
        return "budget"
    rounds = state["usage"].get("rounds", 0) + step - state["step"]
    return "round_limit" if rounds == settings["limit_rounds"] else ""
