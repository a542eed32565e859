"""Tables from result folders: what each method reached, what it cost, and what is really better.

Rows that differ in task, method, model, oracle or any setting but the seed are never merged.
"""

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any, NamedTuple

from thoughtgraph.bench.result_files import Row, first_score
from thoughtgraph.bench.statistics import Comparison, Interval, compare, deviation, interval, mean

Problem = tuple[str, str]
"""A problem's id and text: files of one task may number other problems alike."""


class Spent(NamedTuple):
    """What one problem took."""

    requests: float
    samples: float
    prompt_tokens: float
    completion_tokens: float
    dollars: float
    """Not a number where a price is unknown."""
    seconds: float


@dataclass(frozen=True)
class Entry:
    """One line of a table: the finished runs of one setup.

    Args:
        task: The task.
        method: The method.
        model: Specifier of the model.
        judge: Specifier of the judging model; empty: the same.
        oracle: Whether the method was told if an answer is right.
        data: Name of the set of problems; empty: made up.
        given: The settings that were given, the seed apart.
        rows: The runs.
    """

    task: str
    method: str
    model: str
    judge: str
    oracle: bool
    data: str
    given: Mapping[str, Any]
    rows: Sequence[Row]

    @property
    def name(self) -> str:
        """The method with the settings that were given; feedback is labelled."""
        told = [f"{name}={_short(value)}" for name, value in self.given.items()]
        told += ["oracle"] if self.oracle else []
        return f"{self.method} ({', '.join(told)})" if told else self.method

    @cached_property
    def scores(self) -> dict[Problem, float]:
        """The mean score of each problem over its repeats; empty where nobody can tell."""
        scored = [row for row in self.rows if row.get("scores")]
        return {key: mean([first_score(row) for row in same]) for key, same in _by_problem(scored)}

    @cached_property
    def best(self) -> float:
        """The mean over problems of the best output's score, as an oracle would choose."""
        tops = [max(row["scores"]) for row in self.rows if row.get("scores")]
        return mean(tops)

    @property
    def score(self) -> float:
        """The mean score over problems."""
        return mean(list(self.scores.values()))

    @property
    def interval(self) -> Interval:
        """Its 95 % interval: Wilson's, or the bootstrap's where scores are no yes or no."""
        return interval(list(self.scores.values()))

    @cached_property
    def repeats(self) -> list[float]:
        """The mean score of each seed."""
        seeds = sorted({row["seed"] for row in self.rows})
        return [
            mean([first_score(row) for row in self.rows if row["seed"] == seed]) for seed in seeds
        ]

    @cached_property
    def spent(self) -> list[Spent]:
        """What each run took."""
        return [spent(row) for row in self.rows]

    @property
    def tokens(self) -> float:
        """Mean prompt and completion tokens a run."""
        return mean([each.prompt_tokens + each.completion_tokens for each in self.spent])

    def ends(self) -> Counter[str]:
        """Returns how often runs ended for which reason."""
        return Counter(row["stop_reason"] for row in self.rows)

    def unread(self) -> float:
        """Returns how many outputs of the model a run could not be read, on average."""
        return mean([sum(row["usage"].get("parse_errors", {}).values()) for row in self.rows])

    def outputs(self) -> float:
        """Returns how many outputs a run gave, on average."""
        return mean([len(row.get("scores") or []) for row in self.rows])


def spent(row: Mapping[str, Any]) -> Spent:
    """Returns what a run took."""
    usage = row["usage"]
    dollars = usage.get("dollars")
    return Spent(
        usage["requests"],
        usage["samples"],
        usage["prompt_tokens"],
        usage["completion_tokens"],
        float("nan") if dollars is None else dollars,
        usage["seconds"],
    )


def entries(rows: Iterable[Row]) -> list[Entry]:
    """Returns the lines of the tables, in the order in which their first runs finished.

    Args:
        rows: One row a problem and seed; failures are left out.
    """
    groups: dict[str, list[Row]] = {}
    for row in rows:
        if not row.get("error"):
            groups.setdefault(_identity(row), []).append(row)
    return [_entry(group) for group in groups.values()]


def comparisons(table: Sequence[Entry]) -> Iterator[tuple[Entry, Entry, Comparison]]:
    """Yields each pair of lines on the problems that both have, those of the same model alone."""
    for at, first in enumerate(table):
        for second in table[at + 1 :]:
            common = sorted(first.scores.keys() & second.scores.keys())
            if first.model == second.model and common:
                scores = ([entry.scores[key] for key in common] for entry in (first, second))
                yield first, second, compare(*scores)


COLUMNS = (
    "method",
    "problems",
    "score",
    "95 %",
    "sd over seeds",
    "best of k",
    "k",
    "requests",
    "prompt tokens",
    "completion tokens",
    "tokens to cot",
    "dollars",
    "seconds",
    "without an answer",
    "unread",
)


