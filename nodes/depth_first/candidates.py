"""The stack of a depth-first search: opening a frame, taking the next candidate, backtracking."""

from collections.abc import Sequence
from typing import Any

from langgraph.types import Overwrite

from thoughtgraph.generation import Expansion
from thoughtgraph.method import ChooseGenerator
from thoughtgraph.nodes.expand import drafted, expansion
from thoughtgraph.nodes.limits import limit_reason
from thoughtgraph.nodes.node import Node
from thoughtgraph.nodes.placement import place
from thoughtgraph.nodes.stack import advance, rewritten
from thoughtgraph.nodes.step import Step
from thoughtgraph.nodes.verdicts import state_key_of
from thoughtgraph.outcome import StopReason
from thoughtgraph.reducers import Frame
from thoughtgraph.run import Run
from thoughtgraph.settings.tot import TotDfsSettings
from thoughtgraph.state import DfsState
from thoughtgraph.task import extras
from thoughtgraph.tree import Thought, Tree, children_of, path_to

DUPLICATE = "proposed twice; the first one counts"


def initial_state() -> dict[str, Any]:
    """Returns what the state of a depth-first search begins with, whatever the thread held."""
    indexes = {"proposed": Overwrite({}), "judged": Overwrite({})}
    return {"stack": Overwrite([]), "visiting": "", **indexes}


def expand_next(run: Run, generator: ChooseGenerator) -> Node:
    """Makes the node that turns a state's next thoughts into candidates, best score first.

    Equal scores keep the order of generation. Where the settings say so, a state that was expanded
    before under an equal prompt repeats that expansion's proposals without a request.

    Args:
        generator: From the run's settings to the generator G.
    """

    async def generate(state: DfsState) -> dict[str, Any]:
        key, step = state["frontier"][0], Step(run, state)
        ask = expansion(run, state, generator, key, 0)
        reuses = TotDfsSettings.of(state["settings"]).reuse_proposals
        reuse_key = state_key_of(ask.question.prompt) if reuses else ""
        known = state["proposed"].get(reuse_key)
        if known is None:
            expansions = drafted(await step.ask([ask]))
        else:
            expansions = _repeat(state["thoughts"], key, known)
        if not expansions:
            return step.update(stop_reason=limit_reason(state))
        placed = place(state, expansions)
        frame = Frame(thought=key, candidates=_in_order(placed.new), pos=0, tried=0)
        step.count(thoughts=len(placed.new), expansions=1, cached=int(known is not None))
        return step.update(
            thoughts=placed.tree,
            frontier=[],
            stack=rewritten(state["stack"], [*state["stack"], frame]),
            proposed={reuse_key: key} if reuse_key else {},
            stop_reason="" if placed.complete else "budget",
        )

    return generate


def next_candidate(run: Run, state: DfsState) -> dict[str, Any]:
    """Returns the update that takes the top frame's next candidate, or finds that there is none.

    Candidates that break what earlier thoughts fixed are passed over. Without backtracking the best
    one is taken and may overwrite that (section 4.3: "allowing overwriting").
    """
    settings, frame = TotDfsSettings.of(state["settings"]), state["stack"][-1]
    if settings.variant == "no_backtrack":
        chosen = _greedy(run, state, frame["candidates"])
        return {"visiting": chosen, "stop_reason": "" if chosen else "dead_end"}
    pruned = Tree()

    def breaks(key: str) -> bool:
        if why := _violation(run, state, key):
            pruned[key] = {"status": "pruned", "note": why}
        return bool(why)

    moved, chosen = advance(frame, breaks, most=settings.max_per_state)
    stack = rewritten(state["stack"], [*state["stack"][:-1], moved])
    return {"visiting": chosen, "stack": stack, **({"thoughts": pruned} if pruned else {})}


async def backtrack(state: DfsState) -> dict[str, Any]:
    """Leaves a state with nothing left to try: it drops the top frame."""
    left = state["stack"][:-1]
    stack = rewritten(state["stack"], left)
    return {"stack": stack, "stop_reason": "" if left else _stop_reason(state)}


def _stop_reason(state: DfsState) -> StopReason:
    if any(thought["status"] == "terminal" for thought in state["thoughts"].values()):
        return "finished"
    return "exhausted" if state["step"] else "dead_end"


def _repeat(tree: Tree, key: str, known: str) -> list[Expansion]:
    thoughts = [_fresh(child) for child in children_of(tree, known)]
    return [{"parent": key, "thoughts": thoughts, "usage": {}}]


def _fresh(child: Thought) -> dict[str, Any]:
    return {k: v for k, v in child.items() if k in ("text", "score", "answer", "raw")}


def _in_order(new: Tree) -> list[str]:
    """Returns the ids of distinct candidates, best score first; marks the others as duplicates."""
    first: dict[str, str] = {}
    for key, thought in new.items():
        if first.setdefault(thought["text"], key) != key:
            thought["status"], thought["note"] = "pruned", DUPLICATE
    return sorted(first.values(), key=lambda key: -new[key].get("score", 0.0))


def _greedy(run: Run, state: DfsState, candidates: Sequence[str]) -> str:
    # One that was visited and is not gone into (a limit on depth) is the end.
    if not candidates or any("visit" in state["thoughts"][key] for key in candidates):
        return ""
    if not TotDfsSettings.of(state["settings"]).repo_compat:
        return candidates[0]
    keeping = (key for key in candidates if not _violation(run, state, key))
    return next(keeping, candidates[-1])


def _violation(run: Run, state: DfsState, key: str) -> str:
    task = run.task_for(state["settings"], object)
    return extras(task).violation(state["problem"], path_to(state["thoughts"], key))
