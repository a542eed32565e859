"""The search tree as it grows, redrawn in place in a terminal."""

import time
from collections import deque
from collections.abc import Iterable
from typing import Any

from rich.cells import cell_len, set_cell_size
from rich.console import Console, ConsoleOptions, Group, RenderResult
from rich.live import Live
from rich.text import Text

from thoughtgraph.cli import text
from thoughtgraph.cli.doing import QUIET
from thoughtgraph.cli.events import Event
from thoughtgraph.cli.layout import Row, rows
from thoughtgraph.cli.watch import Watch
from thoughtgraph.state import SearchState
from thoughtgraph.tree import ROOT, Thought

FRAME = 0.1
"""Seconds between two drawings (ours); a tree that takes long to lay out is drawn less often."""
TOLD = 2
"""Lines for what happened last."""
VALUE_WIDTH = 9
STEPS_WIDTH = 60
"""Characters of a thought's steps when what running them gave stands behind (ours)."""
SPINNER, ASCII_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏", r"-\|/"
STEP_KINDS = frozenset(
    {"select", "prune", "reject", "backtrack", "retry", "observe", "fail", "stop"}
)
"""Events worth a line of their own; proposals and values show in the tree itself."""

_MARKS = {"open": "○", "expanded": "•", "pruned": "✗", "terminal": "◆"}
_ASCII_MARKS = {"open": "o", "expanded": ".", "pruned": "x", "terminal": "#"}
_STYLES = {"open": "", "expanded": "", "pruned": "dim", "terminal": "green"}
_KIND_STYLES = {
    "backtrack": "magenta",
    "rollback": "magenta",
    "propagate": "magenta",
    "retry": "red",
    "reject": "red",
    "fail": "red",
    "stop": "red",
    "select": "cyan",
}


