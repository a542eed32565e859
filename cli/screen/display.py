"""Screens for a running search: a live tree, or plain lines for files, pipes and dumb terminals."""

from collections.abc import Iterable
from itertools import groupby

from rich.console import Console
from rich.text import Text

from thoughtgraph.cli.screen.events import Event
from thoughtgraph.cli.screen.live import LiveScreen
from thoughtgraph.cli.screen.live_state import LiveState

SHOWN = 3
"""Events of a kind that are written if more than `MANY` come at once (ours)."""
MANY = 12
"""Most events of a kind that are all written if they come at once (ours)."""


class PlainScreen:
    """Writes a line for each event, in words that a script can search for.

    If many events of a kind come at once, such as the hundred samples of `cot_sc`, it writes the
    first ones and the number of the others. The result holds them all.
    """

    def __init__(self, console: Console, title: str) -> None:
        self._console, self._title = console, title

    def open(self, live: LiveState) -> None:
        """Writes the title; `tell` writes events as they come."""
        self._write(self._title)

    def tell(self, events: Iterable[Event]) -> None:
        """Writes the events."""
        for kind, group in groupby(events, lambda event: event.kind):
            batch = list(group)
            first = batch if len(batch) <= MANY else batch[:SHOWN]
            for event in first:
                self._write(str(event))
            if rest := len(batch) - len(first):
                self._write(str(Event(kind, f"… and {rest} more")))

    def refresh(self) -> float:
        """Draws nothing; returns the seconds until the next call."""
        return 3600.0

    def close(self) -> None:
        """Does nothing: the lines stay."""

    def _write(self, line: str) -> None:
        self._console.print(Text(line), soft_wrap=True)


Screen = PlainScreen | LiveScreen


def screen_for(console: Console, title: str) -> Screen:
    """Returns a screen with the live tree for a capable terminal, with plain lines elsewhere."""
    can_draw = console.is_terminal and not console.is_dumb_terminal and not console.quiet
    return LiveScreen(console, title) if can_draw else PlainScreen(console, title)
