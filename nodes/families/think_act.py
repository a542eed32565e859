"""One trajectory at a time: think, ask again for a missing action, call the tool."""

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
"""What stands for a thought that is empty, where its action is asked for alone."""


async def generate(step: Step, state: SearchState) -> dict[str, Any]:
    """The next thought of a trial, with its action if it has one.

    It stops the search at the step limit, and where a limit or a failing endpoint forbids the
    request.
    """
    tree, key = state["thoughts"], latest(state)
    if tree[key]["depth"] == ReactSettings.of(state["settings"]).max_steps:
        return {"stop_reason": "step_limit"}
    if reason := blocking_limit(state, key):
        return {"stop_reason": reason}
    shown = Shown(lessons=lessons(tree))
    ask = move_ask(step, key, STYLE, hints_of(tree, shown), times=_times(tree, key))
    if (said := await step.ask_one(ask)) is None:
        return step.update(stop_reason="budget")
    fields = move_fields(step, key, said.reading[0], said.texts[0])
    if fields["action"] is None:
        step.count(parse_errors={"generate": 1})
    if not said.reading[0].action:
        # `act` asks for it and then fills in what a step without one lacks.
        fields = {name: fields[name] for name in ("text", "raw")}
    placed = place_below(state, key, [{**fields, **shown_field(shown)}], said.usage)
    step.count(thoughts=1, expansions=1)
    return step.update(thoughts=placed.tree)


async def act(step: Step, state: SearchState) -> dict[str, Any]:
    """The action of a thought that came without one, asked for alone (ReAct's code).

    When no action comes either, the step has failed and the trial goes on.
    """
    tree, key = state["thoughts"], latest(state)
    thought, parent = tree[key], tree[key]["parent"] or ROOT
    hints = hints_of(tree, thought.get("shown", {}), thought["text"] or UNSAID)
    ask = move_ask(step, parent, STYLE, hints, times=_times(tree, parent))
    if (said := await step.ask_one(ask)) is None:
        return step.update(stop_reason="budget")
    fields = move_fields(step, parent, said.reading[0], said.texts[0])
    if fields["action"] is None:
        step.count(parse_errors={"act": 1})
    own = {"raw": cut(f"{thought['raw']}\n{fields['raw']}"), "text": thought["text"]}
    return step.update(thoughts={key: {**fields, **own, "usage": said.usage}})


async def call_tool(step: Step, state: SearchState) -> dict[str, Any]:
    """What the tool of the latest action answers."""
    called = await carry_out(step, [latest(state)])
    return step.update(thoughts=called, **({} if called else {"stop_reason": "budget"}))


def latest(state: SearchState) -> str:
    """Returns the last thought of the trial; the root where the next one has not begun."""
    key = next(reversed(state["thoughts"]))
    return ROOT if "lesson" in state["thoughts"][key] else key


def lessons(tree: Tree) -> list[str]:
    """Returns the last thoughts of the trials that have ended, each with what it taught."""
    return [key for key, thought in tree.items() if "lesson" in thought]


def last_thoughts(state: SearchState) -> Sequence[str]:
    """Returns the trial's last thought; the latest answers where a limit cut the search short."""
    if state["stop_reason"] not in ("budget", "error"):
        return [latest(state)]
    return [key for key, thought in state["thoughts"].items() if "answer" in thought][::-1]


def _times(tree: Tree, key: str) -> int:
    """Returns how many trials began at a thought before: all begin at the root."""
    return len(lessons(tree)) if key == ROOT else 0
