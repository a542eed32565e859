"""The search tree as it grows, redrawn in place in a terminal."""

import time
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from rich.console import Console, ConsoleOptions, Group, RenderResult
from rich.live import Live
from rich.text import Text

from thoughtgraph.cli import text
from thoughtgraph.cli.labels import BESIDE_REASON, labels, refusal
from thoughtgraph.cli.screen import progress
from thoughtgraph.cli.screen.events import Event
from thoughtgraph.cli.screen.layout import Row, rows
from thoughtgraph.cli.screen.live_state import LiveState
from thoughtgraph.cli.text import lines_per_row, set_cell, wrapped
from thoughtgraph.tree import ROOT, Thought, Tree

FRAME = 0.1
"""Seconds between two drawings (ours); a tree that takes long to lay out is drawn less often."""
PATIENCE = 1.0
"""Seconds without news after which a line says that the model is at work (ours)."""
TOLD = 2
"""Lines for what happened last."""
VALUE_WIDTH = 9
SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧"
ASCII = str.maketrans(f"│├└─○•✗◆●{SPINNER}…⋯→←·", r"|+`-o.x#*-\|/-\|/.~><-")
"""What a terminal shows that knows no more than ASCII."""
SHOWN = frozenset({"asked", "made", "judged", "pruned"})
"""Events that show in the tree itself; all others have a line."""

_MARKS = {"open": "○", "expanded": "•", "pruned": "✗", "terminal": "◆"}
_STYLES = {"open": "", "expanded": "", "pruned": "dim", "terminal": "green"}
_KIND_STYLES = {
    "backtracked": "magenta",
    "rolled_back": "magenta",
    "propagated": "magenta",
    "retry": "red",
    "stop": "red",
    "selected": "cyan",
}


