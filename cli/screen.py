"""Where a running search is shown; plain lines for files, pipes and dumb terminals."""

import os
from collections.abc import Iterable
from typing import Protocol

from rich.console import Console

from thoughtgraph.cli.events import Event
from thoughtgraph.cli.live import LiveScreen
from thoughtgraph.cli.watch import Watch


class Screen(Protocol):
    """Shows a search while it runs."""

    def open(self, watch: Watch) -> None:
        """Starts showing a picture that changes."""
        ...

    def tell(self, events: Iterable[Event]) -> None:
        """Shows what happened."""
        ...

    def refresh(self) -> float:
        """Draws the picture as it is now; returns the seconds until it should be drawn again."""
        ...

    def close(self) -> None:
        """Stops; what was shown stays."""
        ...


class PlainScreen:
    """Writes one line an event, in words that a script can look for.

    Args:
        title: What the search is called.
    """

    def __init__(self, title: str) -> None:
        self._title = title

    def open(self, watch: Watch) -> None:
        """Writes the title; events are told as they come."""
        print(self._title, flush=True)

    def tell(self, events: Iterable[Event]) -> None:
        """Writes the events."""
        for event in events:
            print(event, flush=True)

    def refresh(self) -> float:
        """Has nothing to draw."""
        return 3600.0

    def close(self) -> None:
        """Has nothing to undo."""


def screen_for(console: Console, title: str) -> Screen:
    """Returns the live tree for a terminal that can show it, else plain lines.

    Args:
        console: The console of standard output.
        title: What the search is called on the first line.
    """
    plain = os.environ.get("NO_COLOR") or not console.is_terminal or console.is_dumb_terminal
    return PlainScreen(title) if plain else LiveScreen(console, title)
