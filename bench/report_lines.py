"""Groups the rows of result folders into lines of tables, with their scores, costs and comparisons.

Rows of a line agree in task, data, method, models and settings (except the seed and `WATCHING`).
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, compress
from typing import Any, NamedTuple

from thoughtgraph import registry
from thoughtgraph.bench.metrics import best_of_k
from thoughtgraph.bench.result_files import Row
from thoughtgraph.bench.statistics import Comparison, Interval, compare, interval, mean
from thoughtgraph.settings import WATCHING

UNKNOWN = "unknown"
"""Stands for a fact that a data set lacks for a problem."""
Problem = tuple[str, str]
"""A problem's id and text: two files of a task may use one id for different problems."""


class Spent(NamedTuple):
    """The cost of one run."""

    requests: float
    samples: float
    prompt_tokens: float
    completion_tokens: float
    dollars: float
    """NaN if a price is unknown."""
    seconds: float
    cached_prompt_tokens: float
    """Prompt tokens from the server's cache, as far as the server reports them."""

    @property
    def tokens(self) -> float:
        """Prompt and completion tokens."""
        return self.prompt_tokens + self.completion_tokens


@dataclass(frozen=True)
class Entry:
    """One line of a table: the finished runs of one setup.

    Args:
        task: The task.
        method: The method.
        model: Specifier of the model.
        judge: Specifier of the judging model; empty: the same model.
        oracle: Whether an oracle told the method if an answer is right.
        data: Name of the set of problems; empty: generated problems.
        given: The settings that the user chose, without the seed.
        rows: The runs.
        shared: Settings that `name` leaves out, because all lines of the table agree on them.
    """

    task: str
    method: str
    model: str
    judge: str
    oracle: bool
    data: str
    given: Mapping[str, Any]
    rows: Sequence[Row]
    shared: Mapping[str, Any] = field(default_factory=dict)

    @property
    def table(self) -> tuple[str, str, str, str]:
        """The table that the line belongs to: task, set of problems, model and judge."""
        return self.task, self.data, self.model, self.judge

    @property
    def name(self) -> str:
        """The method with the settings that set the line apart; an oracle is labelled."""
        own = {name: value for name, value in self.given.items() if name not in self.shared}
        labels = told_settings(own)
        labels += ["oracle"] if self.oracle else []
        labels += ["same run"] if self.same_run else []
        return f"{self.method} ({', '.join(labels)})" if labels else self.method

    @property
    def same_run(self) -> bool:
        """Whether the line is another ensemble of the runs of some other line."""
        return bool(self.rows[0].get("same_run"))

    @property
    def has_trees(self) -> bool:
        """Whether all rows have their trees; summaries have none."""
        return all("tree" in row for row in self.rows)

    @cached_property
    def scores(self) -> dict[Problem, float]:
        """The mean score of each problem over its repeats; unscored problems are left out."""
        scored = [row for row in self.rows if row.get("score") is not None]
        return {key: mean([row["score"] for row in same]) for key, same in _by_problem(scored)}

    def best_of(self, k: int | None = None) -> float:
        """Returns the mean best score among k outputs, an oracle's choice; None: among all."""
        return mean([best_of_k(row["scores"], k) for row in self.rows if row.get("scores")])

    @property
    def score(self) -> float:
        """The mean score over problems."""
        return mean(list(self.scores.values()))

    @property
    def interval(self) -> Interval:
        """The score's 95 % interval: Wilson's if all scores are 0 or 1, else the bootstrap's."""
        return interval(list(self.scores.values()))

    @cached_property
    def repeats(self) -> list[float]:
        """The mean score of each seed."""
        seeds = sorted({row["seed"] for row in self.rows})
        scored = [(row["seed"], row["score"]) for row in self.rows if row.get("score") is not None]
        return [mean([score for at, score in scored if at == seed]) for seed in seeds]

    @cached_property
    def spent(self) -> list[Spent]:
        """The cost of each run."""
        return [spent(row) for row in self.rows]

    @property
    def tokens(self) -> float:
        """Mean tokens per run, prompt and completion."""
        return mean([each.tokens for each in self.spent])

    def unread(self) -> float:
        """Returns the mean number of unreadable completions per run."""
        return mean([sum(row["usage"].get("parse_errors", {}).values()) for row in self.rows])

    def outputs(self) -> float:
        """Returns the mean number of outputs per run."""
        return mean([len(row.get("scores") or []) for row in self.rows])


class Table(NamedTuple):
    """A table of a report."""

    title: str
    headings: Sequence[str]
    rows: Sequence[Sequence[str]]


