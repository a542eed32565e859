"""The last node: reads the answer off the tree."""

from collections.abc import Callable, Sequence
from typing import Any, cast

from langchain_core.messages import AIMessage

from thoughtgraph.answers import Plausible
from thoughtgraph.llm.prices import unpriced
from thoughtgraph.nodes.limits import requests_left
from thoughtgraph.nodes.step import Step
from thoughtgraph.nodes.tally import Tally
from thoughtgraph.outcome import DENIED, chosen_thought, limit_reached, sentence
from thoughtgraph.state import REPLY, SearchState
from thoughtgraph.task import Checks, Outputs, Task, maybe_await
from thoughtgraph.tree import ROOT, Thought, Tree, merge_thoughts, path_to, shortened
from thoughtgraph.usage import Usage, add_usage, report

Pick = Callable[[Any], Sequence[str]]
"""Chooses the thoughts that a finished search puts out, best first."""

NO_ANSWER = "No answer was found."
FAILED = "The model failed: {}"
BEFORE = "\n\nThe best answer before that: {}"
"""What a conversation is told, and an agent whose tool a search is."""


async def answer(
    step: Step,
    state: SearchState,
    pick: Pick,
    *,
    best: Pick | None = None,
    complete: bool = False,
    tally: Tally | None = None,
) -> dict[str, Any]:
    """Ends a search: every output carries its answer in the tree afterwards.

    Args:
        step: This run of the node.
        state: The state.
        pick: Chooses the outputs.
        best: Chooses the thoughts to answer from, best first; None: the outputs in their order.
        complete: Whether a search that a limit or an error cut short puts out all complete outputs
            there are, best value first.
        tally: From the state and the thought that answers to how it was chosen; None: by no vote.
    """
    whole = state["stop_reason"] in ("", "verified", "settled") or not complete
    keys = _not_dropped(state, pick(state) if whole else _complete_outputs(step, state))
    order = keys if best is None else _not_dropped(state, best(state))
    tree: Tree = {
        key: {"answer": _output(step, state, key)} for key in (*keys, *order, *terminal(state))
    }
    chosen = next((key for key in order if tree[key]["answer"] is not None), "")
    text = tree[chosen]["answer"] if chosen else None
    if chosen:
        seen = await _looked_at(step, state, text)
        tree[chosen] = {**tree[chosen], "chosen": True, **seen}
    reason = _stop_reason(state, text, any(key != ROOT for key in keys))
    known = merge_thoughts(state["thoughts"], [tree])
    last = cast(
        "SearchState",
        {**state, "thoughts": known, "tree": known, "stop_reason": reason, "usage": state["spent"]},
    )
    ended = {
        "answer": text,
        "stop_reason": reason,
        "limit": limit_reached(last),
        "verified": await _verified(step, last, text),
        "votes": tally(last, chosen) if chosen and tally else [],
    }
    outcome = sentence({**last, **ended})
    shown = {"candidates": [tree[key]["answer"] for key in keys], "outcome": outcome, **ended}
    return {**shown, "thoughts": tree, **await _cost(step, state, chosen), **_reply(state, text)}


async def _looked_at(step: Step, state: SearchState, text: str | None) -> Thought:
    """Returns what the task says of an answer that it cannot verify."""
    task = step.task(Task)
    if text is None or not isinstance(task, Plausible):
        return {}
    verdict = await maybe_await(task.plausible(state["problem"], text, state["settings"]))
    return {"plausible": verdict.value > 0, "returned": verdict.label}


def _not_dropped(state: SearchState, keys: Sequence[str]) -> list[str]:
    """Returns thoughts without those that a person pruned: they answer nothing."""
    return [key for key in keys if not state["thoughts"][key].get("pruned_by")]


def terminal(state: SearchState) -> list[str]:
    """Returns the thoughts that end a path, in the order of their creation."""
    return [key for key, thought in state["thoughts"].items() if thought["status"] == "terminal"]


def _output(step: Step, state: SearchState, key: str) -> str | None:
    thought = state["thoughts"][key]
    if "answer" in thought:
        return thought["answer"]
    task = step.task(Task)
    if not isinstance(task, Outputs):
        return None
    text = task.output(state["problem"], path_to(state["thoughts"], key))
    return None if text is None else shortened(text)


def _complete_outputs(step: Step, state: SearchState) -> list[str]:
    """Returns the thoughts that give an answer, best value first, then in creation order."""
    tree = state["thoughts"]
    keys = [key for key in tree if key != ROOT and _output(step, state, key) is not None]
    return sorted(keys, key=lambda key: (-tree[key].get("value", 0.0), int(key)))


async def _cost(step: Step, state: SearchState, chosen: str) -> dict[str, Any]:
    """Returns what the search cost, and the way to its answer: its length and its tool calls."""
    # A run may have been resumed with another model, whose price its start did not know.
    prices = {**state["prices"], **await step.run.open_models(state["settings"])}
    way: Usage = {}
    if chosen:
        path = path_to(state["thoughts"], chosen)
        cost = sum(thought.get("price", 0.0) for thought in path)
        way = {"reasoning_steps": len(path), "tool_cost_path": cost}
    spent = report(add_usage(state["spent"], way), priced=not unpriced(prices))
    return {"prices": prices, "usage": spent}


def _stop_reason(state: SearchState, text: str | None, ended: bool) -> str:
    """Returns why a search has ended: what an earlier node said, else what there is in the end."""
    if state.get("error") and text is None:  # such as when nothing could be concluded
        return "error"
    if reason := state.get("stop_reason", ""):
        return reason
    if text is not None or ended:
        return "finished"
    return "dead_end" if requests_left(state) else "budget"


async def _verified(step: Step, state: SearchState, text: str | None) -> bool | None:
    """Returns whether an answer is right, where the search was told or the task can tell."""
    if text is None:
        return None
    if state["stop_reason"] == "verified":
        return True
    if chosen_thought(state).get("note") == DENIED:
        return False
    task = step.task(Task)
    if not isinstance(task, Checks):
        return None
    return await maybe_await(task.check(state["problem"], text))


def _reply(state: SearchState, text: str | None) -> dict[str, Any]:
    if not state.get("messages"):
        return {}
    words = NO_ANSWER if text is None else text
    if state.get("error"):
        words = FAILED.format(state["error"]) + ("" if text is None else BEFORE.format(text))
    return {"messages": [AIMessage(words, response_metadata={REPLY: state["run"]})]}
