"""Where a running search is shown; plain lines for files, pipes and dumb terminals."""

from collections.abc import Iterable
from itertools import groupby

from rich.console import Console
from rich.text import Text

from thoughtgraph.cli.screen.events import Event
from thoughtgraph.cli.screen.live import LiveScreen
from thoughtgraph.cli.screen.live_state import LiveState

SHOWN = 3
"""Lines of a kind that are written of many that come at once (ours)."""
MANY = 12
"""How many of a kind are told line by line (ours)."""


class PlainScreen:
    """Writes one line an event, in words that a script can look for.

    Of many events of a kind that come at once, such as the hundred samples of `cot_sc`, it writes
    the first and how many there are: the result holds them all.
    """

    def __init__(self, console: Console, title: str) -> None:
        self._console, self._title = console, title

    def open(self, live: LiveState) -> None:
        """Writes the title; events are told as they come."""
        self._write(self._title)

    def tell(self, events: Iterable[Event]) -> None:
        """Writes the events."""
        for kind, alike in groupby(events, lambda event: event.kind):
            told = list(alike)
            shown = told if len(told) <= MANY else told[:SHOWN]
            for event in shown:
                self._write(str(event))
            if rest := len(told) - len(shown):
                self._write(str(Event(kind, f"… and {rest} more")))

    def refresh(self) -> float:
        """Has nothing to draw."""
        return 3600.0

    def close(self) -> None:
        """Has nothing to undo."""

    def _write(self, line: str) -> None:
        self._console.print(Text(line), soft_wrap=True)


Screen = PlainScreen | LiveScreen


def screen_for(console: Console, title: str) -> Screen:
    """Returns the live tree for a terminal that can show it, plain lines elsewhere."""
    drawn = console.is_terminal and not console.is_dumb_terminal and not console.quiet
    return LiveScreen(console, title) if drawn else PlainScreen(console, title)
