"""The `thoughtgraph` command: its subcommands and their options.

LangGraph and LangChain take seconds to import, so this module imports neither. `_load` imports the
module that does a command's work only when the command runs: help, the version and errors of the
command line appear at once.
"""

import os
import sys
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from importlib.metadata import version
from typing import Annotated, Any

import typer
from rich.console import Console

from thoughtgraph import registry
from thoughtgraph.cli.bench_options import BenchOptions, ReportOptions
from thoughtgraph.cli.guard import Guard
from thoughtgraph.cli.options import DEBUG, DemoOptions, SolveOptions, command

HELP = """Tree search, voting and backtracking for language models, as LangGraph graphs.

Start with [bold]thoughtgraph demo[/bold]."""

app = typer.Typer(
    name="thoughtgraph",
    help=HELP,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    """Runs the command and exits: 0 with an answer, 1 without one, 2 for an error."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character must not end a search.
        getattr(stream, "reconfigure", lambda **_: None)(errors="replace")
    with Guard(debug="--debug" in sys.argv[1:]):
        sys.exit(app(prog_name="thoughtgraph", standalone_mode=False) or 0)


def run() -> None:
    """Runs the program: the command, then the exit of its process.

    A process that serves the embedded model exits without Python's shutdown, because the model's
    threads may be in the middle of an answer.
    """
    try:
        main()
    except SystemExit as system_exit:
        local = sys.modules.get("thoughtgraph.llm.local")
        if local is None or not local.running():
            raise
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(system_exit.code if isinstance(system_exit.code, int) else 0)


def _load(name: str) -> Any:
    """Imports the module that does a command's work."""
    return import_module(f"thoughtgraph.cli.{name}")


def _starting() -> AbstractContextManager[Any]:
    """Shows a status line in a terminal while LangGraph is imported."""
    console = Console()
    if console.is_terminal and not console.is_dumb_terminal:
        return console.status("starting")
    return nullcontext()


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"thoughtgraph {version('thoughtgraph')}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _options(
    context: typer.Context,
    _: Annotated[
        bool,
        typer.Option("--version", is_eager=True, callback=_version, help="Show the version."),
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@command(app)
def demo(options: DemoOptions) -> int:
    """Ask a question of a small database, to show what a search is.

    --set seed=N shows another search.
    """
    with _starting():
        config = _load("run_config").demonstrated(options)
    return int(_load("solve").begin(options, config))


@command(app)
def solve(options: SolveOptions) -> int:
    """Search for the answer to one problem and show the tree as it grows.

    Ctrl-C stops it and keeps the answers so far; --resume continues.

    --file solves many problems, as `bench` does; rerun to continue.

    Exit code: 0 with an answer, 1 without one, 2 for an error.
    """
    with _starting():
        run_config = _load("run_config")
    options = run_config.with_database(options)
    if options.file:
        return int(_load("bench").solve_file(options))
    if options.resume is not None:
        return int(_load("solve").resume(options))
    # Before LangGraph is imported, which takes seconds: a mistyped option fails at once.
    config = run_config.configure(options)
    return int(_load("solve").begin(options, config))


@command(app)
def view(
    path: Annotated[
        str,
        typer.Argument(
            metavar="FILE|DIR|RUN",
            help="A result file, a folder of them, or a run; `last` is the latest.",
        ),
    ],
    out: Annotated[
        str,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE.html",
            help="Where to write the page. Default: beside the results; for a run, here.",
        ),
    ] = "",
    browse: Annotated[bool, typer.Option("--open", help="Show the page in the browser.")] = False,
) -> None:
    """Write search trees as one self-contained HTML page."""
    _load("view").view(path, out, browse=browse)


@command(app)
def methods(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[ID]",
            autocompletion=lambda: list(registry.METHODS),
            help="Show this method's settings and tasks.",
        ),
    ] = None,
    task: Annotated[
        str | None,
        typer.Option(
            "--task",
            "-t",
            metavar="ID",
            help="List only methods that take this task; with a method, show its defaults for it.",
        ),
    ] = None,
) -> None:
    """List the methods, or one method's settings with defaults and bounds."""
    if name is not None:
        _load("describe").method(name, task)
    elif task is not None:
        _load("describe").methods_for(task)
    else:
        _load("catalog").methods()


@command(app)
def tasks(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[ID]",
            autocompletion=lambda: list(registry.TASKS),
            help="Show this task's example and the methods that take it.",
        ),
    ] = None,
) -> None:
    """List the kinds of problems, each with an example, or describe one."""
    if name is not None:
        _load("describe").task(name)
    else:
        _load("catalog").tasks()


@command(app)
def models() -> None:
    """List the ways to name a model, the default, and the local weights."""
    _load("catalog").models()


@command(app)
def bench(options: BenchOptions) -> int:
    """Solve many problems and write a line of JSON for each; rerun to continue.

    Exit code: 0 if all are finished, 1 if some failed, 2 for an error.
    """
    return int(_load("bench").bench(options))


@command(app)
def report(options: ReportOptions) -> None:
    """Compare results: scores with confidence intervals, costs, significant differences."""
    _load("report").report(options)


runs = typer.Typer()
app.add_typer(runs, name="runs", invoke_without_command=True)


@runs.callback()
def _list_runs(context: typer.Context, debug: DEBUG = False) -> None:
    """List the runs, and how to see or resume each."""
    if context.invoked_subcommand is None:
        _load("runs").list_runs()


@command(runs)
def rm(
    run: Annotated[
        str, typer.Argument(metavar="RUN|all", help="The run, or all runs but killed ones.")
    ],
) -> None:
    """Delete a run."""
    _load("runs").remove(run)


data = typer.Typer()
app.add_typer(data, name="data", invoke_without_command=True)


@data.callback()
def _list_data(context: typer.Context, debug: DEBUG = False) -> None:
    """List the public data sets that `bench` reads, or download some."""
    if context.invoked_subcommand is None:
        _load("data_downloads").list_sets()


@command(data)
def get(
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME",
            autocompletion=lambda: _load("data_downloads").names(),
            help="Name of a data set; `data` lists them.",
        ),
    ],
    out: Annotated[
        str,
        typer.Option("--out", "-o", metavar="DIR", help="The folder to keep them in."),
    ] = "sets",
) -> int:
    """Download data sets from their home pages; files that exist are kept.

    Exit code: 0 if all are there, 1 if it was stopped, 2 for an error.
    """
    return int(_load("data_downloads").get(names, out))
