"""What runs the command in this process, as a user runs it in a terminal."""

from collections.abc import Callable

Command = Callable[..., tuple[int, str, str]]
"""Takes the command's arguments; returns its exit code, its output and its error output."""
