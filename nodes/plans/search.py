"""Depth-first search over plans: asks for steps, runs them, descends or backtracks."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import takewhile
from typing import Any

from langgraph.config import get_stream_writer

from thoughtgraph.generation import Expansion, GeneratorInput
from thoughtgraph.method import ChooseGenerator, ThoughtQuestion
from thoughtgraph.nodes.expand import drafted, expansion
from thoughtgraph.nodes.generators import one_thought_each
from thoughtgraph.nodes.limits import expansions_allowed, thoughts_left
from thoughtgraph.nodes.node import Node
from thoughtgraph.nodes.placement import Placed, place
from thoughtgraph.nodes.plan_examples import draw_shots
from thoughtgraph.nodes.step import Step
from thoughtgraph.outcome import StopReason
from thoughtgraph.planning import Plans, Ruling
from thoughtgraph.run import Run
from thoughtgraph.settings.mixed_thought import TomtTotSettings
from thoughtgraph.state import PlanState
from thoughtgraph.task import Question, extras, told
from thoughtgraph.tree import (
    ROOT,
    Path,
    Tree,
    children_of,
    cut,
    living,
    merge_thoughts,
    path_to,
)

ChunkSize = Callable[[Mapping[str, Any], int, int], int | None]
"""The paper's G(): from settings, depth of the chunk (the first has 1) and index among its siblings
to how many steps one call writes; None: all that remain."""

DEAD_END = "no continuation was accepted"


def next_steps(chunk_size: ChunkSize) -> ChooseGenerator:
    """Returns the generator of the next steps of a plan, with examples drawn for the call.

    Args:
        chunk_size: How many steps the call writes.
    """

    def generator(chosen: Mapping[str, Any], run: Run, given: GeneratorInput) -> ThoughtQuestion:
        settings, problem, path = given["settings"], given["problem"], given["path"]
        task, index = run.task_for(settings, Plans), given.get("expansion", 0)
        library = extras(task).shots(problem, settings)
        shots = draw_shots(settings, problem, given["thought"], index, library)
        most = chunk_size(chosen, len(path) + 1, index)
        made = {"node": "generate", "expansion": index, "shots": shots, "steps": most}

        def chunk(steps: Sequence[str], text: str) -> Mapping[str, Any]:
            return {"text": "\n".join(steps), "raw": cut(text), "created_by": made}

        question = task.plan(problem, path, shots, most, settings)
        # One each: the next continuation is asked for when this one was refused.
        return one_thought_each(Question(question.prompt, question.read, 1), 1, chunk)

    return lambda settings: partial(generator, settings)


def top(tree: Tree) -> str:
    """Returns the accepted chunk that is gone on from: the last one that was not gone back from."""
    at = ROOT
    for key in living(tree):
        chunk = tree[key]
        left = chunk["status"] == "terminal" or chunk.get("note") == DEAD_END
        if chunk["parent"] == at and not left:
            at = key
    return at


def accepted(state: PlanState) -> list[str]:
    """Returns the chunk that was judged last, if it was accepted."""
    key, last = next(reversed(state["thoughts"].items()))
    return [key] if last["status"] in ("open", "terminal") else []


def tried(tree: Tree) -> int:
    """Returns how many continuations of the top chunk were judged; each is a thought."""
    return len(children_of(tree, top(tree)))


def calls_due(state: PlanState) -> int:
    """Returns how many continuations of the top chunk are asked for: the next, and those ahead.

    There are none beyond b siblings or T calls, nor beyond what the limits allow. A sibling whose
    generation ahead failed is asked for again when its turn comes.
    """
    settings, tree = TomtTotSettings.of(state["settings"]), state["thoughts"]
    left = min(settings.branches - tried(tree), settings.max_calls - len(tree) + 1)
    return min(1 + settings.speculate, left, expansions_allowed(state))


def write_steps(run: Run, generator: ChooseGenerator) -> Node:
    """Makes the node that asks for the next continuation of the top chunk, and for some ahead.

    They wait in the state until they are judged.

    Args:
        generator: From the run's settings to the generator.
    """

    async def generate(state: PlanState) -> dict[str, Any]:
        step, tree = Step(run, state), state["thoughts"]
        key, first = top(tree), tried(tree)
        asks = [
            replace(expansion(run, state, generator, key, first + at), ahead=at > 0)
            for at in range(calls_due(state))
        ]
        answers = {answer.ask.name: answer for answer in await step.ask(asks)}
        served = [*takewhile(bool, (answers.get(ask.name) for ask in asks))]
        if not served:
            return step.update(stop_reason="budget")
        calls = drafted([answer for answer in served if answer])
        return step.update(ahead={**state["ahead"], key: calls})

    return generate


def evaluate_steps(run: Run) -> Node:
    """Makes the node that judges calls in the order of their indices, up to the first acceptable.

    Each judged call becomes a thought: a refused one is pruned, an accepted one is gone on from
    unless it ends the plan. Calls generated ahead wait for the search to come back.

    Args:
        run: The graph's objects; the task says which steps can stand.
    """

    async def node(state: PlanState) -> dict[str, Any]:
        tree, settings = state["thoughts"], TomtTotSettings.of(state["settings"])
        key = top(tree)
        calls = state["ahead"].get(key)
        if not calls:
            return {}
        # Several may have waited since the limits allowed them: each counts towards T, and is a
        # thought and a round.
        room = min(settings.max_calls - len(tree) + 1, thoughts_left(state))
        if settings.limit_rounds is not None:
            room = min(room, settings.limit_rounds - state["usage"].get("rounds", 0))
        task, path = run.task_for(state["settings"], Plans), path_to(tree, key)
        judged, malformed = list[Expansion](), 0
        for call in calls[:room]:
            written = call["thoughts"][0]
            steps = written["text"].split("\n") if written["text"] else []
            ruling = await _ruled(task, state, path, steps)
            judged.append({**call, "thoughts": [{**written, **_became(ruling)}]})
            malformed += ruling.malformed
            if ruling.accepted:
                break
        placed, size = place(state, judged), len(judged)
        ended = next(reversed(placed.new.values()))["status"] == "terminal"
        reason = "" if ended else _stop_reason(state, placed)
        used_up = reason == "budget" and len(tree) - 1 + size == settings.max_calls
        counts = dict.fromkeys(("thoughts", "evaluated", "expansions", "rounds"), size)
        unread = {"parse_errors": {"generate": malformed}} if malformed else {}
        return {
            "limit": "max_calls" if used_up else "",
            "thoughts": placed.tree,
            "ahead": {**state["ahead"], key: calls[size:]},
            "usage": {**counts, **unread},
            "stop_reason": reason,
        }

    return node


async def backtrack(state: PlanState) -> dict[str, Any]:
    """Goes back from a chunk whose b continuations were all refused."""
    key = top(state["thoughts"])
    left: Tree = {key: {"note": DEAD_END}}
    to = state["thoughts"][key]["parent"]
    get_stream_writer()({"event": "backtracked", "to": to, "node": "backtrack"})
    return {"thoughts": left, "stop_reason": "dead_end" if key == ROOT else ""}


async def _ruled(task: Plans, state: PlanState, path: Path, steps: Sequence[str]) -> Ruling:
    """Returns the task's ruling, or the refusal of a plan that is too long."""
    settings = TomtTotSettings.of(state["settings"])
    before = sum(len(thought["text"].split("\n")) for thought in path)
    if before + len(steps) > settings.max_steps:
        return _refused(steps, f"a plan has at most {settings.max_steps} steps")
    ruling = await told(task.execute(state["problem"], path, steps, state["settings"]))
    deepest = settings.limit_depth
    if ruling.accepted and ruling.answer is None and len(path) + 1 == deepest:
        return _refused(steps, f"the plan does not end within the depth limit of {deepest}")
    return ruling


def _refused(steps: Sequence[str], reason: str) -> Ruling:
    return Ruling(False, "\n".join(steps), code="E_LIMIT", reason=reason)


def _became(ruling: Ruling) -> dict[str, Any]:
    """Returns the fields by which a thought keeps what running its steps gave."""
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


def _stop_reason(state: PlanState, placed: Placed) -> StopReason:
    """Returns which limit forbids the next call; none where no chunk has one left: it ends dead."""
    settings = TomtTotSettings.of(state["settings"])
    tree, size = merge_thoughts(state["thoughts"], [placed.tree]), len(placed.new)
    times = Counter(thought["parent"] for thought in tree.values())
    line = (ROOT, *(chunk["id"] for chunk in path_to(tree, top(tree))))
    if all(times[key] == settings.branches for key in line):
        return ""
    made = state["usage"].get("thoughts", 0) + size
    if len(tree) - 1 == settings.max_calls or made == settings.limit_thoughts:
        return "budget"
    rounds = state["usage"].get("rounds", 0) + size
    return "round_limit" if rounds == settings.limit_rounds else ""
