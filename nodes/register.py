"""Gives what was generated its place in the tree, and the verdicts that are already known."""

from collections.abc import Sequence
from typing import Any, cast

from thoughtgraph.fan_out import Expansion
from thoughtgraph.nodes.evaluate import value_question
from thoughtgraph.nodes.judge import unjudged, verdict_fields, verdict_json, verdicts_in
from thoughtgraph.nodes.node import Node
from thoughtgraph.nodes.placement import place
from thoughtgraph.nodes.questions import Keyed, drop, state_key_of
from thoughtgraph.parts import Parts
from thoughtgraph.state import SearchState
from thoughtgraph.task import Verdict
from thoughtgraph.tree import PERSON, Thought, Tree, path_to, texts

DUPLICATE = "the same partial solution was created before in this step"


def register_thoughts(parts: Parts) -> Node:
    """Makes the node that turns the expansions of a fan-out into thoughts, in creation order.

    A thought whose request was not answered stays in the frontier. Thoughts beyond the limit are
    not created, and the search stops. A state that was judged before takes its verdict from the
    tree.
    """

    async def node(state: SearchState) -> dict[str, Any]:
        expansions = state.get("expansions") or []
        placed = place(state, expansions)
        if state["settings"].get("evaluate") == "value":
            cached = _judge_known(parts, state, placed.new)
        else:
            cached = 0
        served = sum(expansion["served"] for expansion in expansions)
        counts = {"thoughts": len(placed.new), "expansions": served, "cached": cached}
        return {
            "tree": placed.tree,
            "frontier": _not_expanded(state, expansions),
            "generation": [*state["generation"], *placed.new],
            "usage": {name: number for name, number in counts.items() if number},
            "stop_reason": "" if placed.complete else "budget",
        }

    return node


def judge_added(parts: Parts, state: SearchState) -> Tree:
    """Returns the verdicts that need no request on thoughts of this round that a person added.

    They were not registered, and nobody is asked about such a thought.
    """
    if state["settings"].get("evaluate") != "value":
        return {}
    tree = state["tree"]
    added = [key for key in unjudged(state) if tree[key].get("created_by") == {"node": PERSON}]
    if not added:
        return {}
    others = [key for key in state["generation"] if key not in added]
    new: Tree = {key: cast("Thought", dict(tree[key])) for key in added}
    _judge_known(parts, cast("SearchState", {**state, "generation": others}), new)
    return {key: thought for key, thought in new.items() if "value" in thought}


def _not_expanded(state: SearchState, expansions: Sequence[Expansion]) -> list[str]:
    """Returns what is left of the frontier, in which a thought may stand several times."""
    left = list(state["frontier"])
    for expansion in expansions:
        if expansion["served"]:
            left.remove(expansion["parent"])
    return left


def _judge_known(parts: Parts, state: SearchState, new: Tree) -> int:
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
        asked = value_question(parts, state["settings"], state["problem"], path_to(tree, key))
        ruled = asked if isinstance(asked, Verdict) else None
        state_key = asked.key if isinstance(asked, Keyed) else _key_instead(asked, compat)
        if state_key in known:
            thought.update(verdict_fields(state_key, known[state_key]))
            reused += 1
        elif ruled is not None and state_key:
            thought.update(verdict_fields(state_key, verdict_json(ruled)))
        elif ruled is not None:
            thought["value"], thought["note"] = ruled.value, ruled.label
    drop(key for key, thought in new.items() if "value" in thought)
    return reused


def _key_instead(ruled: Verdict, compat: bool) -> str:
    """Returns the key under which a verdict without a request is kept; empty: under none.

    The official code looks a prompt up before it applies a rule that needs no model, and keeps what
    the rule said as the prompt's verdict.
    """
    return state_key_of(ruled.instead) if compat and ruled.instead is not None else ""


def _line(tree: Tree, key: str) -> str:
    return "\n".join(texts(path_to(tree, key)))
