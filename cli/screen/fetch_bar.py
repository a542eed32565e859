"""The progress of a download, or of weights that are joined from their parts."""

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from thoughtgraph.cli import text

TENTHS = 10
"""Number of progress lines for a fetch where no bar can be drawn."""


class FetchBar:
    """Shows the progress of a fetch: a bar in a capable terminal, a line for each tenth elsewhere.

    Args:
        status: The status line while nothing is fetched.
    """

    def __init__(self, console: Console, status: str) -> None:
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
        self._status = console.status(status)
        self._tenth = -1

    def __enter__(self) -> "FetchBar":
        """Shows the status line until a fetch reports progress."""
        if self._drawn:
            self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Removes the status line and the bar."""
        self._status.stop()
        if self._progress.live.is_started:
            self._progress.stop()

    def __call__(self, what: str, done: int, total: int | None) -> None:
        """Shows the progress of a fetch.

        Args:
            what: The name of what is fetched.
            done: Bytes so far.
            total: All bytes; None if unknown.
        """
        if not self._drawn:
            self._write(what, done, total)
            return
        if not self._progress.task_ids:  # the first report
            self._status.stop()
            self._console.print(f"fetching {text.line(what)}", markup=False)
            self._progress.add_task("", total=total)
            self._progress.start()
        self._progress.update(self._progress.task_ids[0], completed=done)
        if done == total:
            self._progress.stop()
            self._status.start()

    def _write(self, what: str, done: int, total: int | None) -> None:
        """Writes a line for each tenth, or a single line if the total is unknown."""
        tenth = TENTHS * done // total if total else 0
        if tenth > self._tenth:
            self._tenth = tenth
            progress = f": {text.size(done)} of {text.size(total)}" if total else ""
            self._console.print(f"fetching  {text.line(what)}{progress}", markup=False)