class LiveScreen:
    """Draws a search in place, as wide and as high as the terminal.

    Args:
        console: The terminal.
        title: What the search is called.
        clock: Seconds, for the running time.
    """

    def __init__(self, console: Console, title: str, clock: Any = time.monotonic) -> None:
        self._console = console
        self._title = title
        self._clock = clock
        self._told: deque[Event] = deque(maxlen=TOLD)
        self._watch = Watch(SearchState)
        self._begin = clock()
        self._live = Live(
            console=console, auto_refresh=False, get_renderable=lambda: self, transient=False
        )

    def open(self, watch: Watch) -> None:
        """Starts drawing."""
        self._watch = watch
        self._begin = self._clock() - watch.usage.get("seconds", 0.0)
        self._live.start(refresh=True)

    def tell(self, events: Iterable[Event]) -> None:
        """Keeps what is worth a line for the next drawing."""
        self._told.extend(e for e in events if e.kind in STEP_KINDS or e.kind not in _SHOWN)

    def refresh(self) -> float:
        """Draws once; a slow drawing puts the next one off, so that the search goes on."""
        began = time.perf_counter()
        self._live.refresh()
        return max(FRAME, 10 * (time.perf_counter() - began))

    def close(self) -> None:
        """Draws a last time and leaves the tree on the screen."""
        self._watch.running.clear()
        self._live.stop()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Renders one frame; never higher than the terminal, so that it can be drawn over."""
        width = options.max_width - 1
        fancy = options.encoding.startswith("utf")
        head = [Text(set_cell(self._title, width), style="bold")]
        foot = [self._event(event, width) for event in self._told]
        if doing := self._watch.doing():
            foot.append(Text(set_cell(f"{self._spinner(fancy)} {doing}", width), style="yellow"))
        foot.append(Text(set_cell(self._counters(), width), style="dim"))
        room = max(1, console.size.height - len(head) - len(foot) - 1)
        shown = rows(self._watch.tree, self._watch.focus, room)
        tree = [self._row(row, width, fancy) for row in shown]
        yield Group(*[*head, *tree, *foot][: max(1, console.size.height - 1)])

    def _at_work(self) -> list[str]:
        return [key for task in self._watch.running.values() for key in task.thoughts]

    def _row(self, row: Row, width: int, fancy: bool) -> Text:
        guides = row.guides if fancy else row.guides.translate(_ASCII_GUIDES)
        if len(guides) > width // 3:
            guides = "~" + guides[-(width // 3 - 1) :]
        drawn = Text(guides, style="dim", no_wrap=True)
        if row.key is None:
            return Text.assemble(drawn, (set_cell(f"… {row.words}", width - len(guides)), "dim"))
        thought = self._watch.tree[row.key]
        mark, style = self._mark(row.key, thought, fancy)
        number = _numbers(thought)
        column = max(VALUE_WIDTH, len(number) + 1)
        room = max(1, width - len(guides) - 2 - column)
        drawn.append(f"{mark} ", style)
        drawn.append(set_cell(self._words(row), room), style)
        drawn.append(number.rjust(column), style or "bold")
        drawn.truncate(width)
        return drawn

    def _words(self, row: Row) -> str:
        if row.key is None or row.key == ROOT:
            return text.short(text.headline(self._watch.state.get("problem", "")), 400)
        thought = self._watch.tree[row.key]
        fate, call = _fate(thought), text.action(thought)
        words = text.written(thought) + (f" {call}" if call else "")
        shown = text.short(words, STEPS_WIDTH if fate else 400)
        return ("⋯ " if row.gap else "") + shown + fate

    def _mark(self, key: str, thought: Thought, fancy: bool) -> tuple[str, str]:
        if key in self._at_work():
            return self._spinner(fancy), "yellow"
        status = thought.get("status", "open")
        mark = (_MARKS if fancy else _ASCII_MARKS).get(status, "?")
        if status == "open" and key in (self._watch.state.get("frontier") or ()):
            return "●" if fancy else "*", "cyan"
        return mark, "red" if thought.get("failed") else _STYLES.get(status, "")

    def _spinner(self, fancy: bool) -> str:
        frames = SPINNER if fancy else ASCII_SPINNER
        return frames[int(self._clock() / FRAME) % len(frames)]

    def _event(self, event: Event, width: int) -> Text:
        style = _KIND_STYLES.get(event.kind, "dim")
        return Text(set_cell(f"{event.kind} {event.about}", width), style=style)

    def _counters(self) -> str:
        usage = self._watch.usage
        tokens = usage.get("prompt_tokens", 0) + usage.get("completion_tokens", 0)
        known = [
            text.count(usage.get("thoughts", 0), "thought"),
            text.count(usage.get("requests", 0), "request"),
            f"{text.rough(tokens)} tokens",
            text.seconds(self._clock() - self._begin),
        ]
        if usage.get("dollars"):
            known.append(f"${usage['dollars']:.4f}")
        if called := sum(usage.get("tool_calls", {}).values()):
            known.append(text.tools(called, sum(usage.get("tool_failures", {}).values())))
        if usage.get("cached"):
            known.append(f"{usage['cached']} reused")
        return " · ".join(known)


def _fate(thought: Thought) -> str:
    """Returns what running a thought's steps gave: their results, or why they were refused."""
    if thought.get("status") == "pruned" and "value" not in thought and thought.get("note"):
        return f"  ← {text.short(thought.get('note'), 200)}"
    told = text.seen(thought) if "tool_state" in thought else ""
    return f"  → {text.short(told, 200)}" if told else ""


_SHOWN = QUIET | {"propose", "thought", "accept", "value"}
_ASCII_GUIDES = str.maketrans({"│": "|", "├": "+", "└": "`", "─": "-"})


def _numbers(thought: Thought) -> str:
    """Returns a thought's value, and its cost where the method has one."""
    value = text.value(thought["value"]) if "value" in thought else ""
    cost = f"g {text.value(thought['cost'])}" if "cost" in thought else ""
    return "  ".join(filter(None, (value, cost)))


def set_cell(words: str, width: int) -> str:
    """Returns text that fills exactly so many terminal cells, a cut marked."""
    plain = text.line(words) if "\n" in words else words
    if cell_len(plain) > width:
        plain = set_cell_size(plain, max(0, width - 1)) + "…"
    return set_cell_size(plain, width)
