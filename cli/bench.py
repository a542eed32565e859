"""`thoughtgraph bench`: many problems, one folder of results, a line as each problem ends."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from typing import Any

from rich.console import Console

from thoughtgraph.admission import Oracle
from thoughtgraph.answers import Plausible
from thoughtgraph.bench import metrics
from thoughtgraph.bench.result_files import ResultFolder, latest
from thoughtgraph.bench.runner import Search, Setup, Trial, run, trials
from thoughtgraph.building import Graph, build
from thoughtgraph.cli import text
from thoughtgraph.cli.bench_display import Board, board
from thoughtgraph.cli.bench_options import BenchOptions
from thoughtgraph.cli.bench_plan import GRAMMAR_REFUSED, batches, left_out, oracle_of
from thoughtgraph.cli.bench_problems import parse_shard
from thoughtgraph.cli.custom import task_of
from thoughtgraph.cli.guard import Terminal
from thoughtgraph.cli.options import SolveOptions
from thoughtgraph.cli.ports import open_port
from thoughtgraph.cli.run_config import DEFAULT_TASK
from thoughtgraph.errors import InputError
from thoughtgraph.llm.port import ChatPort
from thoughtgraph.llm.prices import check_limit, prices_of

LONGEST_PROBLEM = 60
"""Letters of a problem that are shown."""
SAMPLED = 2
"""Problems that a dry run searches (ours)."""


@dataclass
class Models:
    """The models of a benchmark and the graphs around them, each made once."""

    console: Console
    _ports: dict[str, ChatPort] = field(default_factory=dict)
    _graphs: dict[tuple[str, ...], Graph] = field(default_factory=dict)

    def port(self, specifier: str) -> ChatPort:
        """Returns the port of a specifier."""
        if specifier not in self._ports:
            self._ports[specifier] = open_port(specifier, self.console)
        return self._ports[specifier]

    def graph(self, trial: Trial) -> Graph:
        """Returns the graph that searches a problem: its own, if an oracle knows its answer."""
        setup = trial.setup
        if callable(oracle_of(setup.task, setup.oracle)):
            return self._built(setup, partial(_right, trial))
        key = (setup.method, setup.task, setup.model, setup.evaluator_model, str(setup.oracle))
        if key not in self._graphs:
            self._graphs[key] = self._built(setup, setup.oracle)
        return self._graphs[key]

    def _built(self, setup: Setup, oracle: Oracle | bool) -> Graph:
        judge = setup.evaluator_model
        return build(
            setup.method,
            task=task_of(setup.task),
            model=self.port(setup.model),
            evaluator_model=self.port(judge) if judge else None,
            oracle=oracle,
        )

    async def search(self, trial: Trial) -> Mapping[str, Any]:
        """Searches one problem."""
        settings = {"on_error": "report", **trial.setup.given, "seed": trial.seed}
        out: Mapping[str, Any] = await self.graph(trial).ainvoke(
            {"problem": trial.record.problem}, context=settings
        )
        voted = trial.setup.method == "cot_sc"
        if voted and isinstance(task_of(trial.setup.task), Plausible):
            # What voting on what answers give is worth shows beside a vote on how they are written.
            return {**out, "ensembles": {"texts": metrics.vote_of_texts(out["candidates"])}}
        return out


def bench(options: BenchOptions) -> int:
    """Runs a benchmark; returns the exit code: 0 if all problems are finished, 1 if some failed."""
    console = Terminal()
    shard = parse_shard(options.shard)
    mine = [batch.part(*shard) for batch in batches(options)]
    if lines := left_out(options):
        console.print(f"left out: {', '.join(lines)}; {GRAMMAR_REFUSED}", markup=False)
    models = Models(console)
    for setup in [] if options.server else [each for batch in mine for each in batch.setups]:
        _check_dollars(models, setup)
    folder = ResultFolder(options.out, shard)
    folder.open()
    shown = board(console, mine)
    wanted = trials([batch.begin(SAMPLED) for batch in mine] if options.dry_run else mine)
    try:
        shown.start(folder.rows(), trials(mine))
        with shown.live():
            asyncio.run(_searched(options, models, wanted, folder, shown))
    except KeyboardInterrupt:
        console.print(f"stopped; rerun the command to continue ({options.out} has the results)")
        raise
    finally:
        folder.close()
    if options.file:
        _print_answers(console, folder, {trial.key: trial for trial in trials(mine)})
    if options.dry_run:
        return _forecast(console, shown, trials(mine), options.concurrency)
    return _summary(console, shown)


async def _searched(
    options: BenchOptions,
    models: Models,
    wanted: Iterator[Trial],
    folder: ResultFolder,
    shown: Board,
) -> None:
    async with AsyncExitStack() as opened:
        search: Search = models.search
        if options.server:
            server = import_module("thoughtgraph.cli.bench_server")
            search = await opened.enter_async_context(server.searching_on(options.server))
        await run(wanted, folder, search, score, concurrency=options.concurrency, tell=shown.tell)


def solve_file(options: SolveOptions) -> int:
    """Searches the problems of a file and prints their answers; returns what `bench` does."""
    unusable = {
        "PROBLEM": options.problem,
        "--json": options.json_file,
        "--html": options.html_file,
        "--resume": options.resume,
    }
    if extra := [name for name, value in unusable.items() if value]:
        raise InputError(
            f"{', '.join(extra)} is for one problem; leave it out with --file: {options.out} has "
            "the results; rerun the command to continue"
        )
    shared = ("file", "model", "evaluator_model", "oracle", "settings", "limits", "out")
    return bench(
        BenchOptions(
            task=options.task or DEFAULT_TASK,
            method=options.method or "",
            **{name: getattr(options, name) for name in shared},
        )
    )


def _print_answers(console: Console, folder: ResultFolder, wanted: Mapping[str, Trial]) -> None:
    """Prints the answer to each problem, in the order of the problems."""
    kept = latest(folder.rows())
    for key, trial in wanted.items():
        answer = kept[key].get("answer") if key in kept else None
        shown = "none" if answer is None else text.lines(answer)
        problem = text.short(text.headline(trial.record.problem), LONGEST_PROBLEM)
        console.print(f"{trial.record.id}: {problem}\n    {shown}", markup=False)


def _forecast(console: Console, shown: Board, wanted: Iterator[Trial], concurrency: int) -> int:
    console.print(shown.table())
    for line in shown.forecast(wanted, concurrency):
        console.print(line, markup=False)
    return 0


def _summary(console: Console, shown: Board) -> int:
    console.print(shown.table())
    if shown.failed:
        console.print(
            f"{text.count(shown.failed, 'problem')} failed; rerun the command to retry. The "
            f"last error: {text.short(shown.error, 200)}",
            markup=False,
        )
        return 1
    return 0


def score(trial: Trial, candidates: Sequence[str | None]) -> list[float]:
    """Returns the score of each answer; none where the task has no scorer."""
    record = trial.record
    task = task_of(trial.setup.task)
    settings = trial.setup.resolved
    return metrics.scores_of(task, record.problem, candidates, record.gold, settings)


async def _right(trial: Trial, answer: str) -> bool:
    return await asyncio.to_thread(score, trial, [answer]) == [1.0]


def _check_dollars(models: Models, setup: Setup) -> None:
    if "limit_dollars" in setup.given and setup.given["limit_dollars"] is not None:
        names = filter(None, (setup.model, setup.evaluator_model))
        check_limit(prices_of([models.port(name) for name in names], setup.resolved["prices"]))
