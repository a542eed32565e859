"""Opens the models of a search; asks before it downloads one and shows how that goes."""

import sys

import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from thoughtgraph.cli import text
from thoughtgraph.cli.catalog import size, whereabouts
from thoughtgraph.errors import ModelUnavailable
from thoughtgraph.llm import weights
from thoughtgraph.llm.endpoints import port_for
from thoughtgraph.llm.port import ChatPort

TENTHS = 10


def open_port(specifier: str, console: Console) -> ChatPort:
    """Returns the port of a model specifier.

    Args:
        specifier: The specifier.
        console: Where the download is announced and drawn.

    Raises:
        InputError: The specifier has no known form.
        ModelUnavailable: The embedded model cannot be had here, or its download was declined.
    """
    kind, _, name = specifier.partition(":")
    known = weights.KNOWN.get(name or "local") if kind == "local" else None
    if known is not None and whereabouts(known) == "remote":
        _consent(known, console)
    with Bar(console) as bar:
        return port_for(specifier, progress=bar)


def _consent(known: weights.Weights, console: Console) -> None:
    """Says what is about to be downloaded; asks, where there is somebody to ask."""
    console.print(f"{known.title}, {size(known.size)}, is not here yet.", markup=False)
    console.print(f"It would be downloaded once from {known.url}", markup=False)
    if not (console.is_terminal and sys.stdin.isatty()):
        return
    if not typer.confirm("Download it?", default=True, err=console.stderr):
        raise ModelUnavailable(f"{known.title} was not downloaded; {weights.ALTERNATIVES}")


class Bar:
    """Shows weights that are fetched: a bar in a terminal that draws, a line each tenth elsewhere.

    Args:
        console: Where to.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._drawn = console.is_terminal and not console.is_dumb_terminal
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=20),
            DownloadColumn(),
            TimeRemainingColumn(),
            console=console,
            transient=True,
        )
        self._loading = console.status("loading the model")
        self._seen = -1

    def __enter__(self) -> "Bar":
        """Says that a model is loaded until there is news of its weights."""
        if self._drawn:
            self._loading.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Takes the bar away."""
        self._loading.stop()
        if self._progress.live.is_started:
            self._progress.stop()

    def __call__(self, what: str, done: int, total: int) -> None:
        """Takes news of a fetch."""
        if not self._drawn:
            tenth = TENTHS * done // total
            if tenth > self._seen:
                self._seen = tenth
                words = f"fetching  {text.line(what)}: {size(done)} of {size(total)}"
                self._console.print(words, markup=False)
            return
        if self._seen < 0:
            self._seen = 0
            self._loading.stop()
            self._console.print(f"fetching {text.line(what)}", markup=False)
            self._progress.add_task("", total=total)
            self._progress.start()
        self._progress.update(self._progress.task_ids[0], completed=done)
        if done == total:
            self._progress.stop()
            self._loading.start()
