"""The last node: reads the answer off the tree."""

from collections.abc import Callable, Sequence
from typing import Any, cast

from langchain_core.messages import AIMessage
from langgraph.types import Overwrite

from thoughtgraph.llm.prices import unpriced
from thoughtgraph.nodes.limits import requests_left
from thoughtgraph.nodes.node import Node
from thoughtgraph.nodes.tally import Tally
from thoughtgraph.outcome import DENIED, limit_reached, note_of, sentence
from thoughtgraph.run import Run
from thoughtgraph.state import REPLY, SearchState
from thoughtgraph.task import Checks, Outputs, Plausible, Task, told
from thoughtgraph.tree import ROOT, Thought, Tree, merge_thoughts, path_to, shortened
from thoughtgraph.usage import Usage, add_usage, report

Pick = Callable[[Any], Sequence[str]]
"""Chooses the thoughts that a finished search puts out, best first."""

NO_ANSWER = "No answer was found."
FAILED = "The model failed: {}"
BEFORE = "\n\nThe best answer before that: {}"
"""What a conversation is told, and an agent whose tool a search is."""


def answer(
    run: Run,
    pick: Pick,
    *,
    best: Pick | None = None,
    cut_short: Pick | None = None,
    tally: Tally | None = None,
) -> Node:
    """Makes the node that ends a search.

    A search that a limit or an error cut short answers with the best complete output it has. Every
    output carries its answer in the tree afterwards.

    Args:
        pick: Chooses the outputs of a search that ran to its end.
        best: Chooses the thoughts to answer from, best first, however the search ended; None: the
            outputs in their order.
        cut_short: Chooses the outputs of a search that a limit or an error ended; None: every
            complete output, best value first.
        tally: From the state and the thought that answers to how it was chosen; None: by no vote.
    """

    async def node(state: SearchState) -> dict[str, Any]:
        if state["stop_reason"] in ("", "verified", "settled"):
            keys = list(pick(state))
        else:
            keys = complete_outputs(run, state) if cut_short is None else list(cut_short(state))
        keys = _not_dropped(state, keys)
        candidates = outputs(run, state, keys)
        order = keys if best is None else _not_dropped(state, best(state))
        ranked = candidates if best is None else outputs(run, state, order)
        given = (pair for pair in zip(order, ranked, strict=True) if pair[1] is not None)
        chosen, found = next(given, ("", None))
        ends = (*keys, *order, *terminal(state))
        tree: Tree = {key: {"answer": _output(run, state, key)} for key in ends}
        if chosen:
            seen = await _looked_at(run, state, found)
            tree[chosen] = {**tree[chosen], "chosen": True, **seen}
        # A run may have been resumed with another model, whose price its start did not know.
        prices = {**state["prices"], **await run.open_models(state["settings"])}
        spent = add_usage(state["usage"], _path_cost(state, chosen) if chosen else Usage())
        reason = _stop_reason(state, found, any(key != ROOT for key in keys))
        known = merge_thoughts(state["thoughts"], [tree])
        last = cast(
            "SearchState", {**state, "thoughts": known, "tree": known, "stop_reason": reason}
        )
        ended = {
            "answer": found,
            "stop_reason": reason,
            "limit": limit_reached(last),
            "verified": _verified(run, last, found),
            "votes": tally(last, chosen) if chosen and tally else [],
        }
        return {
            **ended,
            "candidates": candidates,
            "outcome": sentence({**last, **ended}),
            "thoughts": tree,
            "prices": prices,
            "usage": Overwrite(report(spent, priced=not unpriced(prices))),
            **_reply(state, found),
        }

    return node


async def _looked_at(run: Run, state: SearchState, found: str | None) -> Thought:
    """Returns what the task says of an answer that it cannot verify."""
    task = run.task_for(state["settings"], Task)
    if found is None or not isinstance(task, Plausible):
        return {}
    verdict = await told(task.plausible(state["problem"], found, state["settings"]))
    return {"plausible": verdict.value > 0, "returned": verdict.label}


def _not_dropped(state: SearchState, keys: Sequence[str]) -> list[str]:
    """Returns thoughts without those that a person pruned: they answer nothing."""
    return [key for key in keys if not state["thoughts"][key].get("pruned_by")]


def terminal(state: SearchState) -> list[str]:
    """Returns the thoughts that end a path, in the order of their creation."""
    return [key for key, thought in state["thoughts"].items() if thought["status"] == "terminal"]


def outputs(run: Run, state: SearchState, keys: Sequence[str]) -> list[str | None]:
    """Returns the answers that thoughts give, None where one gives none."""
    return [_output(run, state, key) for key in keys]


def _output(run: Run, state: SearchState, key: str) -> str | None:
    thought = state["thoughts"][key]
    if "answer" in thought:
        return thought["answer"]
    task = run.task_for(state["settings"], Task)
    if not isinstance(task, Outputs):
        return None
    text = task.output(state["problem"], path_to(state["thoughts"], key))
    return None if text is None else shortened(text)


def complete_outputs(run: Run, state: SearchState) -> list[str]:
    """Returns the thoughts that give an answer, best value first, then in creation order."""
    tree = state["thoughts"]
    keys = [key for key in tree if key != ROOT and _output(run, state, key) is not None]
    return sorted(keys, key=lambda key: (-tree[key].get("value", 0.0), int(key)))


def _path_cost(state: SearchState, key: str) -> Usage:
    """Returns how long the way to an answer is, and what the tool calls on it cost."""
    path = path_to(state["thoughts"], key)
    cost = sum(step.get("price", 0.0) for step in path)
    return {"reasoning_steps": len(path), "tool_cost_path": cost}


def _stop_reason(state: SearchState, found: str | None, ended: bool) -> str:
    """Returns why a search has ended: what an earlier node said, else what there is in the end."""
    if state.get("error") and found is None:  # such as when nothing could be concluded
        return "error"
    if reason := state.get("stop_reason", ""):
        return reason
    if found is not None or ended:
        return "finished"
    return "dead_end" if requests_left(state) else "budget"


def _verified(run: Run, state: SearchState, found: str | None) -> bool | None:
    """Returns whether an answer is right, where the search was told or the task can tell."""
    if found is None:
        return None
    if state["stop_reason"] == "verified":
        return True
    if note_of(state) == DENIED:
        return False
    task = run.task_for(state["settings"], Task)
    return task.check(state["problem"], found) if isinstance(task, Checks) else None


def _reply(state: SearchState, found: str | None) -> dict[str, Any]:
    if not state.get("messages"):
        return {}
    words = NO_ANSWER if found is None else found
    if state.get("error"):
        words = FAILED.format(state["error"]) + ("" if found is None else BEFORE.format(found))
    return {"messages": [AIMessage(words, response_metadata={REPLY: state["run"]})]}
