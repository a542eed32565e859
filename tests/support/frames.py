"""One frame of the live tree, in a terminal that a test reads."""

import io
from typing import Any

from rich.console import Console

from thoughtgraph.cli.screen.live import LiveScreen
from thoughtgraph.cli.screen.live_state import LiveState
from thoughtgraph.state import SearchState
from thoughtgraph.tree import Tree

HOSTILE = [
    "\x1b[2J\x1b[31mred\x1b]0;title\x07",
    "[bold]not markup[/bold] [/] [link=http://x]",
    "right\u202eto left\u2066",
    "carriage\rreturn and\nline\u2028breaks\ttabs\x00",
    "wide 漢字" * 40,
    "family 👩‍👩‍👧‍👦 flag 🇫🇷 heart ❤️" * 10,
    "\ud800 half a pair",
    "x" * 5_000,
    "",
]


def terminal(width: int = 80, height: int = 24) -> Console:
    return Console(
        file=io.StringIO(),
        force_terminal=True,
        color_system=None,
        width=width,
        height=height,
        legacy_windows=False,
    )


def watching(tree: Tree, **state: Any) -> LiveState:
    return LiveState(SearchState, {"problem": "4 9 10 13", "tree": tree, **state})


def frame(watch: LiveState, width: int = 80, height: int = 24, events: Any = ()) -> list[str]:
    console = terminal(width, height)
    screen = LiveScreen(console, "run x: tot_bfs on game24", clock=lambda: 0.0)
    screen._state = watch
    screen.tell(events)
    with console.capture() as captured:
        console.print(screen)
    return captured.get().rstrip("\n").split("\n")
