"""The options of `demo` and `solve`, and the decorator that registers a command.

The options of a command are the fields of a dataclass. Each has its type, default and help in one
place.
"""

from collections.abc import Callable, Iterator
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from inspect import Parameter, Signature, signature
from typing import Annotated, Any, get_origin

import typer

from thoughtgraph import registry
from thoughtgraph.usage import Limits as SpentLimits

Work = Callable[..., int | None]
"""The function behind a command; it returns the exit code, None for 0."""

Judge = Annotated[
    str,
    typer.Option("--judge", metavar="SPEC", help="Model for the judging roles. Default: --model."),
]
Oracle = Annotated[
    bool,
    typer.Option(
        "--oracle",
        help="Tell the method whether an answer is right, by the task's exact check, as the papers "
        "do for refine on game24. The result is labelled oracle.",
    ),
]
Settings = Annotated[
    list[str],
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="A setting of the method; `thoughtgraph methods ID` lists them. The value is JSON or "
        "text; @FILE reads it from a file. May be repeated.",
    ),
]
Limits = Annotated[
    list[str],
    typer.Option(
        "--limit",
        metavar="NAME=VALUE",
        autocompletion=lambda: [f"{name}=" for name in SpentLimits.__annotations__],
        help="Spending limit, such as requests=200, tokens=50000, dollars=0.5 or seconds=60; "
        "`none` lifts it. May be repeated.",
    ),
]
Model = Annotated[
    str,
    typer.Option(
        metavar="SPEC",
        help="local, local:smollm2, local:PATH.gguf, openai:NAME, http://HOST:PORT/v1#NAME or "
        "PROVIDER:NAME, such as anthropic:NAME. Default: $THOUGHTGRAPH_MODEL, else an OpenAI "
        "model when OPENAI_API_KEY is set, else local.",
    ),
]
ResultsFolder = Annotated[
    str,
    typer.Option("--out", "-o", metavar="DIR", help="Folder for the results; rerun to continue."),
]
DEBUG = Annotated[bool, typer.Option("--debug", help="Show a traceback when something fails.")]


@dataclass(frozen=True, kw_only=True)
class DemoOptions:
    """The options of `demo`, as the user typed them; `solve` has them too."""

    model: Model = ""
    evaluator_model: Judge = ""
    settings: Settings = field(default_factory=list)
    limits: Limits = field(default_factory=list)
    json_file: Annotated[
        str,
        typer.Option(
            "--json",
            metavar="FILE",
            help="Write the result as JSON; with - to standard output, and everything else to "
            "standard error.",
        ),
    ] = ""
    html_file: Annotated[
        str, typer.Option("--html", metavar="FILE", help="Write the search tree as one HTML page.")
    ] = ""
    quiet: Annotated[
        bool,
        typer.Option(
            "--quiet", "-q", help="Print only the answer, or with --json - only the JSON."
        ),
    ] = False


@dataclass(frozen=True, kw_only=True)
class SolveOptions(DemoOptions):
    """The options of `solve`, as the user typed them."""

    problem: Annotated[
        str | None,
        typer.Argument(
            help="The problem in the task's format, @FILE to read it from a file, or - for "
            "standard input."
        ),
    ] = None
    task: Annotated[
        str | None,
        typer.Option(
            "--task",
            "-t",
            metavar="ID",
            autocompletion=lambda: list(registry.TASKS),
            help="Kind of problem; see `thoughtgraph tasks`. FILE.py:NAME is a class of your own. "
            "Default: question.",
        ),
    ] = None
    method: Annotated[
        str | None,
        typer.Option(
            "--method",
            "-m",
            metavar="ID",
            autocompletion=lambda: list(registry.METHODS),
            help="Search method; see `thoughtgraph methods`, with --task ID for those that take "
            "the task. Default: tot_bfs; adaptive for sql, tomt_os for scenes, react for hotpotqa "
            "and fever, io for a task of your own with only a question.",
        ),
    ] = None
    oracle: Oracle = False
    database: Annotated[
        str, typer.Option(metavar="FILE", help="Database for sql; short for --set database=FILE.")
    ] = ""
    resume: Annotated[
        str | None,
        typer.Option(
            metavar="RUN",
            help="Continue a run that was stopped or whose model failed; one that a limit ended "
            "needs a higher --limit. `last` is the latest; `thoughtgraph runs` lists them.",
        ),
    ] = None
    file: Annotated[
        str,
        typer.Option(
            metavar="FILE",
            help="Solve many problems: a file with one per line, as text or as JSON with `problem` "
            "(.jsonl).",
        ),
    ] = ""
    out: ResultsFolder = "results"


def command(app: typer.Typer, name: str | None = None) -> Callable[[Work], Work]:
    """Registers a function as a command, with its parameters or its dataclass's fields as options.

    Args:
        app: The application or group that gets the command.
        name: The name of the command; the function's when None.
    """

    def register(work: Work) -> Work:
        args = [*signature(work).parameters.values()]
        bundle: Any = args[0].annotation if args and is_dataclass(args[0].annotation) else None

        def run(debug: bool, **values: Any) -> None:
            options = {key: value for key, value in values.items() if value is not None}
            raise typer.Exit((work(bundle(**options)) if bundle else work(**values)) or 0)

        debug = Parameter("debug", Parameter.KEYWORD_ONLY, default=False, annotation=DEBUG)
        all_parameters = [*(_parameters(bundle) if bundle else args), debug]
        run.__signature__ = Signature(all_parameters)  # type: ignore[attr-defined]
        run.__name__, run.__doc__ = work.__name__, work.__doc__
        app.command(name)(run)
        return work

    return register


def _parameters(bundle: Any) -> Iterator[Parameter]:
    """Yields a parameter for each option of a dataclass; None stands for a default factory."""
    for each in fields(bundle):
        if get_origin(each.type) is Annotated:
            required = each.default is MISSING and each.default_factory is MISSING
            default = None if each.default is MISSING else each.default
            yield Parameter(
                each.name,
                Parameter.KEYWORD_ONLY,
                default=Parameter.empty if required else default,
                annotation=each.type,
            )
