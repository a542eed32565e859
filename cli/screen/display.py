"""Where a running search is shown; plain lines for files, pipes and dumb terminals."""

from collections.abc import Iterable
from itertools import groupby
from typing import IO, Protocol

from rich.console import Console

from thoughtgraph.cli.screen.events import Event
from thoughtgraph.cli.screen.live import LiveScreen
from thoughtgraph.cli.screen.live_state import LiveState


class Screen(Protocol):
    """Shows a search while it runs."""

    def open(self, live: LiveState) -> None:
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


SHOWN = 3
"""Lines of a kind that are written of many that come at once (ours)."""
MANY = 12
"""How many of a kind are told line by line (ours)."""


class PlainScreen:
    """Writes one line an event, in words that a script can look for.

    Of many events of a kind that come at once, such as the hundred samples of `cot_sc`, it writes
    the first and how many there are: the result holds them all.

    Args:
        title: What the search is called.
        file: Where to; None: standard output.
    """

    def __init__(self, title: str, file: IO[str] | None = None) -> None:
        self._title, self._file = title, file

    def open(self, live: LiveState) -> None:
        """Writes the title; events are told as they come."""
        print(self._title, file=self._file, flush=True)

    def tell(self, events: Iterable[Event]) -> None:
        """Writes the events."""
        for kind, alike in groupby(events, lambda event: event.kind):
            told = list(alike)
            shown = told if len(told) <= MANY else told[:SHOWN]
            for event in shown:
                print(event, file=self._file, flush=True)
            if rest := len(told) - len(shown):
                print(Event(kind, f"… and {rest} more"), file=self._file, flush=True)

    def refresh(self) -> float:
        """Has nothing to draw."""
        return 3600.0

    def close(self) -> None:
        """Has nothing to undo."""


class SilentScreen:
    """Shows nothing, as `--quiet` asks for."""

    def open(self, live: LiveState) -> None:
        """Has nothing to start."""

    def tell(self, events: Iterable[Event]) -> None:
        """Passes the events over."""
        # They are told by an iterator that may have work to do.
        for _ in events:
            pass

    def refresh(self) -> float:
        """Has nothing to draw."""
        return 3600.0

    def close(self) -> None:
        """Has nothing to undo."""


def screen_for(console: Console, title: str) -> Screen:
    """Returns the live tree for a terminal that can show it, plain lines elsewhere.

    Args:
        console: Where the search is shown; one that is quiet shows nothing.
        title: What the search is called on the first line.
    """
    if console.quiet:
        return SilentScreen()
    plain = not console.is_terminal or console.is_dumb_terminal
    return PlainScreen(title, console.file) if plain else LiveScreen(console, title)
