"""The options of `thoughtgraph bench` and `report`."""

from dataclasses import dataclass, field
from typing import Annotated

import typer

from thoughtgraph.cli.options import Judge, Limits, Model, Oracle, ResultsFolder, Settings


@dataclass(frozen=True)
class BenchOptions:
    """The options of `bench`, as the user typed them."""

    task: Annotated[
        str,
        typer.Option(
            "--task", "-t", metavar="ID", help="Kind of problems; see `thoughtgraph tasks`."
        ),
    ] = ""
    suite: Annotated[
        str,
        typer.Option(
            metavar="ID",
            help="Run a paper's table instead: tot-table2, tomt-table1, tr-table1, itot-table1, "
            "fgdip-table1, …; --data is then a folder of data sets, and --task and --method choose "
            "some of its sets and methods.",
        ),
    ] = ""
    method: Annotated[
        str,
        typer.Option(
            "--method",
            "-m",
            metavar="ID[,ID…]",
            help="Search method, or several to compare. Default: as in `solve`.",
        ),
    ] = ""
    data: Annotated[
        str,
        typer.Option(
            metavar="FILE",
            help="The problems: the task's public data set, or lines of JSON with `problem`, and "
            "`gold` where the answer is known; or made:sum,count for made-up scene questions, "
            "--sample of each type. Default: all puzzles of game24.",
        ),
    ] = ""
    problems: Annotated[str, typer.Option(metavar="A:B", help="Problems A to B, inclusive.")] = ""
    sample: Annotated[int, typer.Option(min=0, metavar="N", help="Draw N problems at random.")] = 0
    sample_seed: Annotated[int, typer.Option(min=0, help="Seed of --sample.")] = 0
    seeds: Annotated[int, typer.Option(min=1, metavar="N", help="Repeat with N seeds.")] = 1
    model: Model = ""
    evaluator_model: Judge = ""
    oracle: Oracle = False
    settings: Settings = field(default_factory=list)
    limits: Limits = field(default_factory=list)
    sweep: Annotated[
        list[str],
        typer.Option(
            metavar="NAME=A,B,…",
            help="Compare values of a setting. May be repeated: every combination is tried.",
        ),
    ] = field(default_factory=list)
    concurrency: Annotated[
        int, typer.Option(min=1, metavar="N", help="Number of problems to run in parallel.")
    ] = 16
    out: ResultsFolder = "results"
    shard: Annotated[
        str,
        typer.Option(metavar="K/N", help="Run the K-th of N parts, each in a process of its own."),
    ] = ""
    server: Annotated[
        str,
        typer.Option(
            metavar="URL",
            help="Search on a LangGraph server that serves the graphs; --model is then a name that "
            "it offers, and $THOUGHTGRAPH_SERVER_KEY its key, if it needs one.",
        ),
    ] = ""
    where: Annotated[
        list[str],
        typer.Option(
            metavar="NAME=VALUE",
            help="Only problems with this fact, such as level=hard. May be repeated.",
        ),
    ] = field(default_factory=list)
    paragraphs: Annotated[
        bool,
        typer.Option("--paragraphs", help="Search the paragraphs that come with each question."),
    ] = False
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Solve two problems only, and estimate the cost of all."),
    ] = False
    file: str = ""
    """File of problems to answer without scores, of `solve --file`; empty: `data` names them."""

    @property
    def methods(self) -> list[str]:
        """The methods to compare; empty: the task's default."""
        return [name for name in self.method.split(",") if name]


@dataclass(frozen=True)
class ReportOptions:
    """The options of `report`."""

    folders: Annotated[
        list[str], typer.Argument(metavar="DIR…", help="Folders of results that `bench` wrote.")
    ]
    out: Annotated[
        str,
        typer.Option(
            "--out",
            "-o",
            metavar="DIR",
            help="Also write report.md, .csv and .html there, and search trees.",
        ),
    ] = ""
    paper: Annotated[
        bool, typer.Option("--paper", help="Show the papers' numbers beside those of suites.")
    ] = False
    by: Annotated[
        str,
        typer.Option(
            metavar="FACT",
            help="Split tables by a fact of the problems: level, type, subject or hop.",
        ),
    ] = ""
    summaries: Annotated[
        str,
        typer.Option(
            metavar="DIR",
            help="Add a short line for each result there: scores and costs, no problem, answer or "
            "tree. `report` reads these lines, and `bench --out` continues from them.",
        ),
    ] = ""
    judge: Annotated[
        str,
        typer.Option(
            metavar="SPEC",
            help="Model that scores creative writing from 1 to 10. Its scores are kept in "
            "judged.jsonl, so that the next report asks for nothing again.",
        ),
    ] = ""
    samples: Annotated[
        int, typer.Option(min=1, metavar="N", help="Number of scores to average for a passage.")
    ] = 5
