"""`thoughtgraph data list` and `data get`: their options; `data_downloads` does the work."""

from importlib import import_module
from typing import Annotated, Any

import typer

from thoughtgraph.cli.options import Debug

app = typer.Typer(help="List the public data sets that `bench` reads, and download them.")


def _names() -> list[str]:
    return list(import_module("thoughtgraph.bench.data_sets").catalogue().sets)


def _work() -> Any:
    return import_module("thoughtgraph.cli.data_downloads")


@app.callback(invoke_without_command=True)
def _options(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command("list")
def list_sets(debug: Debug = False) -> None:
    """List the data sets: task, problems, size, licence, checksum, and the page of each."""
    _work().list_sets()


@app.command()
def get(
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME", autocompletion=_names, help="What to download, as `data list` has it."
        ),
    ],
    out: Annotated[
        str, typer.Option(metavar="DIR", help="Folder of data sets, for `bench --data DIR`.")
    ] = "sets",
    debug: Debug = False,
) -> None:
    """Download data sets from their own homes; what is there already stays as it is.

    Exit code 0: all are there; 1: it was stopped; 2: an error.
    """
    raise typer.Exit(_work().get(names, out))
