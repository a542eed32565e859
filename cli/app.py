"""The `thoughtgraph` command: its commands and options.

LangGraph and LangChain take seconds to import. This module imports neither: each command's work
lies in a module of its own, which `_load` imports when the command runs, so that help, versions
and mistakes on the command line answer at once.
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
from thoughtgraph.cli import bench_options, data_commands
from thoughtgraph.cli.guard import Guard
from thoughtgraph.cli.options import (
    Debug,
    File,
    HtmlFile,
    JsonFile,
    Judge,
    Limits,
    MethodId,
    Model,
    Oracle,
    Problem,
    Quiet,
    Resume,
    Settings,
    TaskId,
)

HELP = """Deliberate reasoning with language models: search trees of thoughts, as LangGraph graphs.

Start with [bold]thoughtgraph solve[/bold], which runs a small demonstration."""

app = typer.Typer(
    name="thoughtgraph",
    help=HELP,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(data_commands.app, name="data")


def main() -> None:
    """Runs the command and exits: 0 with an answer, 1 without one, 2 for an error."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character must not end a search.
        getattr(stream, "reconfigure", lambda **_: None)(errors="replace")
    with Guard(debug="--debug" in sys.argv[1:]):
        sys.exit(app(prog_name="thoughtgraph", standalone_mode=False) or 0)


def run() -> None:
    """Is the program: the command, and the end of its process.

    A process that serves the embedded model ends at once, because its threads may be in mid-answer
    and must not see Python shut down around them.
    """
    try:
        main()
    except SystemExit as ended:
        local = sys.modules.get("thoughtgraph.llm.local")
        if local is None or not local.running():
            raise
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(ended.code if isinstance(ended.code, int) else 0)


def _load(name: str) -> Any:
    """Imports the module that does a command's work."""
    return import_module(f"thoughtgraph.cli.{name}")


def _starting() -> AbstractContextManager[Any]:
    """Shows a terminal that something happens while LangGraph is imported."""
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


@app.command()
def solve(
    problem: Problem = None,
    task: TaskId = None,
    method: MethodId = None,
    model: Model = "",
    evaluator_model: Judge = "",
    oracle: Oracle = False,
    settings: Settings = None,
    limits: Limits = None,
    json_file: JsonFile = "",
    html_file: HtmlFile = "",
    quiet: Quiet = False,
    resume: Resume = None,
    file: File = "",
    out: bench_options.ResultsFolder = "results",
    debug: Debug = False,
) -> None:
    """Search for the answer to one problem and show the tree as it grows.

    Ctrl-C stops; what was answered is kept, and --resume goes on from there. With --file many
    problems are searched side by side, as `bench` does; the same command goes on.

    Exit code 0: there is an answer; 1: there is none; 2: an error.
    """
    with _starting():
        run_config = _load("run_config")
    options = run_config.SolveOptions(
        problem=problem,
        task=task,
        method=method,
        model=model,
        evaluator_model=evaluator_model,
        oracle=oracle,
        settings=settings or [],
        limits=limits or [],
        json_file=json_file,
        html_file=html_file,
        quiet=quiet,
        resume=resume,
    )
    if file:
        raise typer.Exit(_load("bench").solve_file(options, file, out))
    # Before LangGraph is imported, which takes longer than anybody waits for a typing error.
    config = run_config.configure(options) if resume is None else None
    raise typer.Exit(_load("solve").solve(options, config))


@app.command()
def view(
    path: Annotated[
        str, typer.Argument(metavar="FILE|DIR", help="A result file, or a folder of them.")
    ],
    out: Annotated[
        str, typer.Option(metavar="FILE.html", help="The page. Default: beside the results.")
    ] = "",
    browse: Annotated[bool, typer.Option("--open", help="Show the page in the browser.")] = False,
    debug: Debug = False,
) -> None:
    """Make one self-contained page of search trees, for a browser."""
    _load("view").view(path, out, browse=browse)


@app.command()
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
            metavar="ID",
            help="Without a method: only those that take this task. With one: its defaults here.",
        ),
    ] = None,
    debug: Debug = False,
) -> None:
    """List the methods, or one method's settings with defaults and bounds."""
    if name is not None:
        _load("describe").method(name, task)
    elif task is not None:
        _load("describe").methods_for(task)
    else:
        _load("catalog").methods()


@app.command()
def tasks(debug: Debug = False) -> None:
    """List the kinds of problems, each with an example."""
    _load("catalog").tasks()


@app.command()
def runs(
    forget: Annotated[
        str,
        typer.Option(
            metavar="RUN|all",
            help="Drop what is kept of this run, or of all that a limit or an error ended.",
        ),
    ] = "",
    debug: Debug = False,
) -> None:
    """List the runs that were stopped and can be resumed."""
    _load("runs").forget_runs(forget) if forget else _load("runs").list_runs()


@app.command()
def models(debug: Debug = False) -> None:
    """List the ways to name a model, the default, and the weights that are here."""
    _load("catalog").models()


@app.command()
def bench(
    task: bench_options.BenchTask = "",
    suite: bench_options.SuiteId = "",
    method: bench_options.MethodIds = "",
    data: bench_options.Data = "",
    problems: bench_options.Problems = "",
    sample: bench_options.Sample = 0,
    sample_seed: bench_options.SampleSeed = 0,
    seeds: bench_options.Seeds = 1,
    model: Model = "",
    evaluator_model: Judge = "",
    oracle: Oracle = False,
    settings: Settings = None,
    limits: Limits = None,
    sweep: bench_options.Sweep = None,
    concurrency: bench_options.Concurrency = 16,
    out: bench_options.ResultsFolder = "results",
    shard: bench_options.Shard = "",
    server: bench_options.ServerAddress = "",
    where: bench_options.Where = None,
    paragraphs: bench_options.Paragraphs = False,
    dry_run: bench_options.DryRun = False,
    debug: Debug = False,
) -> None:
    """Search many problems and keep a line of JSON for each; run it again to go on.

    Exit code 0: all are finished; 1: some failed; 2: an error.
    """
    module = _load("bench")
    options = module.BenchOptions(
        task=task,
        suite=suite,
        where=where or [],
        methods=[name for name in method.split(",") if name],
        data=data,
        problems=problems,
        sample=sample,
        sample_seed=sample_seed,
        seeds=seeds,
        model=model,
        evaluator_model=evaluator_model,
        oracle=oracle,
        settings=settings or [],
        limits=limits or [],
        sweep=sweep or [],
        concurrency=concurrency,
        out=out,
        shard=shard,
        server=server,
        paragraphs=paragraphs,
        dry_run=dry_run,
    )
    raise typer.Exit(module.bench(options))


@app.command()
def report(
    folders: bench_options.Folders,
    out: bench_options.ReportFolder = "",
    paper: bench_options.Paper = False,
    by: bench_options.By = "",
    summaries: bench_options.Summaries = "",
    judge: bench_options.Judge = "",
    samples: bench_options.JudgeSamples = 5,
    debug: Debug = False,
) -> None:
    """Compare results: scores with intervals, costs, and what is really better than what."""
    module = _load("report")
    module.report(module.ReportOptions(folders, out, paper, by, summaries, judge, samples))
