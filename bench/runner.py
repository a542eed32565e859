"""Runs a benchmark: searches many problems by several methods, concurrently.

A search that ends adds a row to the result folder. A failed search adds its error, and the next run
of the benchmark tries it again. The paid answers of an interrupted search stay in the folder, so a
resumed benchmark sends no request twice.
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
"""Number of failures without any success after which a benchmark gives up (ours)."""


@dataclass(frozen=True)
class Setup:
    """A method with its models and settings: one line of a report's table."""

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
    """Name of the set of problems; results of different sets are never merged."""
    given: Mapping[str, Any] = field(default_factory=dict)
    """The settings that the user chose; all others have their defaults."""
    resolved: Mapping[str, Any] = field(default_factory=dict)
    """The values of all settings but the seed."""


@dataclass(frozen=True)
class Trial:
    """One search of one problem."""

    setup: Setup
    record: Record
    seed: int

    @cached_property
    def key(self) -> str:
        """Identifies the trial across runs of the benchmark."""
        fields = {**asdict(self.setup), "given": None, "seed": self.seed}
        return digest({**fields, "id": self.record.id, "problem": self.record.problem})


Search = Callable[[Trial], Awaitable[Mapping[str, Any]]]
"""Searches one problem and returns the output of the graph."""
Score = Callable[[Trial, Sequence[str | None]], list[float]]
"""Scores the answers of a trial, in order."""


def sweep(settings: Mapping[str, Any], swept: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """Returns the settings with each combination of the swept values, which override them."""
    combinations = product(*swept.values())
    return [{**settings, **dict(zip(swept, values, strict=True))} for values in combinations]


class Batch(NamedTuple):
    """Setups to compare on one set of problems."""

    setups: Sequence[Setup]
    records: Sequence[Record]
    seeds: Sequence[int]
    """Each setup searches each problem once per seed."""

    def part(self, first: int, of: int) -> "Batch":
        """Returns a batch of every `of`-th problem, from number `first` on."""
        return self._replace(records=self.records[first - 1 :: of])

    def begin(self, size: int) -> "Batch":
        """Returns a batch of the first `size` problems, with the first seed alone."""
        return self._replace(records=self.records[:size], seeds=self.seeds[:1])


def trials(batches: Sequence[Batch]) -> Iterator[Trial]:
    """Yields all trials, problem by problem, so that partial results compare setups fairly."""
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
    """Runs the trials that are not finished yet.

    Args:
        wanted: All trials, including finished ones.
        folder: Receives the rows; this process is its writer.
        search: Searches the problem of a trial.
        score: Scores the answers of a trial.
        concurrency: Number of concurrent searches.
        tell: Called with each trial and its row, once the row is written.

    Raises:
        ThoughtgraphError: The first `HOPELESS` trials all failed; the error is that of the last.
    """
    finished = folder.finished()
    unfinished = (trial for trial in wanted if trial.key not in finished)
    failures: Counter[bool] = Counter()

    async def work() -> None:
        for trial in unfinished:
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
    """Yields `create_task` of an `asyncio.TaskGroup`; raises the first failure, not a group."""
    try:
        async with asyncio.TaskGroup() as group:
            yield group.create_task
    except BaseExceptionGroup as several:
        raise several.exceptions[0] from None


async def _row(trial: Trial, folder: ResultFolder, search: Search, score: Score) -> Row:
    paid = PaidAnswers(folder.answers(trial.key))
    try:
        with paid.in_use():
            output = await search(trial)
    except ThoughtgraphError as error:
        return {**_fields(trial), "error": str(error)}
    final = results.stored(output)
    outputs = final.get("candidates") or [final["answer"]], [*final.get("ensembles", {}).values()]
    # In a thread: scoring may run programs, and concurrent searches must not wait for them.
    scored = [await asyncio.to_thread(score, trial, each) for each in ([final["answer"]], *outputs)]
    return {
        **_fields(trial),
        **{name: value for name, value in final.items() if name != "tree"},
        "prompts": packed(paid.prompts),
        # The specifier, as the graph knows only the name of its model.
        "settings": {**final["settings"], "model": trial.setup.model},
        "score": next(iter(scored[0]), None),
        "scores": scored[1],
        "ensemble_scores": scored[2],
        "tree": packed(final["tree"]),
    }


def _fields(trial: Trial) -> Row:
    """Returns the fields of a row that are known before its trial runs."""
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