def without_empty(title: str, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """Returns a table without the columns that are empty in every row."""
    kept_columns = [any(column) for column in zip(*rows, strict=True)]
    kept_rows = [[*compress(row, kept_columns)] for row in rows]
    return Table(title, tuple(compress(headings, kept_columns)), kept_rows)


def spent(row: Mapping[str, Any]) -> Spent:
    """Returns the cost of a run."""
    usage = row["usage"]
    dollars = usage.get("dollars")
    return Spent(
        usage["requests"],
        usage["samples"],
        usage["prompt_tokens"],
        usage["completion_tokens"],
        float("nan") if dollars is None else dollars,
        usage["seconds"],
        usage.get("cached_prompt_tokens") or 0,
    )


def compared(first: Entry, second: Entry) -> Comparison | None:
    """Compares two lines on the problems that both have; returns None if they share none."""
    common = sorted(first.scores.keys() & second.scores.keys())
    left, right = ([line.scores[each] for each in common] for line in (first, second))
    return compare(left, right) if common else None


def problem_of(row: Mapping[str, Any]) -> Problem:
    """Returns the problem of a run, as id and text."""
    return row["id"], row["problem"]


def outputs_of(row: Row) -> Sequence[str | None]:
    """Returns the answers of all outputs of a run, in the order of its `scores`."""
    outputs: Sequence[str | None] = row.get("candidates") or [row["answer"]]
    return outputs


def by_fact(rows: Iterable[Row], fact: str) -> Iterator[Row]:
    """Yields rows whose set of problems is split by a fact of the data set.

    Args:
        rows: The rows.
        fact: Name of the fact, such as `level`, `type` or `subject`.
    """
    for row in rows:
        label = f"{fact} {row.get('facts', {}).get(fact, UNKNOWN)}"
        yield {**row, "data": ", ".join(filter(None, (row.get("data", ""), label)))}


def entries(rows: Iterable[Row]) -> list[Entry]:
    """Returns the lines of the tables, in the order in which their first runs finished.

    Args:
        rows: One row per problem and seed; failed ones are left out.
    """
    groups: dict[str, list[Row]] = {}
    for row in chain.from_iterable(_ensembles(row) for row in rows):
        if not row.get("error"):
            groups.setdefault(_identity(row), []).append(row)
    lines = [_entry(group) for group in groups.values()]
    return [replace(entry, shared=_shared(entry, lines)) for entry in lines]


def told_settings(settings: Mapping[str, Any]) -> list[str]:
    """Returns settings as texts `name=value`, long values cut."""
    return [f"{name}={_short(value)}" for name, value in settings.items()]


def _entry(rows: Sequence[Row]) -> Entry:
    first = rows[0]
    settings = {name: value for name, value in first["given"].items() if name != "seed"}
    judge = first.get("evaluator_model", "")
    oracle = bool(first["settings"].get("oracle"))
    data = first.get("data", "")
    return Entry(
        first["task"], first["method"], first["model"], judge, oracle, data, settings, rows
    )


def _shared(entry: Entry, lines: Sequence[Entry]) -> dict[str, Any]:
    """Returns the chosen settings of a line on which all lines of its table agree.

    Lines without a setting do not matter, but a setting that no other line has is not shared. Nor
    is one whose value the summaries of another line leave out.
    """
    others = [each for each in lines if each.table == entry.table]

    def agreed(name: str) -> bool:
        if any(_hides(each, name) for each in others):
            return False
        settings = [each.rows[0]["settings"] for each in others]
        values = [each[name] for each in settings if name in each]
        return len(values) > 1 and all(value == values[0] for value in values)

    return {name: value for name, value in entry.given.items() if agreed(name)}


def _hides(entry: Entry, name: str) -> bool:
    """Returns whether a line has a setting whose value is missing from its summaries."""
    settings = entry.rows[0]["settings"]
    if name in settings or "others" not in settings or entry.method not in registry.METHODS:
        return False
    return name in registry.settings(entry.method).model_fields


def _ensembles(row: Row) -> Iterator[Row]:
    """Yields a row, and one more for each other ensemble of its solutions (Thought Rollback)."""
    yield row
    answers = row.get("ensembles", {})
    for (name, answer), score in zip(answers.items(), row.get("ensemble_scores", ()), strict=False):
        if name != row["settings"].get("ensemble"):
            chosen = {"ensemble": name}
            yield {
                **row,
                "answer": answer,
                "candidates": [answer],
                "score": score,
                "scores": [score],
                "settings": {**row["settings"], **chosen},
                "given": {**row["given"], **chosen},
                "same_run": True,
            }


def _identity(row: Row) -> str:
    """Returns a key that all rows of a line have in common."""
    ignored = ("seed", *WATCHING)
    settings = {name: value for name, value in row["settings"].items() if name not in ignored}
    parts = [row[name] for name in ("task", "method", "model", "evaluator_model")]
    parts += [row.get("data", ""), row.get("same_run", False)]
    return json.dumps([*parts, settings], sort_keys=True)


def _by_problem(rows: Iterable[Row]) -> Iterator[tuple[Problem, list[Row]]]:
    problems: dict[Problem, list[Row]] = {}
    for row in rows:
        problems.setdefault(problem_of(row), []).append(row)
    yield from problems.items()


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= 40 else f"{text[:39]}…"
