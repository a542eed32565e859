"""The options of `thoughtgraph bench`, with their help; those of `solve` are in `options`."""

from typing import Annotated

import typer

BenchTask = Annotated[str, typer.Option(metavar="ID", help="What kind of problems, as of `solve`.")]
SuiteId = Annotated[
    str,
    typer.Option(
        metavar="ID",
        help="A table of a paper instead: tot-table2, tomt-table1, tr-table1, itot-table1, "
        "fgdip-table1, …; --data is then a folder of data sets, and --task and --method choose "
        "some of its sets and methods.",
    ),
]
MethodIds = Annotated[
    str,
    typer.Option(
        metavar="ID[,ID…]", help="Search method, or several to compare. Default: as in `solve`."
    ),
]
Data = Annotated[
    str,
    typer.Option(
        metavar="FILE",
        help="The problems: the task's public data set, or lines of JSON with `problem`, and "
        "`gold` where the answer is known; or made:sum,count for made-up scene questions, "
        "--sample of each type. Default: all puzzles of game24.",
    ),
]
Problems = Annotated[str, typer.Option(metavar="A:B", help="Problems A to B, inclusive.")]
Sample = Annotated[int, typer.Option(min=0, metavar="N", help="Draw N problems at random.")]
SampleSeed = Annotated[int, typer.Option(min=0, help="Seed of --sample.")]
Seeds = Annotated[int, typer.Option(min=1, metavar="N", help="Repeat with N seeds.")]
Sweep = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=A,B,…",
        help="Compare values of a setting. May be repeated: every combination is tried.",
    ),
]
Concurrency = Annotated[
    int, typer.Option(min=1, metavar="N", help="Number of problems to run in parallel.")
]
ResultsFolder = Annotated[
    str,
    typer.Option(metavar="DIR", help="Folder for the results; rerun to continue."),
]
Shard = Annotated[
    str,
    typer.Option(metavar="K/N", help="Run the K-th of N parts, each in a process of its own."),
]
ServerAddress = Annotated[
    str,
    typer.Option(
        metavar="URL",
        help="Search on a LangGraph server that serves the graphs; --model is then a name that it "
        "offers, and $THOUGHTGRAPH_SERVER_KEY its key, if it asks for one.",
    ),
]
Where = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=VALUE",
        help="Only problems with this fact, such as level=hard. May be repeated.",
    ),
]
Paragraphs = Annotated[
    bool,
    typer.Option("--paragraphs", help="Search the paragraphs that come with each question."),
]
DryRun = Annotated[
    bool,
    typer.Option("--dry-run", help="Solve two problems only, and estimate the cost of all."),
]
Paper = Annotated[
    bool, typer.Option("--paper", help="Show the papers' numbers beside those of suites.")
]
Summaries = Annotated[
    str,
    typer.Option(
        metavar="DIR",
        help="Add a small line for each result there: scores and costs, no problem, answer or "
        "tree. `report` reads them, and `bench --out` goes on from them.",
    ),
]
Folders = Annotated[
    list[str], typer.Argument(metavar="DIR…", help="Folders of results that `bench` wrote.")
]
ReportFolder = Annotated[
    str,
    typer.Option(metavar="DIR", help="Write report.md, .csv and .html there as well, and trees."),
]
Judge = Annotated[
    str,
    typer.Option(
        metavar="SPEC",
        help="The model that scores creative writing from 1 to 10; what it said is kept in "
        "judged.jsonl, so that the next report asks for nothing again.",
    ),
]
JudgeSamples = Annotated[
    int, typer.Option(min=1, metavar="N", help="Number of scores to average for a passage.")
]
By = Annotated[
    str,
    typer.Option(
        metavar="FACT",
        help="Split tables by a fact of the problems: level, type, subject or hop.",
    ),
]
