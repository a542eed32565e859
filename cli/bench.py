"""`thoughtgraph bench`: many problems, one folder of results, a line as each problem ends."""

import asyncio
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rich.console import Console

from thoughtgraph.admission import admit, default_method, effective_settings
from thoughtgraph.bench import metrics
from thoughtgraph.bench.data import Record, generated, load
from thoughtgraph.bench.result_files import ResultFolder
from thoughtgraph.bench.runner import Setup, Trial, run, sweep, trials
from thoughtgraph.building import Graph, build
from thoughtgraph.cli import text
from thoughtgraph.cli.bench_display import Board, board
from thoughtgraph.cli.custom import full_name, task_of
from thoughtgraph.cli.ports import open_port
from thoughtgraph.cli.run_config import given_settings, limit_settings, values_to_try
from thoughtgraph.errors import InputError
from thoughtgraph.llm.port import ChatPort
from thoughtgraph.llm.prices import check_limit, prices_of
from thoughtgraph.llm.specifiers import check_specifier, default_specifier

MADE = "made"
"""What `--data` begins with where problems are made up."""
SAMPLED = 2
"""Problems that a dry run searches (ours)."""


@dataclass(frozen=True)
class BenchOptions:
    """What was asked for: the options of `bench` as they were written."""

    task: str
    methods: Sequence[str] = ()
    data: str = ""
    problems: str = ""
    sample: int = 0
    sample_seed: int = 0
    seeds: int = 1
    model: str = ""
    evaluator_model: str = ""
    oracle: bool = False
    settings: Sequence[str] = ()
    limits: Sequence[str] = ()
    sweep: Sequence[str] = ()
    concurrency: int = 16
    out: str = "results"
    shard: str = ""
    dry_run: bool = False
    paragraphs: bool = False


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

    def graph(self, setup: Setup) -> Graph:
        """Returns the graph of what is compared."""
        key = (setup.method, setup.task, setup.model, setup.evaluator_model, str(setup.oracle))
        if key not in self._graphs:
            judge = setup.evaluator_model
            self._graphs[key] = build(
                setup.method,
                task=task_of(setup.task),
                model=self.port(setup.model),
                evaluator_model=self.port(judge) if judge else None,
                oracle=setup.oracle,
            )
        return self._graphs[key]

    async def search(self, trial: Trial) -> Mapping[str, Any]:
        """Searches one problem."""
        settings = {**trial.setup.given, "seed": trial.seed}
        found: Mapping[str, Any] = await self.graph(trial.setup).ainvoke(
            {"problem": trial.record.problem}, context=settings
        )
        return found


def bench(options: BenchOptions) -> int:
    """Runs a benchmark.

    Returns:
        The exit code: 0 when every problem is finished, 1 when some failed.

    Raises:
        ThoughtgraphError: Something that was asked for cannot be used, or every problem fails.
    """
    console = Console(highlight=False, soft_wrap=True)
    setups = planned(options)
    records = chosen(options)
    shard = parse_shard(options.shard)
    seeds = range(setups[0].effective["seed"], setups[0].effective["seed"] + options.seeds)
    setups = [_seedless(setup) for setup in setups]
    folder = ResultFolder(options.out, shard)
    models = Models(console)
    for setup in setups:
        _check_dollars(models, setup)
    folder.open()
    try:
        mine = records[shard[0] - 1 :: shard[1]]
        part = mine[:SAMPLED] if options.dry_run else mine
        shown = board(console, setups, len(mine) * len(seeds))
        shown.start(folder.rows(), trials(setups, mine, seeds))
        wanted = trials(setups, part, seeds[:1] if options.dry_run else seeds)
        with shown:
            made = run(
                wanted,
                folder,
                models.search,
                score,
                concurrency=options.concurrency,
                tell=shown.tell,
            )
            asyncio.run(made)
    except KeyboardInterrupt:
        console.print(
            f"stopped; run the same command again to go on ({options.out} has the results)"
        )
        raise
    finally:
        folder.close()
    return _summary(console, options, shown)


