"""What a task can do whose solutions are programs: plans of executable steps.

A step is run, never scored by a model (Tree-of-Mixed-Thought).
"""

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from thoughtgraph.task import Options, Question, Task
from thoughtgraph.tree import Path


@dataclass(frozen=True, slots=True)
class Ruling:
    """What executing the next steps of a plan gave."""

    accepted: bool
    """Whether every step can stand; one that cannot refuses them all."""
    text: str
    """The steps as the task writes them, one a line; what follows the last one is not in it."""
    observation: str = ""
    """What the steps returned, one line a step, for a reader."""
    tool_state: Mapping[str, Any] = field(default_factory=dict)
    """The tools' state after the steps, as JSON values; the next steps go on from it."""
    answer: str | None = None
    """The final answer, in canonical form, when the steps end the plan."""
    code: str = ""
    """The kind of the fault that refused the steps, such as `E_SYNTAX`; empty when accepted."""
    reason: str = ""
    """The fault in words."""
    malformed: bool = False
    """Whether what the model wrote is no step at all; such output is counted."""


@runtime_checkable
class Plans(Task, Protocol):
    """Has plans of executable steps: a chunk of steps is run, never scored by a model."""

    def plan(
        self, problem: str, path: Path, shots: Sequence[int], steps: int | None, options: Options
    ) -> Question[Sequence[Sequence[str]]]:
        """Returns what to ask for the next steps of a plan.

        Each completion is read as at most so many steps.

        Args:
            problem: The problem in canonical form.
            path: The accepted chunks so far.
            shots: Which examples to show, by index, in order; none where the task has none
                (`thoughtgraph.task.Extras.shots`).
            steps: How many steps are wanted; None: all that remain.
            options: The run's settings.
        """
        ...

    def execute(
        self, problem: str, path: Path, steps: Sequence[str], options: Options
    ) -> Ruling | Awaitable[Ruling]:
        """Runs steps in the state that the last chunk of a path left; never raises for them."""
        ...
