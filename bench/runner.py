"""Many problems, several methods: what is run, and the loop that runs it.

Problems are searched side by side. Each becomes a row of the result folder when it ends; one that
fails leaves its error there and is tried again by the next run. What an interrupted problem was
answered is kept beside the rows, so a run that goes on asks for nothing twice.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple

from thoughtgraph import results
from thoughtgraph.bench.data_formats import Record
from thoughtgraph.bench.result_files import ResultFolder, Row, packed
from thoughtgraph.errors import ThoughtgraphError
from thoughtgraph.llm.store import PaidAnswers, digest

HOPELESS = 5
"""Failures in a row, with nothing solved before them, after which a benchmark gives up (ours)."""


@dataclass(frozen=True)
class Setup:
    """One thing that is compared with others: a row of a report's table."""

    task: str
    """The task's id, or `FILE.py:NAME`."""
    method: str
    model: str
    """Model specifier."""
    evaluator_model: str = ""
    """Model specifier of the judging roles; empty: the same model."""
    oracle: bool = False
    """Whether the task's exact check tells the method if an answer is right."""
    data: str = ""
    """Name of the set of problems; problems of different sets are told apart."""
    given: Mapping[str, Any] = field(default_factory=dict)
    """The settings that were given; all others have their defaults."""
    resolved: Mapping[str, Any] = field(default_factory=dict)
    """The values of all settings, the seed apart."""


@dataclass(frozen=True)
class Trial:
    """One problem, to be searched once."""

    setup: Setup
    record: Record
    seed: int

    @cached_property
    def key(self) -> str:
        """What makes it the same trial in another run of the benchmark."""
        known = {**asdict(self.setup), "given": None, "seed": self.seed}
        return digest({**known, "id": self.record.id, "problem": self.record.problem})


Search = Callable[[Trial], Awaitable[Mapping[str, Any]]]
"""Searches one problem and returns what the graph returned."""
Score = Callable[[Trial, Sequence[str | None]], list[float]]
"""Scores the answers of a trial, in order."""


def sweep(settings: Mapping[str, Any], swept: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """Returns every combination of the values to be tried, over the settings given for all."""
    combinations = product(*swept.values())
    return [{**settings, **dict(zip(swept, values, strict=True))} for values in combinations]


class Batch(NamedTuple):
    """What is compared on one set of problems."""

    setups: Sequence[Setup]
    records: Sequence[Record]
    seeds: Sequence[int]
    """Each problem is searched once for each."""

    def part(self, first: int, of: int) -> "Batch":
        """Returns every so-many-th problem, from the first-th on."""
        return self._replace(records=self.records[first - 1 :: of])

    def begin(self, size: int) -> "Batch":
        """Returns the first problems, searched once each."""
        return self._replace(records=self.records[:size], seeds=self.seeds[:1])


def trials(batches: Sequence[Batch]) -> Iterator[Trial]:
    """Yields what is to be run: problem by problem, so that a part compares all setups fairly."""
    for batch in batches:
        for seed, record, setup in product(batch.seeds, batch.records, batch.setups):
            yield Trial(setup, record, seed)


async def run(
    wanted: Iterator[Trial],
    folder: ResultFolder,
    search: Search,
    score: Score,
    *,
    concurrency: int,
    tell: Callable[[Trial, Row], None],
) -> None:
    """Searches what is not finished yet.

    Args:
        wanted: The trials, finished ones among them.
        folder: Where rows go; this process is its writer.
        search: Searches one.
        score: Scores one.
        concurrency: How many problems are searched side by side.
        tell: Is told of each row that was written.

    Raises:
        ThoughtgraphError: The first problems all failed: what the last of them failed with.
    """
    done = folder.finished()
    left = (trial for trial in wanted if trial.key not in done)
    failures: Counter[bool] = Counter()

    async def work() -> None:
        for trial in left:
            row = await _row(trial, folder, search, score)
            folder.append(row)
            tell(trial, row)
            failures[bool(row.get("error"))] += 1
            if failures[True] >= HOPELESS and not failures[False]:
                raise ThoughtgraphError(row["error"])

    async with together() as begin:
        for _ in range(concurrency):
            begin(work())


@asynccontextmanager
async def together() -> AsyncIterator[Callable[[Any], object]]:
    """Gives what begins tasks, as `asyncio.TaskGroup`; what fails is raised, not a group of it."""
    try:
        async with asyncio.TaskGroup() as group:
            yield group.create_task
    except BaseExceptionGroup as several:
        raise several.exceptions[0] from None


async def _row(trial: Trial, folder: ResultFolder, search: Search, score: Score) -> Row:
    paid = PaidAnswers(folder.answers(trial.key))
    try:
        with paid.in_use():
            out = await search(trial)
    except ThoughtgraphError as error:
        return {**_known(trial), "error": str(error)}
    kept = results.stored(out)
    outputs = kept.get("candidates") or [kept["answer"]], [*kept.get("ensembles", {}).values()]
    # It may run something: a search beside it must not wait.
    scored = [await asyncio.to_thread(score, trial, each) for each in ([kept["answer"]], *outputs)]
    return {
        **_known(trial),
        **{name: value for name, value in kept.items() if name != "tree"},
        "prompts": packed(paid.prompts),
        # The specifier: a graph knows its model by the name alone.
        "settings": {**kept["settings"], "model": trial.setup.model},
        "score": next(iter(scored[0]), None),
        "scores": scored[1],
        "ensemble_scores": scored[2],
        "tree": packed(kept["tree"]),
    }


def _known(trial: Trial) -> Row:
    """Returns what is known of a trial before it is run."""
    setup, record = trial.setup, trial.record
    return {
        "key": trial.key,
        "id": record.id,
        "seed": trial.seed,
        "gold": record.gold,
        "facts": dict(record.facts),
        "data": setup.data,
        "method": setup.method,
        "task": setup.task,
        "problem": record.problem,
        "model": setup.model,
        "evaluator_model": setup.evaluator_model,
        "given": dict(setup.given),
    }
