"""Turns every exception into one line on standard error and an exit code."""

import os
import sys
from types import TracebackType
from typing import Any

from rich.console import Console

from thoughtgraph.cli import text
from thoughtgraph.errors import ThoughtgraphError, ToolsUnavailable

NO_ANSWER = 1
"""Exit code of a command that ran without finding an answer, or was stopped."""
FAILED = 2
"""Exit code of an error."""
LONGEST_ERROR = 600
REPLACED = {
    "--evaluator-model": "write --judge",
    "--forget": "write `thoughtgraph runs rm RUN`",
    "--pairs": "write --out DIR, which has pairs.csv",
    "'list'": "write `thoughtgraph data`",
}
"""Options and commands that no longer exist, each with advice on its replacement."""


class Terminal(Console):
    """The console of a command; it raises an error when the reader of its output is gone.

    Rich would exit the process at once, in the middle of a running search.
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
        """Needs no preparation."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Ends the program if there was an error."""
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
    """Writes an error as one line on standard error."""
    print(f"error: {text.short(error, LONGEST_ERROR)}", file=sys.stderr)


def explain(error: BaseException) -> str:
    """Returns an error in words, with advice on what to do."""
    if isinstance(error, ToolsUnavailable):
        return f"{error} (--set corpus=FILE)"
    if isinstance(error, ThoughtgraphError):
        return str(error)
    if isinstance(error, KeyboardInterrupt):
        return "stopped"
    if hasattr(error, "format_message"):
        return _misuse(error)
    if isinstance(error, OSError):
        path = f"{error.filename!r}: " if error.filename else ""
        return f"{path}{error.strerror or error}; check the path and its permissions"
    return (
        f"unexpected {type(error).__name__}: {error}; this is a bug: run again with --debug and "
        "report the traceback"
    )


def _misuse(error: BaseException) -> str:
    """Returns the complaint of the command line's parser, with advice on what to write."""
    complaint = getattr(error, "format_message")().rstrip(".")  # noqa: B009
    context = getattr(error, "ctx", None)
    command = getattr(context, "command_path", "thoughtgraph")
    replacement = next((new for old, new in REPLACED.items() if old in complaint), "")
    return f"{complaint}; {replacement or f'see `{command} --help`'}"
