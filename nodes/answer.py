"""The last node: chooses the answer among the outputs in the tree."""

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
"""From the state to the ids of a search's outputs, best first if the method ranks them."""

NO_ANSWER = "No answer was found."
FAILED = "The model failed: {}"
BEFORE = "\n\nThe best answer before that: {}"
"""Parts of the reply in a conversation, or to an agent that calls the search as a tool."""


async def answer(
    step: Step,
    state: SearchState,
    pick: Pick,
    *,
    best: Pick | None = None,
    complete: bool = False,
    tally: Tally | None = None,
) -> dict[str, Any]:
    """Ends a search: chooses its answer and writes the answer of every output to the tree.

    Args:
        step: This run of the node.
        state: The state.
        pick: Returns the outputs.
        best: Returns the thoughts that may give the answer, best first; None: the outputs in order.
        complete: Whether a search that stopped early outputs every thought with an answer, best
            value first, instead of the result of `pick`.
        tally: Returns the votes by which the answer was chosen; None: there was no vote.
    """
    as_picked = state["stop_reason"] in ("", "verified", "settled") or not complete
    outputs = _unpruned(state, pick(state) if as_picked else _complete_outputs(step, state))
    order = outputs if best is None else _unpruned(state, best(state))
    tree: Tree = {
        key: {"answer": _output(step, state, key)} for key in (*outputs, *order, *terminal(state))
    }
    chosen = next((key for key in order if tree[key]["answer"] is not None), "")
    text = tree[chosen]["answer"] if chosen else None
    if chosen:
        plausibility = await _plausibility(step, state, text)
        tree[chosen] = {**tree[chosen], "chosen": True, **plausibility}
    reason = _stop_reason(state, text, any(key != ROOT for key in outputs))
    grown = merge_thoughts(state["thoughts"], [tree])
    final = cast(
        "SearchState",
        {**state, "thoughts": grown, "tree": grown, "stop_reason": reason, "usage": state["spent"]},
    )
    ending = {
        "answer": text,
        "stop_reason": reason,
        "limit": limit_reached(final),
        "verified": await _verified(step, final, text),
        "votes": tally(final, chosen) if chosen and tally else [],
    }
    outcome = sentence({**final, **ending})
    summary = {"candidates": [tree[key]["answer"] for key in outputs], "outcome": outcome, **ending}
    return {**summary, "thoughts": tree, **await _cost(step, state, chosen), **_reply(state, text)}


async def _plausibility(step: Step, state: SearchState, text: str | None) -> Thought:
    """Returns whether a task that cannot verify an answer finds it plausible, and why."""
    task = step.task(Task)
    if text is None or not isinstance(task, Plausible):
        return {}
    verdict = await maybe_await(task.plausible(state["problem"], text, state["settings"]))
    return {"plausible": verdict.value > 0, "returned": verdict.label}


def _unpruned(state: SearchState, keys: Sequence[str]) -> list[str]:
    """Returns the ids of thoughts that no person pruned: a pruned one never gives the answer."""
    return [key for key in keys if not state["thoughts"][key].get("pruned_by")]


def terminal(state: SearchState) -> list[str]:
    """Returns the ids of the thoughts that end a path, in the order of their creation."""
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
    """Returns the ids of thoughts with an answer, best value first, then in creation order."""
    tree = state["thoughts"]
    keys = [key for key in tree if key != ROOT and _output(step, state, key) is not None]
    return sorted(keys, key=lambda key: (-tree[key].get("value", 0.0), int(key)))


async def _cost(step: Step, state: SearchState, chosen: str) -> dict[str, Any]:
    """Returns prices and usage, with the length and the tool cost of the path to the answer."""
    # A resumed run may use another model, whose price was not known at the start.
    prices = {**state["prices"], **await step.run.open_models(state["settings"])}
    path_usage: Usage = {}
    if chosen:
        path = path_to(state["thoughts"], chosen)
        cost = sum(thought.get("price", 0.0) for thought in path)
        path_usage = {"reasoning_steps": len(path), "tool_cost_path": cost}
    usage = report(add_usage(state["spent"], path_usage), priced=not unpriced(prices))
    return {"prices": prices, "usage": usage}


def _stop_reason(state: SearchState, text: str | None, has_outputs: bool) -> str:
    """Returns the stop reason: that of an earlier node, else one that follows from the outputs."""
    if state.get("error") and text is None:  # also where a forced answer failed after a limit
        return "error"
    if reason := state.get("stop_reason", ""):
        return reason
    if text is not None or has_outputs:
        return "finished"
    return "dead_end" if requests_left(state) else "budget"


async def _verified(step: Step, state: SearchState, text: str | None) -> bool | None:
    """Returns whether the oracle or the task finds an answer right; None if neither can tell."""
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
    content = NO_ANSWER if text is None else text
    if state.get("error"):
        content = FAILED.format(state["error"]) + ("" if text is None else BEFORE.format(text))
    return {"messages": [AIMessage(content, response_metadata={REPLY: state["run"]})]}
