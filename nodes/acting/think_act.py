"""One trajectory at a time: think, ask again for a missing action, learn from a failed trial."""

from collections.abc import Sequence
from typing import Any

from thoughtgraph.acting import Reflects
from thoughtgraph.nodes.actions import (
    carry_out,
    hints_of,
    move_ask,
    move_fields,
    shown_field,
)
from thoughtgraph.nodes.calls import Ask
from thoughtgraph.nodes.limits import blocking_limit
from thoughtgraph.nodes.node import Node
from thoughtgraph.nodes.placement import place_below
from thoughtgraph.nodes.step import Step
from thoughtgraph.run import Run
from thoughtgraph.settings.acting import ReactSettings
from thoughtgraph.state import SearchState, TrajectoryState
from thoughtgraph.tree import ROOT, Shown, cut, path_to

STYLE = "react"
UNSAID = "…"
"""What stands for a thought that is empty, where its action is asked for alone."""


def think(run: Run) -> Node:
    """Makes the node that adds the next thought of a trial, with its action if it has one.

    It stops the search at the step limit, and where a limit or a failing endpoint
    forbids the request.
    """

    async def generate(state: TrajectoryState) -> dict[str, Any]:
        latest = state["frontier"][0]
        if state["step"] == ReactSettings.of(state["settings"]).max_steps:
            return {"stop_reason": "step_limit"}
        if reason := blocking_limit(state, latest):
            return {"stop_reason": reason}
        step, shown = Step(run, state), Shown(lessons=state["lessons"])
        hints = hints_of(state["thoughts"], shown)
        answers = await step.ask(
            [move_ask(run, state, latest, STYLE, hints, times=_times(state, latest))]
        )
        if not answers:
            return step.update(stop_reason="budget")
        [answer] = answers
        fields = move_fields(run, state, answer)
        if fields["action"] is None:
            step.count(parse_errors={"generate": 1})
        if not answer.reading[0].action:
            # `act` asks for it and then fills in what a step without one lacks.
            fields = {name: fields[name] for name in ("text", "raw")}
        placed = place_below(state, latest, [{**fields, **shown_field(shown)}], answer.usage)
        new = list(placed.new)
        step.count(thoughts=1, expansions=1)
        return step.update(
            thoughts=placed.tree, frontier=new, generation=new, step=state["step"] + 1
        )

    return generate


def act(run: Run) -> Node:
    """Makes the node that asks for the action of a thought that came without one (ReAct's code).

    When no action comes either, the step has failed and the trial goes on.
    """

    async def act(state: TrajectoryState) -> dict[str, Any]:
        step, key = Step(run, state), state["frontier"][0]
        thought = state["thoughts"][key]
        parent = thought["parent"] or ROOT
        hints = hints_of(state["thoughts"], thought.get("shown", {}), thought["text"] or UNSAID)
        answers = await step.ask(
            [move_ask(run, state, parent, STYLE, hints, times=_times(state, parent))]
        )
        if not answers:
            return step.update(stop_reason="budget")
        fields: Any = move_fields(run, state, answers[0])
        if fields["action"] is None:
            step.count(parse_errors={"act": 1})
        raw = cut(f"{thought['raw']}\n{fields['raw']}")
        own = {name: value for name, value in fields.items() if name != "text"}
        return step.update(thoughts={key: {**own, "raw": raw, "usage": answers[0].usage}})

    return act


def _times(state: TrajectoryState, key: str) -> int:
    """Returns how many trials began at a thought before: all begin at the root."""
    return state["trial"] if key == ROOT else 0


def call_tool(run: Run) -> Node:
    """Makes the node that carries out the action of the latest thought."""

    async def call_tool(state: TrajectoryState) -> dict[str, Any]:
        step = Step(run, state)
        called = await carry_out(run, state, step, state["frontier"])
        return step.update(thoughts=called, **({} if called else {"stop_reason": "budget"}))

    return call_tool


def reflect(run: Run) -> Node:
    """Makes the node that asks what went wrong in a trial and begins the next one."""

    async def reflect(state: TrajectoryState) -> dict[str, Any]:
        settings, problem, last = state["settings"], state["problem"], state["frontier"][0]
        task, step = run.task_for(settings, Reflects), Step(run, state)
        path, shown = path_to(state["thoughts"], last), Shown(lessons=state["lessons"])
        question = task.reflect(problem, path, settings, hints_of(state["thoughts"], shown))
        answers = await step.ask([Ask(question, last, "reflect")])
        if not answers:
            return step.update(stop_reason="budget")
        step.count(rounds=1)
        return step.update(
            thoughts={last: {"lesson": cut(answers[0].reading), "usage": answers[0].usage}},
            lessons=[*state["lessons"], last],
            trial=state["trial"] + 1,
            step=0,
            frontier=[ROOT],
            generation=[],
        )

    return reflect


def last_thoughts(state: SearchState) -> Sequence[str]:
    """Returns the trial's last thought; the latest answers where a limit cut the search short."""
    if state["stop_reason"] not in ("budget", "error"):
        return state["frontier"]
    tree = state["thoughts"]
    return sorted((key for key in tree if "answer" in tree[key]), key=int, reverse=True)
