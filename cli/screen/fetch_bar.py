"""How far a download is, or weights that are put together."""

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from thoughtgraph.cli import text

TENTHS = 10
"""Lines that a fetch takes where nothing can be drawn."""


class FetchBar:
    """Shows what is fetched: a bar in a terminal that draws, a line each tenth elsewhere.

    Args:
        otherwise: What is said while nothing is fetched.
    """

    def __init__(self, console: Console, otherwise: str) -> None:
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
        self._otherwise = console.status(otherwise)
        self._seen = -1

    def __enter__(self) -> "FetchBar":
        """Says what happens until there is news of a fetch."""
        if self._drawn:
            self._otherwise.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Takes the bar away."""
        self._otherwise.stop()
        if self._progress.live.is_started:
            self._progress.stop()

    def __call__(self, what: str, done: int, total: int | None) -> None:
        """Takes news of a fetch."""
        if not self._drawn:
            self._write(what, done, total)
            return
        if self._seen < 0:
            self._seen = 0
            self._otherwise.stop()
            self._console.print(f"fetching {text.line(what)}", markup=False)
            self._progress.add_task("", total=total)
            self._progress.start()
        self._progress.update(self._progress.task_ids[0], completed=done)
        if done == total:
            self._progress.stop()
            self._otherwise.start()

    def _write(self, what: str, done: int, total: int | None) -> None:
        """Writes a line each tenth; one alone where it is not known what a tenth is."""
        tenth = TENTHS * done // total if total else 0
        if tenth > self._seen:
            self._seen = tenth
            far = f": {text.size(done)} of {text.size(total)}" if total else ""
            self._console.print(f"fetching  {text.line(what)}{far}", markup=False)
