"""What a benchmark shows while it runs: a line for each thing compared, and how long yet."""

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
"""Seconds between two lines where nothing can be drawn (ours)."""
HEADINGS = ("", "problems", "score", "95 %", "requests", "tokens", "$")
"""Requests, tokens and dollars are means a problem."""


@dataclass
class Tally:
    """One row of the table."""

    name: str
    setup: Setup
    size: int
    """How many problems it searches, repeats counted."""
    finished: int = 0
    failed: int = 0
    scored: int = 0
    points: float = 0.0
    requests: float = 0.0
    tokens: float = 0.0
    dollars: float | None = 0.0
    seconds: float = 0.0

    def add(self, row: Mapping[str, Any]) -> None:
        """Adds a finished problem."""
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
        """Yields what the row says, by `HEADINGS`."""
        each = max(1, self.finished)
        failed = f" ({self.failed} failed)" if self.failed else ""
        yield self.name
        yield f"{self.finished}/{self.size}{failed}"
        if self.scored:
            low, high = wilson(self.points, self.scored)
            yield from (f"{self.points / self.scored:.1%}", f"{low:.1%} to {high:.1%}")
        else:
            yield from ("-", "")
        yield f"{self.requests / each:.1f}"
        yield text.rough(self.tokens / each)
        yield "-" if self.dollars is None else f"{self.dollars / each:.4f}"

    def forecast(self) -> str:
        """Returns what all of its problems will take, by those that were searched."""
        if not self.finished:
            return f"{self.name}: nothing was finished, so nothing can be said"
        times = self.size / self.finished
        price = "" if self.dollars is None else f", ${times * self.dollars:,.2f}"
        return (
            f"{self.name}: {self.size} problems will take about {times * self.requests:,.0f} "
            f"requests and {text.rough(times * self.tokens)} tokens{price}, by "
            f"{text.count(self.finished, 'problem')} searched"
        )


@dataclass
class Board:
    """The table of a running benchmark."""

    console: Console
    tallies: Sequence[Tally]
    failed: int = 0
    error: str = ""
    _here: int = 0
    """Problems that this process has finished."""
    _began: float = field(default_factory=time.monotonic)
    _told: float = 0.0
    _live: Live | None = None

    @contextmanager
    def live(self) -> Iterator[None]:
        """Draws while it is entered, where the terminal can."""
        self._began = self._told = time.monotonic()
        if self.console.is_dumb_terminal or not self.console.is_terminal:
            yield
            return
        with Live(get_renderable=self._drawn, console=self.console, transient=True) as self._live:
            yield

    def start(self, rows: Iterator[Row], wanted: Iterator[Trial]) -> None:
        """Counts which of the wanted problems the folder has already."""
        keys = {trial.key: trial for trial in wanted}
        for key, row in latest(rows).items():
            if key in keys and not row.get("error"):
                self._of(keys[key]).add(row)
        if done := sum(tally.finished for tally in self.tallies):
            self.console.print(f"{done} of {len(keys)} are done")

    def tell(self, trial: Trial, row: Row) -> None:
        """Takes a row that was written."""
        if error := row.get("error"):
            self.failed += 1
            self.error = error
            self._of(trial).failed += 1
        else:
            self._of(trial).add(row)
            self._here += 1
        if self._live is None and time.monotonic() - self._told >= EVERY:
            self._told = time.monotonic()
            self.console.print(self._progress(), markup=False)

    def table(self) -> Table:
        """Returns the table."""
        table = Table(box=None, pad_edge=False)
        for heading in HEADINGS:
            table.add_column(heading, justify="right" if heading else "left")
        for tally in self.tallies:
            table.add_row(*map(Text, tally.cells()))
        return table

    def forecast(self, wanted: Iterator[Trial], concurrency: int) -> Iterator[str]:
        """Yields what all problems will take, by the method's formula and by those searched."""
        for tally in self.tallies:
            formula = registry.METHODS[tally.setup.method].requests
            yield f"{tally.name}: requests per problem: {formula}"
            yield tally.forecast()
        if all(tally.finished for tally in self.tallies):
            tallies = map(self._of, wanted)
            each = [tally.seconds / tally.finished for tally in tallies]
            yield (
                f"all together: {text.seconds(sum(each))} one after the other, about "
                f"{text.seconds(makespan(each, concurrency))} with --concurrency {concurrency}, "
                "if the model is no slower then"
            )

    def _of(self, trial: Trial) -> Tally:
        return next(tally for tally in self.tallies if tally.setup == trial.setup)

    def _drawn(self) -> Group:
        return Group(self.table(), Text(self._progress()))

    def _progress(self) -> str:
        done = sum(tally.finished for tally in self.tallies)
        total = sum(tally.size for tally in self.tallies)
        told = [f"{done} of {text.count(total, 'problem')}"]
        passed = time.monotonic() - self._began
        if self._here:
            rate = self._here / max(passed, 1e-9)
            left = text.seconds((total - done) / rate)
            told += [f"{60 * rate:.1f} a minute", f"about {left} left"]
        return ", ".join(told)


def makespan(seconds: Iterable[float], workers: int) -> float:
    """Returns how long searches take, so many at once, each begun as one ends."""
    ends = [0.0] * workers
    for each in seconds:
        heapreplace(ends, ends[0] + each)
    return max(ends)


def board(console: Console, batches: Sequence[Batch]) -> Board:
    """Returns the board of a benchmark; each row is named by what tells it from the others."""
    setups = [setup for batch in batches for setup in batch.setups]
    sizes = [len(batch.records) * len(batch.seeds) for batch in batches for _ in batch.setups]
    return Board(console, list(map(Tally, _names(setups), setups, sizes)))


def _names(setups: Sequence[Setup]) -> Iterator[str]:
    values = [dict(setup.given) for setup in setups]
    known = dict.fromkeys(name for each in values for name in each)
    varied = [name for name in known if len({str(each.get(name)) for each in values}) > 1]
    for setup, own in zip(setups, values, strict=True):
        told = ", ".join(f"{name}={own[name]}" for name in varied if name in own)
        named = f"{setup.method} ({told})" if told else setup.method
        yield f"{setup.data}: {named}" if len({each.data for each in setups}) > 1 else named
