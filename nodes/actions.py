"""Acting: asks for a next step, reads the action out of it, calls the tool in its branch's state.

What a tool answered is shown to the model and never read as an action, a score or an answer.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, cast

from thoughtgraph.acting import Acts, Hints, Move, Moves, Rejected, Toolbox
from thoughtgraph.generation import GeneratorInput
from thoughtgraph.llm.meter import Meter
from thoughtgraph.method import ThoughtGenerator, ThoughtQuestion
from thoughtgraph.nodes.calls import TOOLS, Ask, Call
from thoughtgraph.nodes.generators import generator_input, one_thought_each
from thoughtgraph.nodes.limits import limits_in
from thoughtgraph.nodes.step import Step
from thoughtgraph.nodes.tracing import labels, traced_as
from thoughtgraph.outcome import REJECTED
from thoughtgraph.run import Run
from thoughtgraph.state import SearchState
from thoughtgraph.tools.one_line import one_line
from thoughtgraph.tree import ROOT, Path, Shown, Thought, Tree, bounded, cut, path_to, shortened


def next_actions(style: str, n: int = 1) -> ThoughtGenerator:
    """Returns the generator of independent next steps, each a thought with an action.

    Args:
        style: Whose prompt asks; see `Moves.move`.
        n: How many steps are asked for, where the task does not say it.
    """

    def generator(run: Run, given: GeneratorInput) -> ThoughtQuestion:
        settings, tools = given["settings"], toolbox(run, given)
        hints = given.get("hints") or Hints(tools="" if tools is None else tools.describe())
        task = run.task_for(settings, Moves)
        question = task.move(given["problem"], given["path"], style, settings, hints)
        return one_thought_each(question, n, partial(thought_fields, run, given))

    return generator


def move_ask(
    run: Run, state: SearchState, key: str, style: str, hints: Hints, *, times: int
) -> Ask[Sequence[Move]]:
    """Returns what to ask for one next step of a thought, or for the action that it lacks.

    Args:
        key: Id of the thought.
        style: Whose prompt asks; see `Moves.move`.
        hints: What the prompt says besides.
        times: How many steps were taken from it before.
    """
    settings, path = state["settings"], path_to(state["thoughts"], key)
    task = run.task_for(settings, Moves)
    question = replace(task.move(state["problem"], path, style, settings, hints), n=1)
    return Ask(question, key, "act" if hints.thought else "generate", expansion=times)


def move_fields(
    run: Run, state: SearchState, key: str, move: Move, text: str = ""
) -> dict[str, Any]:
    """Returns the partial thought that a step after thought `key` makes."""
    return thought_fields(run, generator_input(state, key), move, text)


def toolbox(run: Run, given: SearchState | GeneratorInput) -> Toolbox | None:
    """Returns the tools of a run; None where its task has none."""
    settings = given["settings"]
    if not isinstance(run.task_for(settings, Moves), Acts):
        return None
    return run.tools_for(settings, given["problem"], given.get("run", ""))


def hints_of(tree: Tree, shown: Shown, thought: str = "") -> Hints:
    """Returns what a prompt says besides the path.

    Args:
        shown: Which thoughts it shows.
        thought: The thought that lacks its action, where only that is asked for.
    """
    return Hints(
        tools=tree[ROOT].get("tools", ""),
        rejected=[
            Rejected(
                answer=wrong.get("answer") or "",
                thought=wrong["text"],
                reason=wrong["note"].removeprefix(REJECTED),
            )
            for wrong in (tree[key] for key in shown.get("rejected", ()))
        ],
        siblings=[tree[key] for key in shown.get("beside", ())],
        reflections=[tree[key]["lesson"] for key in shown.get("lessons", ())],
        thought=thought,
    )


def shown_field(shown: Shown) -> Thought:
    """Returns the fields by which a thought keeps what its prompt showed; none for nothing."""
    kept = {name: keys for name, keys in shown.items() if keys}
    return cast("Thought", {"shown": kept} if kept else {})


def thought_fields(run: Run, given: GeneratorInput, move: Move, text: str) -> dict[str, Any]:
    """Returns the partial thought that a step makes.

    One without a readable action has failed already, and nothing was paid; the model is told so.
    """
    fields: dict[str, Any] = {"text": cut(move.text), "raw": cut(text)}
    if move.answer is not None:
        fields |= {"answer": move.answer, "status": "terminal"}
    tools = toolbox(run, given)
    if tools is None:
        lost = {"failed": True, "invalid": True} if move.malformed else {}
        return bounded({**fields, **lost})
    if found := tools.parse(move.action):
        return bounded({**fields, "action": {"name": found[0], "argument": found[1]}})
    said, known = one_line(move.action) or "none was written", ", ".join(tools.names)
    refused = {
        "action": None,
        "observation": cut(f"Invalid action: {said}. The actions are: {known}"),
        "tool_state": _tool_state_after(given["path"]),
        "failed": True,
        "invalid": True,
        "price": 0.0,
    }
    return bounded({**fields, **refused})


def awaits_tool(thought: Thought) -> bool:
    """Returns whether a thought's action is still to be carried out."""
    return bool(thought.get("action")) and "observation" not in thought


async def carry_out(run: Run, state: SearchState, step: Step, keys: Sequence[str]) -> Tree:
    """Carries out the actions of thoughts side by side, each in the state that its parent left.

    Returns:
        What each call does to its thought; nothing for one that the limit on seconds cut off.
    """
    limit = limits_in(state).get("seconds")
    if limit is not None and state["usage"]["seconds"] >= limit:
        return {}
    results = await step.call([_call(run, state, key) for key in keys])
    called: Tree = {key: kept["fields"] for key, kept in zip(keys, results, strict=True) if kept}
    for key, fields in called.items():
        thought = state["thoughts"][key]
        action = thought["action"]
        assert action is not None
        if fields.get("invalid"):
            # Counted for whoever wrote the action: its own request, or that of the thought.
            step.count(parse_errors={"act" if "act" in thought.get("usage", {}) else "generate": 1})
        else:
            name, failures = action["name"], {action["name"]: 1} if fields["failed"] else {}
            step.count(tool_calls={name: 1}, tool_cost=fields["price"], tool_failures=failures)
    return called


def _call(run: Run, state: SearchState, key: str) -> Call:
    """Returns the call of a thought's tool."""
    *before, acting = path_to(state["thoughts"], key)
    tools, action = toolbox(run, state), acting["action"]
    assert tools is not None and action is not None, "only actions of tools are carried out"
    name, argument = action["name"], action["argument"]

    async def make(meter: Meter) -> dict[str, Any]:
        async with meter.in_time():
            with traced_as(labels(run, state, key)):
                result = await tools.call(name, argument, _tool_state_after(before))
        fields: Thought = {
            "observation": result.observation,
            "tool_state": dict(result.state),
            "failed": result.failed,
            "price": result.cost,
        }
        if result.answer is not None:
            fields |= {"answer": shortened(result.answer), "status": "terminal"}
        if result.invalid:
            fields["invalid"] = True
        return {"fields": fields}

    return Call(TOOLS, f"call {key} {name} {argument}", {"id": key, "role": "tool"}, make)


def _tool_state_after(path: Path) -> dict[str, Any]:
    """Returns the state in which a path leaves the tools."""
    return dict(path[-1].get("tool_state", {})) if path else {}
