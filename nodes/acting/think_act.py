"""One trajectory at a time: think, ask again for a missing action, learn from a failed trial."""

from collections.abc import Sequence
from typing import Any

from thoughtgraph.acting import Reflects
from thoughtgraph.fan_out import SendArg
from thoughtgraph.nodes.actions import ask_step, hints_of, shown_field
from thoughtgraph.nodes.asker import Asker
from thoughtgraph.nodes.limits import blocking_limit
from thoughtgraph.nodes.node import Node
from thoughtgraph.nodes.placement import place_below
from thoughtgraph.parts import Parts
from thoughtgraph.settings.acting import ReactSettings
from thoughtgraph.state import SearchState, TrajectoryState
from thoughtgraph.tree import ROOT, Shown, cut, path_to

STYLE = "react"
UNSAID = "…"
"""What stands for a thought that is empty, where its action is asked for alone."""


def think(parts: Parts) -> Node:
    """Makes the node that adds the next thought of a trial, with its action if it has one.

    It stops the search at the step limit, and where a limit or a failing endpoint
    forbids the request.
    """

    async def node(state: TrajectoryState) -> dict[str, Any]:
        latest = state["frontier"][0]
        if state["step"] == ReactSettings.of(state["settings"]).max_steps:
            return {"stop_reason": "step_limit"}
        if reason := blocking_limit(state, latest):
            return {"stop_reason": reason}
        asker = Asker(parts, state)
        sent = SendArg(thought=latest, expansion=state["trial"] if latest == ROOT else 0)
        shown = Shown(lessons=state["lessons"])
        hints = hints_of(state["tree"], shown)
        asked = await ask_step(parts, state, asker, sent, STYLE, hints)
        if asked is None:
            return {"stop_reason": "budget", **asker.update()}
        move, fields = asked
        if fields["action"] is None:
            asker.meter.parse_error("generate")
        if not move.action:  # `act` asks for it and then fills in what a step without one lacks
            fields = {name: fields[name] for name in ("text", "raw")}
        thought = {**fields, **shown_field(shown)}
        placed = place_below(state, latest, [thought], asker.meter.by_role())
        new = list(placed.new)
        asker.meter.add({"thoughts": 1, "expansions": 1})
        return asker.update(tree=placed.tree, frontier=new, generation=new, step=state["step"] + 1)

    return node


def act(parts: Parts) -> Node:
    """Makes the node that asks for the action of a thought that came without one (ReAct's code).

    When no action comes either, the step has failed and the trial goes on.
    """

    async def node(state: TrajectoryState) -> dict[str, Any]:
        key = state["frontier"][0]
        thought = state["tree"][key]
        parent = thought["parent"] or ROOT
        asker = Asker(parts, state)
        hints = hints_of(state["tree"], thought.get("shown", {}), thought["text"] or UNSAID)
        sent = SendArg(thought=parent, expansion=state["trial"] if parent == ROOT else 0)
        asked = await ask_step(parts, state, asker, sent, STYLE, hints)
        if asked is None:
            return {"stop_reason": "budget", **asker.update()}
        fields: Any = {k: v for k, v in asked[1].items() if k not in ("text", "raw")}
        if fields["action"] is None:
            asker.meter.parse_error("act")
        fields["raw"] = cut(f"{thought['raw']}\n{asked[1]['raw']}")
        return asker.update(tree={key: {**fields, "usage": asker.meter.by_role()}})

    return node


def reflect(parts: Parts) -> Node:
    """Makes the node that asks what went wrong in a trial and begins the next one."""

    async def node(state: TrajectoryState) -> dict[str, Any]:
        settings, problem, last = state["settings"], state["problem"], state["frontier"][0]
        task, asker = parts.task_for(settings, Reflects), Asker(parts, state)
        path, shown = path_to(state["tree"], last), Shown(lessons=state["lessons"])
        question = task.reflect(problem, path, settings, hints_of(state["tree"], shown))
        samples = await asker.samples(question.prompt, role="reflect")
        if samples is None:
            return {"stop_reason": "budget", **asker.update()}
        lesson = cut(question.read(samples))
        asker.meter.add({"rounds": 1})
        return asker.update(
            tree={last: {"lesson": lesson, "usage": asker.meter.by_role()}},
            lessons=[*state["lessons"], last],
            trial=state["trial"] + 1,
            step=0,
            frontier=[ROOT],
            generation=[],
        )

    return node


def last_thoughts(state: SearchState) -> Sequence[str]:
    """Returns the trial's last thought; the latest answers where a limit cut the search short."""
    if state["stop_reason"] not in ("budget", "error"):
        return state["frontier"]
    tree = state["tree"]
    return sorted((key for key in tree if "answer" in tree[key]), key=int, reverse=True)
