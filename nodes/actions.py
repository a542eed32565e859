"""Acting: asks for a next step, reads the action out of it, calls the tool in its branch's state.

What a tool answered is shown to the model and never read as an action, a score or an answer.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, cast

from langchain_core.runnables.config import var_child_runnable_config

from thoughtgraph.acting import Acts, Hints, Move, Moves, Rejected, Toolbox
from thoughtgraph.configurations import configured
from thoughtgraph.llm.meter import Meter
from thoughtgraph.nodes.calls import TOOLS, Ask, Call, labels
from thoughtgraph.nodes.expand import ThoughtQuestion, one_thought_each
from thoughtgraph.nodes.step import Step
from thoughtgraph.outcome import REJECTED
from thoughtgraph.run import Run
from thoughtgraph.settings import Settings
from thoughtgraph.state import SearchState
from thoughtgraph.tools.one_line import one_line
from thoughtgraph.tree import ROOT, Path, Shown, Thought, Tree, bounded, cut, path_to, shortened


def next_actions(step: Step, key: str, style: str, n: int) -> ThoughtQuestion:
    """Asks for independent next steps of a thought, each a thought with an action.

    Args:
        step: This run of the node.
        key: Id of the thought.
        style: Whose prompt asks; see `Moves.move`.
        n: How many steps are asked for, where the task does not say it.
    """
    tools = toolbox(step.run, step.state)
    problem, path, settings = step.at(key)
    hints = Hints(tools="" if tools is None else tools.describe())
    question = step.task(Moves).move(problem, path, style, settings, hints)
    return one_thought_each(question, n, partial(thought_fields, tools, path))


def move_ask(step: Step, key: str, style: str, hints: Hints, *, times: int) -> Ask[Sequence[Move]]:
    """Returns what to ask for one next step of a thought, or for the action that it lacks.

    Args:
        step: This run of the node.
        key: Id of the thought.
        style: Whose prompt asks; see `Moves.move`.
        hints: What the prompt says besides.
        times: How many steps were taken from it before.
    """
    problem, path, settings = step.at(key)
    question = step.task(Moves).move(problem, path, style, settings, hints)
    role = "act" if hints.thought else "generate"
    return Ask(replace(question, n=1), key, role, expansion=times)


def move_fields(step: Step, key: str, move: Move, text: str = "") -> dict[str, Any]:
    """Returns the partial thought that a step after thought `key` makes."""
    path = path_to(step.state["thoughts"], key)
    return thought_fields(toolbox(step.run, step.state), path, move, text)


def toolbox(run: Run, state: SearchState) -> Toolbox | None:
    """Returns the tools of a run; None where its task has none."""
    settings = state["settings"]
    if not isinstance(run.task_for(settings, Moves), Acts):
        return None
    return run.tools_for(settings, state["problem"], state["run"])


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


def thought_fields(tools: Toolbox | None, path: Path, move: Move, text: str) -> dict[str, Any]:
    """Returns the partial thought that a step makes.

    One without a readable action has failed already, and nothing was paid; the model is told so.
    """
    fields: dict[str, Any] = {"text": cut(move.text), "raw": cut(text)}
    if move.answer is not None:
        fields |= {"answer": move.answer, "status": "terminal"}
    if tools is None:
        lost = {"failed": True, "invalid": True} if move.malformed else {}
        return bounded({**fields, **lost})
    if call := tools.parse(move.action):
        return bounded({**fields, "action": {"name": call[0], "argument": call[1]}})
    said, known = one_line(move.action) or "none was written", ", ".join(tools.names)
    refused = {
        "action": None,
        "observation": cut(f"Invalid action: {said}. The actions are: {known}"),
        "tool_state": _tool_state_after(path),
        "failed": True,
        "invalid": True,
        "price": 0.0,
    }
    return bounded({**fields, **refused})


def awaits_tool(thought: Thought) -> bool:
    """Returns whether a thought's action is still to be carried out."""
    return bool(thought.get("action")) and "observation" not in thought


async def carry_out(step: Step, keys: Sequence[str]) -> Tree:
    """Carries out the actions of thoughts side by side, each in the state that its parent left.

    Returns:
        What each call does to its thought; nothing for one that the limit on seconds cut off.
    """
    state = step.state
    limit = Settings.of(state["settings"]).limits.get("seconds")
    if limit is not None and state["spent"]["seconds"] >= limit:
        return {}
    results = await step.call([_call(step, key) for key in keys])
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


def _call(step: Step, key: str) -> Call:
    """Returns the call of a thought's tool."""
    *before, acting = path_to(step.state["thoughts"], key)
    tools, action = toolbox(step.run, step.state), acting["action"]
    assert tools is not None and action is not None, "only actions of tools are carried out"
    name, argument = action["name"], action["argument"]

    async def make(meter: Meter) -> dict[str, Any]:
        async with meter.in_time():
            # The labels by which a trace knows it.
            metadata = (var_child_runnable_config.get() or {}).get("metadata", {})
            with configured(metadata={**metadata, **labels(step.run, step.state, key)}):
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
