"""`thoughtgraph methods` and `tasks`: what there is, without importing any of it."""

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table

from thoughtgraph import registry

PIPED_WIDTH = 160
"""Columns of a table that does not go to a terminal."""


def methods() -> None:
    """Prints one line a method."""
    rows = [(entry.id, entry.summary, entry.paper) for entry in registry.METHODS.values()]
    show(("method", "what it does", "paper"), rows)
    print("\n`thoughtgraph methods ID` shows a method's settings and the tasks it takes.")


def tasks() -> None:
    """Prints one line a task."""
    rows = [(entry.id, entry.summary, entry.example) for entry in registry.TASKS.values()]
    show(("task", "what it is", "example"), rows)


def show(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Prints a table; its first column is never cut.

    Args:
        titles: The columns.
        rows: The lines.
    """
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=PIPED_WIDTH)
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for at, title in enumerate(titles):
        table.add_column(title, no_wrap=at == 0, overflow="fold")
    for row in rows:
        table.add_row(*map(_plain, row))
    console.print(table)


def _plain(words: str) -> str:
    # A bracket would be read as markup.
    return words.replace("[", r"\[")
