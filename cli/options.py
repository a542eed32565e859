"""The options of `thoughtgraph solve`, with their help."""

from typing import Annotated

import typer

from thoughtgraph import registry
from thoughtgraph.usage import Limits as SpentLimits

LIMITS = tuple(SpentLimits.__annotations__)

Problem = Annotated[
    str | None,
    typer.Argument(
        help="The problem in the task's format, @FILE to read it from a file, or - for standard "
        "input. Without one, and without --task: a demonstration; --set seed=N shows one of 32 "
        "scenes."
    ),
]
TaskId = Annotated[
    str | None,
    typer.Option(
        metavar="ID",
        autocompletion=lambda: list(registry.TASKS),
        help="What kind of problem; `thoughtgraph tasks` lists them, FILE.py:NAME is a class of "
        "your own in that file. Default: question.",
    ),
]
MethodId = Annotated[
    str | None,
    typer.Option(
        metavar="ID",
        autocompletion=lambda: list(registry.METHODS),
        help="Search method; see `thoughtgraph methods`, with --task ID for those that take the "
        "task. Default: tot_bfs; tomt_os for scenes, react for hotpotqa and fever, io for a task "
        "of your own that can only be asked.",
    ),
]
Judge = Annotated[
    str, typer.Option(metavar="SPEC", help="Model for the judging roles. Default: --model.")
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
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="A setting of the method; `thoughtgraph methods ID` lists them. The value is JSON or "
        "text; @FILE reads it from a file. May be repeated.",
    ),
]
Limits = Annotated[
    list[str] | None,
    typer.Option(
        "--limit",
        metavar="NAME=VALUE",
        autocompletion=lambda: [f"{name}=" for name in LIMITS],
        help="Spending limit, such as requests=200, tokens=50000, dollars=0.5 or seconds=60; "
        "`none` lifts it. May be repeated.",
    ),
]
JsonFile = Annotated[
    str,
    typer.Option(
        "--json",
        metavar="FILE",
        help="Write the result as JSON; with - to standard output, and everything else to "
        "standard error.",
    ),
]
HtmlFile = Annotated[
    str, typer.Option("--html", metavar="FILE", help="Write the search tree as one HTML page.")
]
Quiet = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="Print the answer alone, or with --json - the JSON alone."),
]
File = Annotated[
    str,
    typer.Option(
        metavar="FILE",
        help="Solve many problems: a file with one a line, as text or as JSON with `problem` "
        "(.jsonl).",
    ),
]
Resume = Annotated[
    str | None,
    typer.Option(
        metavar="RUN",
        help="Continue a run that was stopped or whose model failed; one that a limit ended needs "
        "a higher --limit. `last` is the latest; `thoughtgraph runs` lists them.",
    ),
]
Debug = Annotated[bool, typer.Option("--debug", help="Show a traceback when something fails.")]
Model = Annotated[
    str,
    typer.Option(
        metavar="SPEC",
        help="local, local:smollm2, local:PATH.gguf, openai:NAME, http://HOST:PORT/v1#NAME or "
        "PROVIDER:NAME, such as anthropic:NAME. Default: $THOUGHTGRAPH_MODEL, else an OpenAI "
        "model when OPENAI_API_KEY is set, else local.",
    ),
]
