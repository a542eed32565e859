"""What a task can do that is solved by reasoning steps in free words, one thought a step.

These are the capabilities behind Thought Rollback and its baselines. A task that inherits from
`thoughtgraph.tasks.rollback_prompts.Reasoning` has all of them, in the paper's own words.
"""

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from thoughtgraph.task import Options, Question, Task
from thoughtgraph.tree import Path

TWO_CALLS = "two_call"
"""The value of the setting `protocol` under which a second request reads an analysis."""


@dataclass(frozen=True, slots=True)
class Faults:
    """Which steps of a path an analysis found to be bad."""

    steps: list[int] = field(default_factory=list)
    """Their numbers from 1, in ascending order, no one twice."""
    malformed: int = 0
    """Completions that do not say it in the form that was asked for; they are counted."""
    analysis: str = ""
    """What is wrong, in words; where the task itself found it, and no model was asked."""


@runtime_checkable
class Steps(Task, Protocol):
    """Is solved by reasoning steps in free words, one thought a step (Thought Rollback)."""

    def step(
        self, problem: str, path: Path, lessons: Sequence[Path], options: Options
    ) -> Question[Sequence[Mapping[str, Any]]]:
        """Returns what to ask for the next step after a path.

        Each completion is read as a partial thought: `text`; and, for a step that ends its path,
        `status="terminal"` and `answer`, None where no answer can be read.

        Args:
            problem: The problem in canonical form.
            path: The steps so far.
            lessons: Paths that went wrong; the last thought of each holds its `analysis`.
            options: The run's settings.
        """
        ...


@runtime_checkable
class Reviews(Task, Protocol):
    """Can have the steps of a path checked (Thought Rollback, section 4.2)."""

    def analyse(
        self, problem: str, path: Path, options: Options
    ) -> Question[Faults] | Faults | Awaitable[Question[Faults] | Faults]:
        """Returns what to ask about the steps of a path, or their faults where no model is needed.

        The completion is read for faults where `protocol` says that it is to name them. Where it
        does not, and the last thought of the path holds its `analysis` by now, what is asked for is
        the bad steps that the analysis names.
        """
        ...
