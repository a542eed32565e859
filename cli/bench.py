"""`thoughtgraph bench`: searches many problems and adds a row to a results folder for each."""

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
from thoughtgraph.cli.bench_plan import batches, oracle_of
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
"""Characters of a problem that are printed."""
SAMPLED = 2
"""Number of problems that a dry run searches (ours)."""


@dataclass
class Models:
    """Opens the models of a benchmark and builds their graphs, each once."""

    console: Console
    _ports: dict[str, ChatPort] = field(default_factory=dict)
    _graphs: dict[tuple[str, ...], Graph] = field(default_factory=dict)

    def port(self, specifier: str) -> ChatPort:
        """Returns the port of a model specifier."""
        if specifier not in self._ports:
            self._ports[specifier] = open_port(specifier, self.console)
        return self._ports[specifier]

    def graph(self, trial: Trial) -> Graph:
        """Returns the graph of a trial: shared, unless its oracle holds the trial's gold answer."""
        setup = trial.setup
        if callable(oracle_of(setup.task, setup.oracle)):
            return self._build(setup, partial(_is_right, trial))
        key = (setup.method, setup.task, setup.model, setup.evaluator_model, str(setup.oracle))
        if key not in self._graphs:
            self._graphs[key] = self._build(setup, setup.oracle)
        return self._graphs[key]

    def _build(self, setup: Setup, oracle: Oracle | bool) -> Graph:
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
            # A vote on the answers' texts is kept, to compare with the vote on their results.
            return {**out, "ensembles": {"texts": metrics.vote_of_texts(out["candidates"])}}
        return out


def bench(options: BenchOptions) -> int:
    """Runs a benchmark; returns the exit code: 0 if all problems finished, 1 if some failed."""
    console = Terminal()
    shard = parse_shard(options.shard)
    parts = [batch.part(*shard) for batch in batches(options)]
    models = Models(console)
    for setup in [] if options.server else [each for batch in parts for each in batch.setups]:
        _check_dollars(models, setup)
    folder = ResultFolder(options.out, shard)
    folder.open()
    display = board(console, parts)
    jobs = trials([batch.begin(SAMPLED) for batch in parts] if options.dry_run else parts)
    try:
        display.start(folder.rows(), trials(parts))
        with display.live():
            asyncio.run(_search_all(options, models, jobs, folder, display))
    except KeyboardInterrupt:
        console.print(f"stopped; rerun the command to continue ({options.out} has the results)")
        raise
    finally:
        folder.close()
    if options.file:
        _print_answers(console, folder, {trial.key: trial for trial in trials(parts)})
    if options.dry_run:
        return _forecast(console, display, trials(parts), options.concurrency)
    return _summary(console, display)


async def _search_all(
    options: BenchOptions,
    models: Models,
    jobs: Iterator[Trial],
    folder: ResultFolder,
    display: Board,
) -> None:
    async with AsyncExitStack() as stack:
        search: Search = models.search
        if options.server:
            server = import_module("thoughtgraph.cli.bench_server")
            search = await stack.enter_async_context(server.searching_on(options.server))
        await run(jobs, folder, search, score, concurrency=options.concurrency, tell=display.tell)


def solve_file(options: SolveOptions) -> int:
    """Searches the problems of a file and prints their answers; returns the exit code."""
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


def _print_answers(console: Console, folder: ResultFolder, jobs: Mapping[str, Trial]) -> None:
    """Prints the answer to each problem, in the order of the file."""
    rows = latest(folder.rows())
    for key, trial in jobs.items():
        answer = rows[key].get("answer") if key in rows else None
        words = "none" if answer is None else text.lines(answer)
        problem = text.short(text.headline(trial.record.problem), LONGEST_PROBLEM)
        console.print(f"{trial.record.id}: {problem}\n    {words}", markup=False)


def _forecast(console: Console, display: Board, jobs: Iterator[Trial], concurrency: int) -> int:
    console.print(display.table())
    for line in display.forecast(jobs, concurrency):
        console.print(line, markup=False)
    return 0


def _summary(console: Console, display: Board) -> int:
    console.print(display.table())
    if display.failed:
        console.print(
            f"{text.count(display.failed, 'problem')} failed; rerun the command to retry. The "
            f"last error: {text.short(display.error, 200)}",
            markup=False,
        )
        return 1
    return 0


def score(trial: Trial, candidates: Sequence[str | None]) -> list[float]:
    """Returns the score of each answer; an empty list if nothing can score them."""
    record = trial.record
    task = task_of(trial.setup.task)
    settings = trial.setup.resolved
    return metrics.scores_of(task, record.problem, candidates, record.gold, settings)


async def _is_right(trial: Trial, answer: str) -> bool:
    return await asyncio.to_thread(score, trial, [answer]) == [1.0]


def _check_dollars(models: Models, setup: Setup) -> None:
    if "limit_dollars" in setup.given and setup.given["limit_dollars"] is not None:
        names = filter(None, (setup.model, setup.evaluator_model))
        check_limit(prices_of([models.port(name) for name in names], setup.resolved["prices"]))
