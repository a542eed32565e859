"""Running plans: an immutable environment, and one step's value in it.

An environment is the list of the steps that ran, each with its value. It is stored with a thought
as plain JSON values, so that a child of the thought runs only its own lines.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from thoughtgraph.tasks.scenes.plan_language import ALL, ANSWER, Argument, Constant, Name, Step
from thoughtgraph.tools.scenes.scene_tools import TOOLS, Profile
from thoughtgraph.tools.scenes.values import Item, PlanError, Value, View

EVERYTHING = -1
"""The step that a `Ref` to all_obj points to."""


@dataclass(frozen=True, slots=True)
class Ref:
    """An argument that is the value of an earlier step, by its place in the plan."""

    step: int


Given = Constant | Ref | tuple[Constant | Ref, ...]


class ExecutedStep(NamedTuple):
    """A step that ran: names are resolved, so a name assigned twice means what it meant then."""

    target: str
    tool: str
    arguments: tuple[Given, ...]
    value: Value

    def refs(self) -> list[int]:
        """Returns the places of the steps whose values it uses."""
        flat = [
            each
            for argument in self.arguments
            for each in (argument if isinstance(argument, tuple) else (argument,))
        ]
        return [each.step for each in flat if isinstance(each, Ref) and each.step != EVERYTHING]


@dataclass(frozen=True, slots=True)
class Environment:
    """What a plan has computed so far: its steps, each with its value."""

    steps: tuple[ExecutedStep, ...] = ()

    def find(self, name: str) -> Ref:
        """Returns where a name was assigned last; E_NAME when it never was."""
        if name == ALL:
            return Ref(EVERYTHING)
        for at in range(len(self.steps) - 1, -1, -1):
            if self.steps[at].target == name:
                return Ref(at)
        raise PlanError("E_NAME", f"{name[:20]} is not defined")

    @property
    def finished(self) -> bool:
        """Whether the plan has assigned its answer."""
        return bool(self.steps) and self.steps[-1].target == ANSWER

    def to_json(self, known: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Returns the environment as plain JSON values.

        Args:
            known: What `to_json` gave for the first of these steps; it is taken over.
        """
        before = list((known or {}).get("steps", ()))
        return {"steps": [*before, *map(_encoded, self.steps[len(before) :])]}

    @classmethod
    def from_json(cls, data: Mapping[str, Any] | None) -> "Environment":
        """Returns the environment that `to_json` wrote; an empty one for None or {}."""
        return cls(tuple(_decoded(entry) for entry in (data or {}).get("steps", ())))


def execute(
    step: Step, environment: Environment, view: View, profile: Profile = "extended"
) -> Environment:
    """Runs one step on a scene.

    Args:
        step: The step.
        environment: What ran before.
        view: The scene and what is let pass on it.
        profile: The tools there are.

    Returns:
        The environment with the step and its value.

    Raises:
        PlanError: A name is not defined, the profile lacks the tool, or the tool fails.
    """
    tool = TOOLS[step.tool]
    if tool.extended and profile == "paper":
        raise PlanError("E_FUNC", f"{step.tool} is none of the paper's tools")
    given = tuple(_resolved(environment, each) for each in step.arguments)
    value = tool.run(view, *(_valued(environment, view, each) for each in given))
    return Environment((*environment.steps, ExecutedStep(step.target, step.tool, given, value)))


def _resolved(environment: Environment, argument: Argument) -> Given:
    if isinstance(argument, Name):
        return environment.find(argument.name)
    if isinstance(argument, tuple):
        return tuple(
            environment.find(each.name) if isinstance(each, Name) else each for each in argument
        )
    return argument


def _valued(environment: Environment, view: View, given: Given) -> Item:
    if isinstance(given, Ref):
        return view.everything if given.step == EVERYTHING else environment.steps[given.step].value
    if isinstance(given, tuple):
        return [_item(environment, each) for each in given]
    return given


def _item(environment: Environment, given: Constant | Ref) -> str | int:
    if not isinstance(given, Ref):
        return given
    value = () if given.step == EVERYTHING else environment.steps[given.step].value
    if isinstance(value, (tuple, frozenset, bool)):
        raise PlanError("E_TYPE", "a list holds words and numbers")
    return value


def _encoded(step: ExecutedStep) -> dict[str, Any]:
    return {
        "target": step.target,
        "tool": step.tool,
        "arguments": [_argument_to_json(each) for each in step.arguments],
        "value": _value_to_json(step.value),
    }


def _decoded(entry: Mapping[str, Any]) -> ExecutedStep:
    arguments = tuple(_argument_from_json(each) for each in entry["arguments"])
    return ExecutedStep(entry["target"], entry["tool"], arguments, _value_from_json(entry["value"]))


def _argument_to_json(given: Given) -> Any:
    if isinstance(given, Ref):
        return {"step": given.step}
    if isinstance(given, tuple):
        return [_argument_to_json(each) for each in given]
    return given


def _argument_from_json(data: Any) -> Any:
    if isinstance(data, dict):
        return Ref(data["step"])
    if isinstance(data, (list, tuple)):
        return tuple(_argument_from_json(each) for each in data)
    return data


def _value_to_json(value: Value) -> Any:
    if isinstance(value, tuple):
        return {"objects": list(value)}
    if isinstance(value, frozenset):
        return {"relations": sorted(value)}
    return value


def _value_from_json(data: Any) -> Value:
    if not isinstance(data, dict):
        return data  # type: ignore[no-any-return]  # text, number or truth value, as written
    if "objects" in data:
        return tuple(data["objects"])
    return frozenset(data["relations"])
