"""Turns whatever goes wrong into one line on standard error and an exit code."""

import os
import sys
from types import TracebackType
from typing import Any

from rich.console import Console

from thoughtgraph.cli import text
from thoughtgraph.errors import ThoughtgraphError, ToolsUnavailable

NO_ANSWER = 1
"""Exit code of a command that ran and found nothing, or was stopped."""
FAILED = 2
"""Exit code of an error."""
LONGEST_ERROR = 600
REPLACED = {
    "--evaluator-model": "write --judge",
    "--forget": "write `thoughtgraph runs rm RUN`",
    "--pairs": "write --out DIR, which has pairs.csv",
    "'list'": "write `thoughtgraph data`",
}
"""What to write instead of what there was before."""


class Terminal(Console):
    """Where a command prints; a reader that has gone is an error, not the end of the process.

    Rich exits the process itself, which the tasks of a running search survive badly.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(highlight=False, soft_wrap=True, **options)

    def on_broken_pipe(self) -> None:
        """Raises the error again; `Guard` ends the program."""
        raise


class Guard:
    """A context in which errors end the program with one line, or with a traceback for `debug`."""

    def __init__(self, debug: bool) -> None:
        self._debug = debug

    def __enter__(self) -> None:
        """Guards what follows."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Ends the program if something went wrong."""
        if error is None or isinstance(error, SystemExit):
            return
        if isinstance(error, BrokenPipeError):
            # The reader has gone; Python would complain again while it flushes at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise SystemExit(NO_ANSWER) from None
        if self._debug:
            return
        complain(explain(error))
        raise SystemExit(NO_ANSWER if isinstance(error, KeyboardInterrupt) else FAILED) from None


def complain(error: str) -> None:
    """Writes what went wrong as one line on standard error."""
    print(f"error: {text.short(error, LONGEST_ERROR)}", file=sys.stderr)


def explain(error: BaseException) -> str:
    """Returns what went wrong and what to do about it."""
    if isinstance(error, ToolsUnavailable):
        return f"{error} (--set corpus=FILE)"
    if isinstance(error, ThoughtgraphError):
        return str(error)
    if isinstance(error, KeyboardInterrupt):
        return "stopped"
    if hasattr(error, "format_message"):
        return _misuse(error)
    if isinstance(error, OSError):
        named = f"{error.filename!r}: " if error.filename else ""
        return f"{named}{error.strerror or error}; check the path and its permissions"
    return (
        f"unexpected {type(error).__name__}: {error}; this is a bug: run again with --debug and "
        "report the traceback"
    )


def _misuse(error: BaseException) -> str:
    """Explains what the command line parser complains about."""
    complaint = getattr(error, "format_message")().rstrip(".")  # noqa: B009
    context = getattr(error, "ctx", None)
    command = getattr(context, "command_path", "thoughtgraph")
    now = next((new for old, new in REPLACED.items() if old in complaint), "")
    return f"{complaint}; {now or f'see `{command} --help`'}"