def cells(entry: Entry, table: Sequence[Entry]) -> dict[str, str]:
    """Returns one line of a table in words, by column.

    Args:
        entry: The line.
        table: All lines of the task and the model; `cot` among them is what tokens are compared
            with.
    """
    scored = bool(entry.scores)
    low, high = entry.interval
    several = len(entry.repeats) > 1
    cot = next((each for each in table if each.method == "cot"), None)
    none = sum(row["answer"] is None for row in entry.rows)
    money = mean([each.dollars for each in entry.spent])
    return {
        "method": entry.name,
        "problems": str(len({(row["id"], row["problem"]) for row in entry.rows})),
        "score": f"{entry.score:.1%}" if scored else "",
        "95 %": f"{low:.1%} to {high:.1%}" if scored else "",
        "sd over seeds": f"{deviation(entry.repeats):.1%}" if scored and several else "",
        "best of k": f"{entry.best:.1%}" if scored else "",
        "k": f"{entry.outputs():.1f}" if scored else "",
        "requests": _spread([each.requests for each in entry.spent]),
        "prompt tokens": _spread([each.prompt_tokens for each in entry.spent]),
        "completion tokens": _spread([each.completion_tokens for each in entry.spent]),
        "tokens to cot": f"{entry.tokens / cot.tokens:.2f}" if cot and cot.tokens else "",
        "dollars": "" if money != money else f"{money:.4f}",
        "seconds": f"{mean([each.seconds for each in entry.spent]):.1f}",
        "without an answer": f"{none / len(entry.rows):.0%}",
        "unread": f"{entry.unread():.1f}",
    }


def tables(found: Sequence[Entry]) -> Iterator[tuple[str, list[Entry]]]:
    """Yields the lines of each task, set of problems and model, with a heading."""

    def kind(entry: Entry) -> tuple[str, str, str, str]:
        return entry.task, entry.data, entry.model, entry.judge

    for (task, data, model, judge), lines in groupby(sorted(found, key=kind), key=kind):
        of = f" ({data})" if data and data != task else ""
        judged = f", judged by {judge}" if judge else ""
        yield f"{task}{of}, {model}{judged}", list(lines)


def markdown(found: Sequence[Entry]) -> str:
    """Returns all tables, and what is better than what, as Markdown."""
    parts: list[str] = []
    for heading, table in tables(found):
        parts.append(f"## {heading}\n")
        rows = [cells(entry, table) for entry in table]
        shown = [name for name in COLUMNS if any(row[name] for row in rows)]
        parts.append(grid(shown, [[row[name] for name in shown] for row in rows]))
        if pairs := list(comparisons(table)):
            parts.append("Differences on the same problems (paired bootstrap, McNemar's test):\n")
            parts.append(grid(COMPARED, [compared(*pair) for pair in pairs]))
    return "\n".join(parts)


COMPARED = ("first", "second", "problems", "difference", "95 %", "first alone", "second alone", "p")


def compared(first: Entry, second: Entry, found: Comparison) -> list[str]:
    """Returns one comparison in words; a difference that may be none says so."""
    low, high = found.interval
    return [
        first.name,
        second.name,
        str(found.problems),
        f"{found.difference:+.1%}",
        f"{low:+.1%} to {high:+.1%}" + (" (a tie)" if low <= 0 <= high else ""),
        str(found.first_alone),
        str(found.second_alone),
        f"{found.p:.3f}",
    ]


def grid(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Returns a Markdown table."""
    lines = [headings, ["---"] * len(headings), *rows]
    return "".join(f"| {' | '.join(map(_cell, line))} |\n" for line in lines)


def as_csv(found: Sequence[Entry]) -> str:
    """Returns all lines as CSV with plain numbers, for other programs."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    named = ["task", "data", "model", "judge", "method", "given", "oracle", "problems", "runs"]
    reached = ["score", "low", "high", "best_of_k"]
    writer.writerow([*named, *reached, *Spent._fields, "unread"])
    for entry in found:
        low, high = entry.interval
        known = bool(entry.scores)
        figures = [entry.score, low, high, entry.best] if known else [""] * 4
        writer.writerow(
            [
                entry.task,
                entry.data,
                entry.model,
                entry.judge,
                entry.method,
                json.dumps(dict(entry.given)),
            ]
            + [entry.oracle, len(entry.scores) or len(entry.rows), len(entry.rows), *figures]
            + [mean([each[at] for each in entry.spent]) for at in range(len(Spent._fields))]
            + [entry.unread()]
        )
    return out.getvalue()


def _entry(rows: Sequence[Row]) -> Entry:
    first = rows[0]
    given = {name: value for name, value in first["given"].items() if name != "seed"}
    judge = first.get("evaluator_model", "")
    oracle = bool(first["settings"].get("oracle"))
    data = first.get("data", "")
    return Entry(first["task"], first["method"], first["model"], judge, oracle, data, given, rows)


def _identity(row: Row) -> str:
    settings = {name: value for name, value in row["settings"].items() if name != "seed"}
    known = [row[name] for name in ("task", "method", "model", "evaluator_model")]
    known.append(row.get("data", ""))
    return json.dumps([*known, settings], sort_keys=True)


def _by_problem(rows: Iterable[Row]) -> Iterator[tuple[Problem, list[Row]]]:
    found: dict[Problem, list[Row]] = {}
    for row in rows:
        found.setdefault((row["id"], row["problem"]), []).append(row)
    yield from found.items()


def _spread(values: Sequence[float]) -> str:
    return f"{mean(values):,.1f} ± {deviation(values):,.1f}"


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= 40 else f"{text[:39]}…"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
