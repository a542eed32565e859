"""Gives what was generated its place in the tree, and the verdicts that are already known."""

from collections.abc import Sequence
from typing import Any

from thoughtgraph.fan_out import Expansion
from thoughtgraph.nodes.judge import state_key_of, verdict_fields, verdict_json, verdicts_in
from thoughtgraph.nodes.method_graph import Node
from thoughtgraph.parts import Parts
from thoughtgraph.settings import limits_of
from thoughtgraph.state import SearchState
from thoughtgraph.task import Prompt, Question, Values, Verdict
from thoughtgraph.tree import Thought, Tree, grow, path_to, texts
from thoughtgraph.usage import remaining_thoughts

DUPLICATE = "the same partial solution was created before in this step"


def register_thoughts(parts: Parts) -> Node:
    """Makes the node that turns the expansions of a fan-out into thoughts, in creation order.

    A thought whose request was not answered stays in the frontier. Thoughts beyond the limit are
    not created, and the search stops. A state that was judged before takes its verdict from the
    tree.

    Args:
        parts: The graph's objects.
    """

    async def node(state: SearchState) -> dict[str, Any]:
        expansions = state.get("expansions") or []
        new, changed, left = place(state, expansions)
        if state["settings"].get("evaluate") == "value":
            task = parts.task_for(state["settings"], Values)
            cached = _judge_known(task, state, new)
        else:
            cached = 0
        served = sum(expansion["served"] for expansion in expansions)
        counts = {"thoughts": len(new), "expansions": served, "cached": cached}
        return {
            "tree": {**changed, **new},
            "frontier": left,
            "generation": [*state["generation"], *new],
            "usage": {name: number for name, number in counts.items() if number},
            "stop_reason": "budget" if left_out(expansions, new) else "",
        }

    return node


def place(state: SearchState, expansions: Sequence[Expansion]) -> tuple[Tree, Tree, list[str]]:
    """Returns the new thoughts, the changes to their parents, and what is left of the frontier."""
    room = remaining_thoughts(limits_of(state["settings"]), state["usage"])
    left = list(state["frontier"])
    new: Tree = {}
    changed: Tree = {}
    for expansion in expansions:
        if not expansion["served"]:
            continue
        kept = expansion["thoughts"][: max(0, room - len(new))]
        new |= grow(state["tree"], expansion["parent"], kept, offset=len(new))
        changed[expansion["parent"]] = _expanded(expansion)
        left.remove(expansion["parent"])
    return new, changed, left


def left_out(expansions: Sequence[Expansion], new: Tree) -> bool:
    """Returns whether the limit on thoughts kept some of the new thoughts out of the tree."""
    made = sum(len(expansion["thoughts"]) for expansion in expansions if expansion["served"])
    return made > len(new) or any(expansion.get("short") for expansion in expansions)


def _expanded(expansion: Expansion) -> Thought:
    return {"status": "expanded", "usage": expansion["usage"]}


def _judge_known(task: Values, state: SearchState, new: Tree) -> int:
    """Writes the verdicts that need no request; returns how many were reused."""
    tree = {**state["tree"], **new}
    known = verdicts_in(state["tree"])
    seen = {_line(tree, key) for key in state["generation"]}
    compat = state["settings"].get("repo_compat", False)
    reused = 0
    for key, thought in new.items():
        line = _line(tree, key)
        if line in seen:
            thought["value"], thought["note"] = 0.0, DUPLICATE
            continue
        seen.add(line)
        question = task.value(state["problem"], path_to(tree, key), state["settings"])
        asked: Prompt | Verdict = question.prompt if isinstance(question, Question) else question
        asked, ruled = _official_order(asked) if compat else (asked, None)
        if isinstance(asked, Verdict):
            thought["value"], thought["note"] = asked.value, asked.label
        elif (state_key := state_key_of(asked)) in known:
            thought.update(verdict_fields(state_key, known[state_key]))
            reused += 1
        elif ruled is not None:
            thought.update(verdict_fields(state_key, verdict_json(ruled)))
    return reused


def _official_order(
    question: Prompt | Verdict,
) -> tuple[Prompt | Verdict, Verdict | None]:
    """Returns the prompt whose earlier verdict goes first, and the verdict without a request.

    The official code looks a prompt up before it applies a rule that needs no model, and keeps what
    the rule said as the prompt's verdict.
    """
    if isinstance(question, Verdict) and question.instead is not None:
        return question.instead, question
    return question, None


def _line(tree: Tree, key: str) -> str:
    return "\n".join(texts(path_to(tree, key)))
