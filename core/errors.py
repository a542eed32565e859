"""The errors that this library raises on purpose.

They have one root, and one class for each situation that a caller can act on. Each message is one
line that names the cause and the remedy. A misbehaving model raises no error: its faults are
counted and the search goes on.
"""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

LONGEST_NAME = 80
"""Characters of an unknown name that are compared and shown (ours)."""


class ThoughtgraphError(Exception):
    """The root of this library's errors."""


class InputError(ThoughtgraphError, ValueError):
    """The caller passed something unusable: a name, a setting, a file or a problem."""


class UnknownName(InputError):
    """A method, task, model or setting of that name does not exist.

    Args:
        kind: The kind of thing that was looked up, such as "method".
        name: The unknown name.
        known: The existing names.
    """

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        names = sorted(known)
        name = name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]}…"
        close = get_close_matches(name, names, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(names)}"
        super().__init__(f"unknown {kind} {name!r}; {hint}")


class ProblemError(InputError):
    """The task cannot read the problem."""


class SettingError(InputError):
    """A setting has an unknown name or a value outside its bounds."""


class CapabilityError(ThoughtgraphError, TypeError):
    """A method needs a capability that the task lacks.

    Args:
        method: The method's id.
        task: The task's id.
        reason: The missing capability, in words.
        remedy: What the caller can do.
    """

    def __init__(self, method: str, task: str, reason: str, remedy: str) -> None:
        super().__init__(f"method {method!r} cannot run on task {task!r}: {reason}; {remedy}")


class ModelError(ThoughtgraphError, RuntimeError):
    """The language model could not be asked, or its endpoint kept failing.

    Args:
        message: One line that names the model and the remedy.
        status: The last HTTP status of the endpoint; None if it gave none.
        kind: The kind of failure, in our words and not the endpoint's.
        result: The result of the search up to the failure, with the tree and the usage. None if no
            search had begun.
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
    """The model is not available here, for lack of weights, of memory or of an extra."""


class ToolsUnavailable(ThoughtgraphError, RuntimeError):
    """The tools of a run cannot work here, for example without a network."""


class DataUnavailable(ThoughtgraphError, RuntimeError):
    """A public data set could not be downloaded; no part of it was stored."""


class ReplayMiss(ModelError):
    """A replayed run needs an answer that was never recorded."""


class BudgetSpent(ThoughtgraphError):
    """The next request would break a limit; nodes turn this into `stop_reason="budget"`."""


class OutOfTime(BudgetSpent):
    """The limit on seconds is reached; pending requests and tool calls are cancelled."""
