"""Every error this library raises on purpose.

One root, and below it one class for each situation a caller can act on. Each message is one line
that names the thing and the remedy. A misbehaving model is no error: it is counted and the search
goes on.
"""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

LONGEST_NAME = 80
"""Letters of an unknown name that are compared and shown (ours)."""


class ThoughtgraphError(Exception):
    """The root of this library's errors."""


class InputError(ThoughtgraphError, ValueError):
    """The caller gave something that cannot be used: a name, a setting, a file, a problem."""


class UnknownName(InputError):
    """A method, task, model or setting of that name does not exist.

    Args:
        kind: What was looked up, such as "method".
        name: The name that was given.
        known: The names there are.
    """

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        names = sorted(known)
        name = name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]}…"
        close = get_close_matches(name, names, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(names)}"
        super().__init__(f"unknown {kind} {name!r}; {hint}")


class ProblemError(InputError):
    """The task cannot read the problem it was given."""


class SettingError(InputError):
    """A setting has an unknown name or a value outside its bounds."""


class CapabilityError(ThoughtgraphError, TypeError):
    """A method needs something that the task cannot do.

    Args:
        method: The method's id.
        task: The task's id.
        reason: What the task would have to be able to do.
        remedy: What the caller can do.
    """

    def __init__(self, method: str, task: str, reason: str, remedy: str) -> None:
        super().__init__(f"method {method!r} cannot run on task {task!r}: {reason}; {remedy}")


class ModelError(ThoughtgraphError, RuntimeError):
    """The language model could not be asked, or its endpoint kept failing.

    Args:
        message: One line that names the model and the remedy.
        status: The HTTP status the endpoint answered with last; None when it gave none.
        kind: What kind of failure it was, in no word of the endpoint's.
        result: What the search had found and spent when its model failed: all that a result holds,
            the tree included. None where no search had begun.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        kind: str = "failure",
        result: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind
        self.result = result


class ModelUnavailable(ModelError):
    """The model cannot be had here: weights, extra or machine are missing."""


class ToolsUnavailable(ThoughtgraphError, RuntimeError):
    """The tools of a run cannot work here, for example without a network."""


class DataUnavailable(ThoughtgraphError, RuntimeError):
    """A public data set could not be downloaded; nothing of it was kept."""


class ReplayMiss(ModelError):
    """A replayed run asked for something that was never recorded."""


class BudgetSpent(ThoughtgraphError):
    """The next request would break a limit; nodes turn this into `stop_reason="budget"`."""


class OutOfTime(BudgetSpent):
    """The limit on seconds is reached; what was waited for is cancelled."""