def _summary(console: Console, options: BenchOptions, shown: Board) -> int:
    console.print(shown.table())
    if options.dry_run:
        for line in shown.forecast():
            console.print(line, markup=False)
        return 0
    if shown.failed:
        console.print(
            f"{text.count(shown.failed, 'problem')} failed; run the same command again to try "
            f"them again. The last error: {text.short(shown.error, 200)}",
            markup=False,
        )
        return 1
    return 0


def planned(options: BenchOptions) -> list[Setup]:
    """Returns what is compared.

    Raises:
        InputError: Something that was asked for is not there or cannot be used.
        CapabilityError: A method needs something that the task cannot do.
    """
    name = full_name(options.task)
    task = task_of(name)
    model = options.model or default_specifier()
    for specifier in filter(None, (model, options.evaluator_model)):
        check_specifier(specifier)
    given = {**given_settings(options.settings), **limit_settings(options.limits)}
    setups: list[Setup] = []
    for method in options.methods or [default_method(task)]:
        for values in sweep(given, values_to_try(options.sweep)):
            settings = effective_settings(method, task, values)
            admit(method, task, settings, oracle=options.oracle)
            setups.append(
                Setup(
                    name, method, model, options.evaluator_model, options.oracle, values, settings
                )
            )
    return setups


def _seedless(setup: Setup) -> Setup:
    kept = ("seed", "model", "evaluator_model", "task")
    effective = {name: value for name, value in setup.effective.items() if name not in kept}
    given = {name: value for name, value in setup.given.items() if name != "seed"}
    return Setup(
        setup.task, setup.method, setup.model, setup.evaluator_model, setup.oracle, given, effective
    )


def chosen(options: BenchOptions) -> list[Record]:
    """Returns the problems: those of the file, a range of them, a sample of that.

    Raises:
        InputError: They cannot be read, or the range is none.
    """
    task = task_of(full_name(options.task))
    named, _, types = options.data.partition(":")
    if named in ("", MADE):
        drawn = (
            {"count": options.sample, "seed": options.sample_seed}
            if types and options.sample
            else {}
        )
        records = generated(task, [kind for kind in types.split(",") if kind], **drawn)
        if drawn:
            return records
    else:
        records = load(task, options.data, paragraphs=options.paragraphs)
    if options.problems:
        first, last = parse_range(options.problems, len(records))
        records = records[first - 1 : last]
    if options.sample:
        if options.sample > len(records):
            raise InputError(f"--sample {options.sample} of {len(records)} problems; take fewer")
        records = random.Random(options.sample_seed).sample(records, options.sample)
    return records


def parse_range(written: str, size: int) -> tuple[int, int]:
    """Returns the first and the last problem of a range such as `901:1000`, both included.

    Raises:
        InputError: It is none, or goes beyond the data.
    """
    first, colon, last = written.partition(":")
    try:
        numbers = int(first or 1), int((last or size) if colon else first)
    except ValueError:
        numbers = 0, 0
    if not 1 <= numbers[0] <= numbers[1] <= size:
        raise InputError(
            f"--problems {written!r} is no range of {size} problems; write A:B, such as 1:{size}"
        )
    return numbers


def parse_shard(written: str) -> tuple[int, int]:
    """Returns which part of the problems is run and of how many, such as `1/4`.

    Raises:
        InputError: It is no part.
    """
    if not written:
        return 1, 1
    part, _, of = written.partition("/")
    if not (part.isdecimal() and of.isdecimal() and 1 <= int(part) <= int(of)):
        raise InputError(f"--shard {written!r} is no part; write 1/4 for the first of four")
    return int(part), int(of)


def score(trial: Trial, candidates: Sequence[str | None]) -> list[float]:
    """Returns the score of each answer; none where the task has no scorer."""
    record = trial.record
    task = task_of(trial.setup.task)
    return metrics.scores_of(task, record.problem, candidates, record.gold)


def _check_dollars(models: Models, setup: Setup) -> None:
    if "limit_dollars" in setup.given and setup.given["limit_dollars"] is not None:
        names = filter(None, (setup.model, setup.evaluator_model))
        check_limit(prices_of([models.port(name) for name in names], setup.effective["prices"]))
