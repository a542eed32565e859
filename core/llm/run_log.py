"""What a run says of itself by Python's `logging`, to the logger `thoughtgraph`.

Start, retries, limits and end are of level INFO, each request of level DEBUG. Every record says
whose it is, in its text and as fields: those that traces know a call by, and LangGraph's `run_id`
and `thread_id`, None where the caller gave none. Texts of prompts and answers go to a logger of
their own, which is silent until a level is set for it alone.
"""

import logging
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from langgraph.runtime import get_runtime

from thoughtgraph.errors import BudgetSpent, ModelError
from thoughtgraph.llm.exchange import Request
from thoughtgraph.llm.store import Answer

LABEL = "thoughtgraph_"
"""What the names of a call's labels begin with, in traces and in records."""
WHOSE = tuple(f"{LABEL}{name}" for name in ("method", "task", "run"))
THOUGHTS = f"{LABEL}thoughts"

logger = logging.getLogger("thoughtgraph")
prompts = logging.getLogger("thoughtgraph.prompts")


def tell(level: int, labels: Mapping[str, Any], message: str, *values: Any) -> None:
    """Logs one line of a run.

    Args:
        level: As of `logging`.
        labels: Whose it is: metadata of the run's calls, by name.
        message: What happened, with a `%s` for each value; no text of a model or a person.
        values: What stands there.
    """
    if logger.isEnabledFor(level):
        _write(logger, level, labels, message, *values)


@dataclass
class RequestLog:
    """Logs one request, from when it is wanted to its answer or failure."""

    request: Request
    _began: float = field(default_factory=time.monotonic)
    _retries: int = 0

    def retried(self, failure: ModelError) -> None:
        """Says why a call of it is repeated, in no word of the endpoint's."""
        self._retries += 1
        self._tell(logging.INFO, "is retried: %s", failure.kind)

    def answered(self, answer: Answer) -> None:
        """Says what it cost."""
        self._tell(
            logging.DEBUG,
            "took %.2f s, samples=%d prompt_tokens=%d completion_tokens=%d retries=%d",
            time.monotonic() - self._began,
            len(answer["texts"]),
            answer["prompt_tokens"],
            answer["completion_tokens"],
            self._retries,
        )
        # Not by the level that it inherits: DEBUG for all of a program asks for nobody's texts.
        if prompts.level and prompts.isEnabledFor(logging.DEBUG):
            asked = [message.content for message in self.request.messages]
            told = "%s asked %r, answered %r"
            _write(
                prompts,
                logging.DEBUG,
                self.request.labels,
                told,
                self.request.role,
                asked,
                answer["texts"],
            )

    @contextmanager
    def failures(self) -> Iterator[None]:
        """Says why its body brings no answer, where it does not."""
        try:
            yield
        except ModelError as error:
            self._tell(logging.INFO, "failed for good: %s", error.kind)
            raise
        except BudgetSpent as error:
            self._tell(logging.DEBUG, "is not asked: %s", error)
            raise

    def _tell(self, level: int, message: str, *values: Any) -> None:
        labels = self.request.labels
        about = ", ".join(labels.get(THOUGHTS, ())) or "-"
        tell(level, labels, f"%s of thoughts %s {message}", self.request.role, about, *values)


def _write(
    to: logging.Logger, level: int, labels: Mapping[str, Any], message: str, *values: Any
) -> None:
    # A LangGraph task does not know the run that it is part of: its labels do.
    place = {name: found or labels.get(name) for name, found in _place().items()}
    own = [f"{name.removeprefix(LABEL)}={labels[name]}" for name in WHOSE if name in labels]
    # A client may choose these: quoted, they stay within their line.
    given = [f"{name}={value!r}" for name, value in place.items() if value is not None]
    fields = {**dict.fromkeys(WHOSE), **labels, **place}
    to.log(level, f"%s: {message}", " ".join([*own, *given]), *values, extra=fields)


def _place() -> dict[str, str | None]:
    """Returns what LangGraph calls the run and its thread."""
    try:
        running = get_runtime().execution_info
    except (RuntimeError, KeyError, AttributeError):  # no graph is running
        running = None
    names = ("run_id", "thread_id")
    return {name: getattr(running, name, None) for name in names}
