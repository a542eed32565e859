"""Depth-first search over plans: asks for steps, runs them, descends or backtracks."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import takewhile
from typing import Any

from thoughtgraph.generation import Expansion, GeneratorInput
from thoughtgraph.method import ChooseGenerator, ThoughtQuestion
from thoughtgraph.nodes.expand import drafted, expansion
from thoughtgraph.nodes.generators import one_thought_each
from thoughtgraph.nodes.limits import expansions_allowed, thoughts_left
from thoughtgraph.nodes.node import Node
from thoughtgraph.nodes.placement import place
from thoughtgraph.nodes.plan_examples import draw_shots
from thoughtgraph.nodes.stack import rewritten
from thoughtgraph.nodes.step import Step
from thoughtgraph.outcome import StopReason
from thoughtgraph.planning import Plans, Ruling
from thoughtgraph.run import Run
from thoughtgraph.settings.mixed_thought import TomtTotSettings
from thoughtgraph.state import Level, PlanState
from thoughtgraph.task import Question, extras
from thoughtgraph.tree import ROOT, Path, Thought, cut, path_to

ChunkSize = Callable[[Mapping[str, Any], int, int], int | None]
"""The paper's G(): from settings, depth of the chunk (the first has 1) and index among its siblings
to how many steps one call writes; None: all that remain."""

FIRST_LEVEL = Level(thought=ROOT, tried=0, ahead=[])
"""The first level of the stack."""
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


def calls_due(state: PlanState) -> int:
    """Returns how many continuations of the top state are asked for: the next, and those ahead.

    There are none beyond b siblings or T calls, nor beyond what the limits allow. A sibling whose
    generation ahead failed is asked for again when its turn comes.
    """
    settings, top = TomtTotSettings.of(state["settings"]), state["stack"][-1]
    left = min(settings.branches - top["tried"], settings.max_calls - state["step"])
    return min(1 + settings.speculate, left, expansions_allowed(state))


def write_steps(run: Run, generator: ChooseGenerator) -> Node:
    """Makes the node that asks for the next continuation of the top state, and for some ahead.

    They wait in the top level of the stack until they are judged.

    Args:
        generator: From the run's settings to the generator.
    """

    async def generate(state: PlanState) -> dict[str, Any]:
        step, (*below, top) = Step(run, state), state["stack"]
        key, tried = top["thought"], top["tried"]
        asks = [
            replace(expansion(run, state, generator, key, tried + at), ahead=at > 0)
            for at in range(calls_due(state))
        ]
        answers = {answer.ask.name: answer for answer in await step.ask(asks)}
        served = [*takewhile(bool, (answers.get(ask.name) for ask in asks))]
        if not served:
            return step.update(stop_reason="budget")
        ahead = drafted([answer for answer in served if answer])
        stack = [*below, Level({**top, "ahead": ahead})]
        return step.update(stack=rewritten(state["stack"], stack))

    return generate


def evaluate_steps(run: Run) -> Node:
    """Makes the node that judges calls in the order of their indices, up to the first acceptable.

    Each judged call becomes a thought: a refused one is pruned, an accepted one is descended into
    unless it ends the plan. Calls generated ahead wait for the search to come back.

    Args:
        run: The graph's objects; the task says which steps can stand.
    """

    async def node(state: PlanState) -> dict[str, Any]:
        *below, top = state["stack"]
        expansions = top["ahead"]
        if not expansions:
            return {}
        # Several may have waited since the limits allowed them.
        judged, malformed = _run_in_order(run, state, top, expansions[: _room(state)])
        placed, size = place(state, judged), len(judged)
        stack = [*below, Level({**top, "tried": top["tried"] + size, "ahead": expansions[size:]})]
        last = next(reversed(placed.new.values()))
        if last["status"] == "open":
            stack.append(Level(thought=last["id"], tried=0, ahead=[]))
        step = state["step"] + size
        reason = "finished" if last["status"] == "terminal" else _stop_reason(state, stack, step)
        used_up = reason == "budget" and step == TomtTotSettings.of(state["settings"]).max_calls
        return {
            "limit": "max_calls" if used_up else "",
            "thoughts": placed.tree,
            "stack": rewritten(state["stack"], stack),
            "frontier": [stack[-1]["thought"]],
            "step": step,
            "usage": _counts(size, malformed),
            "stop_reason": reason,
        }

    return node


async def backtrack(state: PlanState) -> dict[str, Any]:
    """Leaves a chunk whose b continuations were all refused."""
    *stack, left = state["stack"]
    return {
        "thoughts": {left["thought"]: Thought(note=DEAD_END)},
        "stack": rewritten(state["stack"], stack),
        "frontier": [stack[-1]["thought"]] if stack else [],
        "stop_reason": "" if stack else "dead_end",
    }


def _room(state: PlanState) -> int:
    """Returns how many calls may still be judged: each counts towards T, a thought and a round."""
    settings = TomtTotSettings.of(state["settings"])
    room = min(settings.max_calls - state["step"], thoughts_left(state))
    rounds = settings.limit_rounds
    return room if rounds is None else min(room, rounds - state["usage"].get("rounds", 0))


def _run_in_order(
    run: Run, state: PlanState, top: Level, expansions: Sequence[Expansion]
) -> tuple[list[Expansion], int]:
    """Runs the steps of calls in their order, up to the first that can stand.

    Returns:
        The calls that were run, with what came of them, and how many of them hold no step.
    """
    task = run.task_for(state["settings"], Plans)
    path = path_to(state["thoughts"], top["thought"])
    done: list[Expansion] = []
    malformed = 0
    for call in expansions:
        written = call["thoughts"][0]
        ruling = _ruled(task, state, path, written["text"].split("\n") if written["text"] else [])
        done.append({**call, "thoughts": [{**written, **_fields(ruling)}]})
        malformed += ruling.malformed
        if ruling.accepted:
            break
    return done, malformed


def _ruled(task: Plans, state: PlanState, path: Path, steps: Sequence[str]) -> Ruling:
    """Returns the task's ruling, or the refusal of a plan that is too long."""
    settings = TomtTotSettings.of(state["settings"])
    before = sum(len(thought["text"].split("\n")) for thought in path)
    if before + len(steps) > settings.max_steps:
        return _refused(steps, f"a plan has at most {settings.max_steps} steps")
    ruling = task.execute(state["problem"], path, steps, state["settings"])
    deepest = settings.limit_depth
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


def _counts(size: int, malformed: int) -> dict[str, Any]:
    counts: dict[str, Any] = dict.fromkeys(("thoughts", "evaluated", "expansions", "rounds"), size)
    if malformed:
        counts["parse_errors"] = {"generate": malformed}
    return counts


def _stop_reason(state: PlanState, stack: Sequence[Level], step: int) -> StopReason:
    """Returns which limit forbids the next call, if there is one to be made.

    A search whose levels are all used up is no matter of limits: it ends dead.
    """
    settings = TomtTotSettings.of(state["settings"])
    if all(level["tried"] == settings.branches for level in stack):
        return ""
    made = state["usage"].get("thoughts", 0) + step - state["step"]
    if step == settings.max_calls or made == settings.limit_thoughts:
        return "budget"
    rounds = state["usage"].get("rounds", 0) + step - state["step"]
    return "round_limit" if rounds == settings.limit_rounds else ""
