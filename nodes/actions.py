"""Acting: asks for a next step, parses its action, calls the tool in the state of its branch.

Observations are only shown to the model. They are never parsed as an action, a score or an answer.
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
    """Returns a question for independent next steps of a thought, each a thought with an action.

    Args:
        step: This run of the node.
        key: Id of the thought.
        style: Which method's prompt to use; see `Moves.move`.
        n: Number of steps to request, unless the task sets it.
    """
    tools = toolbox(step.run, step.state)
    problem, path, settings = step.at(key)
    hints = Hints(tools="" if tools is None else tools.describe())
    question = step.task(Moves).move(problem, path, style, settings, hints)
    return one_thought_each(question, n, partial(thought_fields, tools, path))


def move_ask(step: Step, key: str, style: str, hints: Hints, *, times: int) -> Ask[Sequence[Move]]:
    """Returns the request for one next step of a thought, or only for the action of that step.

    Args:
        step: This run of the node.
        key: Id of the thought to continue.
        style: Which method's prompt to use; see `Moves.move`.
        hints: What the prompt shows besides the path. `hints.thought` asks for the action alone.
        times: How often the thought was continued before.
    """
    problem, path, settings = step.at(key)
    question = step.task(Moves).move(problem, path, style, settings, hints)
    role = "act" if hints.thought else "generate"
    return Ask(replace(question, n=1), key, role, expansion=times)


def move_fields(step: Step, key: str, move: Move, text: str = "") -> dict[str, Any]:
    """Returns the partial thought for a move that continues thought `key`."""
    path = path_to(step.state["thoughts"], key)
    return thought_fields(toolbox(step.run, step.state), path, move, text)


def toolbox(run: Run, state: SearchState) -> Toolbox | None:
    """Returns the tools of a run; None where its task has none."""
    settings = state["settings"]
    if not isinstance(run.task_for(settings, Moves), Acts):
        return None
    return run.tools_for(settings, state["problem"], state["run"])


def hints_of(tree: Tree, shown: Shown, thought: str = "") -> Hints:
    """Returns the hints that a prompt shows besides the path.

    Args:
        shown: Ids of the thoughts to show, by kind.
        thought: Text of a thought whose action alone is requested; empty: a whole step is.
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
    """Returns the field that records what a thought's prompt showed; no field if it is empty."""
    recorded = {name: keys for name, keys in shown.items() if keys}
    return cast("Thought", {"shown": recorded} if recorded else {})


def thought_fields(tools: Toolbox | None, path: Path, move: Move, text: str) -> dict[str, Any]:
    """Returns the partial thought for a move.

    With tools, an unreadable action fails the step at no cost; the observation tells the model so.
    """
    fields: dict[str, Any] = {"text": cut(move.text), "raw": cut(text)}
    if move.answer is not None:
        fields |= {"answer": move.answer, "status": "terminal"}
    if tools is None:
        failure = {"failed": True, "invalid": True} if move.malformed else {}
        return bounded({**fields, **failure})
    if call := tools.parse(move.action):
        return bounded({**fields, "action": {"name": call[0], "argument": call[1]}})
    action_text, tool_names = one_line(move.action) or "none was written", ", ".join(tools.names)
    refusal = {
        "action": None,
        "observation": cut(f"Invalid action: {action_text}. The actions are: {tool_names}"),
        "tool_state": _tool_state_after(path),
        "failed": True,
        "invalid": True,
        "price": 0.0,
    }
    return bounded({**fields, **refusal})


def awaits_tool(thought: Thought) -> bool:
    """Returns whether a thought has an action that was not carried out yet."""
    return bool(thought.get("action")) and "observation" not in thought


async def carry_out(step: Step, keys: Sequence[str]) -> Tree:
    """Calls the tools of several thoughts concurrently, each in the state that its parent left.

    Returns:
        The new fields of each thought, by id; none for a call that the limit on seconds cut off.
    """
    state = step.state
    limit = Settings.of(state["settings"]).limits.get("seconds")
    if limit is not None and state["spent"]["seconds"] >= limit:
        return {}
    results = await step.call([_call(step, key) for key in keys])
    updates: Tree = {key: each["fields"] for key, each in zip(keys, results, strict=True) if each}
    for key, fields in updates.items():
        thought = state["thoughts"][key]
        action = thought["action"]
        assert action is not None
        if fields.get("invalid"):
            # The role that wrote the action: `act` if the action had a request of its own.
            step.count(parse_errors={"act" if "act" in thought.get("usage", {}) else "generate": 1})
        else:
            name, failures = action["name"], {action["name"]: 1} if fields["failed"] else {}
            step.count(tool_calls={name: 1}, tool_cost=fields["price"], tool_failures=failures)
    return updates


def _call(step: Step, key: str) -> Call:
    """Returns the call of the tool that a thought's action names."""
    *ancestors, thought = path_to(step.state["thoughts"], key)
    tools, action = toolbox(step.run, step.state), thought["action"]
    assert tools is not None and action is not None, "only actions of tools are carried out"
    name, argument = action["name"], action["argument"]

    async def make(meter: Meter) -> dict[str, Any]:
        async with meter.in_time():
            # The labels identify the call in a trace.
            metadata = (var_child_runnable_config.get() or {}).get("metadata", {})
            with configured(metadata={**metadata, **labels(step.run, step.state, key)}):
                result = await tools.call(name, argument, _tool_state_after(ancestors))
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
    """Returns the state of the tools at the end of a path."""
    return dict(path[-1].get("tool_state", {})) if path else {}
