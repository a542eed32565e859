"""Draws docs/terminal.svg: a search in a terminal, drawn by the program's current code.

    uv run python docs/site/terminal_picture.py

It is the worked search of `tot_bfs`. Its scripted model answers at once, so the picture is the same
on every machine.
"""

import io
import re
from pathlib import Path
from typing import Any

import worked_searches
from rich.console import Console

from thoughtgraph import results
from thoughtgraph.cli.run_config import RunConfig
from thoughtgraph.cli.screen.live import LiveScreen
from thoughtgraph.cli.screen.live_state import LiveState
from thoughtgraph.cli.summary import Summary, show

FILE = Path(__file__).resolve().parents[1] / "terminal.svg"
SEARCH = "tot_bfs"
COMMAND = '$ thoughtgraph solve "4 9 10 13" --task game24 --set breadth=2 --set n_evaluate=1'
COLUMNS, LINES = 100, 40
FONTS = re.compile(r"@font-face \{.*?\}", re.S)
"""Rules of the style that would load fonts from other hosts."""


def picture() -> str:
    """Returns the picture as SVG."""
    finished = worked_searches.search(SEARCH).result
    usage = {**finished["usage"], "seconds": 0.0, "dollars": 0.0}
    result: dict[str, Any] = {**finished, "usage": usage, "prices": {}}
    console = Console(
        record=True,
        file=io.StringIO(),
        width=COLUMNS,
        height=LINES,
        color_system="truecolor",
        highlight=False,
        legacy_windows=False,
    )
    console.print(COMMAND, style="bold", markup=False)
    # The console is no terminal, so the tree is drawn once, when the screen closes.
    screen = LiveScreen(console, f"{SEARCH} on game24", clock=lambda: 0.0)
    screen.open(LiveState({**result, "thoughts": result["tree"]}))
    screen.close()
    console.line()
    config = RunConfig(SEARCH, "game24", result["problem"], "scripted")
    show(console, Summary(config, results.stored(result), [], ""))
    return FONTS.sub("", console.export_svg(title="thoughtgraph", unique_id="terminal"))


if __name__ == "__main__":
    FILE.write_text(picture(), encoding="utf-8")
