"""Capabilities of tasks whose solutions are programs: plans of executable steps.

A step is run, never scored by a model (Tree-of-Mixed-Thought).
"""

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from thoughtgraph.task import Options, Question, Task
from thoughtgraph.tree import Path


@dataclass(frozen=True, slots=True)
class Ruling:
    """The result of executing the next steps of a plan."""

    accepted: bool
    """Whether every step is valid; one invalid step refuses them all."""
    text: str
    """The steps as the task writes them, one per line, without text after the end of the plan."""
    observation: str = ""
    """Return values of the steps, one line per step, for a reader."""
    tool_state: Mapping[str, Any] = field(default_factory=dict)
    """The tools' state after the steps, as JSON values; the next steps start from it."""
    answer: str | None = None
    """The final answer, in canonical form, if the steps end the plan."""
    code: str = ""
    """Code of the fault that refused the steps, such as `E_SYNTAX`; empty if accepted."""
    reason: str = ""
    """The fault in words."""
    malformed: bool = False
    """Whether the model's text contains no step; such completions are counted."""


@runtime_checkable
class Plans(Task, Protocol):
    """Has plans of executable steps, which are run in chunks and never scored by a model."""

    def plan(
        self, problem: str, path: Path, shots: Sequence[int], steps: int | None, options: Options
    ) -> Question[Sequence[Sequence[str]]]:
        """Returns the question for the next steps of a plan.

        Each completion is read as at most `steps` steps.

        Args:
            problem: The problem in canonical form.
            path: The accepted chunks so far.
            shots: Indices of the examples to show, in order; empty if the task has none
                (`thoughtgraph.task.Extras.shots`).
            steps: Most steps to ask for; None: all remaining ones.
            options: The run's settings.
        """
        ...

    def execute(
        self, problem: str, path: Path, steps: Sequence[str], options: Options
    ) -> Ruling | Awaitable[Ruling]:
        """Runs steps in the state after the last chunk of a path; no step makes it raise."""
        ...
