"""One trajectory at a time: request a thought, then a missing action, then call the tool."""

from collections.abc import Sequence
from typing import Any

from thoughtgraph.nodes.actions import carry_out, hints_of, move_ask, move_fields, shown_field
from thoughtgraph.nodes.expand import place_below
from thoughtgraph.nodes.limits import blocking_limit
from thoughtgraph.nodes.step import Step
from thoughtgraph.settings.acting import ReactSettings
from thoughtgraph.state import SearchState
from thoughtgraph.tree import ROOT, Shown, Tree, cut

STYLE = "react"
UNSAID = "…"
"""Text of an empty thought in the request for its action alone."""


async def generate(step: Step, state: SearchState) -> dict[str, Any]:
    """Requests the next thought of a trial, with its action if the model writes one.

    The node stops the search at the step limit, and if a limit or a failing endpoint forbids the
    request.
    """
    tree, key = state["thoughts"], latest(state)
    if tree[key]["depth"] == ReactSettings.of(state["settings"]).max_steps:
        return {"stop_reason": "step_limit"}
    if reason := blocking_limit(state, key):
        return {"stop_reason": reason}
    shown = Shown(lessons=lessons(tree))
    ask = move_ask(step, key, STYLE, hints_of(tree, shown), times=_times(tree, key))
    if (reply := await step.ask_one(ask)) is None:
        return step.update(stop_reason="budget")
    fields = move_fields(step, key, reply.reading[0], reply.texts[0])
    if fields["action"] is None:
        step.count(parse_errors={"generate": 1})
    if not reply.reading[0].action:
        # `act` requests the action and fills in the fields left out here.
        fields = {name: fields[name] for name in ("text", "raw")}
    placed = place_below(state, key, [{**fields, **shown_field(shown)}], reply.usage)
    step.count(thoughts=1, expansions=1)
    return step.update(thoughts=placed.tree)


async def act(step: Step, state: SearchState) -> dict[str, Any]:
    """Requests only the action of a thought that came without one (ReAct's code).

    If no action comes then either, the step has failed and the trial goes on.
    """
    tree, key = state["thoughts"], latest(state)
    thought, parent = tree[key], tree[key]["parent"] or ROOT
    hints = hints_of(tree, thought.get("shown", {}), thought["text"] or UNSAID)
    ask = move_ask(step, parent, STYLE, hints, times=_times(tree, parent))
    if (reply := await step.ask_one(ask)) is None:
        return step.update(stop_reason="budget")
    fields = move_fields(step, parent, reply.reading[0], reply.texts[0])
    if fields["action"] is None:
        step.count(parse_errors={"act": 1})
    merged = {"raw": cut(f"{thought['raw']}\n{fields['raw']}"), "text": thought["text"]}
    return step.update(thoughts={key: {**fields, **merged, "usage": reply.usage}})


async def call_tool(step: Step, state: SearchState) -> dict[str, Any]:
    """Calls the tool of the latest action."""
    updates = await carry_out(step, [latest(state)])
    return step.update(thoughts=updates, **({} if updates else {"stop_reason": "budget"}))


def latest(state: SearchState) -> str:
    """Returns the id of the trial's last thought; the root's while the trial has none."""
    key = next(reversed(state["thoughts"]))
    return ROOT if "lesson" in state["thoughts"][key] else key


def lessons(tree: Tree) -> list[str]:
    """Returns the ids of the last thoughts of the finished trials; each has its `lesson`."""
    return [key for key, thought in tree.items() if "lesson" in thought]


def last_thoughts(state: SearchState) -> Sequence[str]:
    """Returns the trial's last thought; after `budget` or `error` all answers, latest first."""
    if state["stop_reason"] not in ("budget", "error"):
        return [latest(state)]
    return [key for key, thought in state["thoughts"].items() if "answer" in thought][::-1]


def _times(tree: Tree, key: str) -> int:
    """Returns how many earlier trials began at a thought; all began at the root."""
    return len(lessons(tree)) if key == ROOT else 0
