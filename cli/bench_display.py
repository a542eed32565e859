"""Shows a running benchmark: a table with a row for each setup, and the time that is left."""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from heapq import heapreplace
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from thoughtgraph import registry
from thoughtgraph.bench.result_files import Row, latest
from thoughtgraph.bench.runner import Batch, Setup, Trial
from thoughtgraph.bench.statistics import wilson
from thoughtgraph.cli import text

EVERY = 30.0
"""Seconds between two progress lines where no table can be drawn in place (ours)."""
HEADINGS = ("", "problems", "score", "95 %", "requests", "tokens", "$")
"""Titles of the columns; requests, tokens and dollars are means per problem."""


@dataclass
class Tally:
    """One row of the table: the sums over the finished problems of a setup."""

    name: str
    setup: Setup
    size: int
    """Number of problems to search; each repeat counts."""
    finished: int = 0
    failed: int = 0
    scored: int = 0
    points: float = 0.0
    requests: float = 0.0
    tokens: float = 0.0
    dollars: float | None = 0.0
    seconds: float = 0.0

    def add(self, row: Mapping[str, Any]) -> None:
        """Adds the row of a finished problem."""
        usage = row["usage"]
        self.finished += 1
        if (score := row.get("score")) is not None:
            self.scored += 1
            self.points += score
        self.requests += usage["requests"]
        self.tokens += usage["prompt_tokens"] + usage["completion_tokens"]
        self.seconds += usage["seconds"]
        if self.dollars is not None:
            spent = usage.get("dollars")
            self.dollars = None if spent is None else self.dollars + spent

    def cells(self) -> Iterator[str]:
        """Yields the cells of the row, in the order of `HEADINGS`."""
        count = max(1, self.finished)
        failed = f" ({self.failed} failed)" if self.failed else ""
        yield self.name
        yield f"{self.finished}/{self.size}{failed}"
        if self.scored:
            low, high = wilson(self.points, self.scored)
            yield from (f"{self.points / self.scored:.1%}", f"{low:.1%} to {high:.1%}")
        else:
            yield from ("-", "")
        yield f"{self.requests / count:.1f}"
        yield text.rough(self.tokens / count)
        yield "-" if self.dollars is None else f"{self.dollars / count:.4f}"

    def forecast(self) -> str:
        """Returns a sentence that extrapolates from the finished problems to all of them."""
        if not self.finished:
            return f"{self.name}: nothing was finished, so nothing can be said"
        factor = self.size / self.finished
        price = "" if self.dollars is None else f", ${factor * self.dollars:,.2f}"
        return (
            f"{self.name}: {self.size} problems will take about {factor * self.requests:,.0f} "
            f"requests and {text.rough(factor * self.tokens)} tokens{price}, estimated from "
            f"{text.count(self.finished, 'problem')} searched"
        )


@dataclass
class Board:
    """The table of a running benchmark."""

    console: Console
    tallies: Sequence[Tally]
    failed: int = 0
    error: str = ""
    _finished_here: int = 0
    """Number of problems that this process has finished."""
    _began: float = field(default_factory=time.monotonic)
    _last_line_at: float = 0.0
    _live: Live | None = None

    @contextmanager
    def live(self) -> Iterator[None]:
        """Redraws the table in place while the context is open, in a terminal that can."""
        self._began = self._last_line_at = time.monotonic()
        if self.console.is_dumb_terminal or not self.console.is_terminal:
            yield
            return
        with Live(get_renderable=self._render, console=self.console, transient=True) as self._live:
            yield

    def start(self, rows: Iterator[Row], wanted: Iterator[Trial]) -> None:
        """Adds the finished rows of the results folder and prints how many there are."""
        keys = {trial.key: trial for trial in wanted}
        for key, row in latest(rows).items():
            if key in keys and not row.get("error"):
                self._tally_of(keys[key]).add(row)
        if done := sum(tally.finished for tally in self.tallies):
            self.console.print(f"{done} of {len(keys)} are done")

    def tell(self, trial: Trial, row: Row) -> None:
        """Counts a new row of the folder, and prints a progress line if one is due."""
        if error := row.get("error"):
            self.failed += 1
            self.error = error
            self._tally_of(trial).failed += 1
        else:
            self._tally_of(trial).add(row)
            self._finished_here += 1
        if self._live is None and time.monotonic() - self._last_line_at >= EVERY:
            self._last_line_at = time.monotonic()
            self.console.print(self._progress(), markup=False)

    def table(self) -> Table:
        """Returns the table, with a row for each tally."""
        table = Table(box=None, pad_edge=False)
        for heading in HEADINGS:
            table.add_column(heading, justify="right" if heading else "left")
        for tally in self.tallies:
            table.add_row(*map(Text, tally.cells()))
        return table

    def forecast(self, wanted: Iterator[Trial], concurrency: int) -> Iterator[str]:
        """Yields estimates for all problems, from each method's formula and the finished ones."""
        for tally in self.tallies:
            formula = registry.METHODS[tally.setup.method].requests
            yield f"{tally.name}: requests per problem: {formula}"
            yield tally.forecast()
        if all(tally.finished for tally in self.tallies):
            tallies = map(self._tally_of, wanted)
            seconds = [tally.seconds / tally.finished for tally in tallies]
            yield (
                f"all together: {text.seconds(sum(seconds))} one after the other, about "
                f"{text.seconds(makespan(seconds, concurrency))} with --concurrency {concurrency}, "
                "if the model is no slower then"
            )

    def _tally_of(self, trial: Trial) -> Tally:
        return next(tally for tally in self.tallies if tally.setup == trial.setup)

    def _render(self) -> Group:
        return Group(self.table(), Text(self._progress()))

    def _progress(self) -> str:
        done = sum(tally.finished for tally in self.tallies)
        total = sum(tally.size for tally in self.tallies)
        parts = [f"{done} of {text.count(total, 'problem')}"]
        elapsed = time.monotonic() - self._began
        if self._finished_here:
            rate = self._finished_here / max(elapsed, 1e-9)
            remaining = text.seconds((total - done) / rate)
            parts += [f"{60 * rate:.1f} a minute", f"about {remaining} left"]
        return ", ".join(parts)


def makespan(seconds: Iterable[float], workers: int) -> float:
    """Returns the total time of searches, each started in order by the first worker to be free."""
    ends = [0.0] * workers
    for each in seconds:
        heapreplace(ends, ends[0] + each)
    return max(ends)


def board(console: Console, batches: Sequence[Batch]) -> Board:
    """Returns the board of a benchmark; the settings that differ between rows name each row."""
    setups = [setup for batch in batches for setup in batch.setups]
    sizes = [len(batch.records) * len(batch.seeds) for batch in batches for _ in batch.setups]
    return Board(console, list(map(Tally, _names(setups), setups, sizes)))


def _names(setups: Sequence[Setup]) -> Iterator[str]:
    settings_of = [dict(setup.given) for setup in setups]
    names = dict.fromkeys(name for each in settings_of for name in each)
    varied = [name for name in names if len({str(each.get(name)) for each in settings_of}) > 1]
    for setup, own in zip(setups, settings_of, strict=True):
        differences = ", ".join(f"{name}={own[name]}" for name in varied if name in own)
        label = f"{setup.method} ({differences})" if differences else setup.method
        yield f"{setup.data}: {label}" if len({each.data for each in setups}) > 1 else label
