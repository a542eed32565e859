"""Depth-first search over plans: executes generated steps, then descends or backtracks."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from langgraph.config import get_stream_writer

from thoughtgraph.nodes.expand import Placed, place
from thoughtgraph.nodes.limits import expansions_allowed, thoughts_left
from thoughtgraph.nodes.step import Step
from thoughtgraph.outcome import StopReason
from thoughtgraph.planning import Plans, Ruling
from thoughtgraph.settings.mixed_thought import TomtTotSettings
from thoughtgraph.state import Children, PlanState
from thoughtgraph.task import maybe_await
from thoughtgraph.tree import ROOT, Path, Tree, children_of, cut, living, merge_thoughts, path_to

DEAD_END = "no continuation was accepted"


def top(tree: Tree) -> str:
    """Returns the id of the chunk to continue: the last accepted one not backtracked from."""
    at = ROOT
    for key in living(tree):
        chunk = tree[key]
        is_closed = chunk["status"] == "terminal" or chunk.get("note") == DEAD_END
        if chunk["parent"] == at and not is_closed:
            at = key
    return at


def accepted(state: PlanState) -> list[str]:
    """Returns the id of the chunk judged last, in a list; an empty list if it was refused."""
    key, last = next(reversed(state["thoughts"].items()))
    return [key] if last["status"] in ("open", "terminal") else []


def tried(tree: Tree) -> int:
    """Returns how many continuations of the top chunk were judged; each is a thought."""
    return len(children_of(tree, top(tree)))


def calls_due(state: PlanState) -> int:
    """Returns how many continuations of the top chunk to request: the next, and speculative ones.

    They never exceed b siblings, T calls or the limits. A sibling whose speculative request failed
    is requested again when its turn comes.
    """
    settings, tree = TomtTotSettings.of(state["settings"]), state["thoughts"]
    left = min(settings.branches - tried(tree), settings.max_calls - len(tree) + 1)
    return min(1 + settings.speculate, left, expansions_allowed(state))


async def evaluate(step: Step, state: PlanState) -> dict[str, Any]:
    """Lines 2 and 4 to 6: judges calls in the order of their indices, up to the first acceptable.

    Each judged call becomes a thought. A refused one is pruned; the search continues an accepted
    one unless it ends the plan. The remaining calls wait until the search comes back.
    """
    tree, settings = state["thoughts"], TomtTotSettings.of(state["settings"])
    key = top(tree)
    calls = state["ahead"].get(key)
    if not calls:
        return {}
    # Several calls may have waited since the limits allowed them: each counts towards T, and as a
    # thought and a round.
    room = min(settings.max_calls - len(tree) + 1, thoughts_left(state))
    if settings.limit_rounds is not None:
        room = min(room, settings.limit_rounds - state["spent"].get("rounds", 0))
    judged, malformed = await _judged(step, state, calls[:room])
    placed, size = place(state, judged), len(judged)
    ends_plan = next(reversed(placed.new.values()))["status"] == "terminal"
    reason = "" if ends_plan else _stop_reason(state, placed)
    used_up = reason == "budget" and len(tree) - 1 + size == settings.max_calls
    counts = dict.fromkeys(("thoughts", "evaluated", "expansions", "rounds"), size)
    errors = {"parse_errors": {"generate": malformed}} if malformed else {}
    return {
        "limit": "max_calls" if used_up else "",
        "thoughts": placed.tree,
        "ahead": {**state["ahead"], key: calls[size:]},
        "spent": {**counts, **errors},
        "stop_reason": reason,
    }


async def backtrack(step: Step, state: PlanState) -> dict[str, Any]:
    """Goes back from a chunk whose b continuations were all refused."""
    key = top(state["thoughts"])
    update: Tree = {key: {"note": DEAD_END}}
    to = state["thoughts"][key]["parent"]
    get_stream_writer()({"event": "backtracked", "to": to, "node": "backtrack"})
    return {"thoughts": update, "stop_reason": "dead_end" if key == ROOT else ""}


async def _judged(
    step: Step, state: PlanState, calls: Sequence[Children]
) -> tuple[list[Children], int]:
    """Executes calls up to the first accepted one; returns these, and how many are malformed."""
    path = path_to(state["thoughts"], top(state["thoughts"]))
    judged, malformed = list[Children](), 0
    for call in calls:
        draft = call["thoughts"][0]
        steps = draft["text"].split("\n") if draft["text"] else []
        ruling = await _ruled(step.task(Plans), state, path, steps)
        judged.append({**call, "thoughts": [{**draft, **_ruling_fields(ruling)}]})
        malformed += ruling.malformed
        if ruling.accepted:
            break
    return judged, malformed


async def _ruled(task: Plans, state: PlanState, path: Path, steps: Sequence[str]) -> Ruling:
    """Returns the task's ruling, or the refusal of a plan that is too long."""
    settings = TomtTotSettings.of(state["settings"])
    before = sum(len(thought["text"].split("\n")) for thought in path)
    if before + len(steps) > settings.max_steps:
        return _refused(steps, f"a plan has at most {settings.max_steps} steps")
    ruling = await maybe_await(task.execute(state["problem"], path, steps, state["settings"]))
    deepest = settings.limit_depth
    if ruling.accepted and ruling.answer is None and len(path) + 1 == deepest:
        return _refused(steps, f"the plan does not end within the depth limit of {deepest}")
    return ruling


def _refused(steps: Sequence[str], reason: str) -> Ruling:
    return Ruling(False, "\n".join(steps), code="E_LIMIT", reason=reason)


def _ruling_fields(ruling: Ruling) -> dict[str, Any]:
    """Returns the fields of a thought for the ruling on its steps."""
    if not ruling.accepted:
        note = cut(f"{ruling.code}: {ruling.reason}")
        return {"status": "pruned", "text": cut(ruling.text), "note": note}
    ending = {} if ruling.answer is None else {"status": "terminal", "answer": ruling.answer}
    return {
        "text": ruling.text,
        "observation": ruling.observation,
        "tool_state": dict(ruling.tool_state),
        **ending,
    }


def _stop_reason(state: PlanState, placed: Placed) -> StopReason:
    """Returns the stop reason if a limit forbids the next call; empty before a dead end."""
    settings = TomtTotSettings.of(state["settings"])
    tree, size = merge_thoughts(state["thoughts"], [placed.tree]), len(placed.new)
    children = Counter(thought["parent"] for thought in tree.values())
    path_ids = (ROOT, *(chunk["id"] for chunk in path_to(tree, top(tree))))
    if all(children[key] == settings.branches for key in path_ids):
        return ""  # no chunk has a call left: the search backtracks to its dead end
    created = state["spent"].get("thoughts", 0) + size
    if len(tree) - 1 == settings.max_calls or created == settings.limit_thoughts:
        return "budget"
    rounds = state["spent"].get("rounds", 0) + size
    return "round_limit" if rounds == settings.limit_rounds else ""
