"""Runs plans step by step.

The steps that ran are plain JSON values, each with its value: they are stored with a thought, so
that a child of the thought runs only its own lines.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from typing_extensions import TypedDict

from thoughtgraph.tasks.scenes.plan_language import ALL, Argument, Constant, Name, Step
from thoughtgraph.tools.scenes.scene_tools import TOOLS, Profile
from thoughtgraph.tools.scenes.values import Item, PlanError, Value, View

EVERYTHING = -1
"""The step that a `Ref` to all_obj points to."""


class Ref(TypedDict):
    """An argument that refers to an earlier step by its place in the plan."""

    step: int


ResolvedArgument = Constant | Ref | list[Constant | Ref]


class ExecutedStep(TypedDict):
    """A step that has run. Names are resolved, so that reassignments do not matter."""

    target: str
    tool: str
    arguments: list[ResolvedArgument]
    value: Any
    """As `value_of` reads it: a number, a text, a truth value, or `objects` or `relations`."""


def execute(
    step: Step, done: Sequence[ExecutedStep], view: View, profile: Profile = "extended"
) -> ExecutedStep:
    """Runs one step on a scene.

    Args:
        step: The step.
        done: What ran before.
        view: The scene and what is let pass on it.
        profile: The tools there are.

    Returns:
        The step with its value.

    Raises:
        PlanError: A name is not defined, the profile lacks the tool, or the tool fails.
    """
    tool = TOOLS[step.tool]
    if tool.extended and profile == "paper":
        raise PlanError("E_FUNC", f"{step.tool} is none of the paper's tools")
    arguments = [_resolved(done, each) for each in step.arguments]
    value = _stored(tool.run(view, *(_valued(done, view, each) for each in arguments)))
    return {"target": step.target, "tool": step.tool, "arguments": arguments, "value": value}


def value_of(step: ExecutedStep) -> Value:
    """Returns the value of a step that ran."""
    value = step["value"]
    if not isinstance(value, Mapping):
        return value  # type: ignore[no-any-return]  # text, number or truth value, as written
    return tuple(value["objects"]) if "objects" in value else frozenset(value["relations"])


def _stored(value: Value) -> Any:
    if isinstance(value, tuple):
        return {"objects": list(value)}
    return {"relations": sorted(value)} if isinstance(value, frozenset) else value


def _resolved(done: Sequence[ExecutedStep], argument: Argument) -> ResolvedArgument:
    if isinstance(argument, tuple):
        return [_found(done, each) for each in argument]
    return _found(done, argument)


def _found(done: Sequence[ExecutedStep], argument: Constant | Name) -> Constant | Ref:
    """Resolves a name to its last assignment; constants pass unchanged."""
    if not isinstance(argument, Name):
        return argument
    if argument.name == ALL:
        return {"step": EVERYTHING}
    for at in reversed(range(len(done))):
        if done[at]["target"] == argument.name:
            return {"step": at}
    raise PlanError("E_NAME", f"{argument.name[:20]} is not defined")


def _valued(done: Sequence[ExecutedStep], view: View, argument: ResolvedArgument) -> Item:
    if isinstance(argument, list):
        return [_word(_valued(done, view, each)) for each in argument]
    if isinstance(argument, dict):
        at = argument["step"]
        return view.everything if at == EVERYTHING else value_of(done[at])
    return argument


def _word(value: Item) -> str | int:
    if isinstance(value, str) or type(value) is int:
        return value
    raise PlanError("E_TYPE", "a list holds words and numbers")
