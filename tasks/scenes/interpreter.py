"""Executes plans step by step.

Executed steps are plain JSON, each with its value. They are stored with a thought, so that a child
of the thought executes only its own lines.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from typing_extensions import TypedDict

from thoughtgraph.tasks.scenes.plan_language import ALL, Argument, Constant, Name, Step
from thoughtgraph.tools.scenes.scene_tools import TOOLS, Profile
from thoughtgraph.tools.scenes.values import Item, PlanError, Value, View

EVERYTHING = -1
"""The step of a `Ref` to all_obj."""


class Ref(TypedDict):
    """An argument that refers to an earlier step by its index in the plan."""

    step: int


ResolvedArgument = Constant | Ref | list[Constant | Ref]


class ExecutedStep(TypedDict):
    """An executed step. Its names are resolved, so that later reassignments do not matter."""

    target: str
    tool: str
    arguments: list[ResolvedArgument]
    value: Any
    """A number, text or truth value, or a mapping with `objects` or `relations`; see `value_of`."""


def execute(
    step: Step, done: Sequence[ExecutedStep], view: View, profile: Profile = "extended"
) -> ExecutedStep:
    """Runs one step on a scene.

    Args:
        step: The step.
        done: The steps executed so far.
        view: The scene, and how strictly tools read their arguments.
        profile: The tools that exist.

    Returns:
        The step with its value.

    Raises:
        PlanError: A name is not defined, the profile lacks the tool, or the tool fails.
    """
    tool = TOOLS[step.tool]
    if tool.extended and profile == "paper":
        raise PlanError("E_FUNC", f"{step.tool} is none of the paper's tools")
    arguments = [_resolve(done, each) for each in step.arguments]
    value = _to_json(tool.run(view, *(_argument_value(done, view, each) for each in arguments)))
    return {"target": step.target, "tool": step.tool, "arguments": arguments, "value": value}


def value_of(step: ExecutedStep) -> Value:
    """Returns the value of an executed step."""
    value = step["value"]
    if not isinstance(value, Mapping):
        return value  # type: ignore[no-any-return]  # a text, number or truth value
    return tuple(value["objects"]) if "objects" in value else frozenset(value["relations"])


def _to_json(value: Value) -> Any:
    if isinstance(value, tuple):
        return {"objects": list(value)}
    return {"relations": sorted(value)} if isinstance(value, frozenset) else value


def _resolve(done: Sequence[ExecutedStep], argument: Argument) -> ResolvedArgument:
    if isinstance(argument, tuple):
        return [_resolve_name(done, each) for each in argument]
    return _resolve_name(done, argument)


def _resolve_name(done: Sequence[ExecutedStep], argument: Constant | Name) -> Constant | Ref:
    """Resolves a name to its latest assignment; returns constants unchanged."""
    if not isinstance(argument, Name):
        return argument
    if argument.name == ALL:
        return {"step": EVERYTHING}
    for at in reversed(range(len(done))):
        if done[at]["target"] == argument.name:
            return {"step": at}
    raise PlanError("E_NAME", f"{argument.name[:20]} is not defined")


def _argument_value(done: Sequence[ExecutedStep], view: View, argument: ResolvedArgument) -> Item:
    if isinstance(argument, list):
        return [_word(_argument_value(done, view, each)) for each in argument]
    if isinstance(argument, dict):
        at = argument["step"]
        return view.everything if at == EVERYTHING else value_of(done[at])
    return argument


def _word(value: Item) -> str | int:
    if isinstance(value, str) or type(value) is int:
        return value
    raise PlanError("E_TYPE", "a list holds words and numbers")
