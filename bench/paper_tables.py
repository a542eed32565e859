"""Published numbers beside ours, table by table, with what keeps them from being compared."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import NamedTuple

from thoughtgraph import registry
from thoughtgraph.admission import effective_settings
from thoughtgraph.bench.paper_figures import COUNTED, FIGURES, RELATIVES, scale, shown
from thoughtgraph.bench.papers.suites import (
    Average,
    Correlation,
    Figure,
    Line,
    Part,
    Published,
    Suite,
    names,
    suite,
)
from thoughtgraph.bench.report_lines import Entry
from thoughtgraph.bench.report_tables import grid
from thoughtgraph.bench.statistics import interval, mean, pearson
from thoughtgraph.settings import LIMIT_PREFIX, WATCHING

HEADINGS = ("row", "problems", "figure", "published", "ours", "95 %", "n", "remarks")
NEUTRAL = frozenset(
    {"task", "model", "evaluator_model", "seed", "prices", "share_evaluations"}
    | {*WATCHING, "max_completion_tokens", "corpus", "contact", "recording", "tool_deadline"}
)
"""Settings beside the limits that no table names: where things are and what they may cost."""
NOT_RUN, NO_SCORE, NO_PRICE = "not run", "no score", "no price"


class _Ours(NamedTuple):
    """What we found, in words."""

    value: str
    interval: str = ""
    n: str = ""


@dataclass(frozen=True)
class _Runs:
    """The runs of one line of a table."""

    table: Suite
    line: Line
    found: Sequence[Entry]
    """The runs of all lines."""

    def on(self, part: Part) -> list[Entry]:
        """Returns those on a part of the table."""
        if part not in self.table.parts_of(self.line):
            return []
        return [entry for entry in self.found if _is(entry, self.line, part)]

    def other_on(self, part: Part, entry: Entry) -> Entry | None:
        """Returns the run, of the line to which this one is relative, that goes with a run."""
        line = next(each for each in self.table.rows if each.name == self.line.relative_to)
        return _beside(entry, _Runs(self.table, line, self.found).on(part))

    def together(self, parts: Sequence[Part]) -> list[list[Entry]]:
        """Returns runs on all of some parts: a list for each model that ran them all."""
        first, *others = map(self.on, parts)
        sets = [[entry, *(_beside(entry, runs) for runs in others)] for entry in first]
        return [[entry for entry in each if entry] for each in sets if None not in each]


def beside_published(found: Sequence[Entry]) -> str:
    """Returns, as Markdown, every published table of which a line was run.

    Args:
        found: The lines that were run.
    """
    parts: list[str] = []
    for name in names():
        table = suite(name)
        lines = [_Runs(table, line, found) for line in table.rows]
        if not any(runs.on(part) for runs in lines for part in table.parts):
            continue
        parts.append(f"## {table.title}: {table.source}\n")
        parts.append(grid(HEADINGS, [row for runs in lines for row in _rows(runs)]))
        remarks = [f"* {part.id}: {part.note}." for part in table.parts if part.note]
        remarks += [
            f"* {each.name}: {_joined(each.explanation, each.note)}." for each in table.wholes
        ]
        remarks += [f"* Not reproduced: {each.name}. {each.why}." for each in table.missing]
        parts.append("\n".join(remarks) + "\n" if remarks else "")
    return "\n".join(parts)


def _rows(runs: _Runs) -> Iterator[Sequence[str]]:
    table, line = runs.table, runs.line
    for part in table.parts_of(line):
        given: list[Published | None] = [*_published(line, part.id)]
        entries: list[Entry | None] = [*runs.on(part)]
        for entry in entries or [None]:
            for each in given or [None]:
                ours = _ours(runs, part, each.figure if each else "score", entry)
                yield _row(line, part.id, each, ours)
    for whole in table.wholes:
        for each in _published(line, whole.name):
            for ours in _of_whole(runs, whole, each.figure):
                yield _row(line, whole.name, each, ours, whole.note)


def _published(line: Line, place: str) -> list[Published]:
    return [each for each in line.published if each.part == place]


def _row(
    line: Line, place: str, given: Published | None, ours: _Ours, note: str = ""
) -> Sequence[str]:
    if given is None:
        return (line.name, place, "score", "no number", *ours, note)
    published = f"{given.value:g} ({given.model})"
    return (line.name, place, given.figure, published, *ours, _joined(given.note, note))


def _joined(*remarks: str) -> str:
    return "; ".join(filter(None, remarks))


def _is(entry: Entry, line: Line, part: Part) -> bool:
    same = (entry.task, entry.data, entry.method) == (part.task, part.id, line.method)
    if not same or entry.oracle != line.oracle:
        return False
    wanted = effective_settings(line.method, registry.task(part.task), line.settings)
    had = entry.rows[0]["settings"]
    return all(had.get(name) == wanted[name] for name in wanted if not _neutral(name))


def _neutral(name: str) -> bool:
    """Whether a run is a line of the table whatever this setting was."""
    return name in NEUTRAL or name.startswith(LIMIT_PREFIX)


def _ours(runs: _Runs, part: Part, figure: Figure, entry: Entry | None) -> _Ours:
    """Returns a figure of a run on one part."""
    if entry is None:
        return _Ours(NOT_RUN)
    if figure in RELATIVES:
        other = runs.other_on(part, entry)
        told = RELATIVES[figure].formatted(entry, other) if other else ""
        needed = NO_SCORE if other else f"needs {runs.line.relative_to}"
        return _Ours(f"{told} ({entry.model})" if told else needed)
    values = FIGURES[figure](entry)
    if not values:
        return _Ours(NO_PRICE if figure == "dollars" else NO_SCORE)
    value = f"{shown(figure, mean(values))} ({entry.model})"
    return _Ours(value, _bounds(figure, values), str(len(values)))


def _bounds(figure: Figure, values: Sequence[float]) -> str:
    if figure in COUNTED:
        return ""
    low, high = interval(values)
    return f"{scale(figure) * low:.1f} to {scale(figure) * high:.1f}"


def _beside(entry: Entry, others: Sequence[Entry]) -> Entry | None:
    """Returns the first of others that ran as an entry did: by the same models and limits."""
    return next((each for each in others if _circumstances(each) == _circumstances(entry)), None)


def _circumstances(entry: Entry) -> tuple[str, str, str]:
    given = {name: value for name, value in entry.given.items() if _neutral(name)}
    return entry.model, entry.judge, json.dumps(given, sort_keys=True)


def _of_whole(runs: _Runs, whole: Average | Correlation, figure: Figure) -> list[_Ours]:
    """Returns a figure of a line over several parts, once for each model that ran them all."""
    parts = runs.table.parts_of(runs.line)
    if isinstance(whole, Average):
        parts = [part for part in parts if part.id in whole.weights]
    return [_combined(whole, figure, parts, each) for each in runs.together(parts)] or [
        _Ours(NOT_RUN)
    ]


def _combined(
    whole: Average | Correlation, figure: Figure, parts: Sequence[Part], runs: Sequence[Entry]
) -> _Ours:
    values = [FIGURES[figure](entry) for entry in runs]
    if not all(values):
        return _Ours(NO_SCORE)
    means = [mean(each) for each in values]
    if isinstance(whole, Average):
        weights = [whole.weights[part.id] for part in parts]
        told = shown(figure, fmean(means, weights))
    else:
        told = _correlated([_mean_fact(entry, whole.fact) for entry in runs], means)
    return _Ours(f"{told} ({runs[0].model})" if told else NO_SCORE)


def _correlated(facts: Sequence[float], means: Sequence[float]) -> str:
    found = pearson([*zip(facts, means, strict=True)])
    return "" if found is None else f"{found:+.3f}"


def _mean_fact(entry: Entry, fact: str) -> float:
    return mean([float(row["facts"][fact]) for row in entry.rows if fact in row.get("facts", {})])