class LiveScreen:
    """Draws a search in place, as wide and as high as the terminal."""

    def __init__(self, console: Console, title: str, clock: Any = time.monotonic) -> None:
        self._console = console
        self._title = title
        self._clock = clock
        self._told: deque[Event] = deque(maxlen=TOLD)
        self._state = LiveState()
        self._begin = self._news = clock()
        self._live = Live(
            console=console, auto_refresh=False, get_renderable=lambda: self, transient=False
        )

    def open(self, live: LiveState) -> None:
        """Starts drawing."""
        self._state = live
        self._news = self._clock()
        self._begin = self._news - live.usage.get("seconds", 0.0)
        self._live.start(refresh=True)

    def tell(self, events: Iterable[Event]) -> None:
        """Keeps what is worth a line for the next drawing."""
        self._news = self._clock()
        self._told.extend(event for event in events if event.kind not in SHOWN)

    def refresh(self) -> float:
        """Draws once; a slow drawing puts the next one off, so that the search goes on."""
        began = time.perf_counter()
        self._live.refresh()
        return max(FRAME, 10 * (time.perf_counter() - began))

    def close(self) -> None:
        """Draws a last time and leaves the tree on the screen."""
        self._state.requests.clear()
        self._live.stop()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Renders one frame; never higher than the terminal, so that it can be drawn over."""
        width = options.max_width - 1
        head = [Text(set_cell(self._title, width), style="bold")]
        foot = [self._event(event, width) for event in self._told]
        if doing := self._live.is_started and self._state.doing():
            foot.append(Text(set_cell(f"{self._spinner()} {doing}", width), style="yellow"))
            waited = self._clock() - self._news
            if self._state.slots or waited >= PATIENCE:
                news = progress.line(self._state.slots, waited)
                foot.append(Text(set_cell(f"  {news}", width), style="yellow"))
        foot.append(Text(set_cell(self._counters(), width), style="dim"))
        room = max(1, console.size.height - len(head) - len(foot) - 1)
        lines = [*head, *self._tree(room, width), *foot][: max(1, console.size.height - 1)]
        if not options.encoding.startswith("utf"):
            for line in lines:
                line.plain = line.plain.translate(ASCII)
        yield Group(*lines)

    def _tree(self, room: int, width: int) -> list[Text]:
        """Returns the lines of the tree; long labels take the lines that are left over."""
        shown = rows(self._state.tree, self._state.focus, room)
        named = labels(self._state.tree, [row.key for row in shown if row.key is not None])
        columns = [_column(row, self._state.tree, width) for row in shown]
        briefs = [named.get(row.key or ROOT, "") for row in shown]
        words = [self._words(row, label, 400) for row, label in zip(shown, briefs, strict=True)]
        wanted = [
            len(wrapped(label, column.label)) if row.key else 1
            for row, label, column in zip(shown, words, columns, strict=True)
        ]
        heights = lines_per_row(wanted, room)
        deeper = [*(len(row.guides) for row in shown[1:]), 0]
        lines: list[Text] = []
        for at, (row, column, most) in enumerate(zip(shown, columns, heights, strict=True)):
            # On one line, what the steps gave must stay in sight.
            label = words[at] if most > 1 else self._words(row, briefs[at], BESIDE_REASON)
            parent = len(row.guides) < deeper[at]
            lines += self._row(row, label, column, most, parent=parent)
        return lines

    def _row(
        self, row: Row, label: str, column: "Column", most: int, *, parent: bool
    ) -> Iterator[Text]:
        """Yields a thought's lines: its mark, its label and its value on the first."""
        guides = column.guides
        if row.key is None:
            room = column.label + column.number + 2
            yield Text.assemble((guides, "dim"), (set_cell(f"… {row.words}", room), "dim"))
            return
        thought = self._state.tree[row.key]
        mark, style = self._mark(row.key, thought)
        first, *more = wrapped(label, column.label, most)
        number = _numbers(thought).rjust(column.number)
        head = set_cell(first, column.label)
        yield Text.assemble(
            (guides, "dim"), (f"{mark} ", style), (head, style), (number, style or "bold")
        )
        below = guides.replace("├─", "│ ").replace("└─", "  ") + ("│ " if parent else "  ")
        for line in more:
            yield Text.assemble((below, "dim"), (line, style))

    def _words(self, row: Row, label: str, steps: int) -> str:
        if row.key is None or row.key == ROOT:
            return text.short(text.headline(self._state.state.get("problem", "")), 400)
        thought = self._state.tree[row.key]
        fate, call = _fate(thought), text.action(thought)
        words = label + (f" {call}" if call else "")
        shown = text.short(words, steps if fate else 400)
        return ("⋯ " if row.gap else "") + shown + fate

    def _mark(self, key: str, thought: Thought) -> tuple[str, str]:
        if key in self._state.working:
            return self._spinner(), "yellow"
        status = thought.get("status", "open")
        if status == "open" and key in (self._state.state.get("frontier") or ()):
            return "●", "cyan"
        return _MARKS.get(status, "?"), "red" if thought.get("failed") else _STYLES.get(status, "")

    def _spinner(self) -> str:
        return SPINNER[int(self._clock() / FRAME) % len(SPINNER)]

    def _event(self, event: Event, width: int) -> Text:
        style = _KIND_STYLES.get(event.kind, "dim")
        return Text(set_cell(f"{event.kind} {event.about}", width), style=style)

    def _counters(self) -> str:
        usage = self._state.usage
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


class Column(NamedTuple):
    """How a row's width is shared out, in cells."""

    guides: str
    label: int
    number: int


def _column(row: Row, tree: Tree, width: int) -> Column:
    guides = row.guides
    if len(guides) > width // 3:
        guides = "~" + guides[-(width // 3 - 1) :]
    number = max(VALUE_WIDTH, len(_numbers(tree[row.key])) + 1) if row.key else VALUE_WIDTH
    return Column(guides, max(1, width - len(guides) - 2 - number), number)


def _fate(thought: Thought) -> str:
    """Returns what running a thought's steps gave: their results, or why they were refused."""
    if why := refusal(thought):
        return f"  ← {why}"
    told = text.observation_text(thought) if "tool_state" in thought else ""
    return f"  → {text.short(told, 200)}" if told else ""


def _numbers(thought: Thought) -> str:
    """Returns a thought's value, and its cost where the method has one."""
    value = text.value(thought["value"]) if "value" in thought else ""
    cost = f"g {text.value(thought['cost'])}" if "cost" in thought else ""
    return "  ".join(filter(None, (value, cost)))
