"""`thoughtgraph data`: the public data sets that `bench` reads, listed and downloaded."""

from collections.abc import Sequence
from functools import partial
from itertools import groupby
from os.path import expanduser
from pathlib import Path

from thoughtgraph.bench.data_download import Fetched, fetch
from thoughtgraph.bench.data_sets import DataSet, catalogue, data_set
from thoughtgraph.cli import text
from thoughtgraph.cli.catalog import print_table
from thoughtgraph.cli.guard import NO_ANSWER, Terminal, complain
from thoughtgraph.cli.screen.fetch_bar import FetchBar
from thoughtgraph.errors import InputError

TITLES = ("name", "task", "problems", "download", "licence", "checksum", "home")
UNKNOWN = "not known beforehand"
FOLDER = "sets"
"""Default folder for data sets (ours)."""


def names() -> list[str]:
    """Returns the names of all data sets."""
    return list(catalogue().sets)


def list_sets() -> None:
    """Prints a row for each data set, then the sets without a file to download, and why."""
    print_table(TITLES, map(_row, catalogue().sets.values()))
    for why, missing in groupby(catalogue().missing, key=lambda each: each.why):
        print(f"\nno file to download: {', '.join(each.name for each in missing)}; {why}")
    print("\n`bench --data NAME` downloads one when it is first used, into the folder `sets`.")


def _row(each: DataSet) -> tuple[str, ...]:
    size = "not known" if each.size is None else text.size(each.size)
    checksum = "not known" if each.sha256 is None else "SHA-256"
    return each.name, each.task, f"{each.entries:,}", size, each.licence, checksum, each.home


def get(names: Sequence[str], out: str) -> int:
    """Downloads data sets one after the other; a failure does not remove the earlier ones.

    Returns:
        The exit code: 0, or 1 if the user stopped the download.
    """
    console = Terminal()
    for dataset in [data_set(name) for name in dict.fromkeys(names)]:
        try:
            with FetchBar(console, f"checking {dataset.name}") as bar:
                description = f"{dataset.name} ({dataset.licence}) from {dataset.address}"
                fetched = fetch(dataset, Path(expanduser(out)), partial(bar, description))
        except KeyboardInterrupt:
            complain(f"stopped; nothing of {dataset.name} was kept")
            return NO_ANSWER
        for line in _report(dataset, fetched):
            console.print(line, markup=False)
    return 0


def problems_of(data: str) -> str:
    """Returns the file of a public data set, and downloads it on first use.

    Any other value, and the name of a file that exists here, is returned unchanged.

    Raises:
        InputError: The download was stopped.
    """
    if data not in catalogue().sets or Path(data).exists():
        return data
    file = Path(FOLDER) / data_set(data).file
    if not file.exists() and get([data], FOLDER):
        raise InputError(f"the download of {data} was stopped; run the same command again")
    return str(file)


def _report(dataset: DataSet, fetched: Fetched) -> list[str]:
    """Returns the lines that describe a data set after its download."""
    return [
        f"{text.line(fetched.path)} {'was' if fetched.was_there else 'is'} there: {dataset.title}",
        f"  problems  {dataset.entries:,}",
        f"  licence   {dataset.licence}, {dataset.home}",
        f"  SHA-256   {_checksum(dataset, fetched)}",
    ]


def _checksum(dataset: DataSet, fetched: Fetched) -> str:
    """Returns the checksum, and in words whether it was compared."""
    if fetched.sha256 is None:
        return "not compared: what was downloaded is unpacked; all of its files are there"
    of = " of the archive" if dataset.archive else " of the questions" if dataset.scripts else ""
    if dataset.sha256 is None:
        origin = "this is what lies there" if fetched.was_there else "this is what came"
        return f"{fetched.sha256}{of} ({UNKNOWN}; {origin})"
    return f"{fetched.sha256}{of}, as published"
