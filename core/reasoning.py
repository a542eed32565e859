"""Capabilities of tasks that are solved by free-form reasoning steps, one thought per step.

They are the capabilities behind Thought Rollback and its baselines. A task that inherits from
`thoughtgraph.tasks.rollback_prompts.Reasoning` has all of them, with the paper's prompts.
"""

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from thoughtgraph.task import Options, Question, Task
from thoughtgraph.tree import Path

TWO_CALLS = "two_call"
"""Value of the setting `protocol` with which a second request reads an analysis."""


@dataclass(frozen=True, slots=True)
class Faults:
    """The bad steps of a path, according to an analysis."""

    steps: list[int] = field(default_factory=list)
    """Numbers of the bad steps, from 1, ascending and distinct."""
    malformed: int = 0
    """Number of completions that do not name the steps in the requested form."""
    analysis: str = ""
    """What is wrong, in words, if the task itself detects it without a model."""


@runtime_checkable
class Steps(Task, Protocol):
    """Is solved by free-form reasoning steps, one thought per step (Thought Rollback)."""

    def step(
        self, problem: str, path: Path, lessons: Sequence[Path], options: Options
    ) -> Question[Sequence[Mapping[str, Any]]]:
        """Returns the question for the next step after a path.

        Each completion is read as a partial thought with a `text`. A step that ends its path also
        has `status="terminal"` and an `answer`, which is None if no answer can be read.

        Args:
            problem: The problem in canonical form.
            path: The steps so far.
            lessons: Paths that went wrong; the last thought of each holds its `analysis`.
            options: The run's settings.
        """
        ...


@runtime_checkable
class Reviews(Task, Protocol):
    """Can have a model check the steps of a path (Thought Rollback, section 4.2)."""

    def analyse(
        self, problem: str, path: Path, options: Options
    ) -> Question[Faults] | Faults | Awaitable[Question[Faults] | Faults]:
        """Returns the question about the steps of a path, or their faults if no model is needed.

        If `protocol` is `single_call`, the completion names the faults. If it is `two_call`, the
        completion is a free-form analysis. Once the last thought of the path holds this `analysis`,
        the question asks for the bad steps that the analysis names.
        """
        ...
