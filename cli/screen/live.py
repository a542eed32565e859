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
"""Number of lines for the latest events."""
VALUE_WIDTH = 9
SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧"
ASCII = str.maketrans(f"│├└─○•✗◆●{SPINNER}…⋯→←·", r"|+`-o.x#*-\|/-\|/.~><-")
"""Replacements in a terminal that can show only ASCII."""
SHOWN = frozenset({"asked", "made", "judged", "pruned"})
"""Kinds of events that the tree itself shows; all others get a line."""

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
        self._events: deque[Event] = deque(maxlen=TOLD)
        self._state = LiveState()
        self._begin = self._last_news = clock()
        self._live = Live(
            console=console, auto_refresh=False, get_renderable=lambda: self, transient=False
        )

    def open(self, live: LiveState) -> None:
        """Starts to draw a search."""
        self._state = live
        self._last_news = self._clock()
        self._begin = self._last_news - live.usage.get("seconds", 0.0)
        self._live.start(refresh=True)

    def tell(self, events: Iterable[Event]) -> None:
        """Keeps the events that get a line, for the next drawing."""
        self._last_news = self._clock()
        self._events.extend(event for event in events if event.kind not in SHOWN)

    def refresh(self) -> float:
        """Draws once; returns the seconds until the next time, more after a slow drawing."""
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
        foot = [self._event(event, width) for event in self._events]
        if activity := self._live.is_started and self._state.doing():
            foot.append(Text(set_cell(f"{self._spinner()} {activity}", width), style="yellow"))
            waited = self._clock() - self._last_news
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
        """Returns the lines of the tree; long labels share the lines that are left over."""
        tree_rows = rows(self._state.tree, self._state.focus, room)
        names = labels(self._state.tree, [row.key for row in tree_rows if row.key is not None])
        columns = [_column(row, self._state.tree, width) for row in tree_rows]
        texts = [names.get(row.key or ROOT, "") for row in tree_rows]
        words = [self._words(row, label, 400) for row, label in zip(tree_rows, texts, strict=True)]
        line_counts = [
            len(wrapped(label, column.label)) if row.key else 1
            for row, label, column in zip(tree_rows, words, columns, strict=True)
        ]
        heights = lines_per_row(line_counts, room)
        next_indents = [*(len(row.guides) for row in tree_rows[1:]), 0]
        lines: list[Text] = []
        for at, (row, column, most) in enumerate(zip(tree_rows, columns, heights, strict=True)):
            # On a single line, the label is cut so that the results of its steps stay visible.
            label = words[at] if most > 1 else self._words(row, texts[at], BESIDE_REASON)
            parent = len(row.guides) < next_indents[at]
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
        result, call = _result_of(thought), text.action(thought)
        words = label + (f" {call}" if call else "")
        brief = text.short(words, steps if result else 400)
        return ("⋯ " if row.gap else "") + brief + result

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
        counters = [
            text.count(usage.get("thoughts", 0), "thought"),
            text.count(usage.get("requests", 0), "request"),
            f"{text.rough(tokens)} tokens",
            text.seconds(self._clock() - self._begin),
        ]
        if usage.get("dollars"):
            counters.append(f"${usage['dollars']:.4f}")
        if calls := sum(usage.get("tool_calls", {}).values()):
            counters.append(text.tools(calls, sum(usage.get("tool_failures", {}).values())))
        if usage.get("cached"):
            counters.append(f"{usage['cached']} reused")
        return " · ".join(counters)


class Column(NamedTuple):
    """The parts of a row: its guides, and the widths of label and number in cells."""

    guides: str
    label: int
    number: int


def _column(row: Row, tree: Tree, width: int) -> Column:
    guides = row.guides
    if len(guides) > width // 3:
        guides = "~" + guides[-(width // 3 - 1) :]
    number = max(VALUE_WIDTH, len(_numbers(tree[row.key])) + 1) if row.key else VALUE_WIDTH
    return Column(guides, max(1, width - len(guides) - 2 - number), number)


def _result_of(thought: Thought) -> str:
    """Returns the results of a thought's steps, or why they were refused, after an arrow."""
    if reason := refusal(thought):
        return f"  ← {reason}"
    observation = text.observation_text(thought) if "tool_state" in thought else ""
    return f"  → {text.short(observation, 200)}" if observation else ""


def _numbers(thought: Thought) -> str:
    """Returns a thought's value, and its cost where the method has one."""
    value = text.value(thought["value"]) if "value" in thought else ""
    cost = f"g {text.value(thought['cost'])}" if "cost" in thought else ""
    return "  ".join(filter(None, (value, cost)))
